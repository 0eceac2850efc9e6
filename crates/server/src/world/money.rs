//! Opens the way to whoever carries payments to the chain.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use adapters::facilitator::{self, CdpKey, Deadlines, RemoteFacilitator};
use adapters::http::{Address, Client};
use adapters::rpc::Node;
use adapters::settlement::outbox::Outbox;
use adapters::settlement::{self, RECEIPT_TIME, Settler};
use order::model::chain::Network;
use order::ports::Clock;
use sandbox::chain::Chains;
use zeroize::Zeroizing;

use super::{Carriers, Miniature};
use crate::config::Config;
use crate::config::gas::Gas;
use crate::config::paying::{self, NetworkNodes, Paying};

/// Who carries payments, or nobody. A facilitator elsewhere carries x402 alone; with a
/// key of ours we carry for MPP beside it.
pub(super) fn open(
    config: &Config,
    miniature: &Miniature,
    client: Client,
    outbox: &Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
) -> Result<Carriers, String> {
    match (&config.paying, &miniature.chains) {
        (Paying::Nobody, _) | (Paying::Sandbox, None) => Ok(Carriers::default()),
        (Paying::Sandbox, Some(chains)) => {
            let key = chains.faucet().settler().reveal();
            let settler = own(&key, nodes_of(chains, &client)?, &config.gas, outbox, clock)?;
            Ok(Carriers { x402: Some(settler.clone()), mpp: Some(settler) })
        }
        (Paying::Settler(chosen), _) => {
            let settler = own(
                chosen.key.reveal(),
                nodes(&chosen.nodes, &client),
                &config.gas,
                outbox,
                clock,
            )?;
            Ok(Carriers { x402: Some(settler.clone()), mpp: Some(settler) })
        }
        (Paying::Facilitator(chosen), _) => {
            let mut carriers = Carriers::default();
            if let Some(key) = &chosen.settler_key {
                let nodes = nodes(&chosen.nodes, &client);
                carriers.mpp = Some(own(key.reveal(), nodes, &config.gas, outbox, clock.clone())?);
            }
            carriers.x402 = Some(remote(chosen, &config.server.data, client, clock)?);
            Ok(carriers)
        }
    }
}

/// Our own settler.
fn own(
    key: &str,
    nodes: BTreeMap<Network, Node>,
    gas: &Gas,
    outbox: &Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
) -> Result<Arc<Settler>, String> {
    let serving = |(network, node)| (network, (node, gas.limits(network)));
    let settings = settlement::Settings {
        key: key_bytes(key).ok_or(NOT_A_KEY)?,
        networks: nodes.into_iter().map(serving).collect(),
        contract_wallets: gas.contract_wallets,
        receipt_time: RECEIPT_TIME,
        outbox: outbox.clone(),
        clock,
    };
    let settler = Settler::start(settings).map_err(|_| NOT_A_KEY)?;
    Ok(Arc::new(settler))
}

const NOT_A_KEY: &str = "PENNYBLACK_SETTLER_KEY is not a private key of this curve. Make another \
     with `openssl rand -hex 32`.";

/// A facilitator elsewhere, which is asked at once and from then on what it serves. Until it
/// answers, the list from before the restart holds.
fn remote(
    chosen: &paying::Facilitator,
    data: &Path,
    client: Client,
    clock: Arc<dyn Clock>,
) -> Result<Arc<RemoteFacilitator>, String> {
    let key = chosen.key.as_ref().map(|key| {
        let made = CdpKey::new(&key.name.0, key.secret.reveal());
        made.map_err(|fault| format!("PENNYBLACK_FACILITATOR_SECRET is not taken: {fault}"))
    });
    let settings = facilitator::Settings {
        base: chosen.address.clone(),
        key: key.transpose()?,
        nodes: nodes(&chosen.nodes, &client),
        deadlines: Deadlines::DEFAULT,
    };
    for network in Network::ALL.into_iter().filter(|network| !settings.nodes.contains_key(network))
    {
        tracing::warn!(
            %network,
            "No node is set for this network: a payment on it is taken by the facilitator's word"
        );
    }
    let facilitator = RemoteFacilitator::new(settings, client, clock).saving_in(data);
    let facilitator = Arc::new(facilitator);
    let asking = facilitator.clone();
    tokio::spawn(async move { asking.keep_fresh().await });
    Ok(facilitator)
}

pub(super) fn nodes(chosen: &NetworkNodes, client: &Client) -> BTreeMap<Network, Node> {
    let node = |(network, address): &(Network, Address)| {
        (*network, Node::new(client.clone(), address.clone(), network.chain_id()))
    };
    chosen.0.iter().map(node).collect()
}

fn nodes_of(chains: &Chains, client: &Client) -> Result<BTreeMap<Network, Node>, String> {
    let node = |network: Network| {
        let address = Address::parse(&chains.rpc_url(network));
        let address = address.map_err(|fault| format!("the sandbox's address: {fault}"))?;
        Ok((network, Node::new(client.clone(), address, network.chain_id())))
    };
    Network::ALL.into_iter().map(node).collect()
}

fn key_bytes(digits: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits = digits.trim_start_matches("0x");
    let mut bytes = Zeroizing::new([0; 32]);
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}
