//! Answers, lists and requests one by one; whole payments are in `tests/facilitator/`.

use std::sync::Mutex;

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::money::CEILING;
use serde_json::json;
use tokio::sync::Semaphore;

use super::*;
use crate::http::HostPolicy;
use crate::http::test_server::{Reply, Server};

mod lists;
mod replies;

const PAYER: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const FACILITATOR: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const CHARGE: Usdc = Usdc::from_atomic(2_117_500);

fn address(text: &str) -> EvmAddress {
    text.parse().unwrap()
}

fn authorization() -> Permit2Authorization {
    Permit2Authorization {
        network: Network::Base,
        payer: address(PAYER),
        pay_to: address("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
        facilitator: address(FACILITATOR),
        most: CEILING,
        nonce: [7; 32],
        valid_after: 0,
        deadline: 1_794_700_300,
        signature: vec![1; 65],
        permit: None,
        payload: json!({
            "x402Version": 2,
            "payload": { "signature": "0x01", "later": [1, 2.5, null] },
            "accepted": {
                "scheme": "upto",
                "amount": "3500000",
                "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                "maxTimeoutSeconds": 300,
                "extra": { "name": "USD Coin", "unheard-of": { "a": 1 } },
            },
            "unheard-of": "kept",
        })
        .into(),
    }
}

/// A stopped clock that records the waits.
struct WaitRecorder {
    waits: Mutex<Vec<u64>>,
    turns: Semaphore,
}

impl WaitRecorder {
    fn with_turns(turns: usize) -> Arc<Self> {
        Arc::new(Self { waits: Mutex::default(), turns: Semaphore::new(turns) })
    }
}

#[async_trait]
impl Clock for WaitRecorder {
    fn now(&self) -> Timestamp {
        Timestamp(1_794_700_000)
    }

    fn uptime(&self) -> u64 {
        0
    }

    async fn wait(&self, seconds: u64) {
        self.waits.lock().unwrap().push(seconds);
        self.turns.acquire().await.unwrap().forget();
    }
}

fn facilitator(base: &HttpUrl, key: Option<CdpKey>, clock: Arc<WaitRecorder>) -> RemoteFacilitator {
    let settings = FacilitatorSettings {
        base: base.clone(),
        key,
        nodes: BTreeMap::new(),
        deadlines: Deadlines::DEFAULT,
    };
    RemoteFacilitator::new(settings, HttpClient::new(HostPolicy::Configured).unwrap(), clock)
}

#[test]
fn the_payload_is_unchanged_and_the_requirements_are_ours_over_the_accepted_ones() {
    let authorization = authorization();
    let request = wire::request(&authorization, CHARGE);
    assert_eq!(request["x402Version"], 2);
    assert_eq!(request["paymentPayload"], *authorization.payload);
    assert_eq!(
        request["paymentRequirements"],
        json!({
            "scheme": "upto",
            "network": "eip155:8453",
            "amount": "2117500",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "payTo": "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
            "maxTimeoutSeconds": 300,
            "extra": {
                "name": "USD Coin",
                "unheard-of": { "a": 1 },
                "facilitatorAddress": FACILITATOR,
            },
        })
    );
}

#[test]
fn only_the_wallets_own_signature_is_sent() {
    let mut authorization = authorization();
    let (factory, inside) = (Address::repeat_byte(0x11), Bytes::from_static(&[7; 130]));
    let arguments = (factory, Bytes::new(), inside.clone()).abi_encode_params();
    authorization.signature = [arguments, [0x64, 0x92].repeat(16)].concat();
    let request = wire::request(&authorization, CHARGE);
    let mut expected = Value::clone(&authorization.payload);
    expected["payload"]["signature"] = inside.to_string().into();
    assert_eq!(request["paymentPayload"], expected);
}

#[tokio::test]
async fn without_a_node_the_facilitator_is_asked_about_a_limited_number_of_signatures() {
    let (valid, invalid) =
        (r#"{"isValid":true}"#, r#"{"isValid":false,"invalidReason":"invalid_permit2_signature"}"#);
    let refused = Err(Rejection::Invalid("invalid_permit2_signature".to_owned()));
    // A wallet that accepts signatures and does not pay has no limit of its own.
    for (answer, verdict) in [(valid, Ok(())), (invalid, refused)] {
        let server = Server::start((0..100).map(|_| Reply::good(answer))).await;
        let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
        let authorization = authorization();
        let mut verdicts = Vec::new();
        for _ in 0..100 {
            verdicts.push(remote.verify(&authorization, SignatureKind::Contract).await);
        }
        assert_eq!(verdicts[0], verdict);
        assert_eq!(verdicts[99], Err(Rejection::Unavailable));
        assert_eq!(server.heard().len(), 60);
        assert_eq!(remote.known_account(Network::Base, authorization.payer), KnownAccount::Unknown);
    }
}

#[test]
fn the_stored_block_reads_back_and_other_bytes_do_not() {
    assert_eq!(wire::marked(&wire::mark(123_456_789)), Some(123_456_789));
    assert_eq!(wire::marked(&Preparation::default()), None);
}

#[tokio::test]
async fn a_key_gives_every_request_its_own_token_and_no_key_gives_none() {
    let replies = ["{\"kinds\":[]}", "{\"isValid\":true}", "{}"].map(Reply::good);
    let server = Server::start(replies).await;
    let secret =
        "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg==";
    let key = CdpKey::new("key-1", secret).unwrap();
    let remote = facilitator(&server.address, Some(key), WaitRecorder::with_turns(0));
    let authorization = authorization();
    assert!(matches!(remote.refresh().await, SupportedReply::Good(_)));
    assert_eq!(remote.verify(&authorization, SignatureKind::Key).await, Ok(()));
    let due = Permit2Payment {
        authorization: &authorization,
        charge: CHARGE,
        preparation: &Preparation::default(),
    };
    assert!(matches!(remote.settle(due).await, Err(Unsettled::Lost(_))));
    let heard = server.heard();
    let tokens: Vec<&str> = heard
        .iter()
        .map(|request| {
            let line = request.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
            line.unwrap()
        })
        .collect();
    assert_eq!(tokens.len(), 3);
    assert!(tokens[0] != tokens[1] && tokens[1] != tokens[2]);

    let server = Server::start([Reply::good("{\"isValid\":true}")]).await;
    let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
    assert_eq!(remote.verify(&authorization, SignatureKind::Contract).await, Ok(()));
    assert!(!server.heard()[0].to_lowercase().contains("authorization:"));
}

#[tokio::test]
async fn what_it_reports_about_its_catalog_is_noted() {
    let report = STANDARD.encode(r#"{"bazaar":{"status":"success"}}"#);
    let head = format!("HTTP/1.1 200 X\r\nEXTENSION-RESPONSES: {report}\r\ncontent-length: 2");
    let server = Server::start([Reply::Raw(format!("{head}\r\n\r\n{{}}"))]).await;
    let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
    let verified = remote.verify(&authorization(), SignatureKind::Key).await;
    assert_eq!(verified, Err(Rejection::Unavailable), "the report decides nothing");
    assert_eq!(remote.extensions.last_status("bazaar").as_deref(), Some("success"));
}

#[tokio::test]
async fn an_amount_of_zero_or_above_the_authorization_is_not_sent() {
    let server = Server::start([Reply::good("{}")]).await;
    let remote = facilitator(&server.address, None, WaitRecorder::with_turns(0));
    let authorization = authorization();
    for charge in [Usdc::from_atomic(0), Usdc::from_atomic(3_500_001)] {
        let due = Permit2Payment {
            authorization: &authorization,
            charge,
            preparation: &Preparation::default(),
        };
        assert!(matches!(remote.settle(due).await, Err(Unsettled::Refused(_))));
    }
    assert!(server.heard().is_empty());
}

#[tokio::test]
async fn a_facilitator_that_does_not_answer_is_lost_after_the_deadline() {
    let server = Server::start([Reply::Nothing]).await;
    let soon = Duration::from_millis(400);
    let settings = FacilitatorSettings {
        base: server.address.clone(),
        key: None,
        nodes: BTreeMap::new(),
        deadlines: Deadlines { question: soon, settle: soon, repeat: soon },
    };
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    let remote = RemoteFacilitator::new(settings, client, WaitRecorder::with_turns(0));
    let authorization = authorization();
    assert_eq!(
        remote.verify(&authorization, SignatureKind::Key).await,
        Err(Rejection::Unavailable)
    );
    assert_eq!(remote.refresh().await, SupportedReply::Bad { retry_after: None });
    let due = Permit2Payment {
        authorization: &authorization,
        charge: CHARGE,
        preparation: &Preparation::default(),
    };
    let reply = remote.settle(due).await;
    assert_eq!(reply, Err(Unsettled::Lost("lost: no answer in time".to_owned())));
}
