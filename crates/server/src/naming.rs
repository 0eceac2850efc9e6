//! Opens the name service that the configuration names.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::ens::{Ens, MainnetAccounts, Nodes, Settings};
use adapters::http::{Address, Client, NoClient, Reach};
use adapters::rpc::Node;
use order::ports::{Clock, NameService};

use crate::config::Config;
use crate::config::naming::{self, MainnetEoa, Naming, NodeAddresses};

/// Where `.eth` names live.
const MAINNET: u64 = 1;

/// None if there is nobody to ask.
pub(crate) fn open(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> Result<Option<Arc<dyn NameService>>, String> {
    match &config.names {
        Naming::Sandbox => Ok(None),
        Naming::Ens(ens) => {
            let parent = config.sellers.parent.to_string();
            let opened = settings(ens, parent).and_then(|settings| Ens::new(settings, clock));
            let ens = opened.map_err(|fault| format!("Cannot start: {fault}\n"))?;
            Ok(Some(Arc::new(ens)))
        }
    }
}

fn settings(ens: &naming::Ens, parent: String) -> Result<Settings, NoClient> {
    let client = Client::new(Reach::Configured)?;
    let node = |address: &Address| Node::new(client.clone(), address.clone(), MAINNET);
    let NodeAddresses { first, second } = &ens.nodes;
    Ok(Settings {
        parent,
        nodes: Nodes { first: node(first), second: second.as_ref().map(node) },
        universal_resolver: ens.universal_resolver,
        block_tag: ens.block_tag,
        gateways: ens.gateways.clone(),
        mainnet: match ens.mainnet_eoa {
            // Nodes of the other networks come with the settings of payment.
            MainnetEoa::Allowed => MainnetAccounts::IfPlain(BTreeMap::new()),
            MainnetEoa::Refused => MainnetAccounts::Never,
        },
    })
}
