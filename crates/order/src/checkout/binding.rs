//! Which order a payment belongs to, looked up before any 402.

use super::answer::answer;
use crate::lifecycle::Stored;
use crate::model::card::Postcard;
use crate::model::identity::Identity;
use crate::model::identity::quote::NamedQuote;
use crate::model::ids::{OperationId, OrderId};
use crate::model::payment::{CredentialDigest, CredentialKeys, PaymentKey};
use crate::model::seller::Username;
use crate::outcome::Outcome;
use crate::ports::Store;
use crate::refusal::Refusal;

/// A card, and how the request for it names its operation.
pub(super) struct Wanted {
    /// None where the request leaves the seller to the configuration, which may change.
    pub(super) seller: Option<Username>,
    pub(super) operation_id: Option<OperationId>,
    pub(super) card: Postcard,
    /// What the caller expects to pay at most.
    pub(super) quote: NamedQuote,
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

/// The payments that the store has bound to orders.
pub(super) struct PaymentBindings<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) identity: &'a Identity,
}

impl PaymentBindings<'_> {
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
            // mutant: identifier-for-any-card
            (_, Owner::AnotherCard) => KnownPayment::IdentifierOfAnother,
            (Owner::ThisCard(order), _) | (_, Owner::ThisCard(order)) if is_paid(&order) => {
                // mutant: payment-not-looked-up
                KnownPayment::OfThisCard(order)
            }
            (_, Owner::None | Owner::ThisCard(_)) => KnownPayment::None,
        })
    }

    async fn owner_of(&self, keys: &[PaymentKey], wanted: &Wanted) -> Result<Owner, Refusal> {
        if keys.is_empty() {
            return Ok(Owner::None);
        }
        let bound = self.store.bound(keys).await?;
        let Some(owner) = bound.first() else { return Ok(Owner::None) };
        let Some(order) = self.store.find(*owner).await? else {
            return Ok(Owner::AnotherCard);
        };
        let operation = order.operation();
        let seller = wanted.seller.as_ref().is_none_or(|seller| *seller == operation.seller);
        let Wanted { operation_id, card, .. } = wanted;
        let same = seller && self.identity.is_for(operation, card, operation_id.as_ref());
        Ok(if same { Owner::ThisCard(Box::new(order)) } else { Owner::AnotherCard })
    }

    /// A payment pays for one order for ever. The chain only reports it as spent, and with that
    /// alone the payer would be asked to sign again.
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
            let bound = self.store.bound(keys).await?;
            if bound.iter().any(|owner| *owner != order) {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Every process writes the intent before it settles, so this read after the chain's answer
    /// finds every intent. A request to pay is sent only if the order is still unpaid: another
    /// process may have spent the credential while it was checked here, which is why the check
    /// failed.
    pub(super) async fn unless_spent(
        &self,
        order: OrderId,
        keys: &CredentialKeys,
        digest: CredentialDigest,
        refusal: Refusal,
    ) -> Result<Outcome, Refusal> {
        self.belongs_here(order, keys).await?;
        // mutant: stale-402
        match self.store.find(order).await? {
            Some(Stored::Offered(_)) | None => Err(refusal),
            Some(moved) => answer(moved, Some(digest)),
        }
    }
}

/// The order that a key is bound to.
enum Owner {
    None,
    ThisCard(Box<Stored>),
    AnotherCard,
}

/// Whether money has moved for an order or may have.
fn is_paid(order: &Stored) -> bool {
    order.payment().is_some()
}
