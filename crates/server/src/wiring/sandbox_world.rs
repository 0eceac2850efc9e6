//! Starts the emulated services that the configuration uses. Only this file uses the crate `sandbox`.

use std::io;
use std::sync::Arc;

use adapters::http::HttpUrl;
use order::model::chain::Network;
use order::ports::Clock;
use sandbox::chain::{self, ChainEmulator, ChainId, NameRecord, UNIVERSAL_RESOLVER, coin_type};
use sandbox::payee::payee;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::state::settings::{ProviderSettings, SANDBOX_TOKEN};
use zeroize::Zeroizing;

use crate::config::Config;
use crate::config::names::NamesConfig;
use crate::config::provider::ProviderConfig;
use crate::wiring::chain_url_file;
use crate::wiring::sandbox_endpoints::{ChainEndpoints, ProviderEndpoint, SandboxEndpoints};

/// The emulators that run in this process.
pub(super) struct SandboxWorld {
    provider: Option<ProviderEmulator>,
    chains: Option<ChainEmulator>,
}

/// The error text contains the cause and the remedy.
pub(super) async fn open(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> Result<(SandboxWorld, SandboxEndpoints), String> {
    let port = config.sandbox.port;
    start(config, clock).await.map_err(|error| {
        format!(
            "the sandbox cannot listen on port {port} of this machine: {error}. Set another \
             sandbox.port, or 0 for any free port."
        )
    })
}

impl SandboxWorld {
    pub(super) async fn close(self) {
        if let Some(provider) = self.provider {
            // The process ends, and the emulator stores nothing.
            let _ = provider.close().await;
        }
        if let Some(chains) = self.chains {
            chains.close().await;
        }
    }
}

/// The emulated services of a service that runs already: its chains, from the file in the data
/// folder, and a provider emulator that the configuration names.
pub(crate) fn running(config: &Config) -> SandboxEndpoints {
    let chains = match config.names {
        NamesConfig::Sandbox => chain_url_file::read(&config.server.data),
        NamesConfig::Ens(_) => None,
    };
    let provider = match config.provider {
        ProviderConfig::Sandbox(_) => config.sandbox.provider.as_ref().map(external_provider),
        ProviderConfig::Disabled | ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_) => None,
    };
    SandboxEndpoints { provider, chains: chains.map(running_chains) }
}

/// Its settler's key is not known outside of the service.
fn running_chains(origin: String) -> ChainEndpoints {
    let rpc_url = |network: Network| (network, format!("{origin}/{}", network.chain_id()));
    ChainEndpoints {
        ethereum_rpc_url: format!("{origin}/{}", ChainId::Ethereum.number()),
        rpc_urls: Network::ALL.into_iter().map(rpc_url).collect(),
        universal_resolver: UNIVERSAL_RESOLVER,
        settler_key: Zeroizing::default(),
        origin,
    }
}

async fn start(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> io::Result<(SandboxWorld, SandboxEndpoints)> {
    let (provider, provider_endpoint) = match (&config.provider, &config.sandbox.provider) {
        (ProviderConfig::Sandbox(_), Some(url)) => (None, Some(external_provider(url))),
        (ProviderConfig::Sandbox(_), None) => {
            let settings =
                ProviderSettings { port: config.sandbox.port, ..ProviderSettings::default() };
            let provider = ProviderEmulator::open(settings).await?;
            let endpoint = provider_endpoint(&provider);
            (Some(provider), Some(endpoint))
        }
        (ProviderConfig::Disabled | ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_), _) => {
            (None, None)
        }
    };
    let chains = match config.names {
        NamesConfig::Sandbox => {
            let chains = ChainEmulator::open(chain::ChainSettings::new(clock)).await?;
            register_sellers(config, &chains);
            Some(chains)
        }
        NamesConfig::Ens(_) => None,
    };
    let endpoints = SandboxEndpoints {
        provider: provider_endpoint,
        chains: chains.as_ref().map(chain_endpoints),
    };
    Ok((SandboxWorld { provider, chains }, endpoints))
}

fn provider_endpoint(provider: &ProviderEmulator) -> ProviderEndpoint {
    ProviderEndpoint {
        base_url: provider.base_url(),
        mailbox_url: provider.mailbox_url(),
        token: provider.token(),
    }
}

/// An emulator that another process started, and that it closes.
fn external_provider(url: &HttpUrl) -> ProviderEndpoint {
    ProviderEndpoint {
        base_url: url.origin(),
        mailbox_url: format!("{}/", url.origin()),
        token: SANDBOX_TOKEN.to_owned(),
    }
}

fn chain_endpoints(chains: &ChainEmulator) -> ChainEndpoints {
    let rpc_url = |network| (network, chains.rpc_url(network));
    ChainEndpoints {
        origin: chains.origin(),
        ethereum_rpc_url: chains.rpc_url(ChainId::Ethereum),
        rpc_urls: Network::ALL.into_iter().map(rpc_url).collect(),
        universal_resolver: UNIVERSAL_RESOLVER,
        settler_key: Zeroizing::new(chains.faucet().settler().reveal().to_string()),
    }
}

/// Every seller has a name, which resolves to a burn address (no known key).
fn register_sellers(config: &Config, chains: &ChainEmulator) {
    let payees = Network::ALL.map(|network| (coin_type(network), payee()));
    let parent = &config.sellers.parent;
    for seller in config.sellers.enabled.iter().chain([&config.sellers.default]) {
        chains.set_name(&format!("{seller}.{parent}"), NameRecord::OnChain(payees.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::values::SANDBOX_PAYEE;

    #[test]
    fn the_configured_default_payee_is_that_of_the_sandbox() {
        assert_eq!(payee().to_string(), SANDBOX_PAYEE);
    }
}
