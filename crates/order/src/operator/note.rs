//! Acknowledging that an order needs a person.

use super::{ActionOutcome, Instruction, OperatorActions};
use crate::lifecycle::Stored;
use crate::lifecycle::schedule::Attention;
use crate::operator::rejection::ActionRejection;

impl OperatorActions {
    /// The order raises no alert any more, until its state changes. The reconciler goes on.
    pub async fn acknowledge(
        &self,
        instruction: &Instruction,
    ) -> Result<ActionOutcome, ActionRejection> {
        let mut order = self.load(instruction).await?;
        let acknowledged = Some(self.writer.clock.now());
        order.set_attention(Attention { acknowledged, ..order.attention() });
        let by = &instruction.by("acknowledge", self.writer.clock.now());
        match order {
            Stored::Unconfirmed(order) => self.record(order, by).await.map(drop),
            Stored::Unfulfilled(order) => self.record(order, by).await.map(drop),
            Stored::Mailed(order) => self.record(order, by).await.map(drop),
            Stored::Settling(_) | Stored::Submitting(_) => {
                return Err(ActionRejection::NotPossible(
                    "A call for this order is under way. Wait until it has ended.",
                ));
            }
            Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => {
                return Err(ActionRejection::NotPossible("This order raises no alerts."));
            }
        }?;
        Ok(ActionOutcome::Acknowledged)
    }
}
