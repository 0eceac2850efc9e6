//! From an order to its row.

use order::lifecycle::{Mailed, Offered, Order, Paid, Settling, Shortfall, Stored, Submitting};
use order::model::chain::EvmAddress;
use order::model::ids::OrderId;
use order::model::mail::{Mailpiece, ProviderAccount, ProviderQuote};
use order::model::payment::{Payment, PaymentKey};

use super::columns::Row;
use super::enum_text::EnumText;
use crate::store::encryption::{CipherError, ColumnCipher, EncryptedColumn};

/// The row of an order. Personal data and credentials are encrypted.
pub(in crate::store) fn write(order: &Stored, cipher: &ColumnCipher) -> Result<Row, CipherError> {
    let mut writer = RowWriter { row: frame(order), id: order.id(), cipher };
    match order {
        Stored::Offered(_) | Stored::Lapsed(_) => {}
        Stored::Settling(order) => writer.settling(&order.state)?,
        Stored::Unconfirmed(order) => writer.settling(&order.state.was)?,
        Stored::Submitting(order) => writer.submitting(&order.state)?,
        Stored::Unfulfilled(order) => match &order.state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => writer.submitting(was)?,
            Shortfall::Undelivered(was) => writer.mailed(was)?,
            Shortfall::Erased(was) => {
                writer.paid(&was.paid)?;
                writer.submitted_to(was.submitted_to.as_ref());
            }
        },
        Stored::Mailed(order) => writer.mailed(&order.state)?,
        Stored::Refunded(order) => {
            writer.paid(&order.state.paid)?;
            writer.row.refund_transaction = Some(order.state.refund.transaction.clone());
            writer.row.refund_atomic = number(order.state.refund.amount.atomic());
            writer.row.refund_at = number(order.state.refund.at.0);
            let mailpiece = order.state.mailpiece.as_ref();
            writer.row.mailpiece = mailpiece.map(|Mailpiece(id)| id.clone());
        }
    }
    Ok(writer.row)
}

/// An offer has nothing to encrypt.
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
        acknowledged_at: attention.acknowledged.and_then(|at| number(at.0)),
        ..Row::default()
    }
}

/// A row while it is built.
struct RowWriter<'a> {
    row: Row,
    id: OrderId,
    cipher: &'a ColumnCipher,
}

impl RowWriter<'_> {
    fn quote(&mut self, quote: ProviderQuote) {
        self.row.quote_cents = number(quote.total().0);
    }

    fn settling(&mut self, settling: &Settling) -> Result<(), CipherError> {
        self.quote(settling.quote);
        self.row.sealed_card = Some(self.cipher.seal_card(&settling.card, self.id)?);
        self.payment(&settling.payment)
    }

    fn submitting(&mut self, submitting: &Submitting) -> Result<(), CipherError> {
        self.paid(&submitting.paid)?;
        self.row.sealed_card = Some(self.cipher.seal_card(&submitting.card, self.id)?);
        self.row.attempt = Some(submitting.attempt.into());
        self.row.submitting_since = number(submitting.since.0);
        self.row.attempted_at = number(submitting.attempted_at.0);
        self.row.doubt = word(&submitting.doubt);
        self.submitted_to(submitting.submitted_to.as_ref());
        Ok(())
    }

    fn mailed(&mut self, mailed: &Mailed) -> Result<(), CipherError> {
        self.paid(&mailed.paid)?;
        self.row.mailpiece = Some(mailed.mailpiece.0.clone());
        self.row.mailed_at = number(mailed.mailed_at.0);
        self.row.stage = word(&mailed.delivery.stage);
        self.row.stage_at = number(mailed.delivery.at.0);
        self.submitted_to(mailed.submitted_to.as_ref());
        Ok(())
    }

    fn submitted_to(&mut self, submitted_to: Option<&ProviderAccount>) {
        self.row.provider_account = submitted_to.map(|account| account.0.clone());
    }

    fn paid(&mut self, paid: &Paid) -> Result<(), CipherError> {
        self.quote(paid.quote);
        self.payment(&paid.payment)?;
        let settlement = &paid.settlement;
        self.row.settled_transaction = Some(settlement.transaction.clone());
        self.row.settled_atomic = number(settlement.amount.atomic());
        self.row.settled_at = number(settlement.at.0);
        self.row.finality = word(&settlement.finality);
        self.row.receipt = Some(settlement.receipt.0.clone());
        self.row.standing = word(&paid.standing);
        self.row.country = Some(paid.country.as_str().to_owned());
        Ok(())
    }

    fn payment(&mut self, payment: &Payment) -> Result<(), CipherError> {
        let authorization = &payment.authorization;
        self.row.tender = word(&authorization.tender);
        self.row.network = Some(authorization.network.caip2().to_owned());
        self.row.payer = Some(address(authorization.payer));
        self.row.pay_to = Some(address(authorization.pay_to));
        self.row.authorized_atomic = number(authorization.most.atomic());
        self.row.deadline = number(authorization.deadline.0);
        self.row.payment_keys =
            Some(authorization.keys.iter().flat_map(|PaymentKey(key)| *key).collect());
        self.row.credential_digest = Some(authorization.digest.0.to_vec());
        self.row.sealed_credential =
            self.secret(&authorization.credential.0, EncryptedColumn::Credential)?;
        self.row.sealed_preparation =
            self.secret(&payment.preparation.0, EncryptedColumn::Preparation)?;
        self.row.charge_atomic = number(payment.charge.atomic());
        Ok(())
    }

    /// Null for an empty secret, so that a deleted secret leaves no trace.
    fn secret(
        &self,
        plain: &[u8],
        column: EncryptedColumn,
    ) -> Result<Option<Vec<u8>>, CipherError> {
        (!plain.is_empty()).then(|| self.cipher.seal(plain, self.id, column)).transpose()
    }
}

/// Databases have no unsigned integers. Values from 2^63 on, which only a payer's deadline can
/// have, are stored as negative numbers and read back unchanged.
#[expect(clippy::unnecessary_wraps, reason = "every cell of a row may be empty")]
fn number(value: u64) -> Option<i64> {
    Some(value.cast_signed())
}

/// In lower case, so that an address is found in any spelling, and no checksum is computed.
pub(super) fn address(address: EvmAddress) -> String {
    let mut written = String::with_capacity(42);
    written.push_str("0x");
    for byte in address.bytes() {
        for digit in [byte >> 4, byte & 0xf] {
            written.push(char::from_digit(digit.into(), 16).expect("four bits are one digit"));
        }
    }
    written
}

fn word(choice: &impl EnumText) -> Option<String> {
    Some(choice.text().to_owned())
}
