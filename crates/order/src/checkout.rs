//! The desk: one walk from request to postcard.

use std::pin::Pin;
use std::sync::Arc;

use crate::checkout::quotes::Quotes;
use crate::checkout::single_flight::SingleFlight;
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Lapsed, Offered, Order, Setback, Settling, Stored, Submitting};
use crate::model::card::Postcard;
use crate::model::identity::{Identity, Operation};
use crate::model::ids::{OperationId, OrderId, WorkerId};
use crate::model::offer::Offer;
use crate::model::payment::{
    Credential, CredentialDigest, CredentialKeys, Payment, Settlement, Terms,
};
use crate::model::seller::{Payees, Sellers, Username};
use crate::ports::{Clock, Failure, NameService, Provider, Purpose, Store};
use crate::reconciler::Look;
use crate::reconciler::resubmit_watch::ResubmitWatches;
use crate::refusal::Refusal;
use crate::tender::{Tender, Unsettled};

mod binding;
mod opening;
pub mod preview;
mod pricing;
pub mod quotes;
mod record;
pub mod single_flight;
mod troubles;

use self::binding::{KnownPayment, Wanted};
use self::troubles::{declined, rejected};
pub(crate) use self::troubles::{trouble, unanswered};

/// How long a request waits for another one of the same operation. Shorter
/// than any client's own patience, so that it hears why.
const PATIENCE_SECONDS: u64 = 20;

/// Takes requests, money and cards, one order at a time.
pub struct Desk {
    pub provider: Arc<dyn Provider>,
    pub names: Arc<dyn NameService>,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub identity: Identity,
    pub sellers: Sellers,
    pub single_flight: SingleFlight,
    pub quotes: Quotes,
    pub resubmit_watches: ResubmitWatches,
    /// This process, as the orders that it works on name it.
    pub worker: WorkerId,
}

/// One request to mail one card.
pub struct Request {
    /// The default seller if none is named.
    pub seller: Option<Username>,
    pub operation_id: Option<OperationId>,
    pub card: Postcard,
    pub credential: Option<Credential>,
}

/// A request on its way, and what it ends with.
pub type Walk<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Refusal>> + Send + 'a>>;

/// What the caller is told when nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Pay first.
    Due(Offer),
    /// Paid, now or earlier.
    Paid { order: OrderId, settlement: Settlement, fulfilment: Fulfilment, paid: When },
}

/// Whether the card of a paid order is known to be with the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fulfilment {
    Submitted,
    NeedsReconciliation,
}

/// When the money moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In this request.
    Now,
    /// Earlier; this request brought the same credential, another one or none.
    Earlier,
}

impl Desk {
    /// Takes a request as far as it can go. What it says never depends on an
    /// answer that was kept: the order's state is kept, and read again.
    pub fn send<'a>(&'a self, tender: &'a dyn Tender, request: Request) -> Walk<'a> {
        let Request { seller, operation_id, card, credential } = request;
        let named = seller.as_ref().unwrap_or(&self.sellers.default);
        let operation = self.identity.operation(named, &card, operation_id.as_ref());
        // A box for each: most requests bring no money, and should not carry the room for
        // it around.
        match credential {
            None => Box::pin(self.quote(tender, operation)),
            Some(credential) => {
                let wanted = Wanted { seller, operation_id, card };
                Box::pin(self.send_paid(tender, operation, wanted, credential))
            }
        }
    }

    /// For those who bring no money: what is due, or what has become of it.
    async fn quote(&self, tender: &dyn Tender, operation: Operation) -> Result<Outcome, Refusal> {
        let payees = payees(&self.sellers, &*self.names, &operation.seller, Purpose::Offer).await;
        let order = match self.open(operation, &payees).await? {
            Stored::Offered(order) => order,
            order @ (Stored::Settling(_)
            | Stored::Unconfirmed(_)
            | Stored::Submitting(_)
            | Stored::Unfulfilled(_)
            | Stored::Mailed(_)
            | Stored::Refunded(_)
            | Stored::Lapsed(_)) => return Self::answer(order, None),
        };
        Ok(Outcome::Due(offer(tender, &order, payees?)))
    }

