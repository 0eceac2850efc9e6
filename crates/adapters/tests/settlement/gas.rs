//! What gas may cost: caps, the budget of an hour, an account without gas.

use std::sync::Arc;

use adapters::measurements;
use adapters::settlement::{Settler, SettlerLimits};
use metrics_exporter_prometheus::PrometheusBuilder;
use order::tender::{Rejection, Unsettled};
use pay::transfer::TransferStatus;
use pay::x402::settler::Permit2Settler;
use sandbox::chain::{CallOutcome, NodeFault, NodeFaultRule, TagDepths};
use tokio::task::JoinSet;

use crate::fixture::{BASE, Fixture, Payment, atomic, measured, pay, until};
use crate::log_capture::log_of_this_test;
use crate::signing::CHARGE;

#[tokio::test]
async fn a_payment_is_not_prepared_while_gas_costs_more_than_the_cap() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let cap = SettlerLimits::of(BASE).fee_cap;
    chain.set_base_fee(cap);
    let authorization = fixture.authorization();
    let dear = settler.prepare(&authorization, CHARGE, None).await.map(drop);
    assert_eq!(dear, Err(Rejection::Unavailable));
    chain.set_base_fee(cap / 2);
    pay(&settler, authorization).await.unwrap();
    assert_eq!((fixture.paid(), chain.nonce_of(fixture.account())), (atomic(1), 1));
}

#[tokio::test]
async fn a_call_that_takes_more_gas_than_allowed_is_not_prepared_and_not_run_to_its_end() {
    let log = log_of_this_test();
    let fixture = Fixture::open().await;
    let payment = Payment::prepare(&fixture.settler(), fixture.authorization()).await.unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&payment.preparation.0).unwrap();
    let gas = kept["gas"].as_u64().unwrap();
    let refused = async |gas_max| {
        let settler = fixture.settler_within(SettlerLimits { gas_max, ..SettlerLimits::of(BASE) });
        let greedy = settler.prepare(&fixture.authorization(), CHARGE, None).await.map(drop);
        assert_eq!(greedy, Err(Rejection::Unavailable));
        let calls = fixture.chain().journal();
        let estimate = calls.iter().rfind(|call| call.method == "eth_estimateGas");
        estimate.map(|call| call.outcome.clone())
    };
    let said = || log().iter().filter(|line| line.contains("Gas costs more")).count();
    // The estimate is within the limit, but not with the reserve that is added to it.
    assert_eq!(refused(gas - 1).await, Some(CallOutcome::Answered));
    assert_eq!(said(), 1);
    assert_eq!(refused(60_000).await, Some(CallOutcome::Refused(-32_000)));
    assert_eq!(said(), 2);
}

/// Prepares eight payments at once, and returns how often the node was asked for fees.
async fn fee_calls_of_eight(fixture: &Fixture, expected: Result<(), Rejection>) -> u64 {
    let (settler, mut payments) = (Arc::new(fixture.settler()), JoinSet::new());
    for payer in 0..8 {
        let authorization = fixture.authorization_of(&format!("payer {payer}"));
        let settler = Arc::clone(&settler);
        payments
            .spawn(async move { settler.prepare(&authorization, CHARGE, None).await.map(drop) });
    }
    for outcome in payments.join_all().await {
        assert_eq!(outcome, expected);
    }
    fixture.chain().counts().get("eth_feeHistory").copied().unwrap_or_default()
}

#[tokio::test]
async fn concurrent_payments_ask_for_the_gas_price_once() {
    assert_eq!(fee_calls_of_eight(&Fixture::open().await, Ok(())).await, 1);
}

/// Otherwise the last of them would wait for as many deadlines as there are payments.
#[tokio::test]
async fn concurrent_payments_share_the_failure_to_read_the_gas_price() {
    let fixture = Fixture::open().await;
    let fails = NodeFaultRule::once(NodeFault::Unavailable, "eth_feeHistory");
    fixture.chain().add_fault(NodeFaultRule { times: None, ..fails });
    assert_eq!(fee_calls_of_eight(&fixture, Err(Rejection::Unavailable)).await, 2);
}

/// Prepares a payment, changes the world, and expects that its settlement gets no nonce.
async fn assert_withdrawn(fixture: &Fixture, settler: &Settler, change: impl FnOnce(), why: &str) {
    let payment = Payment::prepare(settler, fixture.authorization()).await.unwrap();
    change();
    let withdrawn = payment.settle(settler).await;
    assert_eq!(withdrawn, Err(Unsettled::Withdrawn(why.to_owned())));
    assert_eq!((fixture.signed(payment.key()).await, fixture.chain().waiting()), (0, 0));
    assert_eq!(payment.trace(settler).await, Ok(TransferStatus::Open));
}

