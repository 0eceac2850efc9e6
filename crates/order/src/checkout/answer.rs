//! The answer for an order that a request does not change.

use crate::lifecycle::{Lapsed, Order, Stored};
use crate::model::payment::CredentialDigest;
use crate::outcome::{Fulfilment, Outcome, When};
use crate::refusal::Refusal;

/// The answer for an order that this request does not change.
pub(super) fn answer(order: Stored, digest: Option<CredentialDigest>) -> Result<Outcome, Refusal> {
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
        // mutant: finished-order-refused
        Stored::Mailed(order) => outcome(order.state.paid.settlement, Fulfilment::Submitted),
        Stored::Refunded(order) => {
            outcome(order.state.paid.settlement, Fulfilment::NeedsReconciliation)
        }
        Stored::Lapsed(Order { id, state: Lapsed, .. }) => Err(Refusal::OperationLapsed(id)),
    }
}
