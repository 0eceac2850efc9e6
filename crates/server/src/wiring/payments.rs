//! Opens what settles payments on chain: our own settler, or a facilitator.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::facilitator::{self, CdpKey, Deadlines, RemoteFacilitator};
use adapters::http::{HttpClient, HttpUrl};
use adapters::rpc::Node;
use adapters::settlement::outbox::Outbox;
use adapters::settlement::{self, RECEIPT_TIME, Settler};
use order::model::chain::{EvmAddress, Network};
use order::ports::Clock;
use pay::{mpp, x402};
use zeroize::Zeroizing;

use crate::config::Config;
use crate::config::payments::gas::GasConfig;
use crate::config::payments::{FacilitatorConfig, NetworkNodes, PaymentsConfig};
use crate::wiring::sandbox_endpoints::{ChainEndpoints, SandboxEndpoints};

/// What settles payments, for each protocol.
#[derive(Default)]
pub(crate) struct Settlers {
    pub(crate) x402: Option<Arc<dyn x402::settler::Permit2Settler>>,
    pub(crate) mpp: Option<Arc<dyn mpp::settler::TransferSettler>>,
    /// The account of our own settler, which pays gas.
    pub(crate) account: Option<EvmAddress>,
}

impl Settlers {
    /// Our own settler for both protocols.
    fn both(settler: Arc<Settler>) -> Self {
        let account = Some(settler.address());
        Self { x402: Some(settler.clone()), mpp: Some(settler), account }
    }
}

/// A remote facilitator settles x402 only; with a settler key, our own settler settles MPP.
pub(super) fn open(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: HttpClient,
    outbox: &Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
) -> Result<Settlers, String> {
    match (&config.payments, &sandbox.chains) {
        (PaymentsConfig::Disabled, _) | (PaymentsConfig::Sandbox, None) => Ok(Settlers::default()),
        (PaymentsConfig::Sandbox, Some(chains)) => {
            let nodes = emulated_nodes(chains, &client)?;
            let settler = own(&chains.settler_key, nodes, &config.gas, outbox, clock)?;
            Ok(Settlers::both(settler))
        }
        (PaymentsConfig::Settler(chosen), _) => {
            let settler = own(
                chosen.key.reveal(),
                nodes(&chosen.nodes, &client),
                &config.gas,
                outbox,
                clock,
            )?;
            Ok(Settlers::both(settler))
        }
        (PaymentsConfig::Facilitator(chosen), _) => {
            let mut settlers = Settlers::default();
            if let Some(key) = &chosen.settler_key {
                let nodes = nodes(&chosen.nodes, &client);
                let settler = own(key.reveal(), nodes, &config.gas, outbox, clock.clone())?;
                settlers.account = Some(settler.address());
                settlers.mpp = Some(settler);
            }
            settlers.x402 = Some(remote(config, chosen, &client, clock)?);
            Ok(settlers)
        }
    }
}

/// Our own settler.
fn own(
    key: &str,
    nodes: BTreeMap<Network, Node>,
    gas: &GasConfig,
    outbox: &Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
) -> Result<Arc<Settler>, String> {
    let with_limits = |(network, node)| (network, (node, gas.limits(network)));
    let settings = settlement::SettlerSettings {
        key: key_bytes(key).ok_or(NOT_A_KEY)?,
        networks: nodes.into_iter().map(with_limits).collect(),
        contract_wallets: gas.contract_wallets,
        receipt_time: RECEIPT_TIME,
        outbox: outbox.clone(),
        clock,
    };
    let settler = Settler::start(settings).map_err(|_| NOT_A_KEY)?;
    Ok(Arc::new(settler))
}

const NOT_A_KEY: &str = "PENNYBLACK_SETTLER_KEY is not a private key of secp256k1. Create \
     another with `openssl rand -hex 32`.";

/// Connects to a remote facilitator without a call.
pub(crate) fn connect_facilitator(
    chosen: &FacilitatorConfig,
    client: &HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<RemoteFacilitator, String> {
    let key = chosen.key.as_ref().map(|key| {
        let parsed = CdpKey::new(&key.name.0, key.secret.reveal());
        parsed.map_err(|fault| format!("PENNYBLACK_FACILITATOR_SECRET is invalid: {fault}"))
    });
    let settings = facilitator::FacilitatorSettings {
        base: chosen.address.clone(),
        key: key.transpose()?,
        nodes: nodes(&chosen.nodes, client),
        deadlines: Deadlines::DEFAULT,
    };
    Ok(RemoteFacilitator::new(settings, client.clone(), clock))
}

/// A remote facilitator. Its list of supported networks is read now and then refreshed; until the
/// first response, the list that was saved before the restart applies.
fn remote(
    config: &Config,
    chosen: &FacilitatorConfig,
    client: &HttpClient,
    clock: Arc<dyn Clock>,
) -> Result<Arc<RemoteFacilitator>, String> {
    let facilitator = connect_facilitator(chosen, client, clock)?;
    for network in Network::ALL.into_iter().filter(|network| !config.payments.has_node(*network)) {
        tracing::warn!(
            %network,
            "no node is configured for this network; the facilitator's settlements are not verified on chain"
        );
    }
    let facilitator = Arc::new(facilitator.saving_in(&config.server.data));
    let refreshed = facilitator.clone();
    tokio::spawn(async move { refreshed.keep_fresh().await });
    Ok(facilitator)
}

pub(crate) fn nodes(chosen: &NetworkNodes, client: &HttpClient) -> BTreeMap<Network, Node> {
    let node = |(network, address): &(Network, HttpUrl)| {
        (*network, Node::new(client.clone(), address.clone(), network.chain_id()))
    };
    chosen.0.iter().map(node).collect()
}

pub(crate) fn emulated_nodes(
    chains: &ChainEndpoints,
    client: &HttpClient,
) -> Result<BTreeMap<Network, Node>, String> {
    let node = |(network, url): (&Network, &String)| {
        let url = HttpUrl::parse(url);
        let url = url.map_err(|fault| format!("the sandbox's URL is invalid: {fault}"))?;
        Ok((*network, Node::new(client.clone(), url, network.chain_id())))
    };
    chains.rpc_urls.iter().map(node).collect()
}

/// The account of a settler key.
pub(crate) fn settler_account(key: &str) -> Result<EvmAddress, String> {
    Settler::account_of(&key_bytes(key).ok_or(NOT_A_KEY)?).map_err(|_| NOT_A_KEY.to_owned())
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
