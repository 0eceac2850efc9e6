//! Checks the settler's account: how many settlements its balance pays for.

use adapters::rpc::NodeError;
use order::model::chain::{EvmAddress, Network};

use super::chain_node::CheckedNode;
use super::report::LiveCheck;
use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::config::values::ReportText;
use crate::wiring::payments;

/// What a settlement takes, with some margin.
const GAS: u128 = 120_000;
const WEI_DECIMALS: usize = 18;
/// More says nothing about how long a balance lasts.
const SHOWN_DECIMALS: usize = 8;

pub(super) async fn check(config: &Config, network: Network, node: &CheckedNode<'_>) -> LiveCheck {
    let subject = format!("{}: gas", network.report_text());
    let key = match &config.payments {
        PaymentsConfig::Settler(settler) => Some(&settler.key),
        PaymentsConfig::Facilitator(facilitator) => facilitator.settler_key.as_ref(),
        PaymentsConfig::Sandbox => {
            return LiveCheck::skip(subject, "the sandbox creates its settler at start");
        }
        PaymentsConfig::Disabled => None,
    };
    let Some(key) = key else {
        return LiveCheck::skip(subject, "the facilitator pays for gas");
    };
    let account = match payments::settler_account(key.reveal()) {
        Ok(account) => account,
        Err(fault) => {
            let remedy = "Replace the key in PENNYBLACK_SETTLER_KEY.";
            return LiveCheck::fail(subject, fault.trim_end_matches('.'), remedy);
        }
    };
    match read(node, account).await {
        Ok((balance, price)) => {
            let low = config.gas.limits(network).low_balance;
            judge(subject, network, account, &GasFunds { balance, price, low })
        }
        Err(why) => LiveCheck::fail(
            subject,
            format!("{} does not name the balance and the fees: {why}", node.host),
            format!("Check the node in {}.", node.setting),
        ),
    }
}

/// The balance and the price of gas, in wei.
async fn read(node: &CheckedNode<'_>, account: EvmAddress) -> Result<(u128, u128), NodeError> {
    let balance = node.node.balance(account).await?;
    let fees = node.node.fee_history().await?;
    let tip = fees.tips.iter().copied().max().unwrap_or_default();
    Ok((balance, fees.next_base_fee.saturating_add(tip)))
}

/// All in wei.
struct GasFunds {
    balance: u128,
    price: u128,
    /// Below this balance the settler logs an alert.
    low: u128,
}

fn judge(subject: String, network: Network, account: EvmAddress, funds: &GasFunds) -> LiveCheck {
    let coin = match network {
        Network::Base | Network::Arbitrum => "ETH",
        Network::Polygon => "POL",
    };
    let count = funds.balance / funds.price.saturating_mul(GAS).max(1);
    let found =
        format!("{} {coin} at {account} pays for about {count} settlements", coins(funds.balance));
    let remedy = format!("Send {coin} to {account}.");
    if count == 0 {
        LiveCheck::fail(subject, found, remedy)
    } else if funds.balance < funds.low {
        LiveCheck::warn(subject, found, remedy)
    } else {
        LiveCheck::ok(subject, found)
    }
}

fn coins(wei: u128) -> String {
    let digits = format!("{wei:0>width$}", width = WEI_DECIMALS + 1);
    let (whole, rest) = digits.split_at(digits.len() - WEI_DECIMALS);
    format!("{whole}.{}", rest.get(..SHOWN_DECIMALS).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_is_judged_by_what_it_pays_for() {
        let account = EvmAddress::from_bytes([1; 20]);
        let line = |balance| {
            let funds = GasFunds { balance, price: 10, low: 5_000_000 };
            let check = judge("gas".to_owned(), Network::Polygon, account, &funds);
            super::super::report::table(&[check])
        };
        assert!(line(0).starts_with("FAIL  gas  0.00000000 POL at 0x0101"));
        assert!(line(1_199_999).starts_with("FAIL"));
        assert!(line(1_200_000).starts_with("WARN") && line(1_200_000).contains("about 1 sett"));
        assert!(line(5_000_000).starts_with("ok"));
        assert!(line(0).contains("Send POL to 0x0101"));
    }

    #[test]
    fn wei_are_written_as_coins() {
        assert_eq!(coins(0), "0.00000000");
        assert_eq!(coins(1_234_567_890_123_456_789), "1.23456789");
        assert_eq!(coins(10_000_000_000), "0.00000001");
    }
}
