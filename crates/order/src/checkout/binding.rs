//! Which order a payment belongs to, looked up before any 402.

use super::{Desk, Outcome, trouble};
use crate::lifecycle::Stored;
use crate::model::card::Postcard;
use crate::model::ids::{OperationId, OrderId};
use crate::model::payment::{CredentialDigest, CredentialKeys, PaymentKey};
use crate::model::seller::Username;
use crate::refusal::Refusal;

/// A card, and how the request for it names its operation.
pub(super) struct Wanted {
    /// None where the request leaves the seller to the configuration, which may change.
    pub(super) seller: Option<Username>,
    pub(super) operation_id: Option<OperationId>,
    pub(super) card: Postcard,
}

/// What the store knows of a credential's keys before anything else is asked.
pub(super) enum KnownPayment {
    /// They are free, or are another card's and their own check comes later.
    None,
    /// They pay for the card of this request, or may have.
    OfThisCard(Box<Stored>),
    /// The payer's identifier is another card's.
    IdentifierOfAnother,
}

impl Desk {
    /// Looks up the order of a credential's keys. It may be another one than the request's
    /// operation leads to: after a change of the default seller, or a month later.
    pub(super) async fn known_payment(
        &self,
        keys: &CredentialKeys,
        wanted: &Wanted,
    ) -> Result<KnownPayment, Refusal> {
        let spent = self.owner_of(&keys.spent, wanted).await?;
        let named = self.owner_of(keys.identifier.as_slice(), wanted).await?;
        Ok(match (spent, named) {
            (_, Owner::AnotherCard) => KnownPayment::IdentifierOfAnother,
            (Owner::ThisCard(order), _) | (_, Owner::ThisCard(order)) if is_paid(&order) => {
                KnownPayment::OfThisCard(order)
            }
            (_, Owner::None | Owner::ThisCard(_)) => KnownPayment::None,
        })
    }

    async fn owner_of(&self, keys: &[PaymentKey], wanted: &Wanted) -> Result<Owner, Refusal> {
        if keys.is_empty() {
            return Ok(Owner::None);
        }
        let bound = self.store.bound(keys).await.map_err(trouble)?;
        let Some(owner) = bound.first() else { return Ok(Owner::None) };
        let Some(order) = self.store.find(*owner).await.map_err(trouble)? else {
            return Ok(Owner::AnotherCard);
        };
        let operation = order.operation();
        let seller = wanted.seller.as_ref().is_none_or(|seller| *seller == operation.seller);
        let Wanted { operation_id, card, .. } = wanted;
        let same = seller && self.identity.is_for(operation, card, operation_id.as_ref());
        Ok(if same { Owner::ThisCard(Box::new(order)) } else { Owner::AnotherCard })
    }

    /// A payment pays for one order for ever. The chain knows it only as spent,
    /// and its word alone would have the payer sign again.
    pub(super) async fn belongs_here(
        &self,
        order: OrderId,
        keys: &CredentialKeys,
    ) -> Result<(), Refusal> {
        for (keys, refusal) in [
            (keys.identifier.as_slice(), Refusal::PaymentIdentifierUsed(order)),
            (&keys.spent, Refusal::PaymentBoundElsewhere),
        ] {
            if keys.is_empty() {
                continue;
            }
            let bound = self.store.bound(keys).await.map_err(trouble)?;
            if bound.iter().any(|owner| *owner != order) {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Every process writes what it spends a payment on before it does, so after the
    /// chain's word this look misses none. An invitation to pay is sent only if the order
    /// still waits for money: while we checked a credential, another process may have spent
    /// it, and that is just why it did not hold.
    pub(super) async fn unless_spent(
        &self,
        order: OrderId,
        keys: &CredentialKeys,
        digest: CredentialDigest,
        refusal: Refusal,
    ) -> Result<Outcome, Refusal> {
        self.belongs_here(order, keys).await?;
        match self.store.find(order).await.map_err(trouble)? {
            Some(Stored::Offered(_)) | None => Err(refusal),
            Some(moved) => Self::answer(moved, Some(digest)),
        }
    }
}

/// Whose a key is.
enum Owner {
    None,
    ThisCard(Box<Stored>),
    AnotherCard,
}

/// Whether money has moved for an order or may have.
fn is_paid(order: &Stored) -> bool {
    order.payment().is_some()
}
