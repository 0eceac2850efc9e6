//! From an order to its row.

use order::lifecycle::{Mailed, Offered, Order, Paid, Settling, Shortfall, Stored, Submitting};
use order::model::chain::EvmAddress;
use order::model::ids::OrderId;
use order::model::mail::{ProviderAccount, ProviderQuote};
use order::model::payment::{Payment, PaymentKey};

use super::Row;
use super::words::Word;
use crate::seal::{Place, SealError, Seals};

/// The row of an order under its own version. What could be read or spent by
/// others is sealed.
pub(in crate::store) fn write(order: &Stored, seals: &Seals) -> Result<Row, SealError> {
    let mut ink = Ink { row: frame(order), id: order.id(), seals };
    match order {
        Stored::Offered(_) | Stored::Lapsed(_) => {}
        Stored::Settling(order) => ink.settling(&order.state)?,
        Stored::Unconfirmed(order) => ink.settling(&order.state.was)?,
        Stored::Submitting(order) => ink.submitting(&order.state)?,
        Stored::Unfulfilled(order) => match &order.state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => ink.submitting(was)?,
            Shortfall::Undelivered(was) => ink.mailed(was)?,
        },
        Stored::Mailed(order) => ink.mailed(&order.state)?,
        Stored::Refunded(order) => {
            ink.paid(&order.state.paid)?;
            ink.row.refund_transaction = Some(order.state.refund.transaction.clone());
            ink.row.refund_at = number(order.state.refund.at.0);
        }
    }
    Ok(ink.row)
}

/// An offer has nothing to seal.
pub(in crate::store) fn offer_row(offer: Order<Offered>) -> Row {
    frame(&offer.into())
}

fn frame(order: &Stored) -> Row {
    let operation = order.operation();
    let attention = order.attention();
    Row {
        id: Some(order.id().to_string()),
        version: number(order.version()),
        state: Some(order.headline().to_owned()),
        operation_key: Some(operation.key.0.to_vec()),
        generation: Some(operation.generation.into()),
        origin: word(&operation.origin),
        fingerprint: Some(operation.fingerprint.0.to_vec()),
        seller: Some(operation.seller.as_str().to_owned()),
        created_at: number(order.created_at().0),
        updated_at: number(order.updated_at().0),
        expires_at: number(order.expires_at().0),
        due_at: attention.due.and_then(|due| number(due.0)),
        planned_at: number(attention.planned.0),
        looks: Some(attention.looks.into()),
        worker: attention.worker.map(|worker| worker.bytes().to_vec()),
        ..Row::default()
    }
}

/// A row that is being written.
struct Ink<'a> {
    row: Row,
    id: OrderId,
    seals: &'a Seals,
}

impl Ink<'_> {
    fn quote(&mut self, quote: ProviderQuote) {
        self.row.quote_cents = number(quote.total().0);
    }

    fn settling(&mut self, settling: &Settling) -> Result<(), SealError> {
        self.quote(settling.quote);
        self.row.sealed_card = Some(self.seals.seal_card(&settling.card, self.id)?);
        self.payment(&settling.payment)
    }

    fn submitting(&mut self, submitting: &Submitting) -> Result<(), SealError> {
        self.paid(&submitting.paid)?;
        self.row.sealed_card = Some(self.seals.seal_card(&submitting.card, self.id)?);
        self.row.attempt = Some(submitting.attempt.into());
        self.row.submitting_since = number(submitting.since.0);
        self.row.doubt = word(&submitting.doubt);
        self.asked(submitting.asked.as_ref());
        Ok(())
    }

    fn mailed(&mut self, mailed: &Mailed) -> Result<(), SealError> {
        self.paid(&mailed.paid)?;
        self.row.mailpiece = Some(mailed.mailpiece.0.clone());
        self.row.mailed_at = number(mailed.mailed_at.0);
        self.row.stage = word(&mailed.delivery.stage);
        self.row.stage_at = number(mailed.delivery.at.0);
        self.asked(mailed.asked.as_ref());
        Ok(())
    }

    fn asked(&mut self, asked: Option<&ProviderAccount>) {
        self.row.provider_account = asked.map(|account| account.0.clone());
    }

    fn paid(&mut self, paid: &Paid) -> Result<(), SealError> {
        self.quote(paid.quote);
        self.payment(&paid.payment)?;
        let settlement = &paid.settlement;
        self.row.settled_transaction = Some(settlement.transaction.clone());
        self.row.settled_atomic = number(settlement.amount.atomic());
        self.row.settled_at = number(settlement.at.0);
        self.row.finality = word(&settlement.finality);
        self.row.receipt = Some(settlement.receipt.0.clone());
        self.row.standing = word(&paid.standing);
        Ok(())
    }

    fn payment(&mut self, payment: &Payment) -> Result<(), SealError> {
        let promise = &payment.authorization;
        self.row.tender = word(&promise.tender);
        self.row.network = Some(promise.network.caip2().to_owned());
        self.row.payer = Some(address(promise.payer));
        self.row.pay_to = Some(address(promise.pay_to));
        self.row.authorized_atomic = number(promise.most.atomic());
        self.row.deadline = number(promise.deadline.0);
        self.row.payment_keys =
            Some(promise.keys.iter().flat_map(|PaymentKey(key)| *key).collect());
        self.row.credential_digest = Some(promise.digest.0.to_vec());
        self.row.sealed_credential = self.secret(&promise.credential.0, Place::Credential)?;
        self.row.sealed_preparation = self.secret(&payment.preparation.0, Place::Preparation)?;
        self.row.charge_atomic = number(payment.charge.atomic());
        Ok(())
    }

    /// Nothing is written for nothing, so that a forgotten secret leaves no trace.
    fn secret(&self, plain: &[u8], place: Place) -> Result<Option<Vec<u8>>, SealError> {
        (!plain.is_empty()).then(|| self.seals.seal(plain, self.id, place)).transpose()
    }
}

/// Databases have no unsigned numbers. Those from 2^63 on, which only a payer's
/// own deadline can be, turn negative there and come back as they were.
#[expect(clippy::unnecessary_wraps, reason = "every cell of a row may be empty")]
fn number(value: u64) -> Option<i64> {
    Some(value.cast_signed())
}

/// In small letters, so that an address is found however somebody spells it,
/// and no checksum has to be computed for each.
fn address(address: EvmAddress) -> String {
    let mut written = String::with_capacity(42);
    written.push_str("0x");
    for byte in address.bytes() {
        for digit in [byte >> 4, byte & 0xf] {
            written.push(char::from_digit(digit.into(), 16).expect("four bits are one digit"));
        }
    }
    written
}

fn word(choice: &impl Word) -> Option<String> {
    Some(choice.word().to_owned())
}
