//! From a row back to the order that it was written from.

use order::lifecycle::event::Event;
use order::lifecycle::schedule::Attention;
use order::lifecycle::{
    Erased, Lapsed, Mailed, Offered, Order, Paid, Refund, Refunded, Settling, Shortfall, Stored,
    Submitting, Unconfirmed, Unfulfilled,
};
use order::model::chain::{EvmAddress, Network};
use order::model::country::CountryCode;
use order::model::identity::Operation;
use order::model::ids::{Fingerprint, OperationKey, OrderId, Timestamp, WorkerId};
use order::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote};
use order::model::money::{Cents, Usdc};
use order::model::payment::{
    Authorization, Credential, CredentialDigest, Payment, PaymentKey, Preparation, Receipt,
    Settlement,
};
use order::model::seller::Username;
use order::operator::page::{OrderPage, UnreadableOrder};
use order::ports::{NumberedEvent, OpenOrders, StateCount, StoreError};

use super::columns::{Cells, Row};
use super::enum_text::EnumText;
use crate::store::encryption::{CipherError, ColumnCipher, EncryptedColumn};

/// The column that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unreadable(&'static str);

/// Parses an order. The faulty column is only logged, since a caller can do nothing about it.
pub(in crate::store) fn read(row: Row, cipher: &ColumnCipher) -> Result<Stored, StoreError> {
    let id = row.id.clone().unwrap_or_default();
    RowReader { row, cipher }.order().map_err(|Unreadable(column)| {
        tracing::error!(order.id = %id, column, "an order in the store cannot be read");
        StoreError::Corrupt
    })
}

/// The rows of a list, also those that cannot be read. A row without a readable id and time is
/// only logged.
pub(in crate::store) fn read_page(rows: Vec<Row>, cipher: &ColumnCipher, most: usize) -> OrderPage {
    let listed = rows.into_iter().filter_map(|row| {
        let known = RowReader { row: row.clone(), cipher }.unreadable();
        read(row, cipher).map_or_else(|_| known.ok().map(Err), |order| Some(Ok(order)))
    });
    OrderPage::of(listed.collect(), most)
}

/// Whether the key file has the keys of all encrypted values in a row.
pub(in crate::store) fn is_decryptable(row: &Row, cipher: &ColumnCipher) -> bool {
    let sealed = [&row.sealed_card, &row.sealed_credential, &row.sealed_preparation];
    sealed.into_iter().flatten().all(|sealed| cipher.has_key_of(sealed))
}

/// An order's id in a table beside the orders.
pub(in crate::store) fn read_id(name: &str) -> Result<OrderId, StoreError> {
    name.parse().map_err(|_| {
        tracing::error!(column = "order_id", "an id in the store cannot be read");
        StoreError::Corrupt
    })
}

/// One row of [`OPEN_ORDERS`](super::sql::OPEN_ORDERS).
pub(in crate::store) fn read_open(cells: &impl Cells) -> Result<OpenOrders, StoreError> {
    let network = cells.text(2)?.as_deref().and_then(Network::from_caip2);
    Ok(OpenOrders {
        account: cells.text(0)?.map(ProviderAccount),
        tender: word(&cells.text(1)?, "tender").map_err(|_| StoreError::Corrupt)?,
        network: network.ok_or(StoreError::Corrupt)?,
        count: cells.integer(3)?.unwrap_or_default().cast_unsigned(),
    })
}

/// One row of [`count_in_play`](super::sql::count_in_play).
pub(in crate::store) fn read_count(cells: &impl Cells) -> Result<StateCount, StoreError> {
    Ok(StateCount {
        state: cells.text(0)?.ok_or(StoreError::Corrupt)?,
        count: cells.integer(1)?.unwrap_or_default().cast_unsigned(),
        oldest: Timestamp(cells.integer(2)?.unwrap_or_default().cast_unsigned()),
    })
}

/// A row of the events after a number: the number, the order, and the event.
pub(in crate::store) fn read_numbered(cells: &impl Cells) -> Result<NumberedEvent, StoreError> {
    let order = read_id(&cells.text(1)?.unwrap_or_default())?;
    let number = cells.integer(0)?.unwrap_or_default().cast_unsigned();
    Ok(NumberedEvent { number, event: read_event(cells, order, 2)? })
}

/// An event whose cells begin at `place`: version, at, actor, state, evidence, note.
pub(in crate::store) fn read_event(
    cells: &impl Cells,
    order: OrderId,
    place: usize,
) -> Result<Event, StoreError> {
    let integer = |at: usize| cells.integer(place + at)?.ok_or(StoreError::Corrupt);
    let text = |at: usize| cells.text(place + at)?.ok_or(StoreError::Corrupt);
    Ok(Event {
        order,
        version: integer(0)?.cast_unsigned(),
        at: Timestamp(integer(1)?.cast_unsigned()),
        actor: text(2)?,
        state: text(3)?,
        evidence: text(4)?,
        note: text(5)?,
    })
}

