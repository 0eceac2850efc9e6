//! `audit`, `report` and `backup` of a running service.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::fixture::OperatorFixture;
use crate::fixture::sandbox::{JSON, ProviderControl};

#[test]
fn the_audit_agrees_and_the_report_has_each_paid_order() {
    let fixture = OperatorFixture::start();
    let orders = [fixture.paid_order(1), fixture.lost_order(2)];
    ProviderControl::of(&fixture.app).clear_faults();
    let period = ["--from", "1d", "--to", "2100-01-01"];
    let text = fixture.printed(&[&["audit"], &period[..]].concat());
    assert!(text.contains("Everything agrees.") && text.contains("transfers  2"), "{text}");
    let audit = fixture.printed(&[&["audit", "--json"], &period[..]].concat());
    let audit: Value = serde_json::from_str(&audit).unwrap();
    assert_eq!((&audit["orders"], &audit["cards"]), (&2.into(), &1.into()), "{audit}");
    assert_eq!(audit["charged"], audit["received"]);

    let rows =
        fixture.printed(&[&["report", "--format", "json", "--vat", "19"], &period[..]].concat());
    let rows: Value = serde_json::from_str(&rows).unwrap();
    // Orders that began in the same second are in no particular sequence.
    let ids: BTreeSet<&str> =
        rows.as_array().unwrap().iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, orders.iter().map(String::as_str).collect());
    for row in rows.as_array().unwrap() {
        let order = fixture.show(row["id"].as_str().unwrap());
        assert_eq!(row["transaction"], order["settlement"]["transaction"]);
        assert_eq!(row["charge"], order["settlement"]["amount"]);
        let charge: u64 = row["charge_atomic"].as_str().unwrap().parse().unwrap();
        let vat = (charge * 19 + 59) / 119;
        let printed: f64 = row["vat"].as_str().unwrap().parse().unwrap();
        assert_eq!(format!("{printed:.6}"), format!("{}.{:06}", vat / 1_000_000, vat % 1_000_000));
        assert!(row["gas_wei"].as_str().unwrap().parse::<u128>().unwrap() > 0, "{row}");
        assert_eq!((&row["country"], &row["refund_amount"]), (&"GB".into(), &Value::Null));
    }
    let csv = fixture.printed(&[&["report"], &period[..]].concat());
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let nothing = fixture.printed(&["report", "--from", "2020-01-01", "--to", "2020-02-01"]);
    assert_eq!(nothing.lines().count(), 1, "only the heading: {nothing}");
    assert_eq!(fixture.run(&["report", "--from", "0s", "--to", "1d"]).status.code(), Some(1));
}

#[test]
fn a_payment_is_counted_once_however_often_its_evidence_is_collected() {
    let fixture = OperatorFixture::start();
    let order = fixture.paid_order(1);
    for _ in 0..2 {
        let evidence = fixture.printed(&["orders", "evidence", &order]);
        let evidence: Value = serde_json::from_str(&evidence).unwrap();
        assert_eq!(evidence["chain"]["payment_transaction"]["status"], "final", "{evidence}");
    }
    let metrics = fixture.request("GET /metrics", &[], "").text();
    let samples = |name: &str| -> Vec<String> {
        metrics.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
    };
    let settled = samples("pennyblack_settlements_total{");
    assert!(settled.len() == 1 && settled[0].ends_with("outcome=\"settled\"} 1"), "{settled:?}");
    let charge = fixture.show(&order)["payment"]["charge"].as_str().unwrap().replace('.', "");
    let charged = samples("pennyblack_usdc_charged_atomic_total{");
    let atomic = charged[0].split(' ').next_back().unwrap().trim_end_matches('0');
    assert_eq!((charged.len(), atomic), (1, charge.as_str()), "{charged:?}");
}

#[test]
fn a_backup_is_private_and_replaces_nothing() {
    let fixture = OperatorFixture::start();
    fixture.paid_order(1);
    let text = fixture.printed(&["backup", "copy.sqlite3"]);
    assert!(text.starts_with("1 orders and "), "{text}");
    let file = fixture.app.folder().join("copy.sqlite3");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let again = fixture.run(&["backup", "copy.sqlite3"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8(again.stderr).unwrap().contains("exists"));
    let reply = fixture.request("POST /v1/backup", &[JSON], r#"{"path":"a"}"#);
    assert_eq!(reply.status, 400, "only absolute paths");
}
