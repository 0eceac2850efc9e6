//! From request to postcard: find the order, check the payment, settle it, submit the card.

use std::pin::Pin;
use std::sync::Arc;

use crate::checkout::quotes::QuoteLimiter;
use crate::checkout::single_flight::SingleFlight;
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Offered, Order, Settling, Stored, Unconfirmed};
use crate::model::card::Postcard;
use crate::model::identity::quote::{NamedQuote, QuoteId, QuotedCharge};
use crate::model::identity::{Identity, Operation};
use crate::model::ids::OperationId;
use crate::model::offer::Offer;
use crate::model::payment::{Credential, CredentialDigest, CredentialKeys, Payment, Terms};
use crate::model::seller::{Payees, Sellers, Username};
use crate::outcome::Outcome;
use crate::ports::{NameService, Purpose};
use crate::reconciler::examination::Examination;
use crate::refusal::Refusal;
use crate::tender::{CheckedCredential, PresentedCredential, Rejection, Tender, Unsettled};
use crate::writer::OrderWriter;

mod answer;
mod binding;
mod opening;
pub mod preview;
mod pricing;
pub mod quotes;
pub mod single_flight;

use self::answer::answer;
use self::binding::{KnownPayment, PaymentBindings, Wanted};

/// How long a request waits for another one of the same operation. Shorter than the timeout
/// of any client, so that the client gets an answer.
const TURN_TIMEOUT_SECONDS: u64 = 20;

/// Takes requests for cards, and their payments.
pub struct Checkout {
    pub writer: Arc<OrderWriter>,
    pub names: Arc<dyn NameService>,
    pub identity: Identity,
    pub sellers: Sellers,
    pub single_flight: SingleFlight,
    pub quote_limiter: QuoteLimiter,
}

/// One request to mail one card.
pub struct Request {
    /// The default seller if none is named.
    pub seller: Option<Username>,
    pub operation_id: Option<OperationId>,
    pub card: Postcard,
    /// The quote that the charge must not exceed, if the caller names one.
    pub quote: Option<QuoteId>,
    pub credential: Option<Credential>,
}

/// A request that is being processed.
pub type PendingOutcome<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Refusal>> + Send + 'a>>;

impl Checkout {
    /// Takes a request as far as it can go. The answer is rendered from the order's state,
    /// which is stored; answers are not.
    pub fn send<'a>(&'a self, tender: &'a dyn Tender, request: Request) -> PendingOutcome<'a> {
        let Request { seller, operation_id, card, quote, credential } = request;
        let quote = self.identity.named_quote(quote, &card);
        let named = seller.as_ref().unwrap_or(&self.sellers.default);
        let operation = self.identity.operation(named, &card, operation_id.as_ref());
        // Two boxes, because most requests are unpaid and their future is much smaller.
        match credential {
            None => Box::pin(self.offer(tender, operation, quote)),
            Some(credential) => {
                let wanted = Wanted { seller, operation_id, card, quote };
                Box::pin(self.send_paid(tender, operation, wanted, credential))
            }
        }
    }

    /// A request without a credential: what is due, or what became of the payment.
    async fn offer(
        &self,
        tender: &dyn Tender,
        operation: Operation,
        quote: NamedQuote,
    ) -> Result<Outcome, Refusal> {
        let payees = payees(&self.sellers, &*self.names, &operation.seller, Purpose::Offer).await;
        let order = match self.open(operation, &payees).await? {
            Stored::Offered(order) => order,
            order @ (Stored::Settling(_)
            | Stored::Unconfirmed(_)
            | Stored::Submitting(_)
            | Stored::Unfulfilled(_)
            | Stored::Mailed(_)
            | Stored::Refunded(_)
            | Stored::Lapsed(_)) => return answer(order, None),
        };
        self.accepted_quote(order.id, quote)?;
        Ok(Outcome::Due(offer(tender, &order, payees?)))
    }

