//! The merchant's MPP endpoint: a challenge for the body of the request, and one transfer.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use evm::abi::encode_call;
use evm::hex;
use evm::keccak::keccak256;
use order::model::chain::Network;
use sandbox::payee::payee;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Merchant, Mood, ORDER, Seen, carry, decimal, digits, padded};

const REALM: &str = "cards.example";

pub(super) fn request() -> Value {
    json!({
        "amount": "3500000",
        "currency": Network::Base.usdc().to_string(),
        "methodDetails": { "chainId": 8453, "credentialTypes": ["authorization"], "decimals": 6 },
        "recipient": payee().to_string(),
    })
}

pub(super) async fn sell(
    State(shop): State<Merchant>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert!(headers.get("payment-signature").is_none());
    let payment = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let text = String::from_utf8(body.to_vec()).unwrap();
    shop.books().seen.push(Seen { body: text, payment: payment.clone() });
    let Some(payment) = payment else { return challenge(&shop, &body) };
    let mood = shop.books().moods.pop_front();
    match mood {
        None => take(&shop, &payment, &body),
        Some(Mood::Say(status, body)) => {
            (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
        }
        Some(Mood::Decline) => {
            let kind = "https://paymentauth.org/problems/verification-failed";
            let said = json!({ "type": kind, "status": 402, "detail": "not enough USDC" });
            (StatusCode::PAYMENT_REQUIRED, said.to_string()).into_response()
        }
        Some(Mood::TakeAndHangUp) => {
            let taken = take(&shop, &payment, &body);
            assert_eq!(taken.status(), 200);
            panic!("the shop hangs up, as it was told to");
        }
    }
}

fn digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

/// A moment as RFC 3339 writes it.
fn written(moment: u64) -> String {
    let (mut days, rest) = (moment / 86_400, moment % 86_400);
    let (mut year, mut month) = (1970, 1);
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if days < length {
            break;
        }
        days -= length;
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

fn challenge(shop: &Merchant, body: &[u8]) -> Response {
    let books = shop.books();
    let request = URL_SAFE_NO_PAD.encode(books.request.to_string());
    // An id of its own for every challenge that was asked for.
    let id = format!("challenge-{}", books.seen.len());
    let expires = written(shop.chains.now() + 600);
    let header = format!(
        r#"Payment id="{id}", realm="{REALM}", method="evm", intent="charge", request="{request}", description="One 4x6 postcard", expires="{expires}", digest="{}""#,
        digest(body)
    );
    let problem = json!({ "status": 402, "public_order_id": ORDER });
    let head = [("www-authenticate", header)];
    (StatusCode::PAYMENT_REQUIRED, head, problem.to_string()).into_response()
}

/// Takes a transfer to the chain, whose token judges it. The same one gets the same receipt.
fn take(shop: &Merchant, payment: &str, body: &[u8]) -> Response {
    let sent = opened(payment);
    let challenge = &sent["challenge"];
    assert_eq!(challenge["digest"], digest(body));
    let payload = &sent["payload"];
    let bound = format!("{}{REALM}", challenge["id"].as_str().unwrap());
    assert_eq!(payload["nonce"], hex::encode(&keccak256(&[bound.as_bytes()])));
    let earlier = shop.books().settled.iter().position(|settled| settled == payment);
    if earlier.is_none() {
        carry(shop, Network::Base, Network::Base.usdc(), calldata(payload));
        shop.books().settled.push(payment.to_owned());
    }
    let receipt = json!({
        "status": "success", "method": "evm", "reference": format!("0x{:064x}", 7),
        "challengeId": challenge["id"], "chainId": 8453,
    });
    let head = [("payment-receipt", URL_SAFE_NO_PAD.encode(receipt.to_string()))];
    (head, json!({ "id": ORDER, "status": "submitted" }).to_string()).into_response()
}

/// The JSON inside a value of `Authorization`.
pub(in super::super) fn opened(payment: &str) -> Value {
    let token = payment.strip_prefix("Payment ").unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap()
}

const TRANSFER: &str = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,\
    uint8,bytes32,bytes32)";

/// The call of the token, word by word.
fn calldata(payload: &Value) -> Vec<u8> {
    let account = |name: &str| padded(&digits(payload[name].as_str().unwrap()));
    let signature = digits(payload["signature"].as_str().unwrap());
    let words = [
        account("from"),
        account("to"),
        decimal(&payload["value"]),
        decimal(&payload["validAfter"]),
        decimal(&payload["validBefore"]),
        digits(payload["nonce"].as_str().unwrap()),
        padded(&signature[64..]),
        signature[..32].to_vec(),
        signature[32..64].to_vec(),
    ];
    [encode_call(TRANSFER, &[]), words.concat()].concat()
}
