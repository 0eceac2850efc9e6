//! Actions on a card: submit it again, attach a card that exists, erase it, show it.

use super::{ActionOutcome, Instruction, OperatorActions};
use crate::lifecycle::{Doubt, Order, Reopened, Shortfall, Stored, Submitting, Unfulfilled};
use crate::model::card::Postcard;
use crate::model::mail::{Mailpiece, ProviderAccount};
use crate::operator::rejection::ActionRejection;
use crate::outcome::Fulfilment;
use crate::reconciler::payment::{PaidMoney, check_money};

const NOT_OWED: ActionRejection =
    ActionRejection::NotPossible("No card is owed for this order, or its text is deleted.");
const OTHER_PROVIDER: ActionRejection = ActionRejection::NotPossible(
    "The card was submitted to a provider account that is not configured now, so it cannot be looked for. Configure that account, or refund the order.",
);

impl OperatorActions {
    /// Submits a card whose outcome is unknown once more, after the grace period. The provider is
    /// asked first: a card that exists is attached, and nothing is submitted.
    pub async fn resubmit(
        &self,
        instruction: &Instruction,
    ) -> Result<ActionOutcome, ActionRejection> {
        let by = &instruction.by("resubmit", self.writer.clock.now());
        let mut order = owed(self.load(instruction).await?)?;
        if order.state.doubt == Doubt::Earlier {
            self.check_grace(&order)?;
            // mutant: operator-resubmits-blindly
            if let Some(card) = self.cards_of(&order).await?.into_iter().next() {
                self.record(order.accepted(card, self.writer.clock.now()), by).await?;
                return Ok(ActionOutcome::CardFound);
            }
        }
        let session = self.tenders.resume(&order.state.paid.payment);
        match check_money(session.as_deref(), order.state.paid.clone()).await {
            Some(PaidMoney::Stands(paid)) => order.state.paid = *paid,
            Some(PaidMoney::Missing | PaidMoney::Gone) | None => {
                return Err(ActionRejection::PaymentUnclear);
            }
        }
        let order =
            order.submitting_to(self.writer.provider.account()).again(self.writer.clock.now());
        let order = self.record(order, by).await?;
        Ok(match self.writer.mail(order, by).await {
            Fulfilment::Submitted => ActionOutcome::Submitted,
            Fulfilment::NeedsReconciliation => ActionOutcome::SubmissionFailed,
        })
    }

    /// One look proves no absence before the provider lists what it has accepted.
    fn check_grace(&self, order: &Order<Submitting>) -> Result<(), ActionRejection> {
        let grace = self.writer.provider.promises().grace_seconds();
        let listed_at = order.state.attempted_at.plus(grace);
        // mutant: operator-resubmits-early
        if self.writer.clock.now() > listed_at {
            Ok(())
        } else {
            Err(ActionRejection::TooEarly(listed_at))
        }
    }

    /// The provider has this card for the order: the order is mailed.
    pub async fn attach(
        &self,
        instruction: &Instruction,
        mailpiece: &Mailpiece,
    ) -> Result<ActionOutcome, ActionRejection> {
        let by = &instruction.by("attach", self.writer.clock.now());
        let Stored::Unfulfilled(order) = self.load(instruction).await? else {
            return Err(ActionRejection::NotPossible("No card is missing for this order."));
        };
        let since = order.state.shortfall.paid().handed_in_after();
        self.check_provider(submitted_to(&order))?;
        let cards = self.writer.provider.find(order.id, since).await;
        let cards = cards.map_err(|_| ActionRejection::ProviderSilent)?;
        // mutant: attach-unconfirmed
        if !cards.contains(mailpiece) {
            return Err(ActionRejection::NotOurCard);
        }
        let now = self.writer.clock.now();
        let order = order.attached(mailpiece.clone(), now).ok_or(NOT_OWED)?;
        self.record(order, by).await?;
        Ok(ActionOutcome::CardFound)
    }

    /// Deletes the text of a card that will not be mailed. A refund is due from then on.
    pub async fn erase(&self, instruction: &Instruction) -> Result<ActionOutcome, ActionRejection> {
        let order = owed(self.load(instruction).await?)?;
        let order = order.erased(self.writer.clock.now());
        self.record(order, &instruction.by("erase", self.writer.clock.now())).await?;
        Ok(ActionOutcome::Erased)
    }

    /// The card that is still owed. That it was shown is recorded first.
    pub async fn reveal(&self, instruction: &Instruction) -> Result<Postcard, ActionRejection> {
        let Stored::Unfulfilled(order) = self.load(instruction).await? else {
            return Err(NOT_OWED);
        };
        let card = match &order.state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => was.card.clone(),
            Shortfall::Undelivered(_) | Shortfall::Erased(_) => return Err(NOT_OWED),
        };
        // mutant: unrecorded-reveal
        self.record(order, &instruction.by("reveal", self.writer.clock.now())).await?;
        Ok(card)
    }

    async fn cards_of(&self, order: &Order<Submitting>) -> Result<Vec<Mailpiece>, ActionRejection> {
        self.check_provider(order.state.submitted_to.as_ref())?;
        let since = order.state.paid.handed_in_after();
        let cards = self.writer.provider.find(order.id, since).await;
        cards.map_err(|_| ActionRejection::ProviderSilent)
    }

    /// Only the provider account that it was submitted to knows what became of a card.
    pub(super) fn check_provider(
        &self,
        submitted_to: Option<&ProviderAccount>,
    ) -> Result<(), ActionRejection> {
        if submitted_to == Some(&self.writer.provider.account()) {
            Ok(())
        } else {
            Err(OTHER_PROVIDER)
        }
    }
}

/// An order whose card is owed and whose text is stored.
fn owed(order: Stored) -> Result<Order<Submitting>, ActionRejection> {
    let Stored::Unfulfilled(order) = order else { return Err(NOT_OWED) };
    match order.reopen() {
        Reopened::Owed(order) => Ok(order),
        Reopened::Ended(_) => Err(NOT_OWED),
    }
}

fn submitted_to(order: &Order<Unfulfilled>) -> Option<&ProviderAccount> {
    match &order.state.shortfall {
        Shortfall::Refused(was) | Shortfall::Lost(was) => was.submitted_to.as_ref(),
        Shortfall::Undelivered(was) => was.submitted_to.as_ref(),
        Shortfall::Erased(was) => was.submitted_to.as_ref(),
    }
}