    async fn send_paid(
        &self,
        tender: &dyn Tender,
        operation: Operation,
        wanted: Wanted,
        credential: Credential,
    ) -> Result<Outcome, Refusal> {
        // Needed only while nothing is paid: a paid order is answered for even
        // when names do not resolve any more.
        let payees = payees(&self.sellers, &*self.names, &operation.seller, Purpose::Payment).await;
        let (key, digest) = (operation.key, credential.digest());
        let patience = self.clock.wait(PATIENCE_SECONDS);
        let turn = self.single_flight.turn(key, patience).await;
        let order = match self.known_payment(&tender.keys(&credential), &wanted).await? {
            KnownPayment::None => self.open(operation, &payees).await?,
            KnownPayment::OfThisCard(order) => *order,
            KnownPayment::IdentifierOfAnother => {
                let order = self.open(operation, &payees).await?;
                return Err(Refusal::PaymentIdentifierUsed(order.id()));
            }
        };
        // Another operation's order is only answered for: its turn is not ours.
        let turn = turn.filter(|_| order.operation().key == key);
        match (order, turn) {
            (Stored::Offered(order), None) => Err(Refusal::InProgress(order.id)),
            (Stored::Offered(order), Some(_turn)) => {
                let (id, payees) = (order.id, payees?);
                let taken = self.take_payment(tender, order, wanted.card, credential, payees).await;
                taken.map_err(|refusal| refusal.about(id))
            }
            // The payer asks after the payment that is in doubt: find out now.
            // Not so while it is being settled: another process may be at it,
            // and what it hears is proof only if nobody else asks.
            (Stored::Unconfirmed(order), Some(_turn)) if is_of(&order.state.was, digest) => {
                let (id, look) = (order.id, Look::at(self, &order.clone().into()));
                let chased = look.chase_payment(tender, order.reopen(), &Actor::Desk).await;
                chased.map_err(|refusal| refusal.about(id))
            }
            (order, _) => Self::answer(order, Some(digest)),
        }
    }

    /// What is said of an order that this request does not move.
    fn answer(order: Stored, digest: Option<CredentialDigest>) -> Result<Outcome, Refusal> {
        let id = order.id();
        let same = order.payment().is_some_and(|paid| Some(paid.authorization.digest) == digest);
        let outcome = |settlement, fulfilment| {
            Ok(Outcome::Paid { order: id, settlement, fulfilment, paid: When::Earlier })
        };
        match order {
            Stored::Offered(_) => Err(Refusal::InProgress(id)),
            Stored::Settling(_) | Stored::Unconfirmed(_) if same => {
                Err(Refusal::PaymentUnconfirmed(id))
            }
            Stored::Settling(_) | Stored::Unconfirmed(_) => Err(Refusal::PaymentInPlay(id)),
            Stored::Submitting(_) => Err(Refusal::SubmissionUnresolved(id)),
            Stored::Unfulfilled(order) => outcome(
                order.state.shortfall.paid().settlement.clone(),
                Fulfilment::NeedsReconciliation,
            ),
            Stored::Mailed(order) => outcome(order.state.paid.settlement, Fulfilment::Submitted),
            Stored::Refunded(order) => {
                outcome(order.state.paid.settlement, Fulfilment::NeedsReconciliation)
            }
            Stored::Lapsed(Order { id, state: Lapsed, .. }) => Err(Refusal::OperationLapsed(id)),
        }
    }

