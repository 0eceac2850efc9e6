//! Opens the name service that the configuration names.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::ens::{Allowed, Ens, MainnetAccounts, Nodes, Settings};
use adapters::http::{Address, Client};
use adapters::rpc::Node;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::BlockTag;
use order::ports::{Clock, NameService};
use sandbox::chain::{ChainId, Chains, UNIVERSAL_RESOLVER};

use super::{Miniature, money};
use crate::config::Config;
use crate::config::naming::{self, Naming, NodeAddresses};
use crate::config::values::Answer;

/// Where `.eth` names live.
const MAINNET: u64 = 1;

pub(super) fn open(
    config: &Config,
    miniature: &Miniature,
    client: &Client,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn NameService>, String> {
    let parent = config.sellers.parent.to_string();
    let mut settings = match (&config.names, &miniature.chains) {
        (Naming::Ens(ens), _) => {
            let elsewhere = config.paying.nodes().map(|nodes| money::nodes(nodes, client));
            real(ens, client, parent, elsewhere.unwrap_or_default())
        }
        (Naming::Sandbox, Some(chains)) => of_sandbox(chains, client, parent)?,
        (Naming::Sandbox, None) => return Err("the sandbox's chain is not open.".to_owned()),
    };
    settings.enabled.clone_from(&config.sellers.enabled);
    settings.enabled.push(config.sellers.default.clone());
    let ens = Ens::new(settings, clock).map_err(|fault| fault.to_string())?;
    Ok(Arc::new(ens))
}

fn real(
    ens: &naming::Ens,
    client: &Client,
    parent: String,
    elsewhere: BTreeMap<Network, Node>,
) -> Settings {
    let node = |address: &Address| Node::new(client.clone(), address.clone(), MAINNET);
    let NodeAddresses { first, second } = &ens.nodes;
    Settings {
        parent,
        nodes: Nodes { first: node(first), second: second.as_ref().map(node) },
        universal_resolver: ens.universal_resolver,
        block_tag: ens.block_tag,
        gateways: ens.gateways.clone(),
        mainnet: match ens.mainnet_eoa {
            Answer::Yes => MainnetAccounts::IfPlain(elsewhere),
            Answer::No => MainnetAccounts::Never,
        },
        enabled: Vec::new(),
    }
}

/// The same adapter before the sandbox's chain, over the same HTTP.
fn of_sandbox(chains: &Chains, client: &Client, parent: String) -> Result<Settings, String> {
    let address = |text: &str| {
        Address::parse(text).map_err(|fault| format!("the sandbox's address is not taken: {fault}"))
    };
    let resolver: EvmAddress = UNIVERSAL_RESOLVER;
    let gateway = Allowed::parse(&chains.origin());
    Ok(Settings {
        parent,
        nodes: Nodes {
            first: Node::new(client.clone(), address(&chains.rpc_url(ChainId::Ethereum))?, MAINNET),
            second: None,
        },
        universal_resolver: resolver,
        block_tag: BlockTag::Safe,
        gateways: gateway.into_iter().collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    })
}
