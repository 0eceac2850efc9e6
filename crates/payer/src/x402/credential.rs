//! The signed payment as it is sent: `PAYMENT-SIGNATURE`, with everything echoed.

use evm::contracts::{PERMIT2, UPTO_PROXY};
use evm::eip2612::AllowancePermit;
use evm::hex;
use evm::permit2::{UptoTransfer, UptoWitness};
use evm::signature::SigningKey;
use evm::word::{self, Word};
use serde_json::{Map, Value, json};

use super::challenge::{PaymentRequired, SelectedOffer};
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::header_json::{decode_x402, encode_x402};
use crate::values::network::PaymentNetwork;
use crate::values::number::decimal;

pub(crate) const IDENTIFIER: &str = "payment-identifier";
pub(crate) const SPONSORING: &str = "eip2612GasSponsoring";

/// What goes into a payment beside the offer.
#[derive(Clone, Debug)]
pub(crate) struct CredentialInputs {
    /// Any 256 bits that this payer has not used before.
    pub(crate) nonce: Word,
    /// In seconds since 1970.
    pub(crate) deadline: u64,
    /// The payer's name for the operation, if it has one.
    pub(crate) identifier: Option<String>,
    /// The token's count of the payer's permits, where Permit2 lacks its
    /// allowance and the service offers to submit a permit.
    pub(crate) permit_nonce: Option<Word>,
}

/// An EIP-2612 permit that allows Permit2 as much as the payment, before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permit2Allowance {
    pub(crate) network: PaymentNetwork,
    pub(crate) most: UsdcAmount,
    /// The token counts the permits of each owner.
    pub(crate) nonce: Word,
    pub(crate) deadline: u64,
}

/// Signs, and writes the value of the header.
pub(crate) fn sign(
    challenge: &PaymentRequired,
    offer: &SelectedOffer,
    key: &SigningKey,
    inputs: &CredentialInputs,
) -> String {
    let digest = transfer(offer, inputs).digest(offer.network.chain_id());
    let mut credential = json!({
        "x402Version": 2,
        "payload": {
            "signature": hex::encode(&key.sign(digest)),
            "permit2Authorization": authorization(offer, inputs, EvmAccount(key.address())),
        },
        "accepted": offer.accepted,
    });
    for echoed in ["resource", "extensions"] {
        if let Some(value) = challenge.required.get(echoed) {
            credential[echoed] = value.clone();
        }
    }
    if let Some(identifier) = &inputs.identifier {
        let id = ("id".to_owned(), json!(identifier));
        add(&mut credential, IDENTIFIER, Map::from_iter([id]));
    }
    if let Some(nonce) = inputs.permit_nonce {
        let &SelectedOffer { network, most, .. } = offer;
        let permit = Permit2Allowance { network, most, nonce, deadline: inputs.deadline };
        add(&mut credential, SPONSORING, sponsored(&permit, key));
    }
    encode_x402(&credential)
}

/// Whether a payment that was signed earlier may get a permit: the service offered to
/// submit one, and there is none yet.
pub(crate) fn lacks_permit(header: &str) -> bool {
    let sent = decode_x402(header).unwrap_or_default();
    let offered = sent.get("extensions").and_then(|all| all.get(SPONSORING));
    offered.is_some_and(|offered| offered["info"].get("signature").is_none())
}

/// The same signed authorization with a permit beside it.
pub(crate) fn with_permit(
    header: &str,
    permit: &Permit2Allowance,
    key: &SigningKey,
) -> Option<String> {
    let mut credential = decode_x402(header)?;
    add(&mut credential, SPONSORING, sponsored(permit, key));
    Some(encode_x402(&credential))
}

/// What is signed. It is valid from now on.
fn transfer(offer: &SelectedOffer, inputs: &CredentialInputs) -> UptoTransfer {
    UptoTransfer {
        token: offer.network.usdc().0,
        amount: word::from_u64(offer.most.atomic()),
        nonce: inputs.nonce,
        deadline: word::from_u64(inputs.deadline),
        witness: UptoWitness {
            to: offer.pay_to.0,
            facilitator: offer.facilitator.0,
            valid_after: word::from_u64(0),
        },
    }
}

/// Numbers are decimal texts, as the official clients write them.
fn authorization(offer: &SelectedOffer, inputs: &CredentialInputs, payer: EvmAccount) -> Value {
    json!({
        "from": payer.to_string(),
        "permitted": {
            "token": offer.network.usdc().to_string(),
            "amount": offer.most.atomic().to_string(),
        },
        "spender": EvmAccount(UPTO_PROXY).to_string(),
        "nonce": decimal(inputs.nonce),
        "deadline": inputs.deadline.to_string(),
        "witness": {
            "to": offer.pay_to.to_string(),
            "facilitator": offer.facilitator.to_string(),
            "validAfter": "0",
        },
    })
}

