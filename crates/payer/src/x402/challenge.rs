//! What the service asks for, and whether it is what we are ready to sign.

use evm::contracts::UPTO_PROXY;
use serde_json::Value;

use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::header_json::decode_x402;
use crate::values::network::PaymentNetwork;

/// No service needs an authorization for one card for longer than this.
const SECONDS_MAX: u64 = 3_600;

/// The content of `PAYMENT-REQUIRED`, kept as it came: it is sent back whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PaymentRequired {
    pub(crate) required: Value,
    /// The name of the order, if the body has one.
    pub(crate) order: Option<String>,
}

impl PaymentRequired {
    pub(crate) fn read(header: &str, body: &Value) -> Option<Self> {
        let required: Value = decode_x402(header)?;
        let order = body["public_order_id"].as_str().map(str::to_owned);
        required.is_object().then_some(Self { required, order })
    }

    pub(crate) fn offers(&self) -> &[Value] {
        self.required["accepts"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether the service offers this extension.
    pub(crate) fn extension(&self, name: &str) -> Option<&Value> {
        self.required.get("extensions").and_then(|all| all.get(name))
    }

    /// The first offer that we may sign, or why each of them is none.
    pub(crate) fn choose(&self, limits: &SpendingLimits) -> Result<SelectedOffer, Vec<String>> {
        if self.required["x402Version"] != 2 {
            return Err(vec!["it is not of x402 version 2".to_owned()]);
        }
        let mut objections = Vec::new();
        for offer in self.offers() {
            match SelectedOffer::judge(offer, limits) {
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

/// What the payer allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpendingLimits {
    pub(crate) most: UsdcAmount,
    /// Any of ours, if none is named.
    pub(crate) network: Option<PaymentNetwork>,
}

/// An offer that we may sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectedOffer {
    pub(crate) network: PaymentNetwork,
    pub(crate) most: UsdcAmount,
    pub(crate) pay_to: EvmAccount,
    pub(crate) facilitator: EvmAccount,
    pub(crate) seconds: u64,
    /// The offer as it came, to be sent back whole.
    pub(crate) accepted: Value,
}

impl SelectedOffer {
    /// Every objection at once, each a sentence about this offer.
    fn judge(offer: &Value, limits: &SpendingLimits) -> Result<Self, Vec<String>> {
        let text = |name: &str| offer[name].as_str().unwrap_or_default();
        let Some(network) = PaymentNetwork::from_caip2(text("network")) else {
            return Err(vec![format!("{:?} is no network of ours", text("network"))]);
        };
        if limits.network.is_some_and(|wanted| wanted != network) {
            return Err(vec![format!("{} is not the network that you named", network.name())]);
        }
        let mut judge = Judge { network, objections: Vec::new() };
        judge.scheme(offer);
        let most = judge.amount(text("amount"), limits.most);
        judge.asset(text("asset"));
        let pay_to = judge.account("payTo", text("payTo"));
        let facilitator = offer["extra"]["facilitatorAddress"].as_str().unwrap_or_default();
        let facilitator = judge.account("facilitatorAddress", facilitator);
        let seconds = judge.seconds(&offer["maxTimeoutSeconds"]);
        judge.spender(&offer["extra"]);
        match (most, pay_to, facilitator, seconds) {
            (Some(most), Some(pay_to), Some(facilitator), Some(seconds))
                if judge.objections.is_empty() =>
            {
                Ok(Self { network, most, pay_to, facilitator, seconds, accepted: offer.clone() })
            }
            (_, _, _, _) => Err(judge.objections),
        }
    }
}

/// Reads one offer and notes what is wrong with it.
struct Judge {
    network: PaymentNetwork,
    objections: Vec<String>,
}

impl Judge {
    fn object(&mut self, words: &str) {
        self.objections.push(format!("{}: {words}", self.network.name()));
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

    fn amount(&mut self, text: &str, allowed: UsdcAmount) -> Option<UsdcAmount> {
        let Some(most) = UsdcAmount::from_digits(text) else {
            self.object("the amount is no number of atomic units");
            return None;
        };
        // mutant: payer-overpays
        if most > allowed {
            self.object(&format!(
                "you would authorize {most} USDC and allow {allowed}; --max allows more"
            ));
        }
        Some(most)
    }

    fn asset(&mut self, text: &str) {
        let usdc = self.network.usdc();
        if EvmAccount::parse(text) != Some(usdc) {
            self.object(&format!("the asset is {text:?} and not Circle's USDC, {usdc}"));
        }
    }

    fn account(&mut self, what: &str, text: &str) -> Option<EvmAccount> {
        let read = EvmAccount::parse(text).filter(|account| *account != EvmAccount([0; 20]));
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

    /// The scheme has one spender. A service need not name it; one that names another
    /// wants something else signed.
    fn spender(&mut self, extra: &Value) {
        let proxy = EvmAccount(UPTO_PROXY);
        for named in ["spender", "proxy", "permit2Proxy", "permit2ProxyAddress"] {
            if let Some(text) = extra[named].as_str()
                && EvmAccount::parse(text) != Some(proxy)
            {
                self.object(&format!(
                    "{named} is {text:?} and not the x402 proxy of the scheme, {proxy}"
                ));
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
