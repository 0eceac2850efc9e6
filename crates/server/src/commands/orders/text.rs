//! Orders as text for a terminal.

use std::fmt::Write;

use serde_json::Value;

/// A text or a number, without control characters, which a terminal would obey.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

pub(super) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// One line for each order.
pub(super) fn list(orders: &[Value]) -> String {
    if orders.is_empty() {
        return "No orders.\n".to_owned();
    }
    let mut text = format!(
        "{:<20}  {:<32}  {:<23}  {:<12}  {:>9}  ATTENTION\n",
        "CREATED", "ORDER", "STATE", "NETWORK", "CHARGE"
    );
    for order in orders {
        let attention = match (&order["needs_attention"], &order["acknowledged_at"]) {
            (Value::Bool(true), _) => "yes",
            (_, Value::String(_)) => "acknowledged",
            _ => "",
        };
        let [created, id, state] = ["created_at", "id", "state"].map(|name| word(&order[name]));
        let [network, charge] = ["network", "charge"].map(|name| word(&order["payment"][name]));
        let line = format!(
            "{created:<20}  {id:<32}  {state:<23}  {network:<12}  {charge:>9}  {attention}"
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The orders whose rows cannot be read, and what to do about them.
pub(in crate::commands) fn unreadable(orders: &[Value]) -> String {
    if orders.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "These orders cannot be read: their rows are damaged, or the key file lacks their key. The log of the service names the column. Put the key back, or restore the rows from a backup.\n",
    );
    for order in orders {
        let [created, id, state] = ["created_at", "id", "state"].map(|name| word(&order[name]));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {id}  {state}, begun {created}");
    }
    text
}

/// What an operator must know before they act.
pub(super) fn heading(order: &Value) -> String {
    let mut text = format!("Order {}\n", word(&order["id"]));
    let attention = if order["needs_attention"] == true { " (needs attention)" } else { "" };
    row(&mut text, "state", &format!("{}{attention}", word(&order["state"])));
    row(&mut text, "owed", &word(&order["owed"]));
    row(&mut text, "version", &word(&order["version"]));
    if let Value::Object(_) = &order["payment"] {
        let payment = &order["payment"];
        let [charge, protocol, network, payer, pay_to] =
            ["charge", "protocol", "network", "payer", "pay_to"].map(|name| word(&payment[name]));
        row(&mut text, "payment", &format!("{charge} USDC by {protocol} on {network}"));
        row(&mut text, "payer", &payer);
        row(&mut text, "seller", &format!("{} at {pay_to}", word(&order["seller"])));
    }
    text
}

/// Everything about an order.
pub(super) fn order(order: &Value) -> String {
    let mut text = heading(order);
    let mut known = |name: &str, value: &Value| {
        if !value.is_null() {
            row(&mut text, name, &word(value));
        }
    };
    known("transaction", &order["settlement"]["transaction"]);
    known("settled", &order["settlement"]["settled_at"]);
    known("standing", &order["settlement"]["standing"]);
    known("provider", &order["card"]["provider_account"]);
    let cost = order["card"]["cost_cents"].as_u64();
    known("cost", &cost.map(|cents| format!("{}.{:02} USD", cents / 100, cents % 100)).into());
    known("country", &order["card"]["country"]);
    known("attempt", &order["card"]["attempt"]);
    known("attempted", &order["card"]["attempted_at"]);
    known("mailpiece", &order["card"]["mailpiece"]);
    known("mailed", &order["card"]["mailed_at"]);
    known("delivery", &order["card"]["delivery"]["stage"]);
    known("refund", &order["refund"]["transaction"]);
    known("refunded", &order["refund"]["amount"]);
    known("created", &order["created_at"]);
    known("updated", &order["updated_at"]);
    known("next look", &order["examined_next_at"]);
    known("examinations", &order["examinations"]);
    known("acknowledged", &order["acknowledged_at"]);
    let actions = order["possible_actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let actions: Vec<String> = actions.iter().map(word).collect();
    let actions = if actions.is_empty() { "none".to_owned() } else { actions.join(", ") };
    row(&mut text, "actions", &actions);
    card(&mut text, &order["revealed_card"]);
    text.push_str("\nEvents\n");
    for event in order["events"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let [at, version, state, actor, evidence, note] =
            ["at", "version", "state", "actor", "evidence", "note"].map(|name| word(&event[name]));
        let line = format!("  {at}  {version:>4}  {state:<23}  {actor:<12}  {evidence}  {note}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The card that `--reveal` shows.
fn card(text: &mut String, card: &Value) {
    if card.is_null() {
        return;
    }
    text.push_str("\nCard (personal data)\n");
    row(text, "front", &word(&card["front_image_url"]));
    for name in ["name", "address", "city", "province", "postal_code", "country"] {
        row(text, name, &word(&card["recipient"][name]));
    }
    let message = card["message"].as_str().unwrap_or_default();
    message.lines().for_each(|line| row(text, "message", &plain(line)));
}

fn row(text: &mut String, name: &str, value: &str) {
    writeln!(text, "  {name:<12}  {value}").expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(word(&json!("a\u{1b}[2Jb\nc")), "a?[2Jb?c");
        assert_eq!(word(&json!(7)), "7");
        assert_eq!(word(&Value::Null), "-");
    }

    #[test]
    fn a_list_marks_orders_that_need_a_person() {
        let order = |attention: bool, at: Value| {
            json!({
                "id": "0a".repeat(16), "state": "unfulfilled_lost", "created_at": "2026-11-15T09:30:00Z",
                "needs_attention": attention, "acknowledged_at": at,
                "payment": { "network": "eip155:8453", "charge": "1.452" },
            })
        };
        let text = list(&[order(true, Value::Null), order(false, json!("2026-11-16T00:00:00Z"))]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("1.452  yes"), "{text}");
        assert!(lines[2].ends_with("1.452  acknowledged"), "{text}");
        assert_eq!(list(&[]), "No orders.\n");
    }
}
