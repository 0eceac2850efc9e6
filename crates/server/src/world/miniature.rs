//! Starts the parts of the sandbox that the configuration leaves to it.

use std::io;
use std::sync::Arc;

use order::model::chain::Network;
use order::ports::Clock;
use sandbox::chain::{self, Chains, Name, coin_type};
use sandbox::payee::payee;
use sandbox::provider::PostOffice;
use sandbox::provider::settings::Settings;

use super::{Miniature, Office};
use crate::config::Config;
use crate::config::naming::Naming;
use crate::config::posting::Posting;

pub(super) async fn open(config: &Config, clock: Arc<dyn Clock>) -> io::Result<Miniature> {
    let post_office = match (&config.posting, &config.sandbox.office) {
        (Posting::Sandbox(_), Some(address)) => Some(Office::Elsewhere(address.clone())),
        (Posting::Sandbox(_), None) => {
            let settings = Settings { port: config.sandbox.port, ..Settings::default() };
            Some(Office::Ours(PostOffice::open(settings).await?))
        }
        (Posting::Nobody | Posting::ThanksIo(_) | Posting::Lob(_), _) => None,
    };
    let chains = match config.names {
        Naming::Sandbox => {
            let chains = Chains::open(chain::Settings::new(clock)).await?;
            register(config, &chains);
            Some(chains)
        }
        Naming::Ens(_) => None,
    };
    Ok(Miniature { post_office, chains })
}

/// Every seller has a name, which leads to an account that nobody holds.
fn register(config: &Config, chains: &Chains) {
    let payees = Network::ALL.map(|network| (coin_type(network), payee()));
    let parent = &config.sellers.parent;
    for seller in config.sellers.enabled.iter().chain([&config.sellers.default]) {
        chains.set_name(&format!("{seller}.{parent}"), Name::OnChain(payees.into()));
    }
}
