//! Opens the name service.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::ens::{AllowedGateway, Ens, EnsNodes, EnsSettings, MainnetAccounts};
use adapters::http::{HttpClient, HttpUrl};
use adapters::rpc::Node;
use order::model::chain::Network;
use order::model::evidence::BlockTag;
use order::ports::{Clock, NameService};

use crate::config::Config;
use crate::config::names::{EnsConfig, EthereumNodes, NamesConfig};
use crate::wiring::payments;
use crate::wiring::sandbox_endpoints::{ChainEndpoints, SandboxEndpoints};

/// The chain of `.eth` names.
pub(crate) const MAINNET: u64 = 1;

pub(crate) fn open(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: &HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn NameService>, String> {
    let parent = config.sellers.parent.to_string();
    let mut settings = match (&config.names, &sandbox.chains) {
        (NamesConfig::Ens(ens), _) => {
            let nodes = config.payments.nodes().map(|nodes| payments::nodes(nodes, client));
            real(ens, client, parent, nodes.unwrap_or_default())
        }
        (NamesConfig::Sandbox, Some(chains)) => emulated(chains, client, parent)?,
        (NamesConfig::Sandbox, None) => {
            return Err("the sandbox's chain is not running.".to_owned());
        }
    };
    settings.enabled.clone_from(&config.sellers.enabled);
    settings.enabled.push(config.sellers.default.clone());
    let ens = Ens::new(settings, clock).map_err(|fault| fault.to_string())?;
    Ok(Arc::new(ens))
}

fn real(
    ens: &EnsConfig,
    client: &HttpClient,
    parent: String,
    network_nodes: BTreeMap<Network, Node>,
) -> EnsSettings {
    let node = |address: &HttpUrl| Node::new(client.clone(), address.clone(), MAINNET);
    let EthereumNodes { first, second } = &ens.nodes;
    EnsSettings {
        parent,
        nodes: EnsNodes { first: node(first), second: second.as_ref().map(node) },
        universal_resolver: ens.universal_resolver,
        block_tag: ens.block_tag,
        gateways: ens.gateways.clone(),
        mainnet: if ens.mainnet_eoa {
            MainnetAccounts::IfPlain(network_nodes)
        } else {
            MainnetAccounts::Never
        },
        enabled: Vec::new(),
    }
}

/// The same adapter, on the emulated chain.
fn emulated(
    chains: &ChainEndpoints,
    client: &HttpClient,
    parent: String,
) -> Result<EnsSettings, String> {
    let rpc_url = HttpUrl::parse(&chains.ethereum_rpc_url)
        .map_err(|fault| format!("the sandbox's URL is invalid: {fault}"))?;
    let gateway = AllowedGateway::parse(&chains.origin);
    Ok(EnsSettings {
        parent,
        nodes: EnsNodes { first: Node::new(client.clone(), rpc_url, MAINNET), second: None },
        universal_resolver: chains.universal_resolver,
        block_tag: BlockTag::Safe,
        gateways: gateway.into_iter().collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    })
}