    async fn take_payment(
        &self,
        tender: &dyn Tender,
        order: Order<Offered>,
        card: Postcard,
        credential: Credential,
        payees: Payees,
    ) -> Result<Outcome, Refusal> {
        let offer = offer(tender, &order, payees);
        let (keys, digest) = (tender.keys(&credential), credential.digest());
        let id = order.id;
        let unless_spent = |refusal| self.unless_spent(id, &keys, digest, refusal);
        // Cheap and local first: nothing outside is called without a good
        // signature, nor with one that is another order's.
        let authorization = match tender.read(credential, &self.terms(&offer)) {
            Ok(authorization) => authorization,
            Err(why) => return unless_spent(rejected(offer, why)).await,
        };
        self.belongs_here(id, &keys).await?;
        if let Err(why) = tender.verify(&authorization).await {
            return unless_spent(rejected(offer, why)).await;
        }
        let (quote, charge) = self.price(tender, id, &card, &authorization).await?;
        self.provider.reserve_call().await.map_err(unanswered)?;
        let preparation = match tender.prepare(&authorization, charge, None).await {
            Ok(preparation) => preparation,
            Err(why) => {
                self.provider.release_call().await;
                return unless_spent(declined(offer, why)).await;
            }
        };

        // Write the intent, act, write the answer. A crash between any two of
        // these leaves a state that says what must be found out.
        let payment = Payment { authorization, charge, preparation };
        let order = order.begin_settlement(card, quote, payment, self.clock.now());
        let order = self.intend(order, &keys).await?;
        match tender.settle(&order.state.payment).await {
            Ok(settlement) => {
                self.quotes.settled(order.state.payment.authorization.payer);
                self.settled(order, settlement, &Actor::Desk).await
            }
            Err(Unsettled::Refused(reason)) => {
                self.provider.release_call().await;
                self.record(order.declined(self.clock.now()), &Actor::Desk).await?;
                Err(Refusal::PaymentDeclined { offer, reason })
            }
            Err(Unsettled::Withdrawn(_)) => {
                self.provider.release_call().await;
                self.record(order.declined(self.clock.now()), &Actor::Desk).await?;
                Err(Refusal::PaymentUnavailable)
            }
            Err(Unsettled::Lost(_)) => {
                // Whether or not this is written, the intent is: it is in doubt.
                let _ = self.record(order.lost(self.clock.now()), &Actor::Desk).await;
                Err(Refusal::PaymentUnconfirmed(offer.order))
            }
        }
    }

    /// Writes that this money is about to be asked for. Where another request was first it
    /// certainly is not written, and the call for a card is free for others.
    async fn intend(
        &self,
        order: Order<Settling>,
        keys: &CredentialKeys,
    ) -> Result<Order<Settling>, Refusal> {
        let id = order.id;
        let written = self.record(order, &Actor::Desk).await;
        if let Err(Refusal::InProgress(_) | Refusal::PaymentBoundElsewhere) = &written {
            self.provider.release_call().await;
        }
        if let Err(Refusal::PaymentBoundElsewhere) = &written {
            self.belongs_here(id, keys).await?;
        }
        written
    }

    fn terms(&self, offer: &Offer) -> Terms {
        let (order, payees) = (offer.order, offer.payees.clone());
        Terms { order, payees, ceiling: offer.price.ceiling(), now: self.clock.now() }
    }

    /// The money has moved. From here on nothing but the card is owed.
    pub(crate) async fn settled(
        &self,
        order: Order<Settling>,
        settlement: Settlement,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let id = order.id;
        let order = order.settled(settlement, self.clock.now());
        let order = order.asking(self.provider.account());
        // If this cannot be written, the intent to settle still is, and the
        // money will be found by looking.
        let recorded = self.record_payment(order, by).await;
        let order = recorded.map_err(|_| Refusal::PaymentUnconfirmed(id))?;
        let (id, settlement) = (order.id, order.state.paid.settlement.clone());
        let fulfilment = self.mail(order, by).await;
        Ok(Outcome::Paid { order: id, settlement, fulfilment, paid: When::Now })
    }

    /// Hands a paid order to the provider. Whatever comes of it, the money has
    /// moved and the caller must hear so; a failed write leaves `Submitting`,
    /// which says what must be found out.
    pub(crate) async fn mail(&self, order: Order<Submitting>, by: &Actor) -> Fulfilment {
        let answer = self.provider.submit(&order).await;
        let now = self.clock.now();
        let recorded = match answer {
            Ok(mailpiece) => {
                let recorded = self.record(order.accepted(mailpiece, now), by).await;
                recorded.map(|_| Fulfilment::Submitted)
            }
            Err(Failure::Refused(_)) => self.fail(order, Setback::Refused, by).await,
            Err(Failure::Lost(_)) => self.fail(order, Setback::Lost, by).await,
        };
        recorded.unwrap_or(Fulfilment::NeedsReconciliation)
    }

    async fn fail(
        &self,
        order: Order<Submitting>,
        setback: Setback,
        by: &Actor,
    ) -> Result<Fulfilment, Refusal> {
        let order = order.failed(setback, self.clock.now());
        self.record(order, by).await.map(|_| Fulfilment::NeedsReconciliation)
    }
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

fn is_of(settling: &Settling, digest: CredentialDigest) -> bool {
    settling.payment.authorization.digest == digest
}

fn offer(tender: &dyn Tender, order: &Order<Offered>, payees: Payees) -> Offer {
    Offer { order: order.id, price: tender.price(), payees }
}

#[cfg(test)]
mod tests;
