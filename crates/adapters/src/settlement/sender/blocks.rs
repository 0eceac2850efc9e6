//! Follows blocks: receipts, replacements of stuck transactions, finality.

use std::collections::BTreeSet;
use std::time::Duration;

use order::model::ids::Timestamp;
use order::model::payment::Finality;
use tracing::field::display;

use super::assign::SIGNED_MOST;
use super::leader::Leadership;
use super::{Sender, SenderOutcome};
use crate::measurements;
use crate::rpc::{BlockHead, ReceiptStatus, TransactionReceipt};
use crate::settlement::fees::GasTerms;
use crate::settlement::outbox::{AccountCode, MinedNotice, MinedTransaction, OutboxError};

/// How many flights are looked up at once.
const FLIGHTS: usize = 64;
/// A head that two blocks have passed over for this long is replaced.
const PASSED_OVER: Duration = Duration::from_secs(2);
/// So is one that waits without any new block, as on a chain that makes one only when a
/// transaction is ready. A little longer than the slowest of our networks takes for a block.
const NO_BLOCK: Duration = Duration::from_millis(2_500);
/// A nonce that is used without a receipt for any of our hashes for this long was used by
/// another program with our key. A node that lags behind another catches up sooner.
const DISPLACED: Duration = Duration::from_secs(2);
/// What frees the nonces behind it may pay more for gas than the cap allows others: it must
/// outbid a transaction that may have been signed at the cap.
const REPLACEMENT_CAP_TIMES: u128 = 2;

impl Sender {
    /// Reads receipts for all rows that are in no block yet.
    pub(super) async fn poll(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let asked = leadership.in_flight.unmined(FLIGHTS);
        let hashes: Vec<_> = asked.iter().map(|(_, hash)| *hash).collect();
        let progress = self.parts.node.progress(self.parts.account.address, &hashes).await;
        let now = self.now();
        let Ok(progress) = progress else {
            leadership.poll_later(now);
            return Ok(());
        };
        let before = leadership.mined;
        leadership.see(progress.head, progress.mined, now);
        let mined = asked.iter().zip(progress.receipts);
        let mined = mined.filter_map(|((nonce, _), receipt)| Some((*nonce, receipt?)));
        let mined: Vec<(u64, TransactionReceipt)> = mined.collect();
        let news = !mined.is_empty();
        let (mut reverted, mut notices) = (Vec::new(), Vec::new());
        let (head, final_block) = (leadership.head, leadership.final_block);
        for (nonce, found) in self.with_blocks(head, final_block, mined).await {
            notices.extend(self.notice_elsewhere(leadership, nonce, &found));
            reverted.extend(self.mined(leadership, nonce, found));
        }
        self.find_displaced(leadership, &asked, now);
        // A reorganisation, or the process before us did not get so far.
        if leadership.in_flight.take_back(progress.mined) || progress.mined < before {
            self.send_from(leadership, progress.mined).await;
        }
        if news {
            leadership.poll_soon(now);
        } else {
            leadership.poll_later(now);
        }
        if let Some(queue) = self.parts.outbox.queue()
            && !notices.is_empty()
        {
            queue.announce(self.parts.account, &notices).await;
        }
        for nonce in reverted {
            self.write_failure(leadership, nonce).await?;
        }
        if is_stuck(leadership, now) {
            self.replace_head(leadership).await?;
        }
        Ok(())
    }

    /// For a transaction in a block that no request of this process waits for.
    fn notice_elsewhere(
        &self,
        leadership: &Leadership,
        nonce: u64,
        found: &MinedTransaction,
    ) -> Option<MinedNotice> {
        let key = leadership.in_flight.get(nonce)?.row.key()?;
        let transaction = found.receipt.transaction;
        let notice = || MinedNotice { key, transaction, mined: Some(found.clone()) };
        (!self.waiters.contains_key(&key)).then(notice)
    }

