//! A credential like that of the official MPP clients, and a settler that accepts it.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use evm::signature::SigningKey;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue};
use order::model::chain::{EvmAddress, Network};
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Price};
use order::model::offer::Offer;
use order::model::payment::{Preparation, Terms};
use order::model::seller::Payees;
use order::outcome::Outcome;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::http_binding::{AnswerContext, ClientKind, HttpBinding};
use pay::mpp::challenge_id::{ChallengeSecrets, Realm};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use pay::mpp::signature::{digest, nonces};
use pay::mpp::tender::Mpp;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::resource::Resource;
use serde_json::{Value, json};

use super::Sample;

const REALM: &str = "cards.example";
const BODY: &[u8] = br#"{"message":"The sea says hello."}"#;
/// The address of the signing key.
const PAYER: &str = "0x17c5185167401eD00cF5F5b2fc97D9BBfDb7D025";
const NOW: Timestamp = Timestamp(1_800_000_000);

pub(super) fn sample() -> Sample<Mpp> {
    let seller: EvmAddress =
        "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4".parse().expect("a seller");
    let payees = Payees::new(vec![(Network::Base, seller)]).expect("a payee");
    let url = "https://cards.example/api/mpp/postcards";
    let tender = Mpp::new(
        Arc::new(Agreeing),
        Realm::parse(REALM).expect("a realm"),
        ChallengeSecrets::new([7; 32], &[]),
        Arc::new(|| Some([7; 16])),
        Resource::parse(url, "One 4x6 postcard", "Pennyblack", &[]).expect("a resource"),
    );
    let order = OrderId::from_bytes([7; 16]);
    let price = Price::Fixed(CEILING);
    let offer = Offer { order, price, payees: payees.clone() };
    let context = AnswerContext { client: ClientKind::Program, body: BODY, now: NOW };
    let asked = tender.answer(&Ok(Outcome::Due(offer)), &context);
    let challenge = asked.headers[WWW_AUTHENTICATE].to_str().expect("text");
    let credential = URL_SAFE_NO_PAD.encode(answer(challenge).to_string());
    let header = HeaderValue::try_from(format!("Payment {credential}")).expect("a header");
    let headers = HeaderMap::from_iter([(AUTHORIZATION, header)]);
    let terms = Terms { order, payees, ceiling: CEILING, now: NOW };
    Sample { tender, headers, body: BODY, terms }
}

/// A transfer that answers the challenge, with the challenge echoed.
fn answer(challenge: &str) -> Value {
    let list = challenge.strip_prefix("Payment ").expect("our scheme");
    let pair = |pair: &'_ str| {
        let (name, value) = pair.split_once("=\"").expect("a parameter");
        (name.to_owned(), value.trim_end_matches('"').to_owned())
    };
    let challenge: BTreeMap<_, _> = list.split(", ").map(pair).collect();
    let request = URL_SAFE_NO_PAD.decode(&challenge["request"]).expect("base64");
    let request: Value = serde_json::from_slice(&request).expect("JSON");
    let address = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let [nonce, _] = nonces(&challenge["id"], &challenge["realm"]);
    let payer: EvmAddress = PAYER.parse().expect("a payer");
    let transfer = TransferAuthorization {
        network: Network::Base,
        token: Network::Base.usdc(),
        from: payer,
        to: address(&request["recipient"]).expect("a recipient"),
        value: CEILING,
        valid_after: 0,
        valid_before: NOW.plus(600).0,
        nonce,
        signature: [0; 65],
    };
    let hex =
        |bytes: &[u8]| bytes.iter().fold("0x".to_owned(), |hex, byte| format!("{hex}{byte:02x}"));
    json!({
        "challenge": challenge,
        "payload": {
            "type": "authorization",
            "from": payer.to_string(),
            "to": request["recipient"],
            "value": request["amount"],
            "validAfter": "0",
            "validBefore": transfer.valid_before.to_string(),
            "nonce": hex(&nonce),
            "signature": hex(&signature(digest(&transfer))),
        },
        "source": format!("did:pkh:eip155:8453:{payer}"),
    })
}

fn signature(digest: [u8; 32]) -> [u8; 65] {
    SigningKey::from_bytes(&[0x42; 32]).expect("a key").sign(digest)
}

/// A settler that accepts every transfer.
struct Agreeing;

#[async_trait]
impl TransferSettler for Agreeing {
    fn support(&self, _network: Network) -> TransferSupport {
        TransferSupport::Offered
    }

    async fn verify(
        &self,
        _authorization: &TransferAuthorization,
    ) -> Result<AuthorizationUse, Rejection> {
        Ok(AuthorizationUse::Unused)
    }

    async fn prepare(
        &self,
        _authorization: &TransferAuthorization,
        _earlier: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        Err(Rejection::Unavailable)
    }

    async fn settle(&self, _due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        Err(Unsettled::Refused("nothing is settled here".into()))
    }

    async fn trace(
        &self,
        _due: TransferPayment<'_>,
        _reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Open)
    }
}
