//! Challenges, settlements and orders as rows of text.

use serde_json::Value;

use crate::mpp::challenge::{MppChallenge, MppOffers};
use crate::pending::PendingPayment;
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;
use crate::values::rail::PaymentRail;
use crate::values::text::plain;
use crate::x402::challenge::PaymentRequired;

fn rows(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect()
}

/// What an x402 challenge asks for.
pub(crate) fn x402_challenge(challenge: &PaymentRequired) -> String {
    let what = challenge.required["resource"]["description"].as_str();
    let offers = challenge.offers().iter().map(x402_offer).collect();
    wanted(challenge.order.as_deref(), what, offers)
}

/// What MPP challenges ask for.
pub(crate) fn mpp_challenges(challenge: &MppOffers) -> String {
    let what = challenge.offers.first().map(|offer| offer.text("description"));
    let offers = challenge.offers.iter().map(mpp_offer).collect();
    wanted(challenge.order.as_deref(), what.filter(|what| !what.is_empty()), offers)
}

fn wanted(order: Option<&str>, what: Option<&str>, offers: Vec<(String, String)>) -> String {
    let about = [("order", order), ("for", what)];
    let about = about.into_iter().filter_map(|(name, text)| Some((name.to_owned(), plain(text?))));
    let table: Vec<_> = about.chain(offers).collect();
    format!("402 Payment Required. The service asks for one of these:\n\n{}\n", rows(&table))
}

fn x402_offer(offer: &Value) -> (String, String) {
    let text = |name: &str| offer[name].as_str().unwrap_or("?");
    let network = PaymentNetwork::from_caip2(text("network"));
    let whose = network.map_or_else(|| plain(text("network")), |network| network.name().to_owned());
    let much = much(network, text("amount"), text("asset"));
    (whose, format!("at most {much} to {} ({})", plain(text("payTo")), plain(text("scheme"))))
}

fn mpp_offer(offer: &MppChallenge) -> (String, String) {
    let text = |name: &str| offer.request[name].as_str().unwrap_or("?");
    let (network, whose) = chain(&offer.request["methodDetails"]["chainId"]);
    let much = much(network, text("amount"), text("currency"));
    (whose, format!("{much} to {} ({})", plain(text("recipient")), plain(offer.text("intent"))))
}

/// A network by its number, and what to call it.
fn chain(id: &Value) -> (Option<PaymentNetwork>, String) {
    let network = PaymentNetwork::ALL.into_iter().find(|one| id.as_u64() == Some(one.chain_id()));
    (network, network.map_or_else(|| format!("chain {id}"), |network| network.name().to_owned()))
}

fn much(network: Option<PaymentNetwork>, amount: &str, asset: &str) -> String {
    let is_usdc = network.is_some_and(|network| EvmAccount::parse(asset) == Some(network.usdc()));
    match amount.parse().map(UsdcAmount::from_atomic) {
        Ok(most) if is_usdc => format!("{most} USDC"),
        Ok(_) | Err(_) => format!("{} units of {}", plain(amount), plain(asset)),
    }
}

/// What the service says of the money, beside what was signed.
pub(crate) fn settlement(settlement: &Value, payment: &PendingPayment) -> String {
    let table = match payment.rail {
        PaymentRail::X402 => response(settlement, payment.most),
        PaymentRail::Mpp => receipt(settlement, payment),
    };
    rows(&table.map(|(name, value)| (name.to_owned(), value)))
}

/// The content of `PAYMENT-RESPONSE`.
fn response(settlement: &Value, most: UsdcAmount) -> [(&'static str, String); 4] {
    let text = |name: &str| settlement[name].as_str().unwrap_or("?");
    let charged = match text("amount").parse().map(UsdcAmount::from_atomic) {
        Ok(charged) => format!("{charged} of at most {most} USDC"),
        Err(_) => "the service does not say".to_owned(),
    };
    let network = PaymentNetwork::from_caip2(text("network"));
    let network = network.map_or_else(|| plain(text("network")), |known| known.name().to_owned());
    [
        ("charged", charged),
        ("network", network),
        ("transaction", plain(text("transaction"))),
        ("payer", plain(text("payer"))),
    ]
}

/// The content of `Payment-Receipt`. It names no amount: a transfer moves what was signed.
fn receipt(settlement: &Value, payment: &PendingPayment) -> [(&'static str, String); 4] {
    let reference = settlement["reference"].as_str().unwrap_or("?");
    [
        ("charged", format!("{} USDC", payment.most)),
        ("network", payment.network.name().to_owned()),
        ("transaction", plain(reference)),
        ("payer", payment.payer.clone()),
    ]
}

/// An order's record, whatever members it has.
pub(crate) fn order(record: &Value) -> String {
    let mut table = Vec::new();
    flatten("", record, &mut table);
    format!("The order:\n\n{}", rows(&table))
}

fn flatten(path: &str, value: &Value, table: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                let member = plain(member);
                let path = if path.is_empty() { member } else { format!("{path}.{member}") };
                flatten(&path, value, table);
            }
        }
        Value::String(text) => table.push((path.to_owned(), plain(text))),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            table.push((path.to_owned(), plain(&value.to_string())));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mpp;
    use crate::x402::challenge::tests::{PAYEE, all};

    #[test]
    fn a_challenge_names_order_networks_payee_and_the_most() {
        let text = x402_challenge(&all());
        for part in ["9f2c1e7ab04d4d6c8a53f0e1d2b7c694", "Polygon", "at most 3.50 USDC", PAYEE] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_transfer_is_shown_with_its_exact_price() {
        let text = mpp_challenges(&mpp::challenge::tests::challenge());
        for part in ["One 4x6 postcard", "Base", "3.50 USDC to 0x15d3", "(charge)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("at most"), "{text}");
        assert_eq!(chain(&json!(1)), (None, "chain 1".to_owned()));
    }

    #[test]
    fn money_that_is_not_ours_is_not_called_usdc() {
        let text =
            x402_offer(&json!({ "network": "eip155:8453", "amount": "1", "asset": PAYEE })).1;
        assert!(text.contains("1 units of 0x"), "{text}");
    }

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        let record = json!({ "id": "1", "payment": { "amount": "1.452\u{7}" }, "gone": null });
        let text = order(&record);
        assert!(text.contains("payment.amount  1.452\n"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }
}
