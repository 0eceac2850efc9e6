//! `pennyblack pay` before a shop that takes the payment to the sandbox's chain.

mod merchant;
mod mpp;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::chain::Network;
use sandbox::chain::PERMIT2;
use sandbox::keys::Key;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::fixture::test_app::{TestApp, pennyblack};
use merchant::{CHARGE, Merchant, Mood, ORDER};

const CARD: &str =
    r#"{ "front_image_url": "https://images.example.org/sea.jpg", "message": "Hello" }"#;

/// A payer at a desk: a folder with a card, and the command.
struct Payer {
    folder: TempDir,
    shop: Merchant,
}

impl Payer {
    async fn sit_down() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("card.json"), CARD).unwrap();
        Self { folder, shop: Merchant::open().await }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn keeps_a_payment(&self) -> bool {
        self.file("card.json.payment").exists()
    }

    fn key_file(&self, key: &Key) -> String {
        let path = self.file("payer.key");
        fs::write(&path, key.reveal()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    }

    /// Runs the command with these words behind the card and the service.
    async fn pay(&self, more: &[&str]) -> Told {
        let mut command = pennyblack(&self.folder, "", &[]);
        command.args(["pay", "--body", "card.json", "--base-url", &self.shop.url]).args(more);
        let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
        Told::of(output)
    }

    /// With the faucet's payer.
    async fn pay_in_sandbox(&self, more: &[&str]) -> Told {
        let origin = self.shop.chains.origin();
        self.pay(&[&["--sandbox", &origin], more].concat()).await
    }
}

struct Told {
    code: i32,
    text: String,
}

impl Told {
    fn of(output: Output) -> Self {
        let text = [output.stdout, output.stderr].concat();
        Self { code: output.status.code().unwrap(), text: String::from_utf8(text).unwrap() }
    }

    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}", self.text);
        for part in parts {
            assert!(self.text.contains(part), "no {part:?} in {}", self.text);
        }
    }
}

