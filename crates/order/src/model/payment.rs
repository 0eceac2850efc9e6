//! What a payer promises, and the proof that the money moved.

use sha2::{Digest, Sha256};

use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{OperationId, OrderId, Timestamp};
use crate::model::money::Usdc;
use crate::model::redacted::redacted_debug;
use crate::model::seller::Payees;

/// The ways of paying that we know. Kept with the payment so that a later run
/// can ask the right one what became of the money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TenderKind {
    X402,
    Mpp,
}

/// What the caller handed over, still sealed. Only its tender can read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(pub Vec<u8>);

impl Credential {
    pub fn digest(&self) -> CredentialDigest {
        CredentialDigest(Sha256::digest(&self.0).into())
    }
}

/// Tells whether a credential is the one that we saw before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CredentialDigest(pub [u8; 32]);

/// What is to be paid for, to whom, and how much at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    pub order: OrderId,
    pub payees: Payees,
    pub ceiling: Usdc,
    pub now: Timestamp,
}

/// What makes a signed promise usable once only, wherever it turns up: the
/// nonce on its chain, or the challenge that it answers. The store binds each
/// key to one order for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentKey(pub [u8; 32]);

/// The contract whose nonces a promise uses up. Two ways of paying that share
/// a contract share its nonces too, so this and not the tender is in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrument {
    Permit2,
    TransferAuthorization,
}

impl PaymentKey {
    pub fn of_nonce(
        instrument: Instrument,
        network: Network,
        payer: EvmAddress,
        nonce: [u8; 32],
    ) -> Self {
        let tag: &[u8] = match instrument {
            Instrument::Permit2 => b"permit2",
            Instrument::TransferAuthorization => b"eip3009",
        };
        let mut hash = Sha256::new_with_prefix(tag);
        hash.update(network.chain_id().to_be_bytes());
        hash.update(payer.bytes());
        hash.update(nonce);
        Self(hash.finalize().into())
    }

    pub fn of_challenge(id: &[u8]) -> Self {
        Self(Sha256::new_with_prefix(b"challenge").chain_update(id).finalize().into())
    }

    /// The payer's own identifier of a payment (x402's extension `payment-identifier`).
    pub fn of_identifier(id: &OperationId) -> Self {
        let hash = Sha256::new_with_prefix(b"payment-identifier").chain_update(id.as_str());
        Self(hash.finalize().into())
    }
}

/// The keys that a credential would bind to its order, read without believing the rest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialKeys {
    /// What the payment uses up.
    pub spent: Vec<PaymentKey>,
    /// The payer's own identifier of the payment.
    pub identifier: Option<PaymentKey>,
}

impl CredentialKeys {
    pub fn all(&self) -> Vec<PaymentKey> {
        self.spent.iter().copied().chain(self.identifier).collect()
    }
}

/// A payer's verified promise. Nothing has moved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    pub tender: TenderKind,
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    /// The most that may be taken.
    pub most: Usdc,
    /// After this moment of the chain's own time it can move nothing.
    pub deadline: Timestamp,
    pub keys: Vec<PaymentKey>,
    pub digest: CredentialDigest,
    /// Forgotten once the payment is final.
    pub credential: Credential,
}

/// What a tender made ready before asking for the money: the signed
/// transaction, for one that settles itself. Only its tender can read it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Preparation(pub Vec<u8>);

/// One intended movement of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub authorization: Authorization,
    pub charge: Usdc,
    pub preparation: Preparation,
}

impl Payment {
    /// Once a payment is final, nobody needs what could have executed it.
    pub(crate) fn forget_credential(&mut self) {
        self.authorization.credential = Credential(Vec::new());
        self.preparation = Preparation::default();
    }
}

/// The evidence that money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub transaction: String,
    pub amount: Usdc,
    pub at: Timestamp,
    pub finality: Finality,
    /// What the tender wrote for the caller, kept byte for byte.
    pub receipt: Receipt,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Receipt(pub Vec<u8>);

/// Whether the chain may still change its mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    Provisional,
    Final,
}

/// What became of money that we asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    Moved(Settlement),
    /// It has not moved and still may. Not seeing it is no proof.
    Open,
    /// It has not moved and never can: the promise ran out, or was spent
    /// elsewhere.
    Void,
}

redacted_debug!(Credential, CredentialDigest, PaymentKey, Preparation, Receipt);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_key_differs_in_every_part() {
        let payer = |byte| EvmAddress::from_bytes([byte; 20]);
        let key = PaymentKey::of_nonce;
        let keys = [
            key(Instrument::Permit2, Network::Base, payer(1), [1; 32]),
            key(Instrument::TransferAuthorization, Network::Base, payer(1), [1; 32]),
            key(Instrument::Permit2, Network::Polygon, payer(1), [1; 32]),
            key(Instrument::Permit2, Network::Base, payer(2), [1; 32]),
            key(Instrument::Permit2, Network::Base, payer(1), [2; 32]),
            PaymentKey::of_challenge(b"one"),
            PaymentKey::of_challenge(b"two"),
            PaymentKey::of_identifier(&"pay_0123456789abcdef".parse().unwrap()),
            PaymentKey::of_challenge(b"pay_0123456789abcdef"),
        ];
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key), "{place}");
        }
    }

    #[test]
    fn a_credential_does_not_print_itself() {
        let credential = Credential(b"signed".to_vec());
        assert_eq!(format!("{credential:?}"), "Credential { .. }");
    }
}
