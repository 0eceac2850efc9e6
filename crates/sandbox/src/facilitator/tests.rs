//! The facilitator before a raw socket: payments that go through, and each fault as it says it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::*;
use crate::chain::{self, MiningMode};
use crate::facilitator::fault::{FacilitatorFault, FacilitatorOperation};
use crate::facilitator::payment_payload::PaymentTerms;
use crate::payee::payee;

const NOW: u64 = 1_794_700_000;
const CHARGE: u64 = 2_117_500;

struct Stopped;

#[async_trait]
impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp(NOW)
    }

    fn uptime(&self) -> u64 {
        0
    }

    async fn wait(&self, _seconds: u64) {}
}

struct Fixture {
    chains: ChainEmulator,
    facilitator: FacilitatorEmulator,
    nonces: AtomicU8,
}

async fn open(settings: FacilitatorEmulatorSettings) -> Fixture {
    let chains = ChainEmulator::open(chain::ChainSettings::new(Arc::new(Stopped))).await.unwrap();
    let facilitator = FacilitatorEmulator::open(settings, &chains).await.unwrap();
    Fixture { chains, facilitator, nonces: AtomicU8::new(1) }
}

impl Fixture {
    fn terms(&self, network: Network) -> PaymentTerms {
        PaymentTerms {
            network,
            pay_to: payee(),
            facilitator: self.facilitator.accounts()[0],
            most: 3_500_000,
            nonce: [self.nonces.fetch_add(1, Ordering::Relaxed); 32],
            deadline: NOW + 300,
        }
    }

    fn paid(&self, network: Network) -> u128 {
        self.chains.chain(network).usdc_of(payee())
    }

    /// One request; nothing if the connection ended without an answer.
    async fn call(&self, line: &str, body: &Value) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(self.facilitator.server.address()).await.unwrap();
        let body = body.to_string();
        let request = format!(
            "{line} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.ok()?;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }

    async fn verify(&self, payload: &Value) -> Value {
        let body = request(payload, 3_500_000);
        self.call("POST /verify", &body).await.unwrap().1
    }

    async fn settle(&self, payload: &Value, amount: u64) -> Option<(u16, Value)> {
        self.call("POST /settle", &request(payload, amount)).await
    }
}

fn request(payload: &Value, amount: u64) -> Value {
    let mut wanted = payload["accepted"].clone();
    wanted["amount"] = json!(amount.to_string());
    json!({ "x402Version": 2, "paymentPayload": payload, "paymentRequirements": wanted })
}

#[tokio::test]
async fn an_authorization_is_verified_at_its_ceiling_and_settled_once_for_less() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let payer = fixture.chains.faucet().payer();
    for network in Network::ALL {
        let payload = fixture.terms(network).signed(&payer);
        assert_eq!(fixture.verify(&payload).await["isValid"], true);
        assert_eq!(fixture.paid(network), 0);
        let (status, body) = fixture.settle(&payload, CHARGE).await.unwrap();
        assert_eq!(
            (status, &body["success"], &body["amount"]),
            (200, &json!(true), &json!("2117500"))
        );
        assert_eq!(fixture.paid(network), 2_117_500);
        let again = fixture.settle(&payload, CHARGE).await.unwrap().1;
        assert_eq!(again["errorReason"], "permit2_simulation_failed");
        assert_eq!(fixture.verify(&payload).await["invalidReason"], "permit2_simulation_failed");
        assert_eq!(fixture.paid(network), 2_117_500);
    }
}

#[tokio::test]
async fn a_payer_without_allowance_needs_a_permit() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let newcomer = fixture.chains.faucet().newcomer();
    let terms = fixture.terms(Network::Base);
    let missing = fixture.verify(&terms.signed(&newcomer)).await;
    assert_eq!(missing["invalidReason"], "permit2_allowance_required");
    let payload = terms.sponsored(&newcomer);
    assert_eq!(fixture.verify(&payload).await["isValid"], true);
    let (_, body) = fixture.settle(&payload, CHARGE).await.unwrap();
    assert_eq!(body["success"], true);
    assert_eq!(fixture.paid(Network::Base), 2_117_500);
}

/// A change to a payload.
type Bend = fn(&mut Value);

