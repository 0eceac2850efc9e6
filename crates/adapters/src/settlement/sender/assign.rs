//! From a waiting settlement to a nonce: check, sign, commit to the outbox, send in order.

use std::ops::Range;
use std::time::Duration;

use order::model::payment::PaymentKey;

use super::in_flight::{InFlightRow, NodeAnswer};
use super::leader::{BATCH, Leadership, RequestOrigin, WaitingSettlement};
use super::{NotSentReason, RETRY, Sender, SenderOutcome};
use crate::rpc::{SendError, SendOutcome, TransactionRejection};
use crate::settlement::fees::{Fees, GasPrice, GasTerms};
use crate::settlement::limits::{TERMS_LIFE, WALLET_REFUSED_SECONDS};
use crate::settlement::outbox::{AccountCode, OutboxError, OutboxRow, SettlementRequest};
use crate::settlement::transaction::{SignedTransaction, Unsigned};

/// After so many signed transactions a payment gets no further nonce, and its nonce only empty
/// transactions. One that passes every simulation and fails in every block would cost gas until
/// it expires.
pub(super) const SIGNED_MOST: usize = 8;
/// An authorization must outlive the block after the next one.
const EXPIRY_MARGIN_SECONDS: u64 = 6;
/// The longest gap before the first open row that is filled.
const GAP_MOST: u64 = 64;

/// The decision about a waiting settlement.
enum AssignDecision {
    Sign,
    Wait,
    Refuse(NotSentReason),
}

