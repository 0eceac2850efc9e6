//! The services that the configuration names, real or emulated: name service, provider, settlement.

use std::sync::Arc;

use adapters::http::{HostPolicy, HttpClient, HttpClientError, OutsideOutcome};
use adapters::rpc;
use order::ports::{Clock, NameService};
use web::routes::health::{Dependencies, LastCall, LastCallReader};

use crate::config::Config;
use crate::wiring::names;
use crate::wiring::payments::{self, Settlers};
use crate::wiring::provider::{self, ProviderHandles};
use crate::wiring::sandbox_endpoints::SandboxEndpoints;
use crate::wiring::sandbox_world::{self, SandboxWorld};
use crate::wiring::storage::OpenStore;

pub(crate) struct ExternalServices {
    pub(crate) names: Arc<dyn NameService>,
    pub(crate) provider: Option<ProviderHandles>,
    pub(crate) settlers: Settlers,
    pub(crate) sandbox: SandboxEndpoints,
    /// Makes every call to the provider, a facilitator and the nodes.
    pub(crate) client: HttpClient,
    emulators: SandboxWorld,
}

impl ExternalServices {
    /// The error text contains the cause and the remedy.
    pub(crate) async fn open(
        config: &Config,
        store: &OpenStore,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let cannot_start = |cause: String| format!("Cannot start: {cause}\n");
        let opened = sandbox_world::open(config, clock.clone()).await;
        let (emulators, sandbox) = opened.map_err(cannot_start)?;
        let client = HttpClient::new(HostPolicy::Configured);
        let client = client.map_err(|error: HttpClientError| cannot_start(error.to_string()))?;
        let names = names::open(config, &sandbox, &client, clock.clone()).map_err(cannot_start)?;
        let provider = provider::open(config, store, &sandbox, client.clone(), clock.clone()).await;
        let provider = provider.map_err(cannot_start)?;
        let settlers = payments::open(config, &sandbox, client.clone(), &store.outbox(), clock);
        let settlers = settlers.map_err(cannot_start)?;
        Ok(Self { names, provider, settlers, sandbox, client, emulators })
    }

    /// What `/readyz` reports.
    pub(crate) fn dependencies(&self) -> Dependencies {
        let provider = self.provider.as_ref().map(|provider| self.last_call(provider.peer));
        Dependencies { node: Some(self.last_call(rpc::PEER)), provider }
    }

    fn last_call(&self, peer: &'static str) -> LastCallReader {
        let client = self.client.clone();
        Arc::new(move || match client.last_outcome(peer) {
            None => LastCall::NotMade,
            Some(OutsideOutcome::Answered) => LastCall::Answered,
            Some(OutsideOutcome::Refused) => LastCall::Refused,
            Some(OutsideOutcome::Lost) => LastCall::Lost,
        })
    }

    pub(crate) async fn close(self) {
        self.emulators.close().await;
    }
}
