//! What the official x402 client signed, before a chain that takes it.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use order::model::chain::{EvmAddress, Network};
use order::model::ids::{OrderId, Timestamp};
use order::model::money::{CEILING, Usdc};
use order::model::payment::{Preparation, Terms};
use order::model::seller::Payees;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Carrier, Due, Facilitator, Service, Signer, Sponsoring};
use pay::x402::{Resource, X402};
use serde_json::Value;

use super::Sample;

/// See the tests beside it.
const VECTORS: &str = include_str!("../../src/x402/vectors.json");

/// The payload of the first vector, with the one unsigned number in which our
/// offers differ from those of its merchant.
pub(super) fn sample() -> Sample<X402> {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let mut payload = file["vectors"][0]["paymentPayload"].clone();
    payload["accepted"]["maxTimeoutSeconds"] = 600.into();
    let signed = payload["payload"]["permit2Authorization"].clone();
    let address = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let carrier: EvmAddress = address(&signed["witness"]["facilitator"]).expect("a carrier");
    let payee: EvmAddress = address(&signed["witness"]["to"]).expect("a payee");
    let deadline = signed["deadline"].as_str().and_then(|text| text.parse::<u64>().ok());
    let url = payload["resource"]["url"].as_str().expect("an address");
    let said = payload["resource"]["description"].as_str().expect("words");
    let resource = Resource::parse(url, said, "Pennyblack", &[]).expect("a resource");
    let terms = Terms {
        order: OrderId::from_bytes([7; 16]),
        payees: Payees::new(vec![(Network::Base, payee)]).expect("a payee"),
        ceiling: CEILING,
        now: Timestamp(deadline.expect("a deadline") - 300),
    };
    let header = STANDARD.encode(payload.to_string());
    let header = HeaderValue::try_from(header).expect("base64");
    let headers =
        HeaderMap::from_iter([(http::HeaderName::from_static("payment-signature"), header)]);
    let tender = X402::new(Arc::new(Agreeing(carrier)), resource);
    Sample { tender, headers, body: b"", terms }
}

/// A chain that takes every promise that names this carrier.
struct Agreeing(EvmAddress);

#[async_trait]
impl Facilitator for Agreeing {
    fn service(&self, _network: Network) -> Option<Service> {
        Some(Service { carrier: self.0, sponsoring: Sponsoring::NotOffered })
    }

    fn carrier(&self, _network: Network, named: EvmAddress) -> Carrier {
        if named == self.0 { Carrier::Ours } else { Carrier::Unknown }
    }

    async fn verify(&self, _promise: &Promise, _signer: Signer) -> Result<(), Rejection> {
        Ok(())
    }

    async fn prepare(
        &self,
        _promise: &Promise,
        _charge: Usdc,
        _earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        Err(Rejection::Unavailable)
    }

    async fn settle(&self, _due: Due<'_>) -> Result<Moved, Unsettled> {
        Err(Unsettled::Refused("nothing is settled here".into()))
    }

    async fn trace(&self, _due: Due<'_>, _told: Option<&str>) -> Result<Movement, Failure> {
        Ok(Movement::Open)
    }
}
