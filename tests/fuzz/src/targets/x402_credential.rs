//! The credential of x402: nothing is settled but what the payer signed.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evm::hex;
use order::model::chain::{EvmAddress, Network};
use order::model::payment::Credential;
use pay::http_binding::ClientKind;
use pay::x402::UPTO_PROXY;
use pay::x402::credential::Permit2Authorization;
use pay::x402::http_binding::{PAYMENT_REQUIRED, PAYMENT_RESPONSE};
use pay::x402::signature::authorization_digest;
use serde_json::{Value, json};

use super::payments::{self, NOW};

const STATUSES: [u16; 8] = [200, 400, 402, 403, 404, 409, 412, 503];

/// The fields of an authorization that its payer signs.
type SignedFields = (Network, EvmAddress, EvmAddress, EvmAddress, u64, [u8; 32], u64, u64);

static SIGNED: LazyLock<Vec<SignedFields>> = LazyLock::new(|| {
    let read = |network| Permit2Authorization::read(&credential(&signed_payload(network)));
    Network::ALL
        .into_iter()
        .filter_map(|network| read(network).ok())
        .map(|read| fields(&read))
        .collect()
});

pub(crate) fn run(data: &[u8]) {
    let Some((choice, rest)) = super::choice(data) else { return };
    let Some(headers) = headers(choice, rest) else { return };
    let (x402, settled) = payments::x402();
    let answer = payments::answer(&x402, &headers);
    payments::check(&answer, &STATUSES);
    let settled = settled.take();
    let status = answer.status.as_u16();
    assert_eq!(status == 200, settled.len() == 1, "{status} after {} settlements", settled.len());
    for (authorization, charge) in &settled {
        assert!(SIGNED.contains(&fields(authorization)), "settled what the payer did not sign");
        assert!(*charge <= authorization.most, "settled more than the payer allows");
    }
    for name in [PAYMENT_REQUIRED, PAYMENT_RESPONSE] {
        if let Some(value) = answer.headers.get(&name) {
            let json = STANDARD
                .decode(value)
                .ok()
                .and_then(|json| serde_json::from_slice::<Value>(&json).ok());
            assert!(
                json.is_some_and(|json| json.is_object()),
                "{name} is not the base64 of an object"
            );
        }
    }
    check_read_again(&Credential(rest.to_vec()));
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let payloads = Network::ALL.map(|network| signed_payload(network).to_string());
    let mut seeds: Vec<Vec<u8>> =
        payloads.iter().map(|json| format!("0{json}").into_bytes()).collect();
    let header = STANDARD.encode(&payloads[0]);
    for (path, value) in [
        ("/payload/permit2Authorization/permitted/amount", "3500001"),
        ("/payload/permit2Authorization/deadline", "1790000301"),
        ("/payload/permit2Authorization/nonce", "7"),
        ("/payload/signature", "0x00"),
    ] {
        let mut changed = signed_payload(Network::Base);
        changed.pointer_mut(path).map(|place| *place = value.into()).expect("a member");
        seeds.push(format!("0{changed}").into_bytes());
    }
    seeds.extend(super::texts(&[
        &format!("1payment-signature:{header}\nx-payment:{header}"),
        "1payment-signature:e30=\nx-payment:e30",
        "1x-payment:\u{fc}",
        r#"0{"x402Version":2,"accepted":{"network":"eip155:8453"},"payload":{"permit2Authorization":{}},"extensions":{"payment-identifier":{"info":{"id":"pay_0123456789abcdef"}}}}"#,
        r#"0{"x402Version":2,"accepted":{"network":"eip155:137"},"payload":{"permit2Authorization":{}},"extensions":{"eip2612GasSponsoring":{"info":{"from":"0x00","nonce":"0","amount":"1","signature":"0x"}}}}"#,
    ]));
    seeds
}

/// A payload in the header that clients use, or lines of any headers.
fn headers(choice: u8, rest: &[u8]) -> Option<HeaderMap> {
    if choice & 1 == 0 {
        let value = HeaderValue::try_from(STANDARD.encode(rest)).ok()?;
        return Some(HeaderMap::from_iter([(HeaderName::from_static("payment-signature"), value)]));
    }
    header_lines(rest)
}

pub(crate) fn header_lines(text: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        headers.append(name, HeaderValue::from_bytes(&line[colon + 1..]).ok()?);
    }
    Some(headers)
}

fn credential(payload: &Value) -> Credential {
    Credential(payload.to_string().into_bytes())
}

fn fields(read: &Permit2Authorization) -> SignedFields {
    let Permit2Authorization { network, payer, pay_to, facilitator, nonce, .. } = *read;
    (
        network,
        payer,
        pay_to,
        facilitator,
        read.most.atomic(),
        nonce,
        read.valid_after,
        read.deadline,
    )
}

/// What is read from the JSON is read from the same JSON written anew.
fn check_read_again(credential: &Credential) {
    let Ok(read) = Permit2Authorization::read(credential) else { return };
    let Ok(again) = Permit2Authorization::read(&self::credential(&read.payload)) else {
        panic!("what was read cannot be read again")
    };
    assert!(read == again, "what was read is read differently");
}

/// A payment as the official client signs it, for the challenge of this card.
pub(crate) fn signed_payload(network: Network) -> Value {
    let unpaid = payments::send(&payments::x402().0, None, ClientKind::Program);
    let challenge = STANDARD.decode(&unpaid.headers[PAYMENT_REQUIRED]).expect("base64");
    let challenge: Value = serde_json::from_slice(&challenge).expect("JSON");
    let offers = challenge["accepts"].as_array().expect("a list");
    let accepted =
        offers.iter().find(|offer| offer["network"] == network.caip2()).expect("an offer");
    let key = payments::payer();
    let mut payload = json!({
        "x402Version": 2,
        "payload": {
            "signature": "0x",
            "permit2Authorization": {
                "from": EvmAddress::from_bytes(key.address()).to_string(),
                "permitted": { "token": accepted["asset"], "amount": accepted["amount"] },
                "spender": UPTO_PROXY.to_string(),
                "nonce": "13404470461553807834581171000207315812663340185839308702117166453",
                "deadline": (NOW.0 + 300).to_string(),
                "witness": {
                    "to": accepted["payTo"],
                    "facilitator": accepted["extra"]["facilitatorAddress"],
                    "validAfter": "0",
                },
            },
        },
        "resource": challenge["resource"],
        "accepted": accepted,
    });
    let Ok(read) = Permit2Authorization::read(&credential(&payload)) else {
        panic!("the payment of the official client cannot be read")
    };
    payload["payload"]["signature"] = hex::encode(&key.sign(authorization_digest(&read))).into();
    payload
}
