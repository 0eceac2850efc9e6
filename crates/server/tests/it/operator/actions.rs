//! Actions by the command line and the API, alone and at once.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::thread;

use sandbox::provider::ProviderEmulator;
use sandbox::provider::state::settings::ProviderSettings;
use serde_json::{Value, json};

use super::fixture::{MARKED, OperatorFixture};
use crate::fixture::holding_relay::HoldingRelay;
use crate::fixture::http_client::Reply;
use crate::fixture::sandbox::{ProviderControl, code};
use crate::fixture::store::stored_order;
use crate::fixture::test_app::{pennyblack, run, until};

/// Runs an acting command. The payment may become final between the moment when the order is
/// shown and the action, which is then rejected, so it is repeated.
fn act(fixture: &OperatorFixture, arguments: &[&str]) -> String {
    until("the command is not overtaken", || {
        let output = fixture.run(&[&["orders"], arguments, &["--yes"]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        if error.contains("order_changed") {
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{error}");
        Some(String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    })
}

fn listed(fixture: &OperatorFixture, more: &[&str]) -> Vec<String> {
    let arguments = [&["orders", "list", "--json"], more].concat();
    let list: Value = serde_json::from_str(&fixture.printed(&arguments)).unwrap();
    let id = |order: &Value| order["id"].as_str().unwrap().to_owned();
    list["orders"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn orders_are_listed_shown_acknowledged_and_erased() {
    let fixture = OperatorFixture::start();
    let mailed = fixture.paid_order(1);
    let lost = fixture.lost_order(2);
    // Orders that began in the same second are in no particular sequence.
    let all: BTreeSet<String> = listed(&fixture, &[]).into_iter().collect();
    assert_eq!(all, [lost.clone(), mailed.clone()].into());
    assert_eq!(listed(&fixture, &["--limit", "1"]).len(), 1);
    assert_eq!(listed(&fixture, &["--state", "mailed"]), [mailed.as_str()]);
    assert_eq!(listed(&fixture, &["--attention"]), [lost.as_str()]);
    assert_eq!(listed(&fixture, &["--since", "1h"]).len(), 2);
    assert_eq!(listed(&fixture, &["--since", "2100-01-01"]), [""; 0]);
    let payer = fixture.show(&lost)["payment"]["payer"].as_str().unwrap().to_owned();
    assert_eq!(listed(&fixture, &["--payer", &payer]).len(), 2);
    assert_eq!(listed(&fixture, &["--payer", &format!("0x{}", "0".repeat(40))]), [""; 0]);
    let shown = fixture.printed(&["orders", "show", &lost]);
    for part in ["unfulfilled_lost (needs attention)", "its answer was lost", "checkout", &payer] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = act(&fixture, &["acknowledge", &lost, "--note", "provider asked"]);
    assert!(told.contains("raises no alert") && told.contains("Acknowledged."), "{told}");
    assert_eq!(listed(&fixture, &["--attention"]), [""; 0]);
    let told = act(&fixture, &["erase", &lost, "--operator", "grace"]);
    assert!(told.contains("deleted for good") && told.contains("A refund: "), "{told}");
    let order = fixture.show(&lost);
    assert_eq!(order["state"], "unfulfilled_erased");
    let by = |event: &Value| format!("{} {}", event["actor"], event["note"]).replace('"', "");
    let events: Vec<String> = order["events"].as_array().unwrap().iter().map(by).collect();
    assert!(events.contains(&"operator:ada acknowledge: provider asked".to_owned()), "{events:?}");
    assert_eq!(events.last().unwrap(), "operator:grace erase");
    let log = fixture.printed(&["orders", "events"]);
    assert!(log.contains("acknowledge: provider asked") && log.contains(&mailed), "{log}");
}

#[test]
fn events_are_followed_until_the_service_stops() {
    let mut fixture = OperatorFixture::start();
    let mut command = fixture.command(&["orders", "events", "--follow"]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let order = fixture.paid_order(1);
    let states: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    for (line, state) in states.iter().zip(["settling", "submitting", "mailed"]) {
        assert!(line.contains(&order) && line.contains(state), "{states:?}");
    }
    // A request that waits for events does not delay the shutdown.
    fixture.app.signal("TERM");
    assert!(fixture.app.wait_for_exit().success());
    assert!(!fixture.app.log().contains("still running"), "{}", fixture.app.log());
    assert_eq!(follower.wait().unwrap().code(), Some(1));
}

#[test]
fn a_lost_card_is_not_resubmitted_too_early_and_another_card_is_not_attached() {
    let fixture = OperatorFixture::start();
    let provider = ProviderControl::of(&fixture.app);
    let (paid, lost) = (fixture.paid_order(1), fixture.lost_order(2));
    provider.clear_faults();
    let rejected = |arguments: &[&str], code: &str| {
        let output = fixture.run(&[&["orders"], arguments, &["--yes"]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(code), "{text}");
    };
    rejected(&["resubmit", &lost], "too_early");
    let mailpiece = fixture.show(&paid)["card"]["mailpiece"].as_str().unwrap().to_owned();
    rejected(&["attach", &lost, &mailpiece], "not_our_card");
    assert_eq!(fixture.show(&lost)["state"], "unfulfilled_lost");
    assert_eq!(provider.cards_accepted(), 1);
}

#[test]
fn without_consent_or_a_service_nothing_is_done() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let output = fixture.run(&["orders", "erase", &order]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("Pass --yes") && text.contains("deleted for good"), "{text}");
    assert_eq!(fixture.show(&order)["state"], "unfulfilled_lost");
    let unknown = fixture.run(&["orders", "show", &"0".repeat(32)]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("unknown_order"));
    assert_eq!(fixture.run(&["orders", "show", "../events"]).status.code(), Some(2));
    let elsewhere = tempfile::tempdir().unwrap();
    let output = pennyblack(&elsewhere, "", &[]).args(["orders", "list"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("not running") && text.contains("data/operator.sock"), "{text}");
}

/// In live mode the secrets are in the environment of the service, not in that of the operator.
#[test]
fn the_commands_need_no_secret_and_work_at_the_listener_too() {
    let fixture = OperatorFixture::start();
    let order = fixture.paid_order(1);
    let toml = "[payments]\nkind = 'settler'\n[provider]\nkind = 'lob'\n";
    std::fs::write(fixture.app.folder().join("live.toml"), toml).unwrap();
    assert!(fixture.printed(&["orders", "list", "--config", "live.toml"]).contains(&order));
    let url = format!("http://{}", fixture.listener);
    let remote = ["--operator-url", &url, "--token-file", "data/operator.token"];
    assert!(fixture.printed(&[&["orders", "list"], &remote[..]].concat()).contains(&order));
}

#[test]
fn of_two_operators_at_once_one_succeeds_and_the_other_is_told() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let replies = until("the reconciler does not interfere", || {
        let version = &fixture.show(&order)["version"];
        let act = |name: &str| {
            fixture.act(&order, "erase", &json!({ "version": version, "operator": name }))
        };
        let replies: [Reply; 2] = thread::scope(|scope| {
            let both = ["ada", "grace"].map(|name| scope.spawn(move || act(name)));
            both.map(|one| one.join().unwrap())
        });
        replies.iter().any(|reply| reply.status == 200).then_some(replies)
    });
    let mut statuses = [replies[0].status, replies[1].status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let told = replies.iter().find(|reply| reply.status == 409).unwrap();
    assert_eq!(code(told), "order_changed");
    let erased = fixture.show(&order)["events"].to_string().matches("erase").count();
    assert_eq!(erased, 2, "one state and one note");
}

#[test]
fn an_examination_since_the_order_was_shown_does_not_reject_an_action() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    // The payment may become final once, which the operator must see.
    let seen = until("only examinations follow", || {
        let seen = fixture.show(&order);
        let later = until("the reconciler has examined the order", || {
            let later = fixture.show(&order);
            (later["version"] != seen["version"]).then_some(later)
        });
        (later["facts_digest"] == seen["facts_digest"]).then_some(seen)
    });
    let mut body = json!({ "version": seen["version"], "operator": "ada", "note": "seen" });
    let reply = fixture.act(&order, "acknowledge", &body);
    assert_eq!((reply.status, code(&reply).as_str()), (409, "order_changed"));
    body["facts_digest"] = seen["facts_digest"].clone();
    let reply = fixture.act(&order, "acknowledge", &body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json()["done"], "acknowledged");
    let reply = fixture.act(&order, "erase", &body);
    assert_eq!((reply.status, code(&reply).as_str()), (409, "order_changed"), "acknowledged since");
}

/// The provider has not answered yet, and the operator's client has gone.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_whose_client_disconnects_ends_before_the_shutdown() {
    let emulator = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
    let emulator = Arc::new(emulator);
    let relay = HoldingRelay::open(emulator.clone()).await;
    let (fixture, order) = tokio::task::block_in_place(|| disconnect_and_stop(&emulator, &relay));
    let data = fixture.app.folder().join("data");
    let stored = stored_order(&data, order.parse().unwrap()).await;
    assert_eq!(stored.headline(), "mailed");
}

/// An operator submits a card again and disconnects, and the service is stopped.
fn disconnect_and_stop(
    emulator: &ProviderEmulator,
    relay: &HoldingRelay,
) -> (OperatorFixture, String) {
    // The grace period before a resubmission passes in seconds. An MPP challenge tells the payer
    // how long it may be paid, so that their clocks may differ.
    let settings = format!("[sandbox]\nspeed = 100\nprovider = \"http://{}\"\n", relay.address);
    let mut fixture = OperatorFixture::with_config(&settings);
    let provider = ProviderControl::of(&fixture.app);
    let order = fixture.lost_order_by(1, "mpp");
    until("the grace period is over", || {
        (fixture.show(&order)["examinations"].as_u64().unwrap() >= 8).then_some(())
    });
    provider.clear_faults();
    let shown = fixture.show(&order);
    let body = json!({
        "version": shown["version"], "facts_digest": shown["facts_digest"], "operator": "ada",
    });
    let client = fixture
        .begin_socket_request(&format!("POST /v1/orders/{order}/resubmit"), &body.to_string());
    until("the provider has the card", || (emulator.report().accepted == 1).then_some(()));
    drop(client);
    fixture.app.signal("TERM");
    fixture.app.wait_until_connections_are_refused();
    assert!(fixture.app.is_running(), "it waits for the provider's answer");
    relay.release();
    assert!(fixture.app.wait_for_exit().success());
    assert!(fixture.app.log().contains("shutdown complete"), "{}", fixture.app.log());
    assert!(fixture.app.log().contains("an operator acted on an order"), "{}", fixture.app.log());
    (fixture, order)
}

#[test]
fn two_processes_cannot_share_one_data_folder() {
    let fixture = OperatorFixture::start();
    let data = fixture.app.folder().join("data");
    let output = run(
        &["serve"],
        "",
        &[
            ("PENNYBLACK_LISTEN", "127.0.0.1:0"),
            ("PENNYBLACK_DATA", data.to_str().unwrap()),
            ("PENNYBLACK_STORE", "other.sqlite3"),
        ],
    );
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("another process uses this data folder"), "{text}");
    assert_eq!(fixture.socket_request("GET /v1/orders", "").status, 200, "the first one works on");
}

#[test]
fn an_order_that_changed_since_it_was_shown_is_left_as_it_is() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let version = fixture.show(&order)["version"].as_u64().unwrap();
    act(&fixture, &["erase", &order]);
    let before = fixture.show(&order);
    let hash = format!("0x{}", "12".repeat(32));
    for (action, version) in [
        ("acknowledge", version),
        ("erase", version),
        ("refund", version),
        ("attach", version),
        ("resubmit", version + 100),
    ] {
        let body = json!({
            "version": version, "operator": "ada", "note": "n", "transaction": hash, "mailpiece": "1",
        });
        let reply = fixture.act(&order, action, &body);
        assert_eq!((reply.status, code(&reply).as_str()), (409, "order_changed"), "{action}");
    }
    let version = &before["version"];
    let body = json!({ "version": version, "operator": "ada", "transaction": hash });
    let reply = fixture.act(&order, "refund", &body);
    assert_eq!(
        (reply.status, code(&reply).as_str()),
        (409, "refund_not_proved"),
        "{}",
        reply.text()
    );
    for (action, body, status) in [
        ("resubmit", json!({ "version": version, "operator": "ada" }), 409),
        ("acknowledge", json!({ "version": version, "operator": "ada" }), 400),
        ("acknowledge", json!({ "operator": "ada", "note": "n" }), 400),
        ("acknowledge", json!({ "version": version, "operator": "no name", "note": "n" }), 400),
        ("acknowledge", json!({ "version": version, "operator": "ada", "note": "a\nb" }), 400),
        ("acknowledge", json!({ "version": version, "operator": "ada", "notes": "n" }), 400),
        ("refund", json!({ "version": version, "operator": "ada", "transaction": "0x12" }), 400),
        ("mail", json!({ "version": version, "operator": "ada" }), 404),
    ] {
        let reply = fixture.act(&order, action, &body);
        assert_eq!(reply.status, status, "{action} {body}: {}", reply.text());
    }
    assert_eq!(fixture.show(&order), before);
}

#[test]
fn personal_data_is_in_no_output_unless_it_is_revealed_and_that_is_recorded() {
    let fixture = OperatorFixture::start();
    let mailed = fixture.paid_order(1);
    let lost = fixture.lost_order(2);
    let mut printed = vec![act(&fixture, &["acknowledge", &lost, "--note", "asked"])];
    for arguments in [
        ["orders", "list", "--json"].as_slice(),
        &["orders", "show", &lost],
        &["orders", "show", &lost, "--json"],
        &["orders", "show", &mailed],
        &["orders", "evidence", &lost],
        &["orders", "evidence", &mailed],
        &["orders", "events", "--after", "0", "--json"],
        &["audit", "--from", "1d", "--to", "2100-01-01", "--json"],
        &["report", "--from", "1d", "--to", "2100-01-01"],
        &["report", "--from", "1d", "--to", "2100-01-01", "--format", "json"],
        &["backup", "copy.sqlite3"],
    ] {
        let output = fixture.run(arguments);
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}");
        printed.push(String::from_utf8([output.stdout, output.stderr].concat()).unwrap());
    }
    printed.push(fixture.app.log());
    let copy = std::fs::read(fixture.app.folder().join("copy.sqlite3")).unwrap();
    printed.push(String::from_utf8_lossy(&copy).into_owned());
    for text in &printed {
        let found = MARKED.iter().find(|word| text.to_lowercase().contains(&word.to_lowercase()));
        assert_eq!(found, None, "{text}");
    }
    let revealed = act(&fixture, &["show", &lost, "--reveal"]);
    assert!(MARKED.iter().all(|word| revealed.contains(word)), "{revealed}");
    let events = &fixture.show(&lost)["events"];
    assert!(events.to_string().contains("\"note\":\"reveal\""), "{events}");
}
