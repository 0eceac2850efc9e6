//! The endpoint over a fake name service.

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use http::{Method, Request};
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Gateway, Source, Trust};
use order::model::ids::Timestamp;
use order::model::seller::{NotAUsername, Username};
use order::ports::Failure;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

const NOON: Timestamp = Timestamp(1_790_000_000);

struct Stopped;

#[async_trait]
impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        NOON
    }

    fn uptime(&self) -> u64 {
        0
    }

    async fn wait(&self, _seconds: u64) {}
}

/// Knows three names: one resolves, one does not, one fails.
struct Book {
    valid_seconds: u64,
}

#[async_trait]
impl NameService for Book {
    fn read(&self, text: &str) -> Result<Username, NotAUsername> {
        Username::parse(text, "cards.example.eth", |label| {
            label.is_ascii().then(|| label.to_owned())
        })
    }

    async fn resolve(
        &self,
        seller: &Username,
        purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure> {
        assert_eq!(purpose, Purpose::Payment, "outdated addresses are not shown");
        match seller.as_str() {
            "alice" => Ok(Resolution::new(records(), self.evidence(seller))),
            "busy" => Err(Failure::Refused("too many names at once".into())),
            "broken" => Err(Failure::Lost("a secret of the inside".into())),
            _ => Ok(None),
        }
    }
}

fn records() -> Vec<Record> {
    let address = |byte| EvmAddress::from_bytes([byte; 20]);
    vec![
        Record { network: Network::Polygon, address: address(2), source: Source::Default },
        Record { network: Network::Base, address: address(1), source: Source::Chain },
    ]
}

impl Book {
    fn evidence(&self, seller: &Username) -> Evidence {
        let gateway = Gateway { host: "gateway.example".into(), trust: Trust::Signature };
        Evidence {
            gateway: Some(gateway),
            found: Found::ByWildcard,
            valid_until: NOON.plus(self.valid_seconds),
            ..Evidence::made_up(seller.clone(), NOON)
        }
    }
}

async fn ask_for(valid_seconds: u64, method: Method, path: &str) -> (Response, String) {
    let names: Arc<dyn NameService> = Arc::new(Book { valid_seconds });
    let uri = format!("/api/x402/resolve/{path}");
    let request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
    let directory = SellerLookup { names, clock: Arc::new(Stopped) };
    let mut response = routes(directory).oneshot(request).await.unwrap();
    let body = to_bytes(std::mem::take(response.body_mut()), 8_192).await.unwrap();
    (response, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_seller_is_returned_with_evidence() {
    let (response, body) = ask_for(60, Method::GET, "alice").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CACHE_CONTROL], "public, max-age=30");
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    let zero = "0x0000000000000000000000000000000000000000";
    let expected = json!({
        "username": "alice",
        "ens_name": "alice.cards.example.eth",
        "normalized": true,
        "node": format!("0x{}", "00".repeat(32)),
        "address": "0x0101010101010101010101010101010101010101",
        "networks": [
            {
                "network": "eip155:8453",
                "coin_type": 2_147_492_101_u64,
                "address": "0x0101010101010101010101010101010101010101",
                "source": "chain",
            },
            {
                "network": "eip155:137",
                "coin_type": 2_147_483_785_u64,
                "address": "0x0202020202020202020202020202020202020202",
                "source": "default",
            },
        ],
        "evidence": {
            "chain_id": 1,
            "block_number": 1,
            "block_hash": format!("0x{}", "01".repeat(32)),
            "block_timestamp": "2026-09-21T14:13:20Z",
            "block_tag": "safe",
            "universal_resolver": zero,
            "resolver": zero,
            "wildcard": true,
            "ccip_read": { "used": true, "gateway": "gateway.example", "trust": "signature" },
            "method": "addr(bytes32,uint256)",
            "sources_agreeing": 1,
        },
        "resolved_at": "2026-09-21T14:13:20Z",
        "valid_until": "2026-09-21T14:14:20Z",
        "cached": false,
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

#[tokio::test]
async fn every_spelling_is_the_same_seller_and_head_is_get_without_a_body() {
    let (_, expected) = ask_for(60, Method::GET, "alice").await;
    for path in ["@alice", "%40alice", "ALICE", "alice.cards.example.eth", "%61lice"] {
        assert_eq!(ask_for(60, Method::GET, path).await.1, expected, "{path}");
    }
    let (response, body) = ask_for(60, Method::HEAD, "alice").await;
    assert_eq!((response.status(), body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn the_cache_time_ends_with_the_evidence() {
    for (valid, kept) in [(31, 30), (12, 12), (0, 0)] {
        let (response, _) = ask_for(valid, Method::GET, "alice").await;
        assert_eq!(response.headers()[CACHE_CONTROL], format!("public, max-age={kept}"));
    }
}

#[tokio::test]
async fn each_error_has_its_status_and_does_not_repeat_the_name() {
    for (path, status, code) in [
        ("a.b", 400, "invalid_seller"),
        ("%D0%B0lice", 400, "invalid_seller"),
        ("%FF", 400, "invalid_seller"),
        ("a%2Fb.c", 400, "invalid_seller"),
        ("nobody", 404, "seller_not_resolved"),
        ("busy", 503, "too_many_lookups"),
        ("broken", 500, "internal_error"),
    ] {
        let (response, body) = ask_for(60, Method::GET, path).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
        let fault: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(fault["error"]["code"], code, "{path}");
        assert!(!body.contains("secret") && !body.contains("nobody"), "{body}");
    }
}
