//! The result of an audit as JSON, with what to do about each difference.

use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::operator::audit::{AuditReport, Difference};
use serde_json::{Value, json};

use super::evidence::transfer;

/// What an audit could not compare, and what it found.
pub(super) struct AuditFindings {
    pub(super) report: AuditReport,
    /// Parts that were not compared.
    pub(super) not_compared: Vec<String>,
    /// Payments whose blocks are not final yet.
    pub(super) not_final: u64,
}

pub(super) fn result(findings: &AuditFindings, from: Timestamp, until: Timestamp) -> Value {
    let AuditReport { orders, charged, transfers, received, cards, differences } = &findings.report;
    json!({
        "result": {
            "from": from.to_string(),
            "until": until.to_string(),
            "orders": orders,
            "charged": Usdc::from_atomic(*charged).to_string(),
            "transfers": transfers,
            "received": Usdc::from_atomic(*received).to_string(),
            "cards": cards,
            "not_final": findings.not_final,
            "not_compared": findings.not_compared,
            "differences": differences.iter().map(described).collect::<Vec<Value>>(),
        },
    })
}

fn described(difference: &Difference) -> Value {
    let mut facts = facts(difference);
    facts["code"] = json!(difference.code());
    facts["message"] = json!(message(difference));
    facts["advice"] = json!(advice(difference));
    facts
}

fn facts(difference: &Difference) -> Value {
    match difference {
        Difference::UnknownTransfer(received) => json!({
            "network": received.network.caip2(),
            "transaction": received.transaction.as_str(),
            "at": received.at.to_string(),
            "transfer": transfer(&received.transfer),
        }),
        Difference::MissingTransfer { order, network, transaction, amount } => json!({
            "order": order.to_string(),
            "network": network.caip2(),
            "transaction": transaction,
            "charged": amount.to_string(),
        }),
        Difference::OtherAmount { order, transaction, charged, received } => json!({
            "order": order.to_string(),
            "transaction": transaction,
            "charged": charged.to_string(),
            "received": received.to_string(),
        }),
        Difference::UnknownCard { mailpiece, reference } => json!({
            "mailpiece": mailpiece.0,
            "reference": reference.map(|order| order.to_string()),
        }),
        Difference::SecondCard { order, mailpiece }
        | Difference::MissingCard { order, mailpiece }
        | Difference::UnrecordedCard { order, mailpiece } => {
            json!({ "order": order.to_string(), "mailpiece": mailpiece.0 })
        }
        Difference::UnreadableOrder { order } => json!({ "order": order.to_string() }),
    }
}

fn message(difference: &Difference) -> String {
    match difference {
        Difference::UnknownTransfer(received) => format!(
            "{} USDC from {} to {} on {}, and no order was paid with it.",
            received.transfer.amount,
            received.transfer.from,
            received.transfer.to,
            received.network
        ),
        Difference::MissingTransfer { order, network, amount, .. } => {
            format!("Order {order} was charged {amount} USDC, and {network} has no such transfer.")
        }
        Difference::OtherAmount { order, charged, received, .. } => format!(
            "Order {order} was charged {charged} USDC, and the transfer has {received} USDC."
        ),
        Difference::UnknownCard { mailpiece, .. } => {
            format!("The provider has the card {}, which belongs to no order.", mailpiece.0)
        }
        Difference::SecondCard { order, mailpiece } => {
            format!("The provider has a second card for order {order}: {}.", mailpiece.0)
        }
        Difference::MissingCard { order, mailpiece } => {
            format!("Order {order} has the card {}, which the provider does not know.", mailpiece.0)
        }
        Difference::UnrecordedCard { order, mailpiece } => format!(
            "The provider has the card {} for order {order}, which is not recorded as mailed.",
            mailpiece.0
        ),
        Difference::UnreadableOrder { order } => {
            format!("The row of order {order} cannot be read, so it was not compared.")
        }
    }
}

fn advice(difference: &Difference) -> &'static str {
    match difference {
        Difference::UnknownTransfer(_) => {
            "Someone paid the seller without an order, or the seller moved own money. Return it if a payer asks for it."
        }
        Difference::MissingTransfer { .. } => {
            "Run `pennyblack orders evidence` for this order. If the chain has no payment, the card was mailed without one."
        }
        Difference::OtherAmount { .. } => {
            "Run `pennyblack orders evidence` for this order, and refund the difference if it is the payer's."
        }
        Difference::UnknownCard { .. } => {
            "Find out at the provider who submitted it. If it was not you, replace the API key."
        }
        Difference::SecondCard { .. } => "Cancel it at the provider if that is still possible.",
        Difference::MissingCard { .. } => {
            "Ask the provider. If the card was not mailed, refund the order."
        }
        Difference::UnrecordedCard { .. } => {
            "Run `pennyblack orders attach` with this order and card."
        }
        Difference::UnreadableOrder { .. } => {
            "Put the key that encrypted it back into the key file, or restore the row from a backup."
        }
    }
}
