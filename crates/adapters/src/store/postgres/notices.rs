//! What processes tell each other by notifications, as text.

use std::sync::Arc;

use alloy_primitives::{B256, hex};
use order::model::ids::WorkerId;
use order::model::payment::PaymentKey;
use tokio_postgres::Notification;

use crate::settlement::outbox::{self, MinedNotice, MinedTransaction, NoticeBoard};
use crate::store::encryption::{ColumnCipher, EncryptedColumn};
use crate::store::rows::outbox::sealed_for;

/// The channel of new queue entries. Only a sender listens to it.
pub(super) const QUEUED: &str = "pennyblack_queued";
/// The channel of transactions in blocks, if no process is known that waits for them. With the
/// name of a process behind it, the channel of that process.
pub(super) const MINED: &str = "pennyblack_mined";
/// The server accepts less than 8,000 bytes.
const PAYLOAD_BYTES: usize = 7_900;
/// A payment key and the hash of a transaction, 32 bytes each.
const HINT_BYTES: usize = 64;

/// The payload for a transaction in a block. What was read of it is encrypted, so that only a
/// process with our keys can have written it; if it is too long, only the hash is passed on.
pub(super) fn write(notice: &MinedNotice, cipher: &ColumnCipher) -> String {
    let MinedNotice { key, transaction, mined } = notice;
    let hint = format!("{}{}", hex::encode(key.0), hex::encode(transaction));
    let read = mined.as_ref().and_then(outbox::write_mined).and_then(|plain| {
        cipher.seal(&plain, sealed_for(Some(*key), 0), EncryptedColumn::Notice).ok()
    });
    match read.map(hex::encode) {
        Some(read) if hint.len() + read.len() <= PAYLOAD_BYTES => hint + &read,
        Some(_) | None => hint,
    }
}

/// Listens to what every process must hear.
pub(super) fn listen(worker: WorkerId) -> String {
    format!("LISTEN {MINED}; LISTEN {MINED}_{}", hex::encode(worker.bytes()))
}

/// Passes on what another process, or this one, has told.
pub(super) fn pass_on(told: &Notification, cipher: &ColumnCipher, board: &NoticeBoard) {
    if told.channel() == QUEUED {
        board.queued();
    } else if let Some(notice) = read(told.payload(), cipher) {
        board.mined(Arc::new([notice]));
    }
}

fn read(payload: &str, cipher: &ColumnCipher) -> Option<MinedNotice> {
    let bytes = hex::decode(payload).ok()?;
    let (hint, sealed) = bytes.split_first_chunk::<HINT_BYTES>()?;
    let (key, transaction) = hint.split_at(HINT_BYTES / 2);
    let key = PaymentKey(key.try_into().ok()?);
    let transaction = B256::from_slice(transaction);
    let plain = cipher.open(sealed, sealed_for(Some(key), 0), EncryptedColumn::Notice);
    let mined = plain.ok().and_then(|plain| outbox::read_mined(&plain));
    // mutant: foreign-notice
    let same = |mined: &MinedTransaction| mined.receipt.transaction == transaction;
    Some(MinedNotice { key, transaction, mined: mined.filter(same) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keyring;
    use crate::settlement::outbox::example_mined;

    fn cipher(byte: u8) -> ColumnCipher {
        let line = format!("{}\n", format!("{byte:02x}").repeat(32));
        ColumnCipher::new(&Keyring::from_text(&line).unwrap())
    }

    /// With logs of so many bytes each.
    fn notice(data: usize) -> MinedNotice {
        let mut mined = example_mined();
        mined.receipt.logs.iter_mut().for_each(|log| log.data = vec![6; data].into());
        let transaction = mined.receipt.transaction;
        MinedNotice { key: PaymentKey([9; 32]), transaction, mined: Some(mined) }
    }

    #[test]
    fn a_notice_brings_the_receipt_of_a_settlement() {
        let (notice, cipher) = (notice(64), cipher(1));
        let payload = write(&notice, &cipher);
        assert!(payload.len() <= PAYLOAD_BYTES, "{}", payload.len());
        assert_eq!(read(&payload, &cipher), Some(notice));
    }

    #[test]
    fn a_receipt_that_does_not_fit_into_a_payload_is_left_out() {
        let (notice, cipher) = (notice(4_000), cipher(1));
        let payload = write(&notice, &cipher);
        assert_eq!(read(&payload, &cipher), Some(MinedNotice { mined: None, ..notice }));
    }

    #[test]
    fn a_receipt_for_another_payment_or_transaction_or_of_another_key_is_only_a_hint() {
        let (notice, cipher_1) = (notice(64), cipher(1));
        let payload = write(&notice, &cipher_1);
        let hint = |payload: &str, cipher: &ColumnCipher| read(payload, cipher).unwrap().mined;
        assert!(hint(&payload, &cipher_1).is_some());
        assert_eq!(hint(&payload, &cipher(2)), None);
        for place in [0, HINT_BYTES, 2 * HINT_BYTES, payload.len() - 1] {
            let mut changed = payload.clone();
            let digit = if payload[place..].starts_with('0') { "1" } else { "0" };
            changed.replace_range(place..=place, digit);
            assert_eq!(hint(&changed, &cipher_1), None, "digit {place}");
        }
    }

    #[test]
    fn what_is_no_notice_is_ignored() {
        let cipher = cipher(1);
        for payload in ["", "00ff", "mined", &"0".repeat(127), "queued by another"] {
            assert_eq!(read(payload, &cipher), None, "{payload}");
        }
    }
}
