//! Warnings about open orders whose provider account or network is no longer configured.

use adapters::http::HttpUrl;
use adapters::provider::{lob, thanks_io};
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::model::chain::Network;
use order::model::mail::ProviderAccount;
use order::model::payment::TenderKind;
use order::ports::OpenOrders;
use tokio::runtime::Builder;
use tracing::warn;

use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::config::provider::ProviderConfig;
use crate::config::store_location::{PostgresLocation, StoreLocation};
use crate::wiring::storage::Storage;

/// Logs the warnings, once after each start.
pub(crate) async fn warn_at_start(config: &Config, storage: &Storage) {
    if let Some(warning) = config.server.store.warning() {
        warn!("{warning}");
    }
    match storage.store.port().open_orders().await {
        Ok(open) => warnings(config, &open).iter().for_each(|warning| warn!("{warning}")),
        Err(error) => warn!(kind = ?error, "cannot read open orders"),
    }
}

/// The warnings for `check`, which only reads: from an SQLite file that no process has open, or
/// from a PostgreSQL database that responds.
pub(crate) fn warnings_of(config: &Config) -> Vec<String> {
    let open = match &config.server.store {
        StoreLocation::Sqlite(path) => Ok(SqliteStore::open_orders_in(path).unwrap_or_default()),
        StoreLocation::Postgres(location) => read_postgres(location),
    };
    let found = match open {
        Ok(open) => warnings(config, &open),
        Err(why) => vec![format!(
            "The database was not read, so open orders at a provider account or network that is not \
             configured are not listed: {why}."
        )],
    };
    config.server.store.warning().into_iter().chain(found).collect()
}

fn read_postgres(location: &PostgresLocation) -> Result<Vec<OpenOrders>, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let open = PostgresStore::open_orders_at(location.connection.reveal());
    runtime.block_on(open).map_err(|error| error.to_string())
}

fn warnings(config: &Config, open: &[OpenOrders]) -> Vec<String> {
    let cards = open.iter().filter_map(|open| {
        let account = open.account.as_ref().filter(|account| !is_configured(config, account))?;
        Some(format!(
            "{} open orders are at the provider account `{}`, which is not configured. Their cards \
             are looked up in that account only: configure it again until the orders are complete. \
             If only the key of the same account was replaced, set provider.account = \"{}\".",
            open.count,
            account.0,
            account.name()
        ))
    });
    let money = open.iter().filter(|open| !is_served(&config.payments, open.tender, open.network));
    let money = money.map(|open| {
        let (count, network) = (open.count, open.network.caip2());
        let rail = match open.tender {
            TenderKind::X402 => "x402",
            TenderKind::Mpp => "MPP",
        };
        format!(
            "{count} open orders were paid by {rail} on {network}, which is not configured. Their \
             payments cannot be looked up: configure it again until the orders are complete."
        )
    });
    cards.chain(money).collect()
}

/// Whether the configured provider is this account. The sandbox has another one at each start.
fn is_configured(config: &Config, account: &ProviderAccount) -> bool {
    let configured = match &config.provider {
        ProviderConfig::Disabled => None,
        ProviderConfig::Sandbox(_) => return account.0.contains(" http://127.0.0.1:"),
        ProviderConfig::ThanksIo(chosen) => HttpUrl::parse(thanks_io::BASE).ok().map(|base| {
            thanks_io::account(&base, chosen.token.reveal(), chosen.account.as_deref())
        }),
        ProviderConfig::Lob(chosen) => HttpUrl::parse(lob::BASE)
            .ok()
            .map(|base| lob::account(&base, chosen.key.reveal(), chosen.account.as_deref())),
    };
    configured.as_ref() == Some(account)
}

fn is_served(payments: &PaymentsConfig, tender: TenderKind, network: Network) -> bool {
    let settled = match (payments, tender) {
        (PaymentsConfig::Disabled, _) => false,
        (PaymentsConfig::Sandbox | PaymentsConfig::Settler(_), _)
        | (PaymentsConfig::Facilitator(_), TenderKind::X402) => true,
        (PaymentsConfig::Facilitator(chosen), TenderKind::Mpp) => chosen.settler_key.is_some(),
    };
    let nodes = payments.nodes();
    let known = nodes.is_none_or(|nodes| nodes.0.iter().any(|(known, _)| *known == network));
    settled && known
}

#[cfg(test)]
#[cfg(feature = "sandbox")]
mod tests {
    use super::*;
    use crate::config::load;

    fn open(account: &str, tender: TenderKind, network: Network) -> OpenOrders {
        OpenOrders { account: Some(ProviderAccount(account.into())), tender, network, count: 3 }
    }

    #[test]
    fn orders_at_another_account_cause_a_warning_and_those_of_the_sandbox_do_not() {
        let config = load::read(None).outcome.unwrap();
        let sandbox = "thanks.io http://127.0.0.1:4711 0123456789ab";
        let known = open(sandbox, TenderKind::X402, Network::Polygon);
        assert_eq!(warnings(&config, &[known]), Vec::<String>::new());
        let lob = "lob https://api.lob.com 0123456789ab";
        let warnings = warnings(&config, &[open(lob, TenderKind::Mpp, Network::Base)]);
        assert!(warnings.len() == 1 && warnings[0].contains(lob), "{warnings:?}");
        assert!(warnings[0].contains("provider.account = \"0123456789ab\""), "{warnings:?}");
        let closed = is_served(&PaymentsConfig::Disabled, TenderKind::X402, Network::Base);
        assert!(!closed);
    }

    #[test]
    fn a_replaced_key_belongs_to_the_same_account_if_the_operator_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pennyblack.toml");
        let config = |account: &str| {
            let text = format!(
                "[provider]\nkind = 'lob'\ndomestic_cents = 87\ninternational_cents = 185\n{account}\
                 [sandbox]\nmixed = 'yes'\n"
            );
            std::fs::write(&file, text).unwrap();
            load::read_with(Some(&file), &[("PENNYBLACK_PROVIDER_TOKEN", "live_new")])
                .outcome
                .unwrap()
        };
        let base = HttpUrl::parse(lob::BASE).unwrap();
        let old = lob::account(&base, "live_old", None);
        assert!(!is_configured(&config(""), &old));
        let named = format!("account = '{}'\n", old.name());
        assert!(is_configured(&config(&named), &old));
        assert!(is_configured(&config(""), &lob::account(&base, "live_new", None)));
    }
}
