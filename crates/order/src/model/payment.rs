//! Payments: credential, authorization, settlement and its evidence.

use sha2::{Digest, Sha256};

use crate::model::chain::{EvmAddress, Network};
use crate::model::ids::{OperationId, OrderId, Timestamp};
use crate::model::money::Usdc;
use crate::model::redacted::redacted_debug;
use crate::model::seller::Payees;

/// The ways of paying. Stored with the payment, so that its money can be traced later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TenderKind {
    X402,
    Mpp,
}

/// The credential as it was sent. Only its tender can parse it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(pub Vec<u8>);

impl Credential {
    pub fn digest(&self) -> CredentialDigest {
        CredentialDigest(Sha256::digest(&self.0).into())
    }
}

/// Identifies a credential that was sent before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CredentialDigest(pub [u8; 32]);

/// What a credential must pay: the order, the payees and the maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    pub order: OrderId,
    pub payees: Payees,
    pub ceiling: Usdc,
    pub now: Timestamp,
}

/// What makes an authorization usable once only: its nonce on its chain, or the challenge that
/// it answers. The store binds each key to one order for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentKey(pub [u8; 32]);

/// The contract whose nonces an authorization uses. Two ways of paying that share a contract
/// share its nonces, so the contract and not the tender is in the key.
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

    /// A transaction that refunds an order, so that it cannot refund another one.
    pub fn of_refund(network: Network, transaction: &str) -> Self {
        let hash = Sha256::new_with_prefix(b"refund").chain_update(network.caip2());
        Self(hash.chain_update(transaction.to_ascii_lowercase()).finalize().into())
    }

    /// The payer's own identifier of a payment (x402's extension `payment-identifier`).
    pub fn of_identifier(id: &OperationId) -> Self {
        let hash = Sha256::new_with_prefix(b"payment-identifier").chain_update(id.as_str());
        Self(hash.finalize().into())
    }
}

/// The keys that a credential would bind to its order. Nothing else of it is checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialKeys {
    /// What the payment uses up.
    pub spent: Vec<PaymentKey>,
    /// The payer's own identifier of the payment.
    pub identifier: Option<PaymentKey>,
}

impl CredentialKeys {
    pub fn all(&self) -> Vec<PaymentKey> {
        // mutant: identifier-not-bound
        self.spent.iter().copied().chain(self.identifier).collect()
    }
}

/// A credential that was checked. Nothing has moved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    pub tender: TenderKind,
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    /// The most that may be taken.
    pub most: Usdc,
    /// In the chain's own time. Afterwards it can move nothing.
    pub deadline: Timestamp,
    pub keys: Vec<PaymentKey>,
    pub digest: CredentialDigest,
    /// Deleted once the payment is final.
    pub credential: Credential,
}

/// What a tender prepared before the settlement: the simulated call, if our settler sends it.
/// Only its tender can parse it.
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
    /// A payment that is final or refunded is never settled again: it needs neither the credential nor
    /// the prepared call.
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
    /// The tender's receipt for the caller, stored byte for byte.
    pub receipt: Receipt,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Receipt(pub Vec<u8>);

/// Whether the block of the payment can still be reorganised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    Provisional,
    Final,
}

/// What became of a settlement, with the evidence if money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace<E = Settlement> {
    Moved(E),
    /// It has not moved and still may. Not seeing a transfer proves nothing.
    Open,
    /// It has not moved and never can: the authorization expired, or was spent elsewhere.
    Void,
}

impl<E> Trace<E> {
    pub fn map<F>(self, with: impl FnOnce(E) -> F) -> Trace<F> {
        match self {
            Self::Moved(evidence) => Trace::Moved(with(evidence)),
            Self::Open => Trace::Open,
            Self::Void => Trace::Void,
        }
    }
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
            PaymentKey::of_refund(Network::Base, "0xaa"),
            PaymentKey::of_refund(Network::Base, "0xbb"),
            PaymentKey::of_refund(Network::Polygon, "0xaa"),
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
