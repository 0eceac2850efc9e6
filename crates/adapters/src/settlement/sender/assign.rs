//! From a waiting settlement to a nonce: check, sign, commit to the outbox, send in order.

use std::ops::Range;
use std::time::Duration;

use order::model::payment::PaymentKey;

use super::flights::{Flight, NodeHas};
use super::leader::{BATCH, Leadership, Origin, Waiting};
use super::{NotSentReason, RETRY, Sender, SenderOutcome};
use crate::rpc::{NotSent, Objected, Sent};
use crate::settlement::fees::{Fees, GasTerms, Quote};
use crate::settlement::outbox::{AccountCode, OutboxError, OutboxRow, SettlementRequest};
use crate::settlement::transaction::{SignedTransaction, Unsigned};

/// How many transactions are ever signed for one payment. What passes every simulation and
/// fails in every block would cost us gas until it expires.
pub(super) const SIGNED_MOST: usize = 8;
/// An authorization must outlive the block after the next one.
const EXPIRY_MARGIN_SECONDS: u64 = 6;
/// How long fees and balance are used before they are asked for again.
pub(in crate::settlement) const TERMS_LIFE: Duration = Duration::from_millis(200);
/// A payer's account with code that failed in a block is not tried again for so long.
pub(in crate::settlement) const WALLET_REFUSED_SECONDS: u64 = 60 * 60;
/// The longest gap before the first open row that is filled.
const GAP_MOST: u64 = 64;

/// What may be done with a waiting settlement now.
enum Verdict {
    Sign,
    Wait,
    Refuse(NotSentReason),
}

