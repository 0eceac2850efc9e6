//! What was asked, paid and sent, in rows that people can read.

use order::model::chain::Network;
use order::model::money::Usdc;
use serde_json::Value;

use super::keep::Kept;
use super::values::{Rail, name};
use super::{mpp, x402};

/// Long enough for everything that a service has to say in one place.
const TEXT_MAX: usize = 400;

/// A text from outside, without what could move a terminal's cursor.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(TEXT_MAX).collect()
}

pub(super) fn rows(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect()
}

pub(super) fn promise_wanted(challenge: &x402::challenge::Challenge) -> String {
    let what = challenge.required["resource"]["description"].as_str();
    let offers = challenge.offers().iter().map(promise).collect();
    wanted(challenge.order.as_deref(), what, offers)
}

pub(super) fn transfer_wanted(challenge: &mpp::challenge::Challenge) -> String {
    let what = challenge.offers.first().map(|offer| offer.text("description"));
    let offers = challenge.offers.iter().map(transfer).collect();
    wanted(challenge.order.as_deref(), what.filter(|what| !what.is_empty()), offers)
}

fn wanted(order: Option<&str>, what: Option<&str>, offers: Vec<(String, String)>) -> String {
    let about = [("order", order), ("for", what)];
    let about = about.into_iter().filter_map(|(name, text)| Some((name.to_owned(), plain(text?))));
    let told: Vec<_> = about.chain(offers).collect();
    format!("402 Payment Required. The service asks for one of these:\n\n{}\n", rows(&told))
}

fn promise(offer: &Value) -> (String, String) {
    let text = |name: &str| offer[name].as_str().unwrap_or("?");
    let network = Network::from_caip2(text("network"));
    let whose = network.map_or_else(|| plain(text("network")), |network| name(network).to_owned());
    let much = much(network, text("amount"), text("asset"));
    (whose, format!("at most {much} to {} ({})", plain(text("payTo")), plain(text("scheme"))))
}

fn transfer(offer: &mpp::challenge::Offer) -> (String, String) {
    let text = |name: &str| offer.request[name].as_str().unwrap_or("?");
    let (network, whose) = chain(&offer.request["methodDetails"]["chainId"]);
    let much = much(network, text("amount"), text("currency"));
    (whose, format!("{much} to {} ({})", plain(text("recipient")), plain(offer.text("intent"))))
}

/// A network by its number, and what to call it.
fn chain(id: &Value) -> (Option<Network>, String) {
    let network = Network::ALL.into_iter().find(|one| id.as_u64() == Some(one.chain_id()));
    (network, network.map_or_else(|| format!("chain {id}"), |network| name(network).to_owned()))
}

fn much(network: Option<Network>, amount: &str, asset: &str) -> String {
    let is_usdc = network.is_some_and(|network| asset.parse() == Ok(network.usdc()));
    match amount.parse().map(Usdc::from_atomic) {
        Ok(most) if is_usdc => format!("{most} USDC"),
        Ok(_) | Err(_) => format!("{} units of {}", plain(amount), plain(asset)),
    }
}

/// What the service says of the money, beside what was signed.
pub(super) fn settlement(settlement: &Value, kept: &Kept) -> String {
    let told = match kept.rail {
        Rail::X402 => response(settlement, kept.most),
        Rail::Mpp => receipt(settlement, kept),
    };
    rows(&told.map(|(name, value)| (name.to_owned(), value)))
}

/// The content of `PAYMENT-RESPONSE`.
fn response(settlement: &Value, most: Usdc) -> [(&'static str, String); 4] {
    let text = |name: &str| settlement[name].as_str().unwrap_or("?");
    let charged = match text("amount").parse().map(Usdc::from_atomic) {
        Ok(charged) => format!("{charged} of at most {most} USDC"),
        Err(_) => "the service does not say".to_owned(),
    };
    let network = Network::from_caip2(text("network"));
    let network = network.map_or_else(|| plain(text("network")), |known| name(known).to_owned());
    [
        ("charged", charged),
        ("network", network),
        ("transaction", plain(text("transaction"))),
        ("payer", plain(text("payer"))),
    ]
}

/// The content of `Payment-Receipt`. It names no amount: a transfer moves what was signed.
fn receipt(settlement: &Value, kept: &Kept) -> [(&'static str, String); 4] {
    let reference = settlement["reference"].as_str().unwrap_or("?");
    [
        ("charged", format!("{} USDC", kept.most)),
        ("network", name(kept.network).to_owned()),
        ("transaction", plain(reference)),
        ("payer", kept.payer.clone()),
    ]
}

/// An order's record, whatever members it has.
pub(super) fn order(record: &Value) -> String {
    let mut told = Vec::new();
    flatten("", record, &mut told);
    format!("The order as the service tells it:\n\n{}", rows(&told))
}

fn flatten(path: &str, value: &Value, told: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                let member = plain(member);
                let path = if path.is_empty() { member } else { format!("{path}.{member}") };
                flatten(&path, value, told);
            }
        }
        Value::String(text) => told.push((path.to_owned(), plain(text))),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            told.push((path.to_owned(), plain(&value.to_string())));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::x402::challenge::tests::{PAYEE, all};
    use super::*;

    #[test]
    fn a_challenge_names_order_networks_payee_and_the_most() {
        let text = promise_wanted(&all());
        for part in ["9f2c1e7ab04d4d6c8a53f0e1d2b7c694", "Polygon", "at most 3.50 USDC", PAYEE] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_transfer_is_told_with_its_exact_price() {
        let text = transfer_wanted(&mpp::challenge::tests::challenge());
        for part in ["One 4x6 postcard", "Base", "3.50 USDC to 0x15d3", "(charge)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("at most"), "{text}");
        assert_eq!(chain(&json!(1)), (None, "chain 1".to_owned()));
    }

    #[test]
    fn money_that_is_not_ours_is_not_called_usdc() {
        let text = promise(&json!({ "network": "eip155:8453", "amount": "1", "asset": PAYEE })).1;
        assert!(text.contains("1 units of 0x"), "{text}");
    }

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        assert_eq!(plain("a\u{1b}[2Jb\r\nc"), "a[2Jbc");
        let record = json!({ "id": "1", "payment": { "amount": "1.452\u{7}" }, "gone": null });
        let text = order(&record);
        assert!(text.contains("payment.amount  1.452\n"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }
}
