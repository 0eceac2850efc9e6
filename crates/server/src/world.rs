//! The outside: each part of it that the configuration names, real or of the sandbox.

use std::io;
use std::sync::Arc;

use adapters::http::{Address, Client, NoClient, Reach};
use order::ports::{Clock, NameService, Provider};
use pay::{mpp, x402};
use sandbox::chain::Chains;
use sandbox::provider::PostOffice;
use sandbox::provider::settings::SANDBOX_TOKEN;

use crate::config::Config;
use crate::storage::OpenStore;

mod miniature;
mod money;
mod names;
mod post;
pub(crate) mod signpost;

/// Everybody outside who is spoken to.
pub(crate) struct World {
    pub(crate) names: Arc<dyn NameService>,
    pub(crate) provider: Option<Handles>,
    pub(crate) carriers: Carriers,
    /// The parts of the sandbox that run in this process.
    pub(crate) miniature: Miniature,
}

/// Who carries payments to the chain, for each way of paying.
#[derive(Default)]
pub(crate) struct Carriers {
    pub(crate) x402: Option<Arc<dyn x402::facilitator::Facilitator>>,
    pub(crate) mpp: Option<Arc<dyn mpp::facilitator::Facilitator>>,
}

/// The provider under its three names: who pays comes first, who clears up
/// second, who only looks last.
pub(crate) struct Handles {
    pub(crate) paid: Arc<dyn Provider>,
    pub(crate) rounds: Arc<dyn Provider>,
    pub(crate) previews: Arc<dyn Provider>,
}

/// What of the world in miniature is open.
#[derive(Default)]
pub(crate) struct Miniature {
    pub(crate) post_office: Option<Office>,
    pub(crate) chains: Option<Chains>,
}

/// The sandbox's post office.
pub(crate) enum Office {
    Ours(PostOffice),
    /// One that somebody else has opened, and closes.
    Elsewhere(Address),
}

impl Office {
    /// Without a slash at the end.
    pub(crate) fn base_url(&self) -> String {
        match self {
            Self::Ours(office) => office.base_url(),
            Self::Elsewhere(address) => address.origin(),
        }
    }

    pub(crate) fn mailbox_url(&self) -> String {
        match self {
            Self::Ours(office) => office.mailbox_url(),
            Self::Elsewhere(address) => format!("{}/", address.origin()),
        }
    }

    fn token(&self) -> String {
        match self {
            Self::Ours(office) => office.token(),
            Self::Elsewhere(_) => SANDBOX_TOKEN.to_owned(),
        }
    }
}

impl World {
    /// Says in words what is wrong and what to do about it.
    pub(crate) async fn open(
        config: &Config,
        store: &OpenStore,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let complain = |words: String| format!("Cannot start: {words}\n");
        let miniature = miniature::open(config, clock.clone()).await;
        let miniature = miniature.map_err(|error| complain(about_sandbox(config, &error)))?;
        let client = Client::new(Reach::Configured);
        let client = client.map_err(|error: NoClient| complain(error.to_string()))?;
        let names = names::open(config, &miniature, &client, clock.clone()).map_err(complain)?;
        let provider = post::open(config, store, &miniature, client.clone(), clock.clone()).await;
        let provider = provider.map_err(complain)?;
        let carriers =
            money::open(config, &miniature, client, &store.outbox(), clock).map_err(complain)?;
        Ok(Self { names, provider, carriers, miniature })
    }

    pub(crate) async fn close(self) {
        let Miniature { post_office, chains } = self.miniature;
        match post_office {
            Some(Office::Ours(office)) => {
                // Nobody is left to be told, and nothing was kept.
                let _ = office.close().await;
            }
            Some(Office::Elsewhere(_)) | None => {}
        }
        if let Some(chains) = chains {
            chains.close().await;
        }
    }
}

fn about_sandbox(config: &Config, error: &io::Error) -> String {
    let port = config.sandbox.port;
    format!(
        "the sandbox cannot listen on port {port} of this machine: {error}. Name another one in \
         sandbox.port, or 0 for any."
    )
}