/// A row while it is parsed.
struct RowReader<'a> {
    row: Row,
    cipher: &'a ColumnCipher,
}

impl RowReader<'_> {
    fn order(&self) -> Result<Stored, Unreadable> {
        Ok(match need(self.row.state.as_deref(), "state")? {
            "offered" => self.frame(Offered)?.into(),
            "settling" => self.frame(self.settling()?)?.into(),
            "unconfirmed" => self.frame(Unconfirmed { was: self.settling()? })?.into(),
            "submitting" => self.frame(self.submitting()?)?.into(),
            "unfulfilled_refused" => self.shortfall(Shortfall::Refused(self.submitting()?))?,
            "unfulfilled_lost" => self.shortfall(Shortfall::Lost(self.submitting()?))?,
            "unfulfilled_undelivered" => self.shortfall(Shortfall::Undelivered(self.mailed()?))?,
            "unfulfilled_erased" => self.shortfall(Shortfall::Erased(self.erased()?))?,
            "mailed" => self.frame(self.mailed()?)?.into(),
            "refunded" => self.frame(self.refunded()?)?.into(),
            "lapsed" => self.frame(Lapsed)?.into(),
            _ => return Err(Unreadable("state")),
        })
    }

    /// What is known of an order if the rest of its row is damaged or encrypted with a missing key.
    fn unreadable(&self) -> Result<UnreadableOrder, Unreadable> {
        Ok(UnreadableOrder {
            id: self.id()?,
            created_at: time(self.row.created_at, "created_at")?,
            state: text(&self.row.state, "state")?,
        })
    }

    fn frame<S>(&self, state: S) -> Result<Order<S>, Unreadable> {
        let row = &self.row;
        Ok(Order {
            id: self.id()?,
            operation: Operation {
                key: OperationKey(bytes(&row.operation_key, "operation_key")?),
                origin: word(&row.origin, "origin")?,
                fingerprint: Fingerprint(bytes(&row.fingerprint, "fingerprint")?),
                seller: Username::kept(text(&row.seller, "seller")?),
                generation: small(row.generation, "generation")?,
            },
            created_at: time(row.created_at, "created_at")?,
            updated_at: time(row.updated_at, "updated_at")?,
            expires_at: time(row.expires_at, "expires_at")?,
            version: number(row.version, "version")?,
            attention: Attention {
                due: row.due_at.map(|due| Timestamp(due.cast_unsigned())),
                planned: time(row.planned_at, "planned_at")?,
                looks: small(row.looks, "looks")?,
                worker: self.worker()?,
                acknowledged: row.acknowledged_at.map(|at| Timestamp(at.cast_unsigned())),
            },
            state,
        })
    }

    fn id(&self) -> Result<OrderId, Unreadable> {
        need(self.row.id.as_ref(), "id")?.parse().map_err(|_| Unreadable("id"))
    }

    fn worker(&self) -> Result<Option<WorkerId>, Unreadable> {
        let worker = &self.row.worker;
        worker.is_some().then(|| bytes(worker, "worker").map(WorkerId::from_bytes)).transpose()
    }

    fn quote(&self) -> Result<ProviderQuote, Unreadable> {
        let cents = Cents(number(self.row.quote_cents, "quote_cents")?);
        ProviderQuote::new(cents).ok_or(Unreadable("quote_cents"))
    }

    fn settling(&self) -> Result<Settling, Unreadable> {
        Ok(Settling { card: self.card()?, quote: self.quote()?, payment: self.payment()? })
    }

    fn submitting(&self) -> Result<Submitting, Unreadable> {
        Ok(Submitting {
            card: self.card()?,
            paid: self.paid()?,
            attempt: small(self.row.attempt, "attempt")?,
            since: time(self.row.submitting_since, "submitting_since")?,
            attempted_at: time(self.row.attempted_at, "attempted_at")?,
            doubt: word(&self.row.doubt, "doubt")?,
            submitted_to: self.submitted_to(),
        })
    }

    fn shortfall(&self, shortfall: Shortfall) -> Result<Stored, Unreadable> {
        self.frame(Unfulfilled { shortfall }).map(Stored::from)
    }

    fn mailed(&self) -> Result<Mailed, Unreadable> {
        Ok(Mailed {
            paid: self.paid()?,
            mailpiece: Mailpiece(text(&self.row.mailpiece, "mailpiece")?),
            mailed_at: time(self.row.mailed_at, "mailed_at")?,
            delivery: Delivery {
                stage: word(&self.row.stage, "stage")?,
                at: time(self.row.stage_at, "stage_at")?,
            },
            submitted_to: self.submitted_to(),
        })
    }

    fn erased(&self) -> Result<Erased, Unreadable> {
        Ok(Erased { paid: self.paid()?, submitted_to: self.submitted_to() })
    }

    fn submitted_to(&self) -> Option<ProviderAccount> {
        self.row.provider_account.clone().map(ProviderAccount)
    }

    fn refunded(&self) -> Result<Refunded, Unreadable> {
        let refund = Refund {
            transaction: text(&self.row.refund_transaction, "refund_transaction")?,
            amount: usdc(self.row.refund_atomic, "refund_atomic")?,
            at: time(self.row.refund_at, "refund_at")?,
        };
        let mailpiece = self.row.mailpiece.clone().map(Mailpiece);
        Ok(Refunded { paid: self.paid()?, refund, mailpiece })
    }

    fn paid(&self) -> Result<Paid, Unreadable> {
        let row = &self.row;
        let settlement = Settlement {
            transaction: text(&row.settled_transaction, "settled_transaction")?,
            amount: usdc(row.settled_atomic, "settled_atomic")?,
            at: time(row.settled_at, "settled_at")?,
            finality: word(&row.finality, "finality")?,
            receipt: Receipt(need(row.receipt.clone(), "receipt")?),
        };
        Ok(Paid {
            quote: self.quote()?,
            payment: self.payment()?,
            settlement,
            standing: word(&row.standing, "standing")?,
            country: CountryCode::kept(need(row.country.as_deref(), "country")?)
                .ok_or(Unreadable("country"))?,
        })
    }

    fn payment(&self) -> Result<Payment, Unreadable> {
        let row = &self.row;
        let network = need(row.network.as_deref(), "network")?;
        let credential = self.secret(&row.sealed_credential, EncryptedColumn::Credential);
        let preparation = self.secret(&row.sealed_preparation, EncryptedColumn::Preparation);
        let authorization = Authorization {
            tender: word(&row.tender, "tender")?,
            network: Network::from_caip2(network).ok_or(Unreadable("network"))?,
            payer: address(&row.payer, "payer")?,
            pay_to: address(&row.pay_to, "pay_to")?,
            most: usdc(row.authorized_atomic, "authorized_atomic")?,
            deadline: time(row.deadline, "deadline")?,
            keys: keys(&row.payment_keys)?,
            digest: CredentialDigest(bytes(&row.credential_digest, "credential_digest")?),
            credential: Credential(credential.map_err(|_| Unreadable("sealed_credential"))?),
        };
        Ok(Payment {
            authorization,
            charge: usdc(row.charge_atomic, "charge_atomic")?,
            preparation: Preparation(preparation.map_err(|_| Unreadable("sealed_preparation"))?),
        })
    }

    fn card(&self) -> Result<order::model::card::Postcard, Unreadable> {
        let sealed = need(self.row.sealed_card.as_ref(), "sealed_card")?;
        self.cipher.open_card(sealed, self.id()?).map_err(|_| Unreadable("sealed_card"))
    }

    fn secret(
        &self,
        sealed: &Option<Vec<u8>>,
        column: EncryptedColumn,
    ) -> Result<Vec<u8>, CipherError> {
        let id = self.id().map_err(|_| CipherError::Broken)?;
        let open = |sealed: &Vec<u8>| self.cipher.open(sealed, id, column);
        let plain = sealed.as_ref().map(open).transpose()?;
        Ok(plain.map(|plain| plain.to_vec()).unwrap_or_default())
    }
}