fn sponsored(permit: &Permit2Allowance, key: &SigningKey) -> Map<String, Value> {
    let signed = AllowancePermit {
        owner: key.address(),
        spender: PERMIT2,
        value: word::from_u64(permit.most.atomic()),
        nonce: permit.nonce,
        deadline: word::from_u64(permit.deadline),
    };
    let digest = signed.digest(permit.network.usdc_domain());
    let members = [
        ("from", EvmAccount(key.address()).to_string()),
        ("asset", permit.network.usdc().to_string()),
        ("spender", EvmAccount(PERMIT2).to_string()),
        ("amount", permit.most.atomic().to_string()),
        ("nonce", decimal(permit.nonce)),
        ("deadline", permit.deadline.to_string()),
        ("signature", hex::encode(&key.sign(digest))),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
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
    use super::super::challenge::tests::{CEILING, LIMITS, all};
    use super::*;
    use crate::payer_key::file;

    const KEY: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

    fn signed(challenge: &PaymentRequired, permit_nonce: Option<Word>) -> Value {
        let terms = challenge.choose(&LIMITS).unwrap();
        let inputs = CredentialInputs {
            nonce: [7; 32],
            deadline: 4_102_444_800,
            identifier: Some("pay_9f2c1e7ab04d4d6c8a53f0e1d2b7c694".to_owned()),
            permit_nonce,
        };
        let header = sign(challenge, &terms, &file::parse(KEY).unwrap(), &inputs);
        decode_x402(&header).unwrap()
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
        assert_eq!(sent["payload"]["permit2Authorization"]["nonce"], decimal([7; 32]));
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
    fn a_permit_can_be_added_later_and_the_authorization_stays_as_it_was_signed() {
        let mut challenge = all();
        challenge.required["extensions"][SPONSORING] = json!({ "info": {}, "schema": {} });
        let before = signed(&challenge, None);
        assert!(lacks_permit(&encode_x402(&before)));
        let (network, most, key) = (PaymentNetwork::Base, CEILING, file::parse(KEY).unwrap());
        let permit = Permit2Allowance { network, most, nonce: [0; 32], deadline: 4_102_444_800 };
        let after = with_permit(&encode_x402(&before), &permit, &key).unwrap();
        assert!(!lacks_permit(&after));
        assert_eq!(decode_x402(&after).unwrap(), signed(&challenge, Some([0; 32])));
        assert_eq!(decode_x402(&after).unwrap()["payload"], before["payload"]);
        assert!(!lacks_permit(&encode_x402(&signed(&all(), None))), "where none was offered");
    }

    #[test]
    fn a_permit_is_for_permit2_and_for_no_more_than_the_payment() {
        let mut challenge = all();
        let offered = json!({ "info": { "version": "1", "amount": "1" }, "schema": {} });
        challenge.required["extensions"][SPONSORING] = offered;
        let sent = signed(&challenge, Some([0; 32]));
        let info = &sent["extensions"][SPONSORING]["info"];
        assert_eq!(info["spender"], EvmAccount(PERMIT2).to_string());
        assert_eq!(info["asset"], PaymentNetwork::Base.usdc().to_string());
        assert_eq!((&info["nonce"], &info["version"]), (&json!("0"), &json!("1")));
        // A server that fills in our part gets a permit that does not fit, and no other.
        assert_eq!(info["amount"], "1");
    }

    /// The official client signed the vectors with the same key.
    #[test]
    fn an_offer_is_signed_as_the_official_client_signs_it() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../../evm/vectors/x402_upto.json")).unwrap();
        for vector in vectors["vectors"].as_array().unwrap() {
            let payload = &vector["paymentPayload"];
            let required = json!({ "x402Version": 2, "accepts": [payload["accepted"]] });
            let challenge = PaymentRequired::read(&encode_x402(&required), &Value::Null).unwrap();
            let offer = challenge.choose(&LIMITS).unwrap();
            let settle = hex::decode(vector["settleCalldata"].as_str().unwrap()).unwrap();
            let inputs = CredentialInputs {
                nonce: settle[4 + 2 * 32..][..32].try_into().unwrap(),
                deadline: 4_102_444_800,
                identifier: None,
                permit_nonce: None,
            };
            let header = sign(&challenge, &offer, &file::parse(KEY).unwrap(), &inputs);
            assert_eq!(decode_x402(&header).unwrap()["payload"], payload["payload"]);
        }
    }
}
