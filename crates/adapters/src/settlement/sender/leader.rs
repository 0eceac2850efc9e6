//! The leader: one round of the process with the lease, and when the next round is due.

use std::collections::HashMap;
use std::time::Duration;

use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;

use super::in_flight::{InFlightRow, InFlightRows};
use super::{Command, RETRY, RoleEnd, Sender, SenderOutcome};
use crate::rpc::BlockHead;
use crate::settlement::fees::GasTerms;
use crate::settlement::outbox::{
    Epoch, OutboxError, SettlementQueue, SettlementRequest, Withdrawal,
};

/// How many settlements are assigned in one commit and sent in one batch.
pub(super) const BATCH: usize = 64;
/// The delay of the first poll after sending; each poll without news doubles it.
const FIRST_POLL: Duration = Duration::from_millis(2);
/// Blocks come every quarter of a second at most on the networks we serve.
const LAST_POLL: Duration = Duration::from_millis(250);
/// How often blocks that stay are looked for.
pub(super) const FINALITY_PERIOD: Duration = Duration::from_secs(5);
/// How often the queue is read without being told to.
const QUEUE_PERIOD: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(60 * 60);
/// Failures count against a payment for as long as an authorization may live.
const FAILURES_SECONDS: u64 = 24 * 60 * 60;

/// A settlement that has no nonce yet.
pub(super) struct WaitingSettlement {
    pub(super) request: SettlementRequest,
    pub(super) origin: RequestOrigin,
}

/// Where a waiting settlement is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    /// In the memory of this process only.
    Local,
    /// In the queue of the store.
    Queue,
}

/// How far the leader has caught up with outbox and chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The outbox must be read first: nothing is known of earlier rows.
    Unread,
    /// The rows are known, the chain's transaction count is not.
    Read,
    CaughtUp,
}

pub(super) struct Leadership {
    pub(super) epoch: Epoch,
    pub(super) readiness: Readiness,
    pub(super) in_flight: InFlightRows,
    pub(super) waiting: Vec<WaitingSettlement>,
    pub(super) next_nonce: u64,
    /// How many transactions of the account are in blocks, and since when.
    pub(super) mined: u64,
    pub(super) mined_changed: Duration,
    pub(super) head: BlockHead,
    pub(super) head_changed: Duration,
    pub(super) terms: Option<(Duration, GasTerms)>,
    /// The last block that is known to stay.
    pub(super) final_block: u64,
    /// Transactions signed for payments that failed in a block.
    pub(super) failed: HashMap<PaymentKey, usize>,
    /// When a payment of an account last failed in a block.
    pub(super) failed_payers: HashMap<EvmAddress, Timestamp>,
    pub(super) retry_due: Duration,
    pub(super) poll_due: Duration,
    pub(super) poll_delay: Duration,
    pub(super) resend_due: Option<Duration>,
    pub(super) finality_due: Duration,
    pub(super) queue_due: Duration,
}

impl Leadership {
    pub(super) fn new(epoch: Epoch, waiting: Vec<WaitingSettlement>) -> Self {
        let hash = alloy_primitives::B256::ZERO;
        Self {
            epoch,
            readiness: Readiness::Unread,
            in_flight: InFlightRows::default(),
            waiting,
            next_nonce: 0,
            mined: 0,
            mined_changed: Duration::ZERO,
            head: BlockHead { number: 0, hash, parent: hash, timestamp: 0 },
            head_changed: Duration::ZERO,
            terms: None,
            final_block: 0,
            failed: HashMap::new(),
            failed_payers: HashMap::new(),
            retry_due: Duration::ZERO,
            poll_due: Duration::ZERO,
            poll_delay: FIRST_POLL,
            resend_due: None,
            finality_due: Duration::ZERO,
            queue_due: Duration::ZERO,
        }
    }

    pub(super) fn see(&mut self, head: BlockHead, mined: u64, now: Duration) {
        if head.number != self.head.number {
            self.head_changed = now;
        }
        if mined != self.mined {
            self.mined_changed = now;
        }
        (self.head, self.mined) = (head, mined);
    }

    /// Something was sent or mined: polls soon.
    pub(super) fn poll_soon(&mut self, now: Duration) {
        self.poll_delay = FIRST_POLL;
        self.poll_due = now + FIRST_POLL;
    }

    pub(super) fn poll_later(&mut self, now: Duration) {
        self.poll_delay = (self.poll_delay * 2).min(LAST_POLL);
        self.poll_due = now + self.poll_delay;
    }