    async fn send_paid(
        &self,
        tender: &dyn Tender,
        operation: Operation,
        wanted: Wanted,
        credential: Credential,
    ) -> Result<Outcome, Refusal> {
        // An error counts only while nothing is paid: a paid order is answered also if its
        // seller's name does not resolve any more.
        let payees = payees(&self.sellers, &*self.names, &operation.seller, Purpose::Payment).await;
        let (key, digest) = (operation.key, credential.digest());
        let timeout = self.writer.clock.wait(TURN_TIMEOUT_SECONDS);
        let turn = self.single_flight.turn(key, timeout).await;
        let credential = tender.read(credential);
        let order = match self.bindings().known_payment(credential.keys(), &wanted).await? {
            KnownPayment::None => self.open(operation, &payees).await?,
            KnownPayment::OfThisCard(order) => *order,
            KnownPayment::IdentifierOfAnother => {
                let order = self.open(operation, &payees).await?;
                return Err(Refusal::PaymentIdentifierUsed(order.id()));
            }
        };
        // The turn is this operation's. The order of another one is only reported.
        let turn = turn.filter(|_| order.operation().key == key);
        match (order, turn) {
            (Stored::Offered(order), None) => Err(Refusal::InProgress(order.id)),
            (Stored::Offered(order), Some(_turn)) => {
                let (id, offer) = (order.id, offer(tender, &order, payees?));
                let quoted = match self.accepted_quote(id, wanted.quote) {
                    Ok(quoted) => quoted,
                    Err(refusal) => {
                        let bindings = self.bindings();
                        return bindings.unless_spent(id, credential.keys(), digest, refusal).await;
                    }
                };
                let presented = Presented { credential, digest, quoted };
                let taken = self.take_payment(offer, order, wanted.card, presented).await;
                taken.map_err(|refusal| refusal.about(id))
            }
            // The payer repeats the payment that is in doubt: find out now. Not while another
            // process may be settling it: the answer that it gets is proof only if no other
            // process asks.
            // mutant: two-settle-at-once
            (Stored::Unconfirmed(order), Some(_turn)) if is_of(&order.state.was, digest) => {
                self.trace_payment(tender, order).await
            }
            // This process works on it, and not for a request, since the turn is ours: an earlier
            // request could not write its result. Or its reconciler does, which never takes a
            // refusal for proof.
            (Stored::Settling(order), Some(_turn))
                if is_of(&order.state, digest) && self.worked_on(&order) =>
            {
                self.trace_payment(tender, order.lost(self.writer.clock.now())).await
            }
            (order, _) => answer(order, Some(digest)),
        }
    }

    fn worked_on(&self, order: &Order<Settling>) -> bool {
        order.attention.worker == Some(self.writer.worker)
    }

    async fn trace_payment(
        &self,
        tender: &dyn Tender,
        order: Order<Unconfirmed>,
    ) -> Result<Outcome, Refusal> {
        let id = order.id;
        let Some(session) = tender.resume(&order.state.was.payment) else {
            return Err(Refusal::PaymentUnconfirmed(id));
        };
        let mut examination = Examination::of(&self.writer, &order.clone().into());
        let traced = examination.trace_payment(&*session, order.reopen(), &Actor::Checkout).await;
        traced.map_err(|refusal| refusal.about(id))
    }

    async fn take_payment(
        &self,
        offer: Offer,
        order: Order<Offered>,
        card: Postcard,
        presented: Presented<'_>,
    ) -> Result<Outcome, Refusal> {
        let OrderWriter { provider, clock, .. } = &*self.writer;
        let Presented { credential, digest, quoted } = presented;
        let (id, keys) = (order.id, credential.keys().clone());
        let bindings = self.bindings();
        let unless_spent = |refusal| bindings.unless_spent(id, &keys, digest, refusal);
        // Local checks first: no outside call without a valid signature, nor with a
        // signature that pays for another order.
        let checked = match credential.check(&self.terms(&offer)) {
            Ok(checked) => checked,
            Err(why) => return unless_spent(rejected(offer, why)).await,
        };
        let CheckedCredential { authorization, session } = checked;
        self.bindings().belongs_here(id, &keys).await?;
        if let Err(why) = session.verify().await {
            return unless_spent(rejected(offer, why)).await;
        }
        let (quote, charge) = match self.price(&offer, &card, &authorization, quoted).await {
            Ok(priced) => priced,
            Err(refusal) => return unless_spent(refusal).await,
        };
        provider.reserve_call().await?;
        let preparation = match session.prepare(charge, None).await {
            Ok(preparation) => preparation,
            Err(why) => {
                provider.release_call().await;
                return unless_spent(declined(offer, why)).await;
            }
        };

        // Write the intent, act, write the result. A crash between any two of these leaves
        // a state that says what must be found out.
        let payment = Payment { authorization, charge, preparation };
        let order = order.begin_settlement(card, quote, payment, clock.now());
        // mutant: no-intent, settled-without-intent, settled-without-intent-postgres, no-intent-when-killed
        let order = self.intend(order, &keys).await?;
        match session.settle(&order.state.payment).await {
            Ok(settlement) => {
                self.quote_limiter.settled(order.state.payment.authorization.payer);
                self.writer.record_settlement_and_submit(order, settlement, &Actor::Checkout).await
            }
            Err(Unsettled::Refused(reason)) => {
                provider.release_call().await;
                self.writer.record(order.declined(clock.now()), &Actor::Checkout).await?;
                Err(Refusal::PaymentDeclined { offer, reason })
            }
            Err(Unsettled::Withdrawn(_)) => {
                provider.release_call().await;
                self.writer.record(order.declined(clock.now()), &Actor::Checkout).await?;
                Err(Refusal::PaymentUnavailable)
            }
            Err(Unsettled::Lost(_)) => {
                // begin mutant: lost-is-declined
                // Also if this is not written: the intent is, and the payment is in doubt.
                let _ = self.writer.record(order.lost(clock.now()), &Actor::Checkout).await;
                Err(Refusal::PaymentUnconfirmed(offer.order))
                // end mutant
            }
        }
    }

