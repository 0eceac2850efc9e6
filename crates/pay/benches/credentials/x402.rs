//! A credential of the official x402 client, and a settler that accepts it.

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
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::resource::Resource;
use pay::x402::settler::{
    FacilitatorAddress, GasSponsoring, KnownAccount, Permit2Payment, Permit2Settler,
    Permit2Support, SignatureKind,
};
use pay::x402::tender::X402;
use serde_json::Value;

use super::Sample;

/// See the tests beside it.
const VECTORS: &str = include_str!("../../../evm/vectors/x402_upto.json");

/// The payload of the first vector, with the only unsigned number in which our challenges
/// differ from those of its merchant.
pub(super) fn sample() -> Sample<X402> {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let mut payload = file["vectors"][0]["paymentPayload"].clone();
    payload["accepted"]["maxTimeoutSeconds"] = 600.into();
    let signed = payload["payload"]["permit2Authorization"].clone();
    let address = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let facilitator: EvmAddress =
        address(&signed["witness"]["facilitator"]).expect("a facilitator");
    let payee: EvmAddress = address(&signed["witness"]["to"]).expect("a payee");
    let deadline = signed["deadline"].as_str().and_then(|text| text.parse::<u64>().ok());
    let url = payload["resource"]["url"].as_str().expect("an address");
    let description = payload["resource"]["description"].as_str().expect("a description");
    let resource = Resource::parse(url, description, "Pennyblack", &[]).expect("a resource");
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
    let tender = X402::new(Arc::new(Agreeing(facilitator)), resource);
    Sample { tender, headers, body: b"", terms }
}

/// A settler that accepts every authorization that names this facilitator.
struct Agreeing(EvmAddress);

#[async_trait]
impl Permit2Settler for Agreeing {
    fn support(&self, _network: Network) -> Option<Permit2Support> {
        Some(Permit2Support { facilitator: self.0, sponsoring: GasSponsoring::NotOffered })
    }

    fn classify_facilitator(&self, _network: Network, named: EvmAddress) -> FacilitatorAddress {
        if named == self.0 { FacilitatorAddress::Ours } else { FacilitatorAddress::Unknown }
    }

    fn known_account(&self, _network: Network, _payer: EvmAddress) -> KnownAccount {
        KnownAccount::WithoutCode
    }

    async fn verify(
        &self,
        _authorization: &Permit2Authorization,
        _signer: SignatureKind,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    async fn prepare(
        &self,
        _authorization: &Permit2Authorization,
        _charge: Usdc,
        _earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        Err(Rejection::Unavailable)
    }

    async fn settle(&self, _due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        Err(Unsettled::Refused("nothing is settled here".into()))
    }

    async fn trace(
        &self,
        _due: Permit2Payment<'_>,
        _reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Open)
    }
}
