//! What the service asks for, and whether it is what we are ready to sign.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use serde_json::Value;

use super::super::values::name;
use super::promise::PROXY;

/// A promise that could still be carried to the chain after this long is asked
/// for by nobody who means one card.
const SECONDS_MAX: u64 = 3_600;

/// The content of `PAYMENT-REQUIRED`, kept as it came: it is sent back whole.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Challenge {
    pub(in super::super) required: Value,
    /// The name of the order, if the body told it.
    pub(in super::super) order: Option<String>,
}

impl Challenge {
    pub(in super::super) fn read(header: &str, body: &Value) -> Option<Self> {
        let required: Value = decoded(header)?;
        let order = body["public_order_id"].as_str().map(str::to_owned);
        required.is_object().then_some(Self { required, order })
    }

    pub(in super::super) fn offers(&self) -> &[Value] {
        self.required["accepts"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether the service offers this extension.
    pub(in super::super) fn extension(&self, name: &str) -> Option<&Value> {
        self.required.get("extensions").and_then(|all| all.get(name))
    }

    /// The first offer that we may sign, or why each of them is none.
    pub(in super::super) fn choose(&self, limits: &Limits) -> Result<Terms, Vec<String>> {
        if self.required["x402Version"] != 2 {
            return Err(vec!["it is not of x402 version 2".to_owned()]);
        }
        let mut objections = Vec::new();
        for offer in self.offers() {
            match Terms::judge(offer, limits) {
                Ok(terms) => return Ok(terms),
                Err(more) => objections.extend(more),
            }
        }
        if objections.is_empty() {
            objections.push("it offers no way of paying".to_owned());
        }
        Err(objections)
    }
}

/// The JSON in a header of x402: standard base64, padded.
pub(in super::super) fn decoded(header: &str) -> Option<Value> {
    let bytes = STANDARD.decode(header.trim()).ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(in super::super) fn encoded(value: &Value) -> String {
    STANDARD.encode(value.to_string())
}

/// What the payer allows.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Limits {
    pub(in super::super) most: Usdc,
    /// Any of ours, if none is named.
    pub(in super::super) network: Option<Network>,
}

/// An offer that we may sign.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Terms {
    pub(in super::super) network: Network,
    pub(in super::super) most: Usdc,
    pub(in super::super) pay_to: EvmAddress,
    pub(in super::super) carrier: EvmAddress,
    pub(in super::super) seconds: u64,
    /// The offer as it came, to be sent back whole.
    pub(in super::super) accepted: Value,
}

impl Terms {
    /// Every objection at once, each a sentence about this offer.
    fn judge(offer: &Value, limits: &Limits) -> Result<Self, Vec<String>> {
        let text = |name: &str| offer[name].as_str().unwrap_or_default();
        let Some(network) = Network::from_caip2(text("network")) else {
            return Err(vec![format!("{:?} is no network of ours", text("network"))]);
        };
        if limits.network.is_some_and(|wanted| wanted != network) {
            return Err(vec![format!("{} is not the network that you named", name(network))]);
        }
        let mut judge = Judge { network, objections: Vec::new() };
        judge.scheme(offer);
        let most = judge.amount(text("amount"), limits.most);
        judge.asset(text("asset"));
        let pay_to = judge.account("payTo", text("payTo"));
        let carrier = offer["extra"]["facilitatorAddress"].as_str().unwrap_or_default();
        let carrier = judge.account("facilitatorAddress", carrier);
        let seconds = judge.seconds(&offer["maxTimeoutSeconds"]);
        judge.spender(&offer["extra"]);
        match (most, pay_to, carrier, seconds) {
            (Some(most), Some(pay_to), Some(carrier), Some(seconds))
                if judge.objections.is_empty() =>
            {
                Ok(Self { network, most, pay_to, carrier, seconds, accepted: offer.clone() })
            }
            (_, _, _, _) => Err(judge.objections),
        }
    }
}

/// Reads one offer and notes what is wrong with it.
struct Judge {
    network: Network,
    objections: Vec<String>,
}

impl Judge {
    fn object(&mut self, words: &str) {
        self.objections.push(format!("{}: {words}", name(self.network)));
    }

    fn scheme(&mut self, offer: &Value) {
        if offer["scheme"] != "upto" {
            self.object("the scheme is not `upto`");
        }
        let extra = &offer["extra"];
        if extra["assetTransferMethod"].as_str().is_some_and(|method| method != "permit2") {
            self.object("the money would not move by Permit2");
        }
        if extra["paymentFlow"].as_str().is_some_and(|flow| flow != "authorization") {
            self.object("the payment is not a mere authorization");
        }
    }

    fn amount(&mut self, text: &str, allowed: Usdc) -> Option<Usdc> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(most) = text.parse().ok().filter(|_| digits).map(Usdc::from_atomic) else {
            self.object("the amount is no number of atomic units");
            return None;
        };
        if most > allowed {
            self.object(&format!(
                "you would authorize {most} USDC and allow {allowed}; --max allows more"
            ));
        }
        Some(most)
    }

    fn asset(&mut self, text: &str) {
        let usdc = self.network.usdc();
        if text.parse() != Ok(usdc) {
            self.object(&format!("the asset is {text:?} and not Circle's USDC, {usdc}"));
        }
    }

    fn account(&mut self, what: &str, text: &str) -> Option<EvmAddress> {
        let nobody = EvmAddress::from_bytes([0; 20]);
        let read = text.parse().ok().filter(|address| *address != nobody);
        if read.is_none() {
            self.object(&format!("{what} is {text:?}, which is no account"));
        }
        read
    }

    fn seconds(&mut self, value: &Value) -> Option<u64> {
        let read = value.as_u64().filter(|seconds| (1..=SECONDS_MAX).contains(seconds));
        if read.is_none() {
            self.object(&format!("maxTimeoutSeconds is {value}, not 1 to {SECONDS_MAX}"));
        }
        read
    }

    /// The scheme knows one spender. Nobody needs to name it, but who names
    /// another one wants something else signed.
    fn spender(&mut self, extra: &Value) {
        for named in ["spender", "proxy", "permit2Proxy", "permit2ProxyAddress"] {
            if let Some(text) = extra[named].as_str()
                && text.parse() != Ok(PROXY)
            {
                self.object(&format!(
                    "{named} is {text:?} and not the x402 proxy of the scheme, {PROXY}"
                ));
            }
        }
    }
}

#[cfg(test)]
pub(in super::super) mod tests;
