//! A row of the outbox as both databases keep it.

use alloy_primitives::B256;
use order::model::chain::EvmAddress;
use order::model::ids::{OrderId, Timestamp};
use order::model::payment::PaymentKey;

use crate::settlement::outbox::{
    FailedSettlement, OutboxError, OutboxRow, SenderAccount, SentTransactions, SettlementRequest,
    read_content, write_content,
};
use crate::store::encryption::{ColumnCipher, EncryptedColumn};

/// How long a row is kept after its nonce was signed for: longer than any order asks what
/// became of its payment.
pub(in crate::store) const KEEP_SECONDS: u64 = 60 * 24 * 60 * 60;

/// The cells of one row.
#[derive(Clone)]
pub(in crate::store) struct OutboxCells {
    pub(in crate::store) nonce: i64,
    pub(in crate::store) payment_key: Option<Vec<u8>>,
    pub(in crate::store) payer: Option<String>,
    pub(in crate::store) hashes: Vec<u8>,
    pub(in crate::store) sealed: Vec<u8>,
    pub(in crate::store) signed_at: i64,
    pub(in crate::store) reverted_at: Option<i64>,
}

pub(in crate::store) fn network_cell(account: SenderAccount) -> &'static str {
    account.network.caip2()
}

pub(in crate::store) fn account_cell(account: SenderAccount) -> String {
    account.address.to_string()
}

pub(in crate::store) fn write(
    row: &OutboxRow,
    cipher: &ColumnCipher,
) -> Result<OutboxCells, OutboxError> {
    let plain = write_content(row.request.as_ref(), &row.transactions);
    let sealed = cipher.seal(&plain, sealed_for(row.key(), row.nonce), EncryptedColumn::Outbox);
    Ok(OutboxCells {
        nonce: row.nonce.cast_signed(),
        payment_key: row.key().map(|key| key.0.to_vec()),
        payer: row.request.as_ref().map(|request| request.payer.to_string()),
        hashes: row.hashes().iter().flat_map(|hash| hash.0).collect(),
        sealed: sealed.map_err(|_| OutboxError::Lost)?,
        signed_at: row.signed_at.0.cast_signed(),
        reverted_at: row.reverted_at.map(|at| at.0.cast_signed()),
    })
}

pub(in crate::store) fn read(
    cells: OutboxCells,
    cipher: &ColumnCipher,
) -> Result<OutboxRow, OutboxError> {
    let nonce = cells.nonce.cast_unsigned();
    let key = cells.payment_key.as_deref().map(key).transpose()?;
    let plain = cipher.open(&cells.sealed, sealed_for(key, nonce), EncryptedColumn::Outbox);
    let content = plain.ok().and_then(|plain| read_content(&plain));
    let content = content.ok_or_else(|| unreadable("sealed"))?;
    Ok(OutboxRow {
        nonce,
        request: content.request,
        transactions: content.transactions,
        signed_at: Timestamp(cells.signed_at.cast_unsigned()),
        reverted_at: cells.reverted_at.map(|at| Timestamp(at.cast_unsigned())),
    })
}

/// A settlement that waits in the queue has no nonce, and is sealed for its payment.
pub(in crate::store) fn write_queued(
    request: &SettlementRequest,
    cipher: &ColumnCipher,
) -> Result<Vec<u8>, OutboxError> {
    let plain = write_content(Some(request), &[]);
    let sealed = cipher.seal(&plain, sealed_for(Some(request.key), 0), EncryptedColumn::Outbox);
    sealed.map_err(|_| OutboxError::Lost)
}

pub(in crate::store) fn read_queued(
    payment_key: &[u8],
    sealed: &[u8],
    cipher: &ColumnCipher,
) -> Result<SettlementRequest, OutboxError> {
    let plain =
        cipher.open(sealed, sealed_for(Some(key(payment_key)?), 0), EncryptedColumn::Outbox);
    let content = plain.ok().and_then(|plain| read_content(&plain));
    content.and_then(|content| content.request).ok_or_else(|| unreadable("sealed"))
}

pub(in crate::store) fn sent(
    payment_key: &[u8],
    nonce: i64,
    hashes: &[u8],
) -> Result<SentTransactions, OutboxError> {
    Ok(SentTransactions {
        key: key(payment_key)?,
        nonce: nonce.cast_unsigned(),
        hashes: each_hash(hashes)?,
    })
}

pub(in crate::store) fn failure(
    payment_key: &[u8],
    payer: &str,
    hashes: &[u8],
    reverted_at: i64,
) -> Result<FailedSettlement, OutboxError> {
    let payer: EvmAddress = payer.parse().map_err(|_| unreadable("payer"))?;
    let (signed, at) = (each_hash(hashes)?.len(), Timestamp(reverted_at.cast_unsigned()));
    Ok(FailedSettlement { key: key(payment_key)?, payer, signed, at })
}

fn each_hash(cell: &[u8]) -> Result<Vec<B256>, OutboxError> {
    let (hashes, rest) = cell.as_chunks::<32>();
    if rest.is_empty() {
        Ok(hashes.iter().copied().map(B256::from).collect())
    } else {
        Err(unreadable("hashes"))
    }
}

pub(in crate::store) fn key(cell: &[u8]) -> Result<PaymentKey, OutboxError> {
    cell.try_into().map(PaymentKey).map_err(|_| unreadable("payment_key"))
}

/// A row cannot be passed off as that of another payment or nonce.
pub(in crate::store) fn sealed_for(key: Option<PaymentKey>, nonce: u64) -> OrderId {
    let mut id = [0; 16];
    if let Some(PaymentKey(key)) = key {
        id.copy_from_slice(&key[..16]);
    } else {
        id[8..].copy_from_slice(&nonce.to_be_bytes());
    }
    OrderId::from_bytes(id)
}

fn unreadable(column: &'static str) -> OutboxError {
    tracing::error!(column, "a row of the outbox cannot be read");
    OutboxError::Lost
}
