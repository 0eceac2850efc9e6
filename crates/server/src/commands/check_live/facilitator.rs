//! Checks a remote facilitator: whether it settles our payments on the configured networks.

use std::sync::Arc;

use adapters::facilitator::{RemoteFacilitator, SupportedReply};
use adapters::http::HttpClient;
use order::model::chain::Network;
use order::ports::Clock;
use pay::x402::settler::{GasSponsoring, Permit2Settler};

use super::report::LiveCheck;
use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::config::values::ReportText;
use crate::wiring::payments;

const SUBJECT: &str = "facilitator";

/// Nothing if no facilitator is configured.
pub(super) async fn check(
    config: &Config,
    client: &HttpClient,
    clock: &Arc<dyn Clock>,
) -> Vec<LiveCheck> {
    let chosen = match &config.payments {
        PaymentsConfig::Facilitator(chosen) => chosen,
        PaymentsConfig::Disabled | PaymentsConfig::Sandbox | PaymentsConfig::Settler(_) => {
            return Vec::new();
        }
    };
    let host = chosen.address.host();
    let facilitator = match payments::connect_facilitator(chosen, client, clock.clone()) {
        Ok(facilitator) => facilitator,
        Err(fault) => {
            let remedy = "Check the settings in [payments].";
            return vec![LiveCheck::fail(SUBJECT, fault.trim_end_matches('.'), remedy)];
        }
    };
    match facilitator.refresh().await {
        SupportedReply::Good(_) => {}
        SupportedReply::Bad { .. } => {
            return vec![LiveCheck::fail(
                SUBJECT,
                format!("{host} has no usable answer to /supported"),
                "Check payments.facilitator, its key, and whether this machine reaches it.",
            )];
        }
    }
    let mut checks = vec![LiveCheck::ok(SUBJECT, format!("{host} lists what it supports"))];
    checks.extend(
        Network::ALL
            .into_iter()
            .filter_map(|network| check_network(config, &facilitator, network, host)),
    );
    checks
}

fn check_network(
    config: &Config,
    facilitator: &RemoteFacilitator,
    network: Network,
    host: &str,
) -> Option<LiveCheck> {
    let subject = format!("{}: facilitator", network.report_text());
    match (facilitator.support(network), config.payments.has_node(network)) {
        (Some(support), true) => {
            let permits = match support.sponsoring {
                GasSponsoring::Offered => "with",
                GasSponsoring::NotOffered => "without",
            };
            let found = format!(
                "settles the scheme upto from {}, {permits} sponsored allowances",
                support.facilitator
            );
            Some(LiveCheck::ok(subject, found))
        }
        (Some(_), false) => Some(LiveCheck::warn(
            subject,
            "payments here are offered, and no node of yours verifies them",
            "Set a node of this network in payments.rpc.",
        )),
        (None, true) => Some(LiveCheck::fail(
            subject,
            format!("{host} does not list x402 version 2, scheme upto, on {}", network.caip2()),
            "x402 is not sold here. Set another payments.facilitator, or remove the network from \
             payments.rpc.",
        )),
        (None, false) => None,
    }
}
