//! Checks the name service: its nodes, and every seller's accounts.

use std::sync::Arc;

use adapters::http::{HttpClient, HttpUrl};
use adapters::rpc::Node;
use order::model::chain::Network;
use order::model::seller::Username;
use order::ports::{Clock, NameService, Purpose};

use super::chain_node::CheckedNode;
use super::report::LiveCheck;
use crate::config::Config;
use crate::config::names::{EnsConfig, NamesConfig};
use crate::config::values::ReportText;
use crate::wiring::names::{self, MAINNET};
use crate::wiring::sandbox_endpoints::SandboxEndpoints;

const SUBJECT: &str = "names";
const SETTING: &str = "names.rpc";

pub(super) async fn check(
    config: &Config,
    sandbox: &SandboxEndpoints,
    client: &HttpClient,
    clock: &Arc<dyn Clock>,
) -> Vec<LiveCheck> {
    let mut checks = Vec::new();
    match (&config.names, &sandbox.chains) {
        (NamesConfig::Ens(ens), _) => {
            if !check_nodes(ens, client, clock.as_ref(), &mut checks).await {
                checks.push(LiveCheck::skip("names: sellers", "a node has no usable answer"));
                return checks;
            }
        }
        (NamesConfig::Sandbox, Some(_)) => {}
        (NamesConfig::Sandbox, None) => {
            let reason = "the sandbox's chain does not run in this data folder";
            return vec![LiveCheck::skip(SUBJECT, reason)];
        }
    }
    let names = match names::open(config, sandbox, client, clock.clone()) {
        Ok(names) => names,
        Err(fault) => {
            let remedy = "Check the settings in [names].";
            checks.push(LiveCheck::fail(SUBJECT, fault.trim_end_matches('.'), remedy));
            return checks;
        }
    };
    let default = &config.sellers.default;
    let others = config.sellers.enabled.iter().filter(|seller| *seller != default);
    for seller in [default].into_iter().chain(others) {
        checks.push(check_seller(config, names.as_ref(), seller).await);
    }
    checks
}

/// Returns whether every node answers.
async fn check_nodes(
    ens: &EnsConfig,
    client: &HttpClient,
    clock: &dyn Clock,
    checks: &mut Vec<LiveCheck>,
) -> bool {
    let mut all_answer = true;
    let urls: Vec<&HttpUrl> =
        [Some(&ens.nodes.first), ens.nodes.second.as_ref()].into_iter().flatten().collect();
    for (place, url) in urls.into_iter().enumerate() {
        let node = CheckedNode {
            node: Node::new(client.clone(), url.clone(), MAINNET),
            host: url.host().to_owned(),
            name: format!("ethereum {}", place + 1),
            setting: SETTING,
            clock,
        };
        let Some(head) = node.reach(checks).await else {
            all_answer = false;
            continue;
        };
        checks.push(node.clock(&head));
        checks.push(node.finalized().await);
        checks.push(node.state(&head, ens.universal_resolver).await);
        checks.push(node.contract("the ENS resolver", ens.universal_resolver).await);
    }
    all_answer
}

async fn check_seller(config: &Config, names: &dyn NameService, seller: &Username) -> LiveCheck {
    let subject = format!("names: {seller}.{}", config.sellers.parent);
    let resolution = match names.resolve(seller, Purpose::Payment).await {
        Ok(Some(resolution)) => resolution,
        Ok(None) => {
            let remedy = "Set address records for this name, or remove the seller.";
            return LiveCheck::fail(subject, "has no account that can be paid", remedy);
        }
        Err(failure) => {
            let remedy = "Check the nodes in names.rpc and the hosts in names.gateways.";
            return LiveCheck::fail(
                subject,
                format!("is not resolved: {}", text(&failure)),
                remedy,
            );
        }
    };
    let accounts = resolution.payees();
    let missing: Vec<String> = Network::ALL
        .into_iter()
        .filter(|network| config.payments.has_node(*network) && accounts.on(*network).is_none())
        .map(|network| network.report_text())
        .collect();
    let one = |(network, account): (Network, _)| format!("{} {account}", network.report_text());
    let found: Vec<String> = accounts.iter().map(one).collect();
    let found = found.join(", ");
    if missing.is_empty() {
        return LiveCheck::ok(subject, found);
    }
    let networks = missing.join(", ");
    let remedy = format!("Set its address record for {networks}, or no payment is accepted there.");
    LiveCheck::warn(subject, found, remedy)
}

fn text(failure: &order::ports::Failure) -> &str {
    match failure {
        order::ports::Failure::Refused(text) | order::ports::Failure::Lost(text) => text,
    }
}