    /// Writes that the money is about to be moved. If another request was first, this is
    /// certainly not written, and the reserved call is released.
    async fn intend(
        &self,
        order: Order<Settling>,
        keys: &CredentialKeys,
    ) -> Result<Order<Settling>, Refusal> {
        let id = order.id;
        let written = self.writer.record(order, &Actor::Checkout).await;
        if let Err(Refusal::InProgress(_) | Refusal::PaymentBoundElsewhere) = &written {
            self.writer.provider.release_call().await;
        }
        if let Err(Refusal::PaymentBoundElsewhere) = &written {
            self.bindings().belongs_here(id, keys).await?;
        }
        written
    }

    fn bindings(&self) -> PaymentBindings<'_> {
        PaymentBindings { store: &*self.writer.store, identity: &self.identity }
    }

    fn terms(&self, offer: &Offer) -> Terms {
        let (order, payees) = (offer.order, offer.payees.clone());
        Terms { order, payees, ceiling: offer.price.ceiling(), now: self.writer.clock.now() }
    }
}

/// A credential of a request, parsed, the digest of what was sent, and the charge that the payer
/// expects at most.
struct Presented<'a> {
    credential: Box<dyn PresentedCredential<'a> + 'a>,
    digest: CredentialDigest,
    quoted: Option<QuotedCharge>,
}

/// Where the seller's money goes, if we sell for that seller at all.
pub(crate) async fn payees(
    sellers: &Sellers,
    names: &dyn NameService,
    seller: &Username,
    purpose: Purpose,
) -> Result<Payees, Refusal> {
    if !sellers.enables(seller) {
        return Err(Refusal::SellerNotEnabled);
    }
    let resolution = names.resolve(seller, purpose).await;
    let resolution = resolution.map_err(|_| Refusal::NameServiceFailed)?;
    Ok(resolution.ok_or(Refusal::SellerUnresolved)?.payees().clone())
}

/// A credential that fails its check.
fn rejected(offer: Offer, why: Rejection) -> Refusal {
    match why {
        Rejection::Invalid(reason) => Refusal::CredentialInvalid { offer, reason },
        Rejection::PayeeChanged | Rejection::AllowanceMissing | Rejection::Unavailable => {
            declined(offer, why)
        }
    }
}

/// A payment that cannot be prepared.
fn declined(offer: Offer, why: Rejection) -> Refusal {
    match why {
        Rejection::Invalid(reason) => Refusal::PaymentDeclined { offer, reason },
        Rejection::PayeeChanged => Refusal::SellerAddressChanged(offer.order),
        Rejection::AllowanceMissing => Refusal::AllowanceRequired(offer),
        Rejection::Unavailable => Refusal::PaymentUnavailable,
    }
}

fn is_of(settling: &Settling, digest: CredentialDigest) -> bool {
    settling.payment.authorization.digest == digest
}

fn offer(tender: &dyn Tender, order: &Order<Offered>, payees: Payees) -> Offer {
    Offer { order: order.id, price: tender.price(), payees }
}

#[cfg(test)]
mod tests;
