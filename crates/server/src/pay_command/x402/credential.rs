//! The signed payment as it travels: `PAYMENT-SIGNATURE`, with everything echoed.

use order::model::chain::EvmAddress;
use serde_json::{Map, Value, json};

use super::super::hex::{self, Word};
use super::super::wallet::Wallet;
use super::challenge::{Challenge, Terms, decoded, encoded};
use super::promise::{PERMIT2, PROXY, Permit, Promise};

pub(super) const IDENTIFIER: &str = "payment-identifier";
pub(super) const SPONSORING: &str = "eip2612GasSponsoring";

/// What goes into a payment beside the terms.
#[derive(Clone, Debug)]
pub(super) struct Particulars {
    /// Any 256 bits that this payer has not used before.
    pub(super) nonce: Word,
    /// In seconds of the world's time.
    pub(super) deadline: u64,
    /// The payer's name for the operation, if it has one.
    pub(super) identifier: Option<String>,
    /// The token's count of the payer's permits, where Permit2 lacks its
    /// allowance and the service offers to bring a permit along.
    pub(super) permit_nonce: Option<Word>,
}

/// Signs, and writes the value of the header.
pub(super) fn sign(
    challenge: &Challenge,
    terms: &Terms,
    wallet: &Wallet,
    particulars: &Particulars,
) -> String {
    let Particulars { nonce, deadline, identifier, permit_nonce } = particulars;
    let promise = Promise {
        network: terms.network,
        pay_to: terms.pay_to,
        carrier: terms.carrier,
        most: terms.most,
        nonce: *nonce,
        deadline: *deadline,
    };
    let mut credential = json!({
        "x402Version": 2,
        "payload": {
            "signature": hex::encode(&wallet.sign(promise.digest())),
            "permit2Authorization": authorization(&promise, wallet.address()),
        },
        "accepted": terms.accepted,
    });
    for echoed in ["resource", "extensions"] {
        if let Some(value) = challenge.required.get(echoed) {
            credential[echoed] = value.clone();
        }
    }
    if let Some(identifier) = identifier {
        let id = ("id".to_owned(), json!(identifier));
        add(&mut credential, IDENTIFIER, Map::from_iter([id]));
    }
    if let Some(nonce) = permit_nonce {
        let permit = Permit {
            network: terms.network,
            owner: wallet.address(),
            most: terms.most,
            nonce: *nonce,
            deadline: *deadline,
        };
        add(&mut credential, SPONSORING, sponsored(&permit, wallet));
    }
    encoded(&credential)
}

/// Whether a payment that was signed earlier may get a permit: the service offered to bring
/// one along, and there is none yet.
pub(super) fn lacks_permit(header: &str) -> bool {
    let sent = decoded(header).unwrap_or_default();
    let offered = sent.get("extensions").and_then(|all| all.get(SPONSORING));
    offered.is_some_and(|offered| offered["info"].get("signature").is_none())
}

/// The same signed promise with a permit beside it.
pub(super) fn with_permit(header: &str, permit: &Permit, wallet: &Wallet) -> Option<String> {
    let mut credential = decoded(header)?;
    add(&mut credential, SPONSORING, sponsored(permit, wallet));
    Some(encoded(&credential))
}

/// Numbers are decimal texts, as the official clients write them.
fn authorization(promise: &Promise, payer: EvmAddress) -> Value {
    json!({
        "from": payer.to_string(),
        "permitted": {
            "token": promise.network.usdc().to_string(),
            "amount": promise.most.atomic().to_string(),
        },
        "spender": PROXY.to_string(),
        "nonce": hex::decimal(promise.nonce),
        "deadline": promise.deadline.to_string(),
        "witness": {
            "to": promise.pay_to.to_string(),
            "facilitator": promise.carrier.to_string(),
            "validAfter": "0",
        },
    })
}

fn sponsored(permit: &Permit, wallet: &Wallet) -> Map<String, Value> {
    let told = [
        ("from", permit.owner.to_string()),
        ("asset", permit.network.usdc().to_string()),
        ("spender", PERMIT2.to_string()),
        ("amount", permit.most.atomic().to_string()),
        ("nonce", hex::decimal(permit.nonce)),
        ("deadline", permit.deadline.to_string()),
        ("signature", hex::encode(&wallet.sign(permit.digest()))),
    ];
    told.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
}

