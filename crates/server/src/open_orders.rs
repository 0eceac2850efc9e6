//! Warnings about open orders at a provider, account or network that is not configured any more.

use adapters::http::Address;
use adapters::provider::{lob, thanks_io};
use adapters::store::sqlite::SqliteStore;
use order::chain::Network;
use order::mail::ProviderAccount;
use order::payment::TenderKind;
use order::ports::{OpenOrders, Store};
use tracing::warn;

use crate::config::Config;
use crate::config::paying::Paying;
use crate::config::posting::Posting;
use crate::config::store_place::StorePlace;

/// Logs what this start leaves open.
pub(crate) async fn warn_at_start(config: &Config, store: &dyn Store) {
    match store.open_orders().await {
        Ok(open) => warnings(config, &open).iter().for_each(|warning| warn!("{warning}")),
        Err(_) => warn!("cannot tell whether orders are open at what is not configured any more"),
    }
}

/// What `check` can tell without opening the store: a SQLite file that no process has open.
pub(crate) fn warnings_of(config: &Config) -> Vec<String> {
    let open = match &config.server.store {
        StorePlace::Sqlite(path) => SqliteStore::open_orders_in(path),
        StorePlace::Postgres(_) => None,
    };
    warnings(config, &open.unwrap_or_default())
}

fn warnings(config: &Config, open: &[OpenOrders]) -> Vec<String> {
    let cards = open.iter().filter_map(|open| {
        let account = open.account.as_ref().filter(|account| !is_asked(config, account))?;
        Some(format!(
            "{} open orders are at the provider account `{}`, which is not configured. What became \
             of their cards is looked for there and nowhere else: configure it again until they \
             are at rest.",
            open.count, account.0
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
        Posting::ThanksIo(chosen) => Address::parse(thanks_io::BASE)
            .ok()
            .map(|base| thanks_io::account(&base, chosen.token.reveal())),
        Posting::Lob(chosen) => {
            Address::parse(lob::BASE).ok().map(|base| lob::account(&base, chosen.key.reveal()))
        }
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
        let closed = is_served(&Paying::Nobody, TenderKind::X402, Network::Base);
        assert!(!closed);
    }
}