    /// The time until the next action.
    fn idle(&self, now: Duration, queue_due: Option<Duration>) -> Duration {
        // Until it has caught up nothing else is done.
        if self.readiness != Readiness::CaughtUp {
            return self.retry_due.saturating_sub(now);
        }
        let mut next = now + IDLE;
        if !self.waiting.is_empty() {
            next = next.min(self.retry_due);
        }
        if self.in_flight.has_unmined() {
            next = next.min(self.poll_due);
        }
        if let Some(resend) = self.resend_due {
            next = next.min(resend);
        }
        if !self.in_flight.is_empty() {
            next = next.min(self.finality_due);
        }
        if let Some(queue) = queue_due {
            next = next.min(queue);
        }
        next.saturating_sub(now)
    }

    pub(super) fn is_waiting(&self, key: PaymentKey) -> bool {
        self.waiting.iter().any(|waiting| waiting.request.key == key)
    }
}

impl Sender {
    /// Sends for the account until the lease is lost or nothing more can be asked.
    pub(super) async fn lead(
        &mut self,
        epoch: Epoch,
        left: Vec<SettlementRequest>,
    ) -> (RoleEnd, Vec<SettlementRequest>) {
        let local = |request| WaitingSettlement { request, origin: RequestOrigin::Local };
        let mut leadership = Leadership::new(epoch, left.into_iter().map(local).collect());
        loop {
            if !self.gather(&mut leadership).await {
                return (RoleEnd::Closed, Vec::new());
            }
            match self.round(&mut leadership).await {
                Ok(()) => {}
                Err(OutboxError::LeaseLost) => {
                    let local = leadership.waiting.into_iter();
                    let local = local.filter(|waiting| waiting.origin == RequestOrigin::Local);
                    let left = local.map(|waiting| waiting.request).collect();
                    return (RoleEnd::LeaseLost, left);
                }
                // What was written is not known: the outbox tells.
                Err(OutboxError::Lost | OutboxError::Withdrawn) => {
                    // mutant: assumed-unwritten
                    leadership.readiness = Readiness::Unread;
                    leadership.retry_due = self.now() + RETRY;
                }
            }
        }
    }

    /// Waits until there is something to do, and takes every command that has come.
    /// Returns false when no more can come.
    async fn gather(&mut self, leadership: &mut Leadership) -> bool {
        let queue_due = self.notices.is_some().then_some(leadership.queue_due);
        let idle = leadership.idle(self.now(), queue_due);
        let queued = async {
            match &mut self.notices {
                Some(notices) => notices.queued().await,
                None => std::future::pending().await,
            }
        };
        let milliseconds = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
        let mut command = tokio::select! {
            biased;
            command = self.commands.recv() => match command {
                None => return false,
                command => command,
            },
            () = queued => {
                leadership.queue_due = Duration::ZERO;
                None
            }
            _ = self.parts.clock.moment(milliseconds), if !idle.is_zero() => None,
            () = std::future::ready(()), if idle.is_zero() => None,
        };
        while let Some(next) = command {
            self.handle(leadership, next).await;
            command = self.commands.try_recv().ok();
        }
        true
    }

    async fn handle(&mut self, leadership: &mut Leadership, command: Command) {
        match command {
            Command::Settle { request, answer } => {
                self.wait_for(request.key, answer);
                let now = self.now();
                admit(
                    leadership,
                    WaitingSettlement { request: *request, origin: RequestOrigin::Local },
                    now,
                );
            }
            Command::Withdraw { key, answer } => {
                let withdrawal = self.withdraw(leadership, key).await;
                let _ = answer.send(withdrawal);
            }
        }
    }

    /// Only what has no row in the outbox can be taken back, so the rows must be known.
    async fn withdraw(&mut self, leadership: &mut Leadership, key: PaymentKey) -> Withdrawal {
        let place = leadership.waiting.iter().position(|waiting| waiting.request.key == key);
        if leadership.readiness == Readiness::Unread {
            return Withdrawal::Unknown;
        }
        // mutant: withdrawn-after-signing
        let Some(place) = place else { return Withdrawal::NotQueued };
        // It may be in the queue too, if this process followed when it was asked for.
        let queue = self.parts.outbox.queue();
        let unqueued = match queue {
            Some(queue) => queue.withdraw(key).await.unwrap_or(Withdrawal::Unknown),
            None => Withdrawal::NotQueued,
        };
        let withdrawal = match (leadership.waiting[place].origin, unqueued) {
            (RequestOrigin::Local, Withdrawal::Withdrawn | Withdrawal::NotQueued) => {
                Withdrawal::Withdrawn
            }
            (RequestOrigin::Queue, unqueued)
            | (RequestOrigin::Local, unqueued @ Withdrawal::Unknown) => unqueued,
        };
        if withdrawal == Withdrawal::Withdrawn {
            leadership.waiting.remove(place);
        }
        withdrawal
    }