    /// Looks up the blocks of receipts, so that the requests that wait need not. Most are in
    /// the head, which was read with them. Blocks up to `final_block` are known to stay.
    pub(super) async fn with_blocks<T>(
        &self,
        head: BlockHead,
        final_block: u64,
        mined: Vec<(T, TransactionReceipt)>,
    ) -> Vec<(T, MinedTransaction)> {
        let numbers = mined.iter().map(|(_, receipt)| receipt.block);
        let numbers: BTreeSet<u64> = numbers.filter(|number| *number != head.number).collect();
        let mut blocks = vec![Some(head)];
        if !numbers.is_empty() {
            let numbers: Vec<u64> = numbers.into_iter().collect();
            blocks.extend(self.parts.node.blocks(&numbers).await.unwrap_or_default());
        }
        let in_block = |receipt: &TransactionReceipt| {
            let same = |block: &&BlockHead| block.hash == receipt.block_hash;
            let block = blocks.iter().flatten().find(same)?;
            let stays = receipt.block <= final_block;
            let finality = if stays { Finality::Final } else { Finality::Provisional };
            Some((Timestamp(block.timestamp), finality))
        };
        let seen = |(of, receipt): (T, TransactionReceipt)| {
            let in_block = in_block(&receipt);
            (of, MinedTransaction { receipt, in_block })
        };
        mined.into_iter().map(seen).collect()
    }

    /// Records a receipt and answers the waiting requests. Returns the nonce if the transaction
    /// failed and the failure is not stored yet.
    fn mined(
        &mut self,
        leadership: &mut Leadership,
        nonce: u64,
        found: MinedTransaction,
    ) -> Option<u64> {
        let receipt = &found.receipt;
        let flight = leadership.in_flight.get_mut(nonce)?;
        flight.mined = Some(Box::new(receipt.clone()));
        flight.displaced = None;
        let failed = receipt.outcome == ReceiptStatus::Reverted && flight.row.reverted_at.is_none();
        if let Some(key) = flight.row.key() {
            // A payment that failed and waits for another nonce has not ended.
            if receipt.outcome == ReceiptStatus::Succeeded || !leadership.is_waiting(key) {
                self.answer(key, &SenderOutcome::Mined(Box::new(found)));
            }
        }
        failed.then_some(nonce)
    }

    async fn write_failure(
        &mut self,
        leadership: &mut Leadership,
        nonce: u64,
    ) -> Result<(), OutboxError> {
        let at = self.parts.clock.now();
        let Some(flight) = leadership.in_flight.get_mut(nonce) else { return Ok(()) };
        flight.row.reverted_at = Some(at);
        let transaction = flight.mined.as_ref().map(|receipt| display(receipt.transaction));
        let row = flight.row.clone();
        if let Some(request) = &row.request {
            *leadership.failed.entry(request.key).or_default() += row.transactions.len();
            if request.code == AccountCode::Present {
                leadership.failed_payers.insert(request.payer, at);
            }
        }
        tracing::warn!(
            network = self.parts.account.network.caip2(),
            transaction,
            "A settlement failed in a block and has cost gas"
        );
        self.parts.outbox.update(self.parts.account, leadership.epoch, &row).await
    }

    fn find_displaced(
        &mut self,
        leadership: &mut Leadership,
        asked: &[(u64, alloy_primitives::B256)],
        now: Duration,
    ) {
        for (nonce, _) in asked.iter().filter(|(nonce, _)| *nonce < leadership.mined) {
            let Some(flight) = leadership.in_flight.get_mut(*nonce) else { continue };
            if flight.mined.is_some() || flight.displaced.is_some() {
                continue;
            }
            let since = *flight.missing.get_or_insert(now);
            if now.saturating_sub(since) < DISPLACED {
                continue;
            }
            flight.displaced = Some(now);
            tracing::error!(
                network = self.parts.account.network.caip2(),
                count = *nonce,
                transaction = %flight.row.newest().hash,
                "A nonce of the settler's account was used by another program with its key"
            );
            if let Some(key) = flight.row.key() {
                self.answer_unknown(key, "its nonce was used by another transaction");
            }
        }
    }

