//! Opens what reads USDC transfers, for refunds and audits.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::transfers::NodeTransfers;
use order::operator::transfers::UsdcTransfers;

use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::wiring::external_services::ExternalServices;
use crate::wiring::payments;

/// Reads from the nodes of the configured networks, or of the sandbox. Without a node, it knows
/// no network.
pub(crate) fn transfers(config: &Config, services: &ExternalServices) -> Arc<dyn UsdcTransfers> {
    let nodes = match (&config.payments, &services.sandbox.chains) {
        (PaymentsConfig::Sandbox, Some(chains)) => {
            // An invalid URL was reported when the settler was opened.
            payments::emulated_nodes(chains, &services.client).unwrap_or_default()
        }
        (PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_), _) => {
            let nodes = config.payments.nodes();
            nodes.map(|nodes| payments::nodes(nodes, &services.client)).unwrap_or_default()
        }
        (PaymentsConfig::Disabled, _) | (PaymentsConfig::Sandbox, None) => BTreeMap::new(),
    };
    Arc::new(NodeTransfers::new(nodes))
}