/// Adds to an extension that was offered, and changes nothing that is there.
fn add(credential: &mut Value, extension: &str, more: Map<String, Value>) {
    let offered = credential.get_mut("extensions").and_then(|all| all.get_mut(extension));
    let Some(offered) = offered.and_then(Value::as_object_mut) else { return };
    let info = offered.get("info").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut all = more;
    all.extend(info);
    offered.insert("info".to_owned(), Value::Object(all));
}

#[cfg(test)]
mod tests {
    use order::model::chain::Network;

    use super::super::challenge::tests::{LIMITS, all};
    use super::*;

    const KEY: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

    fn signed(challenge: &Challenge, permit_nonce: Option<Word>) -> Value {
        let terms = challenge.choose(&LIMITS).unwrap();
        let particulars = Particulars {
            nonce: [7; 32],
            deadline: 4_102_444_800,
            identifier: Some("pay_9f2c1e7ab04d4d6c8a53f0e1d2b7c694".to_owned()),
            permit_nonce,
        };
        let header = sign(challenge, &terms, &Wallet::parse(KEY).unwrap(), &particulars);
        decoded(&header).unwrap()
    }

    #[test]
    fn everything_that_was_offered_comes_back_and_nothing_of_it_is_changed() {
        let challenge = all();
        let sent = signed(&challenge, None);
        assert_eq!(sent["accepted"], challenge.offers()[0]);
        assert_eq!(sent["resource"], challenge.required["resource"]);
        let info = &sent["extensions"][IDENTIFIER]["info"];
        assert_eq!(info["required"], false);
        assert_eq!(info["id"], "pay_9f2c1e7ab04d4d6c8a53f0e1d2b7c694");
        assert_eq!(sent["payload"]["permit2Authorization"]["nonce"], hex::decimal([7; 32]));
        assert_eq!(sent["x402Version"], 2);
    }

    #[test]
    fn what_was_not_offered_is_not_sent() {
        let mut challenge = all();
        challenge.required.as_object_mut().unwrap().remove("extensions");
        let sent = signed(&challenge, Some([0; 32]));
        assert_eq!(sent.get("extensions"), None);
    }

    #[test]
    fn a_permit_may_come_later_and_the_promise_stays_as_it_was_signed() {
        let mut challenge = all();
        challenge.required["extensions"][SPONSORING] = json!({ "info": {}, "schema": {} });
        let before = signed(&challenge, None);
        assert!(lacks_permit(&encoded(&before)));
        let (most, wallet) = (order::model::money::CEILING, Wallet::parse(KEY).unwrap());
        let (network, owner) = (Network::Base, wallet.address());
        let permit = Permit { network, owner, most, nonce: [0; 32], deadline: 4_102_444_800 };
        let after = with_permit(&encoded(&before), &permit, &wallet).unwrap();
        assert!(!lacks_permit(&after));
        assert_eq!(decoded(&after).unwrap(), signed(&challenge, Some([0; 32])));
        assert_eq!(decoded(&after).unwrap()["payload"], before["payload"]);
        assert!(!lacks_permit(&encoded(&signed(&all(), None))), "where none was offered");
    }

    #[test]
    fn a_permit_is_for_permit2_and_for_no_more_than_the_payment() {
        let mut challenge = all();
        let offered = json!({ "info": { "version": "1", "amount": "1" }, "schema": {} });
        challenge.required["extensions"][SPONSORING] = offered;
        let sent = signed(&challenge, Some([0; 32]));
        let info = &sent["extensions"][SPONSORING]["info"];
        assert_eq!(info["spender"], PERMIT2.to_string());
        assert_eq!(info["asset"], Network::Base.usdc().to_string());
        assert_eq!((&info["nonce"], &info["version"]), (&json!("0"), &json!("1")));
        // A server that fills in our part gets a permit that does not fit, and no other.
        assert_eq!(info["amount"], "1");
    }
}
