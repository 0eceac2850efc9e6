//! One row of a report, as CSV and as JSON.

use order::model::money::Usdc;
use serde_json::{Map, Value};

use crate::config::values::vat_rate::VatRate;

const COLUMNS: [&str; 17] = [
    "id",
    "created",
    "settled",
    "seller",
    "country",
    "protocol",
    "network",
    "payer",
    "transaction",
    "cost",
    "charge",
    "charge_atomic",
    "vat",
    "gas_wei",
    "refund_transaction",
    "refund_amount",
    "state",
];

/// The cells of a row, in the sequence of the columns. None is an empty cell.
pub(super) type ReportCells = [Option<String>; COLUMNS.len()];

pub(super) fn cells(facts: &Value, vat: VatRate) -> ReportCells {
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    let refund = |name: &str| facts["refund"][name].as_str().map(str::to_owned);
    let charge = facts["charge_atomic"].as_u64();
    let usdc = |units| Usdc::from_atomic(units).to_string();
    let cost = facts["cost_cents"].as_u64();
    [
        text("id"),
        text("created_at"),
        text("settled_at"),
        text("seller"),
        text("country"),
        text("protocol"),
        text("network"),
        text("payer"),
        text("transaction"),
        cost.map(|cents| format!("{}.{:02}", cents / 100, cents % 100)),
        charge.map(usdc),
        charge.map(|units| units.to_string()),
        charge.map(|units| usdc(vat.included_in(units))),
        text("gas_wei"),
        refund("transaction"),
        refund("amount"),
        text("state"),
    ]
}

pub(super) fn csv_heading() -> String {
    csv(&COLUMNS.map(|name| Some(name.to_owned())))
}

/// A line by RFC 4180.
pub(super) fn csv(cells: &ReportCells) -> String {
    let cells: Vec<String> =
        cells.iter().map(|cell| cell.as_deref().map(csv_cell).unwrap_or_default()).collect();
    format!("{}\r\n", cells.join(","))
}

/// A spreadsheet computes a cell that begins like a formula, so such a cell gets an apostrophe.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n', '\t']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

pub(super) fn json(cells: &ReportCells) -> Value {
    let pairs = COLUMNS.iter().zip(cells);
    let object: Map<String, Value> =
        pairs.map(|(name, cell)| ((*name).to_owned(), cell.clone().into())).collect();
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts() -> Value {
        json!({
            "id": "0a0b", "created_at": "2026-11-15T09:30:00Z", "settled_at": "2026-11-15T09:30:02Z",
            "seller": "alice", "country": "GB", "protocol": "x402", "network": "eip155:8453",
            "payer": "0x01", "transaction": "0x02", "cost_cents": 87, "charge_atomic": 1_052_700,
            "gas_wei": "123", "gas_known": true, "refund": null, "state": "mailed",
        })
    }

    #[test]
    fn a_row_has_exact_amounts() {
        let cells = cells(&facts(), "19".parse().unwrap());
        assert_eq!(
            csv(&cells),
            "0a0b,2026-11-15T09:30:00Z,2026-11-15T09:30:02Z,alice,GB,x402,eip155:8453,0x01,0x02,\
             0.87,1.0527,1052700,0.168078,123,,,mailed\r\n"
        );
        assert_eq!(json(&cells)["vat"], "0.168078");
        assert_eq!(json(&cells)["refund_amount"], Value::Null);
        assert_eq!(csv_heading().split(',').count(), COLUMNS.len());
    }

    #[test]
    fn a_cell_is_never_a_formula_or_two_cells() {
        for (text, cell) in [
            ("alice", "alice"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=A1,\"b\"", "\"'=A1,\"\"b\"\"\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(csv_cell(text), cell, "{text:?}");
        }
    }
}
