//! A refund is what the chain proves.

use super::*;
use crate::model::money::Usdc;
use crate::operator::transfers::{ChainTransfer, FinalTransaction, TransferFault};
use crate::status::{Status, View};

const HASH: &str = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

impl Shop {
    /// A transfer that refunds the order.
    fn refund(&self) -> FinalTransaction {
        let stored = self.stored();
        let paid = stored.paid().unwrap();
        let authorization = &paid.payment.authorization;
        let transfer = ChainTransfer {
            from: authorization.pay_to,
            to: authorization.payer,
            amount: paid.settlement.amount,
        };
        let (at, sender) = (self.world.time(), authorization.pay_to);
        FinalTransaction { at, sender, fee_wei: 1, transfers: vec![transfer] }
    }

    fn refund_with(&self, found: ChainTransaction) -> Result<ActionOutcome, ActionRejection> {
        *self.chain.0.lock().unwrap() = Ok(found);
        let hash = TransactionHash::parse(HASH).unwrap();
        poll_once(self.actions.refund(&self.instruction(), &hash)).unwrap()
    }
}

#[test]
fn a_final_transfer_of_the_charge_refunds_the_order_and_deletes_card_and_credential() {
    for submission in [SimulatedFault::LostBefore, SimulatedFault::Refused, SimulatedFault::None] {
        let shop = Shop::after(submission);
        let done = shop.refund_with(ChainTransaction::Final(shop.refund()));
        assert_eq!((done, shop.state()), (Ok(ActionOutcome::Refunded), "refunded"));
        let view = View::of(&shop.stored());
        assert_eq!(
            (view.status, view.refund.unwrap().transaction.as_str()),
            (Status::Refunded, HASH)
        );
        assert_eq!(shop.stored().payment().unwrap().authorization.credential.0, b"");
        let again = shop.refund_with(ChainTransaction::Final(shop.refund()));
        assert!(matches!(again, Err(ActionRejection::NotPossible(_))));
    }
}

#[test]
fn what_does_not_prove_the_refund_changes_nothing() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    let (right, before) = (shop.refund(), shop.stored());
    let changed = |change: &dyn Fn(&mut FinalTransaction)| {
        let mut found = right.clone();
        change(&mut found);
        ChainTransaction::Final(found)
    };
    let stranger = EvmAddress::from_bytes([0x77; 20]);
    let little = Usdc::from_atomic(right.transfers[0].amount.atomic() - 1);
    let cases = [
        (ChainTransaction::Unknown, TransferFault::Unknown),
        (ChainTransaction::Reverted, TransferFault::Reverted),
        (ChainTransaction::NotFinal, TransferFault::NotFinal),
        (changed(&|found| found.transfers.clear()), TransferFault::OtherAccounts),
        (changed(&|found| found.transfers[0].from = stranger), TransferFault::OtherAccounts),
        (changed(&|found| found.transfers[0].to = stranger), TransferFault::OtherAccounts),
        (changed(&|found| found.transfers[0].amount = little), TransferFault::TooLittle),
        (changed(&|found| found.at = Timestamp(found.at.0 - 61)), TransferFault::TooOld),
    ];
    for (found, fault) in cases {
        assert_eq!(shop.refund_with(found), Err(ActionRejection::NoRefund(fault)));
        assert_eq!(shop.stored(), before, "{fault}");
    }
    *shop.chain.0.lock().unwrap() = Err(Failure::Lost("no answer".into()));
    let hash = TransactionHash::parse(HASH).unwrap();
    let silent = poll_once(shop.actions.refund(&shop.instruction(), &hash)).unwrap();
    assert_eq!((silent, shop.stored()), (Err(ActionRejection::NodeSilent), before));
}

#[test]
fn one_transaction_refunds_one_order() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    shop.refund_with(ChainTransaction::Final(shop.refund())).unwrap();
    let second = Shop { order: buy(&shop.world, &shop.process, 2), ..shop };
    let orders = second.world.store.orders();
    let second = Shop {
        order: orders.iter().find(|order| order.headline() != "refunded").unwrap().id(),
        ..second
    };
    let before = second.stored();
    let again = second.refund_with(ChainTransaction::Final(second.refund()));
    assert_eq!(again, Err(ActionRejection::TransactionUsed));
    assert_eq!(second.stored(), before);
}

#[test]
fn a_transaction_hash_has_64_digits() {
    assert!(TransactionHash::parse(HASH).is_ok());
    assert_eq!(
        TransactionHash::parse(&HASH.to_uppercase().replace("0X", "0x")),
        TransactionHash::parse(HASH)
    );
    for wrong in ["", "0x", &HASH[..65], &format!("{HASH}a"), &HASH[2..], &HASH.replace('a', "g")] {
        assert!(TransactionHash::parse(wrong).is_err(), "{wrong}");
    }
}
