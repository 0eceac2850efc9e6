//! `pennyblack pay --rail mpp` before the same shop.

use std::process::Command;

use order::model::chain::Network;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::merchant::mpp::opened;
use super::merchant::{Mood, ORDER};
use super::{CARD, Payer, Told};
use crate::fixture::test_app::TestApp;

const PRICE: u128 = 3_500_000;
const RAIL: [&str; 2] = ["--rail", "mpp"];

impl Payer {
    async fn pay_by_mpp(&self, more: &[&str]) -> Told {
        self.pay_in_sandbox(&[&RAIL, more].concat()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_paid_for_exactly() {
    let payer = Payer::sit_down().await;
    let told = payer.pay_by_mpp(&[]).await;
    told.says(0, &[ORDER, "One 4x6 postcard", "3.50 USDC to 0x", "(charge)", "Signing as 0x"]);
    told.says(0, &["Paid.", "charged      3.50 USDC", "transaction  0x0000", "submitted"]);
    assert!(!told.text.contains("at most"), "{}", told.text);
    assert_eq!(payer.shop.takings(Network::Base), [PRICE]);
    assert!(!payer.keeps_a_payment());
    let books = payer.shop.books();
    let bodies: Vec<_> = books.seen.iter().map(|seen| seen.body.as_str()).collect();
    assert_eq!(bodies, [CARD, CARD], "the card as it was written, both times");
}

/// A transfer needs no allowance, and the account that sends it pays the gas.
#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_without_gas_and_allowance_pays() {
    let payer = Payer::sit_down().await;
    let newcomer = payer.shop.chains.faucet().newcomer();
    let key = payer.key_file(&newcomer);
    payer
        .pay(&["--rail", "mpp", "--key-file", &key])
        .await
        .says(2, &["no terminal to ask on", "--yes"]);
    let told = payer.pay(&["--rail", "mpp", "--key-file", &key, "--yes"]).await;
    told.says(0, &["Paid.", &newcomer.address().to_string()]);
    assert_eq!(payer.shop.takings(Network::Base), [PRICE]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_signed_above_the_limit_for_another_token_or_elsewhere() {
    let payer = Payer::sit_down().await;
    let told = payer.pay_by_mpp(&["--max", "3.49"]).await;
    told.says(1, &["Nothing was signed", "authorize 3.50 USDC and allow 3.49"]);
    let told = payer.pay_by_mpp(&["--network", "polygon"]).await;
    told.says(1, &["Nothing was signed", "Base is not the network that you named"]);
    payer.shop.books().request["currency"] = json!("0x000000000000000000000000000000000000dEaD");
    payer.shop.books().request["methodDetails"]["chainId"] = json!(1);
    let told = payer.pay_by_mpp(&[]).await;
    told.says(1, &["Nothing was signed", "not Circle's USDC", "the chain is 1 and not Base"]);
    let told = payer.pay_by_mpp(&["--approve", "--rpc-url", "http://127.0.0.1:1"]).await;
    told.says(2, &["no allowance is needed", "--approve and --rpc-url"]);
    assert!(payer.shop.payments().is_empty());
    assert!(!payer.keeps_a_payment());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_transfer_is_in_doubt_no_other_is_signed_on_either_rail() {
    let payer = Payer::sit_down().await;
    let error = json!({ "error": { "code": "settlement_unconfirmed", "retry": "same" } });
    let doubts = [Mood::Say(502, error), Mood::Say(409, json!({})), Mood::TakeAndHangUp];
    payer.shop.books().moods.extend(doubts);
    for part in ["settlement_unconfirmed", "status 409", "lost"] {
        let told = payer.pay_by_mpp(&[]).await;
        told.says(3, &[part, "Do not sign another one", "card.json.payment"]);
        assert!(payer.keeps_a_payment());
    }
    payer.pay_in_sandbox(&[]).await.says(2, &["another rail", "/api/mpp/postcards", ORDER]);
    payer.pay_by_mpp(&[]).await.says(0, &["The same one is sent again", "Paid."]);
    assert!(!payer.keeps_a_payment());
    let payments = payer.shop.payments();
    assert_eq!(payments.len(), 4);
    assert!(payments.iter().all(|payment| *payment == payments[0]));
    assert_eq!(payer.shop.takings(Network::Base), [PRICE], "paid once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_that_was_declined_is_forgotten_and_a_new_one_may_be_signed() {
    let payer = Payer::sit_down().await;
    payer.shop.books().moods.push_back(Mood::Decline);
    payer.pay_by_mpp(&[]).await.says(1, &["Not paid", "not enough USDC", "runs out by itself in"]);
    assert!(!payer.keeps_a_payment());
    payer.pay_by_mpp(&[]).await.says(0, &["Paid."]);
    let sent: Vec<Value> = payer.shop.payments().iter().map(|one| opened(one)).collect();
    assert_ne!(sent[0]["payload"]["nonce"], sent[1]["payload"]["nonce"]);
}

/// A whole service in sandbox mode, and a shell into which the banner's commands are pasted.
#[tokio::test(flavor = "multi_thread")]
async fn the_service_itself_takes_both_payments_that_its_banner_teaches() {
    let app = spawn_blocking(|| TestApp::start("")).await.unwrap();
    let about_cards = |line: &&str| line.contains("card.json") || line.contains("grace.json");
    let script: Vec<_> = app.banner.lines().filter(about_cards).map(str::to_owned).collect();
    assert_eq!(script.len(), 4, "{}", app.banner);
    let told = spawn_blocking(move || {
        let work = TempDir::new().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &script.join("\n")]).current_dir(work.path());
        Told::of(shell.output().unwrap())
    });
    let told = told.await.unwrap();
    told.says(0, &["of at most 3.50 USDC", "charged      3.50 USDC", "transaction  0x"]);
    assert_eq!(told.text.matches("Paid.").count(), 2, "{}", told.text);
    spawn_blocking(move || drop(app)).await.unwrap();
}