#[tokio::test]
async fn every_tampered_field_has_its_own_reason() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let payer = fixture.chains.faucet().payer();
    let other = json!("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65");
    let bends: [(Bend, &str); 8] = [
        (|p| p["accepted"]["scheme"] = json!("exact"), "invalid_upto_evm_scheme"),
        (|p| *promise(p, "/spender") = json!(PROXY), "invalid_permit2_spender"),
        (|p| *promise(p, "/witness/to") = json!(PROXY), "invalid_permit2_recipient_mismatch"),
        (|p| *promise(p, "/witness/facilitator") = json!(PROXY), "upto_facilitator_mismatch"),
        (|p| *promise(p, "/deadline") = json!("5"), "permit2_deadline_expired"),
        (|p| *promise(p, "/permitted/amount") = json!("3500001"), "permit2_amount_mismatch"),
        (|p| *promise(p, "/permitted/token") = json!(PROXY), "permit2_token_mismatch"),
        (|p| *promise(p, "/nonce") = json!("0x77"), "invalid_permit2_signature"),
    ];
    for (bend, reason) in bends {
        let mut payload = fixture.terms(Network::Base).signed(&payer);
        bend(&mut payload);
        assert_eq!(fixture.verify(&payload).await["invalidReason"], reason);
    }
    let mut stranger = fixture.terms(Network::Base).signed(&payer);
    *promise(&mut stranger, "/from") = other;
    assert_eq!(fixture.verify(&stranger).await["invalidReason"], "invalid_permit2_signature");
    let payload = fixture.terms(Network::Base).signed(&payer);
    let (_, above) = fixture.settle(&payload, 3_500_001).await.unwrap();
    assert_eq!(above["errorReason"], "invalid_upto_evm_payload_settlement_exceeds_amount");
    assert_eq!(fixture.call("POST /verify", &json!({})).await.unwrap().0, 400);
    assert_eq!(fixture.paid(Network::Base), 0);
}

const PROXY: &str = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001";

fn promise<'a>(payload: &'a mut Value, place: &str) -> &'a mut Value {
    payload.pointer_mut(&format!("/payload/permit2Authorization{place}")).unwrap()
}

#[tokio::test]
async fn each_fault_moves_money_or_not_as_documented() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let payer = fixture.chains.faucet().payer();
    for kind in FacilitatorFault::ALL.iter().copied() {
        // Silence ends when the caller leaves; its test is below.
        if matches!(kind, FacilitatorFault::HangBefore | FacilitatorFault::HangAfter) {
            continue;
        }
        let before = fixture.paid(Network::Base);
        let payload = fixture.terms(Network::Base).signed(&payer);
        fixture.facilitator.add_fault(
            FacilitatorFaultRule::new(kind).on(FacilitatorOperation::Settle).milliseconds(1).once(),
        );
        let body = fixture.settle(&payload, CHARGE).await;
        let moved = fixture.paid(Network::Base) - before;
        let less = u128::from(kind == FacilitatorFault::MovesLess);
        let expected = if kind.comes_before() { 0 } else { 2_117_500 - less };
        assert_eq!(moved, expected, "{kind:?}");
        let cut = matches!(kind, FacilitatorFault::CutBefore | FacilitatorFault::CutAfter);
        assert_eq!(body.is_none(), cut, "{kind:?}");
        let line = fixture.facilitator.journal().pop().unwrap();
        assert_eq!((line.fault, line.transaction.is_some()), (Some(kind), moved > 0), "{kind:?}");
        fixture.facilitator.clear_faults();
    }
}

#[tokio::test]
async fn a_repeated_request_reports_the_outcome_of_a_pending_settlement() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let payer = fixture.chains.faucet().payer();
    for (kind, status) in [(FacilitatorFault::Pending, 200), (FacilitatorFault::PendingAs500, 500)]
    {
        let payload = fixture.terms(Network::Polygon).signed(&payer);
        fixture.facilitator.add_fault(FacilitatorFaultRule::new(kind).times(2));
        let mut outcomes = Vec::new();
        for status in [status, status, 200] {
            let (given, body) = fixture.settle(&payload, CHARGE).await.unwrap();
            assert_eq!(given, status);
            outcomes.push((body["success"].clone(), body["transaction"].clone()));
        }
        assert_eq!(outcomes[0].0, json!(false));
        assert_eq!(outcomes[1], outcomes[0]);
        assert_eq!(outcomes[2], (json!(true), outcomes[0].1.clone()));
    }
    assert_eq!(fixture.paid(Network::Polygon), 2 * 2_117_500);
}