fn need<T>(cell: Option<T>, column: &'static str) -> Result<T, Unreadable> {
    cell.ok_or(Unreadable(column))
}

fn text(cell: &Option<String>, column: &'static str) -> Result<String, Unreadable> {
    need(cell.clone(), column)
}

fn number(cell: Option<i64>, column: &'static str) -> Result<u64, Unreadable> {
    need(cell, column).map(i64::cast_unsigned)
}

fn small(cell: Option<i64>, column: &'static str) -> Result<u32, Unreadable> {
    u32::try_from(need(cell, column)?).map_err(|_| Unreadable(column))
}

fn time(cell: Option<i64>, column: &'static str) -> Result<Timestamp, Unreadable> {
    number(cell, column).map(Timestamp)
}

fn usdc(cell: Option<i64>, column: &'static str) -> Result<Usdc, Unreadable> {
    number(cell, column).map(Usdc::from_atomic)
}

fn word<W: EnumText>(cell: &Option<String>, column: &'static str) -> Result<W, Unreadable> {
    W::read(need(cell.as_deref(), column)?).ok_or(Unreadable(column))
}

fn address(cell: &Option<String>, column: &'static str) -> Result<EvmAddress, Unreadable> {
    need(cell.as_ref(), column)?.parse().map_err(|_| Unreadable(column))
}

fn bytes<const N: usize>(
    cell: &Option<Vec<u8>>,
    column: &'static str,
) -> Result<[u8; N], Unreadable> {
    need(cell.as_deref(), column)?.try_into().map_err(|_| Unreadable(column))
}

fn keys(cell: &Option<Vec<u8>>) -> Result<Vec<PaymentKey>, Unreadable> {
    let (keys, rest) = need(cell.as_deref(), "payment_keys")?.as_chunks::<32>();
    if rest.is_empty() {
        Ok(keys.iter().copied().map(PaymentKey).collect())
    } else {
        Err(Unreadable("payment_keys"))
    }
}