impl Sender {
    /// Assigns the next nonces. Nothing is sent before its row is on disk.
    pub(super) async fn assign(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let Some(GasTerms { gas_price, balance }) = self.terms(leadership).await else {
            leadership.retry_due = self.now() + RETRY;
            return Ok(());
        };
        let offered = gas_price.offer(self.parts.limits.fee_cap, None);
        let (mut chosen, mut later) = (Vec::new(), Vec::new());
        for waiting in std::mem::take(&mut leadership.waiting) {
            let decision = match offered {
                None => AssignDecision::Refuse(NotSentReason::FeesTooHigh),
                Some(_) if chosen.len() >= BATCH => AssignDecision::Wait,
                Some(fees) => self.decide(leadership, &chosen, &waiting.request, (fees, balance)),
            };
            match decision {
                AssignDecision::Sign => chosen.push(waiting),
                AssignDecision::Wait => later.push(waiting),
                AssignDecision::Refuse(reason) => self.refuse(leadership, waiting, reason).await,
            }
        }
        let blocked = chosen.is_empty() && !later.is_empty();
        leadership.waiting.append(&mut later);
        if blocked {
            leadership.retry_due = self.now() + RETRY;
        }
        match offered {
            Some(fees) if !chosen.is_empty() => {
                self.commit(leadership, chosen, fees, gas_price).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Fees and balance, cached for a short time.
    pub(super) async fn terms(&mut self, leadership: &mut Leadership) -> Option<GasTerms> {
        let now = self.now();
        if let Some((then, terms)) = leadership.terms
            && now.saturating_sub(then) < TERMS_LIFE
        {
            return Some(terms);
        }
        let account = self.parts.account;
        // Those that requests have simulated with may be older than the payment.
        let terms = self.parts.node.terms(account.address).await.ok()?;
        let low = self.parts.limits.low_balance;
        self.gas.observe(account.network, account.address, terms.balance, low);
        leadership.terms = Some((now, terms));
        Some(terms)
    }

    fn decide(
        &mut self,
        leadership: &Leadership,
        chosen: &[WaitingSettlement],
        request: &SettlementRequest,
        (fees, balance): (Fees, u128),
    ) -> AssignDecision {
        let now = self.now();
        let passed = now.saturating_sub(leadership.head_changed).as_secs();
        let chain_time = leadership.head.timestamp.saturating_add(passed);
        if request.deadline < chain_time.saturating_add(EXPIRY_MARGIN_SECONDS) {
            return AssignDecision::Refuse(NotSentReason::Expiring);
        }
        if leadership.failed.get(&request.key).is_some_and(|signed| *signed >= SIGNED_MOST) {
            return AssignDecision::Refuse(NotSentReason::TooManyFailures);
        }
        if request.code == AccountCode::Present {
            let wall = self.parts.clock.now();
            let failed = leadership.failed_payers.get(&request.payer);
            if failed.is_some_and(|at| wall.0 < at.0.saturating_add(WALLET_REFUSED_SECONDS)) {
                return AssignDecision::Refuse(NotSentReason::WalletFailedLately);
            }
            let same = |waiting: &WaitingSettlement| waiting.request.payer == request.payer;
            if leadership.in_flight.is_in_flight(request.payer) || chosen.iter().any(same) {
                return AssignDecision::Wait;
            }
        }
        let gas = u128::from(request.gas);
        let together = chosen.iter().fold(gas, |sum, other| sum + u128::from(other.request.gas));
        if balance < fees.most.saturating_mul(together) {
            let alone = balance < fees.most.saturating_mul(gas);
            return if alone {
                AssignDecision::Refuse(NotSentReason::NoFunds)
            } else {
                AssignDecision::Wait
            };
        }
        if !self.gas.allows(fees.most.saturating_mul(together), now) {
            self.gas.tell_spent(self.parts.account.network, now);
            return AssignDecision::Refuse(NotSentReason::BudgetSpent);
        }
        AssignDecision::Sign
    }

    /// Answers a settlement that gets no nonce, after removing it from the queue.
    async fn refuse(
        &mut self,
        leadership: &mut Leadership,
        waiting: WaitingSettlement,
        reason: NotSentReason,
    ) {
        let key = waiting.request.key;
        if let Some(queue) = self.parts.outbox.queue()
            && queue.withdraw(key).await.is_err()
        {
            leadership.waiting.push(waiting);
            leadership.retry_due = self.now() + RETRY;
            return;
        }
        self.answer(key, &SenderOutcome::NotSent(reason));
    }

    async fn commit(
        &mut self,
        leadership: &mut Leadership,
        chosen: Vec<WaitingSettlement>,
        fees: Fees,
        gas_price: GasPrice,
    ) -> Result<(), OutboxError> {
        let signed_at = self.parts.clock.now();
        let first = leadership.next_nonce;
        let rows: Vec<OutboxRow> = (first..)
            .zip(&chosen)
            .map(|(nonce, waiting)| OutboxRow {
                nonce,
                transactions: vec![self.sign(nonce, &waiting.request, fees)],
                request: Some(waiting.request.clone()),
                signed_at,
                reverted_at: None,
            })
            .collect();
        let queued = chosen.iter().filter(|waiting| waiting.origin == RequestOrigin::Queue);
        let queued: Vec<PaymentKey> = queued.map(|waiting| waiting.request.key).collect();
        let (account, epoch) = (self.parts.account, leadership.epoch);
        // mutant: sent-before-commit, stale-sender
        if let Err(why) = self.parts.outbox.assign(account, epoch, &rows, &queued).await {
            // Those of the queue are read again from there.
            let local = chosen.into_iter().filter(|waiting| waiting.origin == RequestOrigin::Local);
            leadership.waiting.extend(local);
            leadership.queue_due = Duration::ZERO;
            return if why == OutboxError::Withdrawn { Ok(()) } else { Err(why) };
        }
        let now = self.now();
        for row in rows {
            let gas = row.request.as_ref().map_or(0, |request| request.gas);
            self.gas.spend(gas_price.now().saturating_mul(gas.into()), now);
            leadership.next_nonce = row.nonce + 1;
            leadership.in_flight.insert(InFlightRow::new(row, now, leadership.head.number));
        }
        // mutant: sent-out-of-order
        self.send_unanswered(leadership).await;
        Ok(())
    }

    pub(super) fn sign(
        &self,
        nonce: u64,
        request: &SettlementRequest,
        fees: Fees,
    ) -> SignedTransaction {
        let chain_id = self.parts.account.network.chain_id();
        let SettlementRequest { to, data, gas, .. } = request;
        let (to, gas, data) = (*to, *gas, data.as_slice());
        self.parts.signer.sign(&Unsigned { chain_id, nonce, fees, gas, to, data })
    }

    /// A transaction to ourselves that only uses up a nonce.
    pub(super) fn sign_empty(&self, nonce: u64, gas: u64, fees: Fees) -> SignedTransaction {
        let chain_id = self.parts.account.network.chain_id();
        let to = self.parts.account.address;
        self.parts.signer.sign(&Unsigned { chain_id, nonce, fees, gas, to, data: &[] })
    }

    /// Sends the newest transaction of this nonce and of all behind it, in order.
    pub(super) async fn send_from(&mut self, leadership: &mut Leadership, nonce: u64) {
        let nonces = leadership.in_flight.unbroken_from(nonce);
        self.send(leadership, &nonces).await;
    }

    /// Sends everything without an answer from the node, in order: a nonce is not sent while a
    /// lower one may not have been.
    pub(super) async fn send_unanswered(&mut self, leadership: &mut Leadership) {
        let nonces = leadership.in_flight.unanswered_from(leadership.mined);
        self.send(leadership, &nonces).await;
    }

    async fn send(&mut self, leadership: &mut Leadership, nonces: &[u64]) {
        for batch in nonces.chunks(BATCH) {
            let newest = |nonce: &u64| {
                leadership.in_flight.get(*nonce).map(|flight| flight.row.newest().raw.clone())
            };
            let raws: Vec<_> = batch.iter().filter_map(newest).collect();
            let answers = self.parts.node.send_all(&raws).await;
            for (nonce, answer) in batch.iter().zip(&answers) {
                if let Some(flight) = leadership.in_flight.get_mut(*nonce) {
                    flight.node_answer = node_answer(answer);
                }
            }
            if let Some(delay) = answers.iter().filter_map(retry_after).min() {
                let due = self.now() + delay;
                leadership.resend_due =
                    Some(leadership.resend_due.map_or(due, |known| known.min(due)));
                // Later nonces wait for those without an answer.
                if answers.iter().any(|answer| node_answer(answer) == NodeAnswer::Missing) {
                    break;
                }
            }
        }
        if !nonces.is_empty() {
            leadership.poll_soon(self.now());
        }
    }

    /// Fills the gap before the first open row with empty transactions. The chain has lost final
    /// blocks, as a development node does after a restart.
    pub(super) async fn fill(
        &mut self,
        leadership: &mut Leadership,
        gap: Range<u64>,
    ) -> Result<(), OutboxError> {
        let network = self.parts.account.network.caip2();
        if gap.end - gap.start > GAP_MOST {
            tracing::error!(network, "The chain has lost nonces of the settler's account");
            return Ok(());
        }
        let own = self.parts.account.address;
        let gas = self.parts.node.empty_gas(own).await;
        let (Ok(gas), Some(GasTerms { gas_price, .. })) = (gas, self.terms(leadership).await)
        else {
            return Ok(());
        };
        let Some(fees) = gas_price.offer(self.parts.limits.fee_cap, None) else { return Ok(()) };
        let signed_at = self.parts.clock.now();
        let rows: Vec<OutboxRow> = gap
            .map(|nonce| OutboxRow {
                nonce,
                request: None,
                transactions: vec![self.sign_empty(nonce, gas, fees)],
                signed_at,
                reverted_at: None,
            })
            .collect();
        self.parts.outbox.assign(self.parts.account, leadership.epoch, &rows, &[]).await?;
        for row in rows {
            leadership.in_flight.insert(InFlightRow::new(row, self.now(), leadership.head.number));
        }
        tracing::warn!(network, "Unused nonces of the settler's account are filled");
        Ok(())
    }
}

fn node_answer(answer: &Result<SendOutcome, SendError>) -> NodeAnswer {
    match answer {
        Ok(_) | Err(SendError::TransactionRejection(_)) => NodeAnswer::Received,
        Err(SendError::NotSent(_) | SendError::Lost(_)) => NodeAnswer::Missing,
    }
}

/// When the same bytes should be sent again, for an answer that leaves it open whether the
/// node has them.
fn retry_after(answer: &Result<SendOutcome, SendError>) -> Option<Duration> {
    match answer {
        Ok(_)
        | Err(SendError::TransactionRejection(
            TransactionRejection::NonceTooLow | TransactionRejection::Outbid,
        )) => None,
        Err(SendError::NotSent(_) | SendError::Lost(_)) => Some(RETRY),
        Err(SendError::TransactionRejection(
            TransactionRejection::Underpriced | TransactionRejection::NoFunds,
        )) => Some(8 * RETRY),
    }
}