#[tokio::test]
async fn without_a_block_the_settlement_is_pending() {
    let settings = FacilitatorEmulatorSettings {
        patience: Duration::from_millis(30),
        ..FacilitatorEmulatorSettings::default()
    };
    let fixture = open(settings).await;
    let chain = fixture.chains.chain(Network::Base);
    chain.set_mining(MiningMode::Held);
    let payload = fixture.terms(Network::Base).signed(&fixture.chains.faucet().payer());
    let (_, body) = fixture.settle(&payload, CHARGE).await.unwrap();
    assert_eq!(body["errorReason"], "settlement_pending");
    chain.mine(1);
    let (_, body) = fixture.settle(&payload, CHARGE).await.unwrap();
    assert_eq!(body["success"], true);
    assert_eq!(fixture.paid(Network::Base), 2_117_500);
}

#[tokio::test]
async fn a_hanging_response_ends_when_the_client_leaves_or_the_server_closes() {
    for (kind, moved) in
        [(FacilitatorFault::HangBefore, 0), (FacilitatorFault::HangAfter, 2_117_500)]
    {
        let fixture = open(FacilitatorEmulatorSettings::default()).await;
        fixture
            .facilitator
            .add_fault(FacilitatorFaultRule::new(kind).on(FacilitatorOperation::Settle));
        let payload = fixture.terms(Network::Base).signed(&fixture.chains.faucet().payer());
        let reply = timeout(Duration::from_millis(200), fixture.settle(&payload, CHARGE)).await;
        assert!(reply.is_err(), "{kind:?}");
        assert_eq!(fixture.paid(Network::Base), moved);
        timeout(Duration::from_secs(20), fixture.facilitator.close()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn supported_names_one_account_in_turn_and_all_as_signers() {
    let fixture =
        open(FacilitatorEmulatorSettings { accounts: 2, ..FacilitatorEmulatorSettings::default() })
            .await;
    let mut named = Vec::new();
    for _ in 0..3 {
        let (_, list) = fixture.call("GET /supported", &Value::Null).await.unwrap();
        assert_eq!(list["signers"]["eip155:*"].as_array().unwrap().len(), 2);
        assert_eq!(list["extensions"], json!(["eip2612GasSponsoring"]));
        assert_eq!(list["kinds"].as_array().unwrap().len(), 3);
        named.push(list["kinds"][0]["extra"]["facilitatorAddress"].clone());
    }
    assert!(named[0] != named[1] && named[0] == named[2]);
}

#[tokio::test]
async fn rules_are_added_and_read_over_http_and_invalid_ones_are_reported() {
    let fixture = open(FacilitatorEmulatorSettings::default()).await;
    let rule = json!({ "kind": "refused", "operation": "verify", "reason": "no", "times": 1 });
    let (status, body) = fixture.call("POST /__sandbox/faults", &rule).await.unwrap();
    assert_eq!((status, &body["faults"][0]["reason"]), (200, &json!("no")));
    let payload = fixture.terms(Network::Base).signed(&fixture.chains.faucet().payer());
    assert_eq!(fixture.verify(&payload).await["invalidReason"], "no");
    assert_eq!(fixture.verify(&payload).await["isValid"], true);
    let (_, journal) = fixture.call("GET /__sandbox/journal", &Value::Null).await.unwrap();
    assert_eq!(journal["journal"][0]["fault"], "refused");
    assert_eq!(journal["journal"][1]["fault"], Value::Null);
    let wrong = json!({ "kind": "unheard", "times": "many", "tims": 1 });
    let (status, body) = fixture.call("POST /__sandbox/faults", &wrong).await.unwrap();
    let named: Vec<&str> = body["errors"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((status, named), (422, vec!["kind", "times", "tims"]));
}