impl Sender {
    /// Gives the next nonces to what waits. Nothing is sent before its row is on disk.
    pub(super) async fn assign(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let Some(GasTerms { quote, balance }) = self.terms(leadership).await else {
            leadership.retry = self.now() + RETRY;
            return Ok(());
        };
        let offered = quote.offer(self.parts.limits.fee_cap, None);
        let (mut chosen, mut later) = (Vec::new(), Vec::new());
        for waiting in std::mem::take(&mut leadership.waiting) {
            let verdict = match offered {
                None => Verdict::Refuse(NotSentReason::FeesTooHigh),
                Some(_) if chosen.len() >= BATCH => Verdict::Wait,
                Some(fees) => self.judge(leadership, &chosen, &waiting.request, (fees, balance)),
            };
            match verdict {
                Verdict::Sign => chosen.push(waiting),
                Verdict::Wait => later.push(waiting),
                Verdict::Refuse(reason) => self.refuse(leadership, waiting, reason).await,
            }
        }
        let blocked = chosen.is_empty() && !later.is_empty();
        leadership.waiting.append(&mut later);
        if blocked {
            leadership.retry = self.now() + RETRY;
        }
        match offered {
            Some(fees) if !chosen.is_empty() => self.commit(leadership, chosen, fees, quote).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Fees and balance, from memory if they are fresh.
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

    fn judge(
        &mut self,
        leadership: &Leadership,
        chosen: &[Waiting],
        request: &SettlementRequest,
        (fees, balance): (Fees, u128),
    ) -> Verdict {
        let now = self.now();
        let passed = now.saturating_sub(leadership.head_changed).as_secs();
        let chain_time = leadership.head.timestamp.saturating_add(passed);
        if request.deadline < chain_time.saturating_add(EXPIRY_MARGIN_SECONDS) {
            return Verdict::Refuse(NotSentReason::Expiring);
        }
        if leadership.failed.get(&request.key).is_some_and(|signed| *signed >= SIGNED_MOST) {
            return Verdict::Refuse(NotSentReason::TooManyFailures);
        }
        if request.code == AccountCode::Present {
            let wall = self.parts.clock.now();
            let failed = leadership.failed_payers.get(&request.payer);
            if failed.is_some_and(|at| wall.0 < at.0.saturating_add(WALLET_REFUSED_SECONDS)) {
                return Verdict::Refuse(NotSentReason::WalletBusy);
            }
            let same = |waiting: &Waiting| waiting.request.payer == request.payer;
            if leadership.flights.is_in_flight(request.payer) || chosen.iter().any(same) {
                return Verdict::Wait;
            }
        }
        let gas = u128::from(request.gas);
        let together = chosen.iter().fold(gas, |sum, other| sum + u128::from(other.request.gas));
        if balance < fees.most.saturating_mul(together) {
            let alone = balance < fees.most.saturating_mul(gas);
            return if alone { Verdict::Refuse(NotSentReason::NoFunds) } else { Verdict::Wait };
        }
        if !self.gas.allows(fees.most.saturating_mul(together), now) {
            self.gas.tell_spent(self.parts.account.network, now);
            return Verdict::Refuse(NotSentReason::BudgetSpent);
        }
        Verdict::Sign
    }

    /// What has no nonce is told so; out of the queue it is taken first.
    async fn refuse(
        &mut self,
        leadership: &mut Leadership,
        waiting: Waiting,
        reason: NotSentReason,
    ) {
        let key = waiting.request.key;
        if let Some(queue) = self.parts.outbox.queue()
            && queue.withdraw(key).await.is_err()
        {
            leadership.waiting.push(waiting);
            leadership.retry = self.now() + RETRY;
            return;
        }
        self.answer(key, &SenderOutcome::NotSent(reason));
    }

    async fn commit(
        &mut self,
        leadership: &mut Leadership,
        chosen: Vec<Waiting>,
        fees: Fees,
        quote: Quote,
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
        let queued = chosen.iter().filter(|waiting| waiting.origin == Origin::Queue);
        let queued: Vec<PaymentKey> = queued.map(|waiting| waiting.request.key).collect();
        let (account, epoch) = (self.parts.account, leadership.epoch);
        if let Err(why) = self.parts.outbox.assign(account, epoch, &rows, &queued).await {
            // Those of the queue are read again from there.
            let local = chosen.into_iter().filter(|waiting| waiting.origin == Origin::Local);
            leadership.waiting.extend(local);
            leadership.queue = Duration::ZERO;
            return if why == OutboxError::Withdrawn { Ok(()) } else { Err(why) };
        }
        let now = self.now();
        for row in rows {
            let gas = row.request.as_ref().map_or(0, |request| request.gas);
            self.gas.spend(quote.now().saturating_mul(gas.into()), now);
            leadership.next_nonce = row.nonce + 1;
            leadership.flights.insert(Flight::new(row, now, leadership.head.number));
        }
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
        let nonces = leadership.flights.unbroken_from(nonce);
        self.send(leadership, &nonces).await;
    }

    /// Sends everything that no node has answered for, in order: a nonce is not sent while
    /// one below it may not have been.
    pub(super) async fn send_unanswered(&mut self, leadership: &mut Leadership) {
        let nonces = leadership.flights.unanswered_from(leadership.mined);
        self.send(leadership, &nonces).await;
    }

    async fn send(&mut self, leadership: &mut Leadership, nonces: &[u64]) {
        for batch in nonces.chunks(BATCH) {
            let newest = |nonce: &u64| {
                leadership.flights.get(*nonce).map(|flight| flight.row.newest().raw.clone())
            };
            let raws: Vec<_> = batch.iter().filter_map(newest).collect();
            let answers = self.parts.node.send_all(&raws).await;
            for (nonce, answer) in batch.iter().zip(&answers) {
                if let Some(flight) = leadership.flights.get_mut(*nonce) {
                    flight.node = node_has(answer);
                }
            }
            if let Some(delay) = answers.iter().filter_map(retry_after).min() {
                let due = self.now() + delay;
                leadership.resend = Some(leadership.resend.map_or(due, |known| known.min(due)));
                // What comes after waits for what was not heard.
                if answers.iter().any(|answer| node_has(answer) == NodeHas::Perhaps) {
                    break;
                }
            }
        }
        if !nonces.is_empty() {
            leadership.poll_soon(self.now());
        }
    }

    /// Uses up the nonces before the first open row, which the chain wants first: it has
    /// forgotten blocks that were final, as a development node does when it starts anew.
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
        let (Ok(gas), Some(GasTerms { quote, .. })) = (gas, self.terms(leadership).await) else {
            return Ok(());
        };
        let Some(fees) = quote.offer(self.parts.limits.fee_cap, None) else { return Ok(()) };
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
            leadership.flights.insert(Flight::new(row, self.now(), leadership.head.number));
        }
        tracing::warn!(network, "Unused nonces of the settler's account are filled");
        Ok(())
    }
}

fn node_has(answer: &Result<Sent, NotSent>) -> NodeHas {
    match answer {
        Ok(_) | Err(NotSent::Objected(_)) => NodeHas::Answered,
        Err(NotSent::Unheard(_) | NotSent::Lost(_)) => NodeHas::Perhaps,
    }
}

/// When the same bytes should be sent again, for an answer that leaves it open whether the
/// node has them.
fn retry_after(answer: &Result<Sent, NotSent>) -> Option<Duration> {
    match answer {
        Ok(_) | Err(NotSent::Objected(Objected::NonceTooLow | Objected::Outbid)) => None,
        Err(NotSent::Unheard(_) | NotSent::Lost(_)) => Some(RETRY),
        Err(NotSent::Objected(Objected::Underpriced | Objected::NoFunds)) => Some(8 * RETRY),
    }
}
