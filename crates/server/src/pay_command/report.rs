//! What was asked, paid and sent, in rows that people can read.

use order::chain::Network;
use order::money::Usdc;
use serde_json::Value;

use super::challenge::Challenge;
use super::values::name;

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

pub(super) fn challenge(challenge: &Challenge) -> String {
    let mut told = Vec::new();
    if let Some(order) = &challenge.order {
        told.push(("order".to_owned(), plain(order)));
    }
    if let Some(what) = challenge.required["resource"]["description"].as_str() {
        told.push(("for".to_owned(), plain(what)));
    }
    told.extend(challenge.offers().iter().map(offer));
    format!("402 Payment Required. The service asks for one of these:\n\n{}\n", rows(&told))
}

fn offer(offer: &Value) -> (String, String) {
    let text = |name: &str| offer[name].as_str().unwrap_or("?");
    let network = Network::from_caip2(text("network"));
    let whose = network.map_or_else(|| plain(text("network")), |network| name(network).to_owned());
    let is_usdc = network.is_some_and(|network| text("asset").parse() == Ok(network.usdc()));
    let much = match text("amount").parse().map(Usdc::from_atomic) {
        Ok(most) if is_usdc => format!("{most} USDC"),
        Ok(_) | Err(_) => format!("{} units of {}", plain(text("amount")), plain(text("asset"))),
    };
    (whose, format!("at most {much} to {} ({})", plain(text("payTo")), plain(text("scheme"))))
}

/// The content of `PAYMENT-RESPONSE`.
pub(super) fn settlement(settlement: &Value, most: Usdc) -> String {
    let text = |name: &str| settlement[name].as_str().unwrap_or("?");
    let charged = match text("amount").parse().map(Usdc::from_atomic) {
        Ok(charged) => format!("{charged} of at most {most} USDC"),
        Err(_) => "the service does not say".to_owned(),
    };
    let network = Network::from_caip2(text("network"));
    let network = network.map_or_else(|| plain(text("network")), |known| name(known).to_owned());
    let told = [
        ("charged", charged),
        ("network", network),
        ("transaction", plain(text("transaction"))),
        ("payer", plain(text("payer"))),
    ];
    rows(&told.map(|(name, value)| (name.to_owned(), value)))
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

    use super::super::challenge::tests::{PAYEE, all};
    use super::*;

    #[test]
    fn a_challenge_names_order_networks_payee_and_the_most() {
        let text = challenge(&all());
        for part in ["9f2c1e7ab04d4d6c8a53f0e1d2b7c694", "Polygon", "at most 3.50 USDC", PAYEE] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn money_that_is_not_ours_is_not_called_usdc() {
        let text = offer(&json!({ "network": "eip155:8453", "amount": "1", "asset": PAYEE })).1;
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
