//! Refunds: the chain proves that the seller returned the charge to the payer.

use super::{ActionOutcome, Instruction, OperatorActions};
use crate::lifecycle::schedule::CLOCK_SKEW_SECONDS;
use crate::lifecycle::{Paid, Refund, Stored};
use crate::model::ids::Timestamp;
use crate::operator::rejection::ActionRejection;
use crate::operator::transfers::{ChainTransaction, TransactionHash, TransferFault};

impl OperatorActions {
    /// Records a refund that was made on the chain. The transaction belongs to this order for
    /// ever, and the card is deleted.
    pub async fn refund(
        &self,
        instruction: &Instruction,
        transaction: &TransactionHash,
    ) -> Result<ActionOutcome, ActionRejection> {
        let by = &instruction.by("refund", self.writer.clock.now());
        let order = self.load(instruction).await?;
        let created_at = order.created_at();
        match order {
            Stored::Unfulfilled(order) => {
                let paid = order.state.shortfall.paid();
                let refund = self.proof(paid, created_at, transaction).await?;
                let now = self.writer.clock.now();
                self.record(order.refunded(refund, now), by).await?;
            }
            Stored::Mailed(order) => {
                let refund = self.proof(&order.state.paid, created_at, transaction).await?;
                let now = self.writer.clock.now();
                self.record(order.refunded(refund, now), by).await?;
            }
            Stored::Refunded(_) => {
                return Err(ActionRejection::NotPossible("This order is refunded already."));
            }
            Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => {
                return Err(ActionRejection::NotPossible(
                    "It is not known yet what becomes of this order. Wait until the reconciler has found out.",
                ));
            }
            Stored::Offered(_) | Stored::Lapsed(_) => {
                return Err(ActionRejection::NotPossible("This order is not paid."));
            }
        }
        Ok(ActionOutcome::Refunded)
    }

    /// The refund that this transaction proves.
    async fn proof(
        &self,
        paid: &Paid,
        created_at: Timestamp,
        transaction: &TransactionHash,
    ) -> Result<Refund, ActionRejection> {
        let authorization = &paid.payment.authorization;
        let found = self.transfers.transaction(authorization.network, transaction).await;
        let proof = match found.map_err(|_| ActionRejection::NodeSilent)? {
            ChainTransaction::Unknown => Err(TransferFault::Unknown),
            ChainTransaction::Reverted => Err(TransferFault::Reverted),
            // mutant: refund-before-finality
            ChainTransaction::NotFinal => Err(TransferFault::NotFinal),
            ChainTransaction::Final(found) => Ok(found),
        };
        let proof = proof.map_err(ActionRejection::NoRefund)?;
        let (seller, payer) = (authorization.pay_to, authorization.payer);
        let returned = proof.transfers.iter().filter(|one| one.from == seller && one.to == payer);
        let fault = match returned.map(|one| one.amount).max() {
            None => TransferFault::OtherAccounts,
            // mutant: refund-of-less
            Some(amount) if amount < paid.settlement.amount => TransferFault::TooLittle,
            Some(_) if proof.at.plus(CLOCK_SKEW_SECONDS) < created_at => TransferFault::TooOld,
            Some(amount) => {
                let transaction = transaction.as_str().to_owned();
                return Ok(Refund { transaction, amount, at: proof.at });
            }
        };
        Err(ActionRejection::NoRefund(fault))
    }
}
