//! Checks the nodes of the payment networks.

use std::collections::BTreeMap;
use std::num::NonZero;

use adapters::http::{HttpClient, HttpUrl};
use adapters::permit2::{PERMIT2, UPTO_PROXY};
use adapters::rpc::Node;
use order::model::chain::Network;
use order::ports::Clock;

use super::chain_node::CheckedNode;
use super::gas;
use super::report::LiveCheck;
use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::config::values::ReportText;
use crate::wiring::payments;
use crate::wiring::sandbox_endpoints::SandboxEndpoints;

const SUBJECT: &str = "payments";
const SETTING: &str = "payments.rpc";

pub(super) async fn check(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: &HttpClient,
    clock: &dyn Clock,
) -> Vec<LiveCheck> {
    let nodes = match configured(config, sandbox, client) {
        Ok(nodes) => nodes,
        Err(reason) => return vec![LiveCheck::skip(SUBJECT, reason)],
    };
    let mut checks = Vec::new();
    for (network, (host, node)) in nodes {
        let name = network.report_text();
        let node = CheckedNode { node, host, name, setting: SETTING, clock };
        checks.extend(check_network(config, network, &node).await);
    }
    checks
}

async fn check_network(
    config: &Config,
    network: Network,
    node: &CheckedNode<'_>,
) -> Vec<LiveCheck> {
    let mut checks = Vec::new();
    let Some(head) = node.reach(&mut checks).await else { return checks };
    // A rehearsal's clock is ahead of this machine's by design.
    if config.sandbox.speed == NonZero::<u32>::MIN {
        checks.push(node.clock(&head));
    }
    checks.push(node.finalized().await);
    checks.push(node.state(&head, network.usdc()).await);
    checks.push(node.logs(&head, network.usdc()).await);
    for (what, contract) in
        [("USDC", network.usdc()), ("Permit2", PERMIT2), ("x402 proxy", UPTO_PROXY)]
    {
        checks.push(node.contract(what, contract).await);
    }
    checks.push(gas::check(config, network, node).await);
    checks
}

/// The nodes with their hosts, or why there are none.
fn configured(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: &HttpClient,
) -> Result<BTreeMap<Network, (String, Node)>, String> {
    let nodes = match (&config.payments, &sandbox.chains) {
        (PaymentsConfig::Disabled, _) => return Err("payments.kind is none".to_owned()),
        (PaymentsConfig::Sandbox, None) => {
            return Err("the sandbox's chain does not run in this data folder".to_owned());
        }
        (PaymentsConfig::Sandbox, Some(chains)) => payments::emulated_nodes(chains, client)?,
        (PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_), _) => {
            let nodes = config.payments.nodes();
            nodes.map(|nodes| payments::nodes(nodes, client)).unwrap_or_default()
        }
    };
    let host = |network: Network| {
        let named = config.payments.nodes().into_iter().flat_map(|nodes| &nodes.0);
        let mut named = named.filter(|(known, _)| *known == network);
        named.next().map_or("the sandbox", |(_, url)| HttpUrl::host(url)).to_owned()
    };
    Ok(nodes.into_iter().map(|(network, node)| (network, (host(network), node))).collect())
}