    /// Signs the same call with the same nonce and a higher fee, or an empty transaction if the
    /// call could only fail. A new hash escapes a stuck state in the node, which sending the same
    /// bytes again does not.
    async fn replace_head(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let (now, nonce) = (self.now(), leadership.mined);
        let network = self.parts.account.network.caip2();
        leadership.terms = None;
        let own = self.parts.account.address;
        let (Some(GasTerms { gas_price, .. }), Ok(empty_gas)) =
            (self.terms(leadership).await, self.parts.node.empty_gas(own).await)
        else {
            return Ok(());
        };
        let head = leadership.head;
        let Some(flight) = leadership.in_flight.get_mut(nonce) else { return Ok(()) };
        let cap = self.parts.limits.fee_cap.saturating_mul(REPLACEMENT_CAP_TIMES);
        (flight.sent, flight.sent_head) = (now, head.number);
        let Some(fees) = gas_price.offer(cap, Some(flight.row.newest().fees)) else {
            let transaction = flight.row.newest().hash;
            tracing::warn!(
                network,
                count = nonce,
                %transaction,
                "A transaction is too expensive to replace"
            );
            self.send_from(leadership, nonce).await;
            return Ok(());
        };
        let mut row = flight.row.clone();
        let replaced = row.newest().hash;
        let live = row.request.as_ref().filter(|request| {
            request.deadline > head.timestamp && row.transactions.len() < SIGNED_MOST
        });
        let (gas, signed) = match live {
            Some(request) => (request.gas, self.sign(nonce, request, fees)),
            None => (empty_gas, self.sign_empty(nonce, empty_gas, fees)),
        };
        let replacement = signed.hash;
        row.transactions.push(signed);
        self.parts.outbox.update(self.parts.account, leadership.epoch, &row).await?;
        self.gas.spend(gas_price.now().saturating_mul(gas.into()), now);
        if let Some(flight) = leadership.in_flight.get_mut(nonce) {
            flight.row = row;
        }
        tracing::info!(
            network,
            count = nonce,
            transaction = %replaced,
            %replacement,
            "A transaction that no block took is replaced"
        );
        // The node may have lost those behind it as well.
        self.send_from(leadership, nonce).await;
        Ok(())
    }

    /// Drops what was signed for nonces that are used in blocks that stay.
    pub(super) async fn end_final(
        &mut self,
        leadership: &mut Leadership,
    ) -> Result<(), OutboxError> {
        let Ok(final_head) = self.parts.node.final_head().await else { return Ok(()) };
        leadership.final_block = final_head.number;
        let asked = leadership.in_flight.mined_up_to(final_head.number, FLIGHTS);
        let hashes: Vec<_> = asked.iter().map(|(_, hash)| *hash).collect();
        let progress = self.parts.node.progress(self.parts.account.address, &hashes).await;
        let Ok(progress) = progress else { return Ok(()) };
        let mut ended = leadership.in_flight.displaced_before(final_head.timestamp);
        let mut fees = 0_u128;
        for ((nonce, _), receipt) in asked.iter().zip(progress.receipts) {
            match receipt {
                Some(receipt) if receipt.block <= final_head.number => {
                    ended.push(*nonce);
                    fees = fees.saturating_add(receipt.fee_wei.unwrap_or_default());
                }
                // It is in another block now, or in none.
                Some(_) | None => {
                    if let Some(flight) = leadership.in_flight.get_mut(*nonce) {
                        flight.mined = None;
                    }
                    leadership.poll_soon(self.now());
                }
            }
        }
        if asked.len() == FLIGHTS {
            leadership.finality_due = Duration::ZERO;
        }
        if ended.is_empty() {
            return Ok(());
        }
        self.parts.outbox.end(self.parts.account, leadership.epoch, &ended).await?;
        measurements::count_gas(self.parts.account.network, fees);
        for nonce in ended {
            leadership.in_flight.remove(nonce);
        }
        Ok(())
    }
}

/// Whether the transaction that must go in next has waited too long for a block.
fn is_stuck(leadership: &Leadership, now: Duration) -> bool {
    let Some(head) = leadership.in_flight.get(leadership.mined) else { return false };
    if head.mined.is_some() {
        return false;
    }
    let waited = now.saturating_sub(head.sent.max(leadership.mined_changed));
    let blocks = leadership.head.number.saturating_sub(head.sent_head);
    let no_block = now.saturating_sub(leadership.head_changed) >= NO_BLOCK;
    (waited >= PASSED_OVER && blocks >= 2) || (waited >= NO_BLOCK && no_block)
}