fn opened(payment: &str) -> Value {
    serde_json::from_slice(&STANDARD.decode(payment).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_paid_for_to_the_last_unit() {
    let payer = Payer::sit_down().await;
    let told = payer.pay_in_sandbox(&[]).await;
    told.says(0, &[ORDER, "Base", "at most 3.50 USDC", "charged", "1.452 of at most 3.50 USDC"]);
    told.says(0, &["transaction", "status", "submitted", "pricing.charged"]);
    assert_eq!(payer.shop.takings(Network::Base), [CHARGE]);
    assert!(!payer.keeps_a_payment());
    let books = payer.shop.books();
    let bodies: Vec<_> = books.seen.iter().map(|seen| seen.body.as_str()).collect();
    assert_eq!(bodies, [CARD, CARD], "the card as it was written, both times");
    let sent = opened(books.seen[1].payment.as_ref().unwrap());
    assert_eq!(sent["resource"], books.required["resource"]);
    // Another identifier would be another operation than the one that was asked about.
    assert_eq!(sent["extensions"], books.required["extensions"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_bears_the_cards_own_identifier_or_one_that_the_service_insists_on() {
    let payer = Payer::sit_down().await;
    let required = json!({ "info": { "required": true }, "schema": {} });
    payer.shop.books().required["extensions"]["payment-identifier"] = required;
    payer.pay_in_sandbox(&[]).await.says(0, &["Paid."]);
    let named = CARD.replacen('{', r#"{ "operation_id": "birthday-of-ada-1","#, 1);
    fs::write(payer.file("card.json"), named).unwrap();
    payer.pay_in_sandbox(&[]).await.says(0, &["Paid."]);
    let sent: Vec<Value> = payer.shop.payments().iter().map(|one| opened(one)).collect();
    let id = |sent: &Value| sent["extensions"]["payment-identifier"]["info"]["id"].clone();
    assert_eq!(id(&sent[0]), format!("pay_{ORDER}"));
    assert_eq!(id(&sent[1]), "birthday-of-ada-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_is_the_one_that_was_named() {
    let payer = Payer::sit_down().await;
    payer.pay_in_sandbox(&["--network", "arbitrum"]).await.says(0, &["Arbitrum"]);
    assert_eq!(payer.shop.takings(Network::Arbitrum), [CHARGE]);
    assert!(payer.shop.takings(Network::Base).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_signed_above_the_limit_or_for_another_token() {
    let payer = Payer::sit_down().await;
    let told = payer.pay_in_sandbox(&["--max", "3.49"]).await;
    told.says(1, &["Nothing was signed", "authorize 3.50 USDC and allow 3.49"]);
    for offer in payer.shop.books().required["accepts"].as_array_mut().unwrap() {
        offer["asset"] = json!("0x000000000000000000000000000000000000dEaD");
    }
    payer.pay_in_sandbox(&[]).await.says(1, &["Nothing was signed", "not Circle's USDC"]);
    assert!(payer.shop.payments().is_empty());
    assert!(!payer.keeps_a_payment());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_allowance_nothing_moves_and_after_it_the_same_payment_does() {
    let payer = Payer::sit_down().await;
    let newcomer = payer.shop.chains.faucet().newcomer();
    let chain = payer.shop.chain(Network::Base);
    let key = payer.key_file(&newcomer);
    let mine = ["--key-file", &key, "--yes"];
    payer.pay(&mine).await.says(4, &["permit2_allowance_required", "approve(", "--approve"]);
    assert!(payer.keeps_a_payment());
    let node = payer.shop.chains.rpc_url(Network::Base);
    let approve = [mine.as_slice(), &["--approve", "--rpc-url", &node]].concat();
    let told = payer.pay(&approve).await;
    told.says(4, &["approving failed", "insufficient funds"]);
    chain.set_native(newcomer.address(), 1_000_000_000_000_000);
    payer.pay(&approve).await.says(0, &["allowing it 3.50 USDC", "Allowed by 0x", "Paid."]);
    assert_eq!(payer.shop.takings(Network::Base), [CHARGE]);
    assert_eq!(chain.allowance(newcomer.address(), PERMIT2), 3_500_000 - CHARGE);
    let payments = payer.shop.payments();
    assert!(payments.iter().all(|payment| *payment == payments[0]), "one payment, sent again");
    assert!(!payer.keeps_a_payment());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_without_gas_pays_with_a_permit_where_that_is_offered() {
    let payer = Payer::sit_down().await;
    let offered = json!({ "info": { "description": "d", "version": "1" }, "schema": {} });
    payer.shop.books().required["extensions"]["eip2612GasSponsoring"] = offered;
    let newcomer = payer.shop.chains.faucet().newcomer();
    let key = payer.key_file(&newcomer);
    let node = payer.shop.chains.rpc_url(Network::Polygon);
    let words = ["--key-file", &key, "--yes", "--network", "polygon", "--rpc-url", &node];
    payer.pay(&words).await.says(0, &["costs you no gas", "Paid."]);
    assert_eq!(payer.shop.takings(Network::Polygon), [CHARGE]);
    assert_eq!(payer.shop.chain(Network::Polygon).native_of(newcomer.address()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promise_that_lacked_its_allowance_gets_a_permit_and_stays_the_same() {
    let payer = Payer::sit_down().await;
    let offered = json!({ "info": { "description": "d", "version": "1" }, "schema": {} });
    payer.shop.books().required["extensions"]["eip2612GasSponsoring"] = offered;
    let newcomer = payer.shop.chains.faucet().newcomer();
    let key = payer.key_file(&newcomer);
    let mine = ["--key-file", &key, "--yes"];
    payer.pay(&mine).await.says(4, &["With --rpc-url alone", "costs no gas", "--approve"]);
    let node = payer.shop.chains.rpc_url(Network::Base);
    let told = payer.pay(&[mine.as_slice(), &["--rpc-url", &node]].concat()).await;
    told.says(0, &["The same one is sent again", "costs you no gas", "Paid."]);
    assert_eq!(payer.shop.takings(Network::Base), [CHARGE]);
    assert_eq!(payer.shop.chain(Network::Base).native_of(newcomer.address()), 0);
    let sent: Vec<Value> = payer.shop.payments().iter().map(|one| opened(one)).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|one| one["payload"] == sent[0]["payload"]), "one promise");
    assert_eq!(fs::read_dir(payer.folder.path()).unwrap().count(), 3, "card, key, settings");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_payment_is_in_doubt_no_other_is_signed() {
    let payer = Payer::sit_down().await;
    let error = json!({ "error": { "code": "settlement_unconfirmed", "retry": "same" } });
    let doubts = [
        Mood::Say(502, error),
        Mood::Say(503, json!({})),
        Mood::Say(409, json!({})),
        Mood::TakeAndHangUp,
    ];
    payer.shop.books().moods.extend(doubts);
    for part in ["settlement_unconfirmed", "status 503", "status 409", "lost"] {
        let told = payer.pay_in_sandbox(&[]).await;
        told.says(3, &[part, "Do not sign another one", "card.json.payment"]);
        assert!(payer.keeps_a_payment());
    }
    let told = payer.pay_in_sandbox(&[]).await;
    told.says(0, &["The same one is sent again", "nothing was charged now"]);
    assert!(!payer.keeps_a_payment());
    let payments = payer.shop.payments();
    assert_eq!(payments.len(), 5);
    assert!(payments.iter().all(|payment| *payment == payments[0]));
    assert_eq!(payer.shop.takings(Network::Base), [CHARGE], "paid once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_in_doubt_is_not_mixed_up_with_another_card() {
    let payer = Payer::sit_down().await;
    payer.shop.books().moods.push_back(Mood::Say(502, json!({})));
    payer.pay_in_sandbox(&[]).await.says(3, &[]);
    fs::write(payer.file("card.json"), CARD.replace("Hello", "Goodbye")).unwrap();
    payer.pay_in_sandbox(&[]).await.says(2, &["for another card", ORDER, "--keep"]);
    assert_eq!(payer.shop.payments().len(), 1);
    payer.pay_in_sandbox(&["--keep", "second.payment"]).await.says(0, &["Paid."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_was_declined_is_forgotten_and_a_new_one_may_be_signed() {
    let payer = Payer::sit_down().await;
    payer.shop.books().moods.push_back(Mood::Decline);
    let told = payer.pay_in_sandbox(&[]).await;
    told.says(1, &["Not paid", "permit2_simulation_failed: The chain refused", "signs a new one"]);
    told.says(1, &["it will not use this payment, which runs out by itself in "]);
    assert!(!payer.keeps_a_payment());
    payer.pay_in_sandbox(&[]).await.says(0, &["Paid."]);
    let payments = payer.shop.payments();
    assert_ne!(payments[0], payments[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_new_payment_would_not_help_none_is_advised() {
    let payer = Payer::sit_down().await;
    let error = json!({ "error": { "code": "price_conflict", "retry": "never" } });
    payer.shop.books().moods.push_back(Mood::Say(409, error));
    let told = payer.pay_in_sandbox(&[]).await;
    told.says(1, &["price_conflict", "Nothing moved", "will not help before that is changed"]);
    assert!(!told.text.contains("signs a new one") && !told.text.contains("void"), "{}", told.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_whose_end_is_open_after_payment_has_a_code_of_its_own() {
    let payer = Payer::sit_down().await;
    let body = json!({ "id": ORDER, "status": "fulfillment_needs_reconciliation" });
    payer.shop.books().moods.push_back(Mood::Say(200, body));
    payer.pay_in_sandbox(&[]).await.says(5, &["do not pay again"]);
    assert!(!payer.keeps_a_payment());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_here_is_told_before_anything_is_signed() {
    let payer = Payer::sit_down().await;
    payer.pay(&[]).await.says(2, &["402 Payment Required", "no key to pay with", "--key-file"]);
    let key = payer.key_file(&payer.shop.chains.faucet().payer());
    payer.pay(&["--key-file", &key]).await.says(2, &["no terminal to ask on", "--yes"]);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    payer.pay(&["--key-file", &key, "--yes"]).await.says(2, &["chmod 600"]);
    payer.pay(&["--sandbox", "http://127.0.0.1:1"]).await.says(3, &["faucet"]);
    fs::write(payer.file("card.json"), "[]").unwrap();
    payer.pay_in_sandbox(&[]).await.says(2, &["is no JSON object"]);
    assert!(payer.shop.payments().is_empty());
}

/// A whole service in sandbox mode: its banner, its note, its faucet.
#[tokio::test(flavor = "multi_thread")]
async fn beside_a_service_the_sandbox_is_found_by_itself() {
    let app = spawn_blocking(|| TestApp::start("")).await.unwrap();
    let pay = app.banner.lines().find(|line| line.contains(" pay --body card.json")).unwrap();
    let note = fs::read_to_string(app.folder().join("data/sandbox-chain")).unwrap();
    assert!(pay.trim().ends_with(&format!("--sandbox {}", note.trim())), "{pay}");
    assert!(app.banner.contains(&format!("chain     {}", note.trim())), "{}", app.banner);

    let payer = Payer::sit_down().await;
    let data = app.folder().join("data").display().to_string();
    let mut command = pennyblack(&payer.folder, "", &[("PENNYBLACK_DATA", &data)]);
    command.args(["pay", "--body", "card.json", "--base-url", &payer.shop.url]);
    let told = Told::of(spawn_blocking(move || command.output().unwrap()).await.unwrap());
    // Its faucet pays, on a chain that this shop does not know.
    assert!(told.text.contains("Signing as 0x"), "{}", told.text);
    assert_eq!(payer.shop.payments().len(), 1);
    spawn_blocking(move || {
        let mut app = app;
        app.signal("TERM");
        app.wait_for_exit();
        assert!(!app.folder().join("data/sandbox-chain").exists());
    })
    .await
    .unwrap();
}
