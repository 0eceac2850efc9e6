//! Warnings about open orders at a provider, account or network that is not configured any more.

use adapters::http::Address;
use adapters::provider::{lob, thanks_io};
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::model::chain::Network;
use order::model::mail::ProviderAccount;
use order::model::payment::TenderKind;
use order::ports::{OpenOrders, Store};
use tokio::runtime::Builder;
use tracing::warn;

use crate::config::Config;
use crate::config::paying::Paying;
use crate::config::posting::Posting;
use crate::config::store_place::{PostgresPlace, StorePlace};

/// Logs what this start leaves open.
pub(crate) async fn warn_at_start(config: &Config, store: &dyn Store) {
    match store.open_orders().await {
        Ok(open) => warnings(config, &open).iter().for_each(|warning| warn!("{warning}")),
        Err(_) => warn!("cannot tell whether orders are open at what is not configured any more"),
    }
}

/// What `check` can tell without opening the store: of a SQLite file that no process has open,
/// or of a PostgreSQL database that answers. Neither is changed.
pub(crate) fn warnings_of(config: &Config) -> Vec<String> {
    let open = match &config.server.store {
        StorePlace::Sqlite(path) => Ok(SqliteStore::open_orders_in(path).unwrap_or_default()),
        StorePlace::Postgres(place) => read_postgres(place),
    };
    match open {
        Ok(open) => warnings(config, &open),
        Err(why) => vec![format!(
            "The database was not looked into, so open orders at a provider account or network \
             that is not configured are not named here: {why}."
        )],
    }
}

fn read_postgres(place: &PostgresPlace) -> Result<Vec<OpenOrders>, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let open = PostgresStore::open_orders_at(place.connection.reveal());
    runtime.block_on(open).map_err(|error| error.to_string())
}

fn warnings(config: &Config, open: &[OpenOrders]) -> Vec<String> {
    let cards = open.iter().filter_map(|open| {
        let account = open.account.as_ref().filter(|account| !is_asked(config, account))?;
        Some(format!(
            "{} open orders are at the provider account `{}`, which is not configured. What became \
             of their cards is looked for there and nowhere else: configure it again until they \
             are at rest. If only the key of the same account was replaced, set provider.account = \
             \"{}\".",
            open.count,
            account.0,
            account.name()
        ))
    });
    let money = open.iter().filter(|open| !is_served(&config.paying, open.tender, open.network));
    let money = money.map(|open| {
        let (count, network) = (open.count, open.network.caip2());
        let rail = match open.tender {
            TenderKind::X402 => "x402",
            TenderKind::Mpp => "MPP",
        };
        format!(
            "{count} open orders were paid by {rail} on {network}, which is not configured. Their \
             payments cannot be looked for: configure it again until they are at rest."
        )
    });
    cards.chain(money).collect()
}

/// Whether the configured provider is this account. The sandbox is another one at each start.
fn is_asked(config: &Config, account: &ProviderAccount) -> bool {
    let configured = match &config.posting {
        Posting::Nobody => None,
        Posting::Sandbox(_) => return account.0.contains(" http://127.0.0.1:"),
        Posting::ThanksIo(chosen) => Address::parse(thanks_io::BASE).ok().map(|base| {
            thanks_io::account(&base, chosen.token.reveal(), chosen.account.as_deref())
        }),
        Posting::Lob(chosen) => Address::parse(lob::BASE)
            .ok()
            .map(|base| lob::account(&base, chosen.key.reveal(), chosen.account.as_deref())),
    };
    configured.as_ref() == Some(account)
}

fn is_served(paying: &Paying, tender: TenderKind, network: Network) -> bool {
    let carried = match (paying, tender) {
        (Paying::Nobody, _) => false,
        (Paying::Sandbox | Paying::Settler(_), _) | (Paying::Facilitator(_), TenderKind::X402) => {
            true
        }
        (Paying::Facilitator(chosen), TenderKind::Mpp) => chosen.settler_key.is_some(),
    };
    let nodes = paying.nodes();
    let known = nodes.is_none_or(|nodes| nodes.0.iter().any(|(known, _)| *known == network));
    carried && known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(account: &str, tender: TenderKind, network: Network) -> OpenOrders {
        OpenOrders { account: Some(ProviderAccount(account.into())), tender, network, count: 3 }
    }

    #[test]
    fn orders_at_another_account_or_network_are_told_and_those_of_the_sandbox_are_not() {
        let config = crate::config::read(None).outcome.unwrap();
        let sandbox = "thanks.io http://127.0.0.1:4711 0123456789ab";
        let known = open(sandbox, TenderKind::X402, Network::Polygon);
        assert_eq!(warnings(&config, &[known]), Vec::<String>::new());
        let lob = "lob https://api.lob.com 0123456789ab";
        let warnings = warnings(&config, &[open(lob, TenderKind::Mpp, Network::Base)]);
        assert!(warnings.len() == 1 && warnings[0].contains(lob), "{warnings:?}");
        assert!(warnings[0].contains("provider.account = \"0123456789ab\""), "{warnings:?}");
        let closed = is_served(&Paying::Nobody, TenderKind::X402, Network::Base);
        assert!(!closed);
    }

    #[test]
    fn a_key_that_was_replaced_opens_the_same_account_if_the_operator_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pennyblack.toml");
        let config = |account: &str| {
            let text = format!(
                "[provider]\nkind = 'lob'\ndomestic_cents = 87\ninternational_cents = 185\n{account}\
                 [sandbox]\nmixed = 'yes'\n"
            );
            std::fs::write(&file, text).unwrap();
            crate::config::read_with(Some(&file), &[("PENNYBLACK_PROVIDER_TOKEN", "live_new")])
                .outcome
                .unwrap()
        };
        let base = Address::parse(lob::BASE).unwrap();
        let old = lob::account(&base, "live_old", None);
        assert!(!is_asked(&config(""), &old));
        let named = format!("account = '{}'\n", old.name());
        assert!(is_asked(&config(&named), &old));
        assert!(is_asked(&config(""), &lob::account(&base, "live_new", None)));
    }
}