    async fn round(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let now = self.now();
        if leadership.readiness == Readiness::Unread {
            if now < leadership.retry_due {
                return Ok(());
            }
            self.read_outbox(leadership).await?;
        }
        if leadership.readiness == Readiness::Read {
            if now < leadership.retry_due {
                return Ok(());
            }
            self.catch_up(leadership).await?;
        }
        if leadership.readiness != Readiness::CaughtUp {
            return Ok(());
        }
        if let Some(queue) = self.parts.outbox.queue()
            && leadership.queue_due <= now
        {
            read_queue(queue, self.parts.account, leadership, now).await?;
        }
        if !leadership.waiting.is_empty() && leadership.retry_due <= now {
            self.assign(leadership).await?;
        }
        if leadership.resend_due.is_some_and(|resend| resend <= now) {
            leadership.resend_due = None;
            self.send_from(leadership, leadership.mined).await;
        }
        if leadership.in_flight.has_unmined() && leadership.poll_due <= self.now() {
            self.poll(leadership).await?;
        }
        if !leadership.in_flight.is_empty() && leadership.finality_due <= self.now() {
            leadership.finality_due = self.now() + FINALITY_PERIOD;
            self.end_final(leadership).await?;
        }
        Ok(())
    }

    /// What earlier senders of this account have signed and may have sent.
    async fn read_outbox(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let (account, now) = (self.parts.account, self.now());
        let rows = self.parts.outbox.open_rows(account).await?;
        let today = self.parts.clock.now().0.saturating_sub(FAILURES_SECONDS);
        let failures = self.parts.outbox.failures(account, Timestamp(today)).await?;
        leadership.in_flight = InFlightRows::default();
        for row in rows {
            leadership.in_flight.insert(InFlightRow::new(row, now, leadership.head.number));
        }
        leadership.failed.clear();
        for failure in failures {
            *leadership.failed.entry(failure.key).or_default() += failure.signed;
            let latest = leadership.failed_payers.entry(failure.payer).or_insert(failure.at);
            *latest = (*latest).max(failure.at);
        }
        // What has a row by now only waits for its block.
        for waiting in std::mem::take(&mut leadership.waiting) {
            admit(leadership, waiting, now);
        }
        leadership.readiness = Readiness::Read;
        Ok(())
    }

    /// Sends again, in order, everything that the chain has not counted yet.
    async fn catch_up(&mut self, leadership: &mut Leadership) -> Result<(), OutboxError> {
        let now = self.now();
        let node = &self.parts.node;
        let Ok(progress) = node.progress(self.parts.account.address, &[]).await else {
            leadership.retry_due = now + RETRY;
            return Ok(());
        };
        leadership.see(progress.head, progress.mined, now);
        let after_last = leadership.in_flight.last_nonce().map_or(0, |nonce| nonce + 1);
        leadership.next_nonce = progress.mined.max(after_last);
        if let Some(first) = leadership.in_flight.first_nonce()
            && progress.mined < first
        {
            self.fill(leadership, progress.mined..first).await?;
        }
        leadership.readiness = Readiness::CaughtUp;
        leadership.retry_due = Duration::ZERO;
        self.send_from(leadership, progress.mined).await;
        leadership.poll_soon(self.now());
        Ok(())
    }

    pub(super) fn answer_unknown(&mut self, key: PaymentKey, why: &'static str) {
        self.answer(key, &SenderOutcome::Unknown(why));
    }
}

/// Queues a settlement, unless a transaction for it is already pending.
fn admit(leadership: &mut Leadership, waiting: WaitingSettlement, now: Duration) {
    let key = waiting.request.key;
    if let Some(flight) = leadership.in_flight.of_payment(key)
        && flight.displaced.is_none()
        // mutant: new-nonce-after-takeover
        && !flight.has_failed()
    {
        // It is requested again, so its receipt is read again.
        flight.mined = None;
        leadership.poll_soon(now);
        return;
    }
    match leadership.waiting.iter_mut().find(|known| known.request.key == key) {
        Some(known) if waiting.origin == RequestOrigin::Queue => {
            known.origin = RequestOrigin::Queue
        }
        Some(_) => {}
        None => leadership.waiting.push(waiting),
    }
}

async fn read_queue(
    queue: &dyn SettlementQueue,
    account: crate::settlement::outbox::SenderAccount,
    leadership: &mut Leadership,
    now: Duration,
) -> Result<(), OutboxError> {
    let queued = queue.queued(account, BATCH).await?;
    leadership.queue_due = if queued.len() < BATCH { now + QUEUE_PERIOD } else { now };
    for request in queued {
        let key = request.key;
        admit(leadership, WaitingSettlement { request, origin: RequestOrigin::Queue }, now);
        // It has a transaction already, so the queue has nothing to say about it.
        if !leadership.is_waiting(key) {
            queue.withdraw(key).await?;
        }
    }
    Ok(())
}
