//! What the service asks for, and whether it is what we are ready to sign.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::moment;
use super::parameters::{self, Parameters};
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::header_json::decode_mpp;
use crate::values::network::PaymentNetwork;

/// The one network of this rail.
pub(crate) const NETWORK: PaymentNetwork = PaymentNetwork::Base;

pub(crate) const SCHEME: &str = "Payment";
/// The one kind of credential that we make.
pub(crate) const CREDENTIAL_TYPE: &str = "authorization";

/// No service needs an authorization for one card for longer than this.
const SECONDS_MAX: u64 = 3_600;

/// The challenges in `WWW-Authenticate`, kept as they came: one is sent back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MppOffers {
    pub(crate) offers: Vec<MppChallenge>,
    /// The name of the order, if the body has one.
    pub(crate) order: Option<String>,
}

/// One challenge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MppChallenge {
    parameters: Parameters,
    /// The content of `request`; null if it cannot be read.
    pub(crate) request: Value,
}

impl MppOffers {
    /// From all values of the header.
    pub(crate) fn read<'a>(headers: impl Iterator<Item = &'a str>, body: &Value) -> Option<Self> {
        let all = headers.flat_map(|value| parameters::of_scheme(SCHEME, value));
        let offers: Vec<MppChallenge> = all.map(MppChallenge::of).collect();
        let order = body["public_order_id"].as_str().map(str::to_owned);
        (!offers.is_empty()).then_some(Self { offers, order })
    }

    /// The first challenge that we may sign, or why each of them is none.
    pub(crate) fn choose(
        &self,
        expected: &ChallengeExpectations<'_>,
    ) -> Result<SelectedChallenge<'_>, Vec<String>> {
        let mut objections = Vec::new();
        for offer in &self.offers {
            match offer.judge(expected) {
                Ok(terms) => return Ok(terms),
                Err(more) => objections.extend(more),
            }
        }
        Err(objections)
    }
}

/// What the payer allows, and what the challenge has to fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChallengeExpectations<'a> {
    pub(crate) most: UsdcAmount,
    pub(crate) network: Option<PaymentNetwork>,
    /// The card as it is sent.
    pub(crate) body: &'a [u8],
    /// In seconds since 1970.
    pub(crate) now: u64,
}

/// A challenge that we may sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectedChallenge<'a> {
    pub(crate) id: &'a str,
    pub(crate) realm: &'a str,
    pub(crate) amount: UsdcAmount,
    pub(crate) recipient: EvmAccount,
    pub(crate) expires: u64,
    /// As they came, to be sent back.
    pub(crate) parameters: &'a Parameters,
}

impl MppChallenge {
    fn of(parameters: Parameters) -> Self {
        let request =
            parameters.get("request").and_then(|text| decode_mpp(text)).unwrap_or_default();
        Self { parameters, request }
    }

    /// A parameter's text, empty if it did not come.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    /// Every objection at once, each a sentence about this challenge.
    fn judge(
        &self,
        expected: &ChallengeExpectations<'_>,
    ) -> Result<SelectedChallenge<'_>, Vec<String>> {
        let mut judge = Judge { objections: Vec::new() };
        judge.kind(self);
        judge.network(&self.request, expected.network);
        judge.token(&self.request);
        let amount = judge.amount(&self.request, expected.most);
        let recipient = judge.recipient(&self.request);
        let expires = judge.expires(self.text("expires"), expected.now);
        judge.digest(self.text("digest"), expected.body);
        match (amount, recipient, expires) {
            (Some(amount), Some(recipient), Some(expires)) if judge.objections.is_empty() => {
                let (id, realm) = (self.text("id"), self.text("realm"));
                Ok(SelectedChallenge {
                    id,
                    realm,
                    amount,
                    recipient,
                    expires,
                    parameters: &self.parameters,
                })
            }
            (_, _, _) => Err(judge.objections),
        }
    }
}

/// Reads one challenge and notes what is wrong with it.
struct Judge {
    objections: Vec<String>,
}

impl Judge {
    fn object(&mut self, words: String) {
        self.objections.push(words);
    }

    fn kind(&mut self, offer: &MppChallenge) {
        for (parameter, wanted) in [("method", "evm"), ("intent", "charge")] {
            let text = offer.text(parameter);
            if text != wanted {
                self.object(format!("the {parameter} is {text:?} and not {wanted:?}"));
            }
        }
        for parameter in ["id", "realm"] {
            if offer.text(parameter).is_empty() {
                self.object(format!("the challenge has no {parameter}"));
            }
        }
        if !offer.text("header").is_empty() {
            self.object("the payment is wanted in another header than Authorization".to_owned());
        }
        let details = &offer.request["methodDetails"];
        let types = details["credentialTypes"].as_array().map_or(&[][..], Vec::as_slice);
        if !types.iter().any(|kind| kind == CREDENTIAL_TYPE) {
            self.object(format!("credentialTypes does not have {CREDENTIAL_TYPE:?}"));
        }
        if details.get("splits").is_some_and(|splits| !splits.is_null()) {
            self.object("the money would go to more than one account".to_owned());
        }
    }

    fn network(&mut self, request: &Value, named: Option<PaymentNetwork>) {
        let chain = &request["methodDetails"]["chainId"];
        let ours = NETWORK.name();
        if chain.as_u64() != Some(NETWORK.chain_id()) {
            self.object(format!("the chain is {chain} and not {ours}, {}", NETWORK.chain_id()));
        }
        if named.is_some_and(|named| named != NETWORK) {
            self.object(format!("{ours} is not the network that you named"));
        }
    }

    fn token(&mut self, request: &Value) {
        let (text, usdc) = (request["currency"].as_str().unwrap_or_default(), NETWORK.usdc());
        if EvmAccount::parse(text) != Some(usdc) {
            self.object(format!("the currency is {text:?} and not Circle's USDC, {usdc}"));
        }
        if request["methodDetails"].get("decimals").is_some_and(|decimals| *decimals != 6) {
            self.object("USDC would not have six decimals".to_owned());
        }
    }

    fn amount(&mut self, request: &Value, allowed: UsdcAmount) -> Option<UsdcAmount> {
        let text = request["amount"].as_str().unwrap_or_default();
        let Some(amount) = UsdcAmount::from_digits(text) else {
            self.object("the amount is no number of atomic units".to_owned());
            return None;
        };
        if amount > allowed {
            self.object(format!(
                "you would authorize {amount} USDC and allow {allowed}; --max allows more"
            ));
        }
        Some(amount)
    }

    fn recipient(&mut self, request: &Value) -> Option<EvmAccount> {
        let text = request["recipient"].as_str().unwrap_or_default();
        let read = EvmAccount::parse(text).filter(|account| *account != EvmAccount([0; 20]));
        if read.is_none() {
            self.object(format!("the recipient is {text:?}, which is no account"));
        }
        read
    }

    fn expires(&mut self, text: &str, now: u64) -> Option<u64> {
        let read = moment::read(text);
        let left = read.and_then(|moment| moment.checked_sub(now));
        if !left.is_some_and(|seconds| (1..=SECONDS_MAX).contains(&seconds)) {
            self.object(format!(
                "expires is {text:?}, not 1 to {SECONDS_MAX} seconds from now by this clock"
            ));
        }
        read
    }

    /// Without one the payment could be spent on another card.
    fn digest(&mut self, text: &str, body: &[u8]) {
        let ours = STANDARD.encode(Sha256::digest(body));
        // The draft's way of writing it, and the official clients'.
        if text != format!("sha-256=:{ours}:") && text != format!("sha-256={ours}") {
            self.object(format!("the digest is {text:?}, which is not that of this card"));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