#[tokio::test]
async fn fees_that_rise_above_the_cap_after_preparing_withdraw_the_settlement() {
    let fixture = Fixture::open().await;
    let dear = || fixture.chain().set_base_fee(SettlerLimits::of(BASE).fee_cap);
    let why = "gas costs more than the settler may pay";
    assert_withdrawn(&fixture, &fixture.settler(), dear, why).await;
}

#[tokio::test]
async fn an_account_without_gas_signs_nothing() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let dry = || fixture.chain().set_native(fixture.account(), 1);
    assert_withdrawn(&fixture, &settler, dry, "the settler's account cannot pay for gas").await;
    let dry = settler.prepare(&fixture.authorization(), CHARGE, None).await.map(drop);
    assert_eq!(dry, Err(Rejection::Unavailable));
}

#[tokio::test]
async fn a_spent_gas_budget_withdraws_settlements() {
    let fixture = Fixture::open().await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    fixture.end(settler).await;
    let kept: serde_json::Value = serde_json::from_slice(&payment.preparation.0).unwrap();
    // A payment may cost 21 million wei for a unit of gas, and costs 11 million.
    let budget = 25_000_000 * u128::from(kept["gas"].as_u64().unwrap());
    let limits = SettlerLimits { gas_budget_per_hour: budget, ..SettlerLimits::of(BASE) };
    let settler = fixture.settler_within(limits);
    pay(&settler, fixture.authorization()).await.unwrap();
    let why = "the gas budget of this hour is spent";
    assert_withdrawn(&fixture, &settler, || (), why).await;
    assert_eq!(fixture.chain().nonce_of(fixture.account()), 1);
}

#[tokio::test]
async fn a_payment_that_always_fails_is_signed_eight_times_and_never_again() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    chain.set_depths(TagDepths { safe: 100, finalized: 200 });
    let fails = NodeFaultRule::once(NodeFault::Revert, "eth_sendRawTransaction");
    chain.add_fault(NodeFaultRule { times: None, ..fails });
    let mut payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    for _ in 0..12 {
        let _ = payment.look(&settler).await;
    }
    assert_eq!((fixture.signed(payment.key()).await, chain.nonce_of(fixture.account())), (8, 8));
    assert_eq!((fixture.paid(), payment.trace(&settler).await), (0, Ok(TransferStatus::Open)));
    // Neither a new process nor a new order for the same payment begins anew.
    fixture.end(settler).await;
    let settler = fixture.settler();
    let payment = Payment::prepare(&settler, payment.authorization).await.unwrap();
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    chain.set_depths(TagDepths::default());
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
    assert_eq!((fixture.signed(payment.key()).await, chain.nonce_of(fixture.account())), (8, 8));
}

#[tokio::test]
async fn a_payment_leaves_its_charge_its_fee_and_the_balance_in_the_metrics() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let text = || recorder.handle().render();
    assert!(!text().contains(measurements::SETTLER_BALANCE), "it was not read yet");
    let before = chain.native_of(fixture.account());
    let authorization = fixture.authorization();
    let payer = authorization.payer.to_string();
    let payment = Payment::prepare(&settler, authorization).await.unwrap();
    let settler = measured(settler);
    settler.settle(payment.due()).await.unwrap();
    let fee = before - chain.native_of(fixture.account());
    let has = |name: &str, labels: &str, value: u128| {
        text().contains(&format!("{name}{{{labels}network=\"{}\"}} {value}\n", BASE.caip2()))
    };
    let charge = u128::from(CHARGE.atomic());
    assert!(has(measurements::USDC_CHARGED, "rail=\"x402\",", charge), "{}", text());
    assert!(has(measurements::SETTLER_BALANCE, "", before), "{}", text());
    let counted = async || has(measurements::GAS_SPENT, "", fee);
    until("the fee is counted when its block is final", counted).await;
    assert!(!text().to_lowercase().contains(&payer.to_lowercase()), "no label names the payer");
}

#[tokio::test]
async fn the_alert_for_low_gas_is_logged_once_for_each_change() {
    let log = log_of_this_test();
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let said = |words: &str| log().iter().filter(|line| line.contains(words)).count();
    let low = SettlerLimits::of(BASE).low_balance;
    for (balance, alerts) in
        [(low, (0, 0)), (low - 1, (1, 0)), (low - 1, (1, 0)), (low, (1, 1)), (low - 1, (2, 1))]
    {
        // The sender reads the balance again with a payment that comes a little later.
        until("the balance is read", async || {
            chain.set_native(fixture.account(), balance);
            pay(&settler, fixture.authorization()).await.unwrap();
            (said("runs out of gas"), said("enough gas again")) == alerts
        })
        .await;
    }
    let lines = log();
    let account = fixture.account().to_string();
    let names = |line: &&String| line.contains(&account) && line.contains(BASE.caip2());
    assert_eq!(lines.iter().filter(names).count(), 3, "{lines:?}");
}
