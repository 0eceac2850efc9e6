//! The follower: a process without the lease. It queues settlements for the leader and waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::B256;
use order::model::payment::PaymentKey;

use super::leader::FINALITY_PERIOD;
use super::{Command, NotSentReason, RoleEnd, Sender, SenderOutcome};
use crate::rpc::ReceiptStatus;
use crate::settlement::outbox::{
    MinedNotice, MinedTransaction, SentTransactions, SettlementRequest, Withdrawal,
};

/// How often the outbox is read for the settlements that this process waits for, if it is
/// not told of a change sooner.
const POLL: Duration = Duration::from_millis(250);
/// The shortest pause.
const PAUSE_LEAST: Duration = Duration::from_millis(1);
/// How often the lease is tried.
const LEASE_PERIOD: Duration = Duration::from_millis(500);

/// A settlement that is queued for the leader.
struct QueuedSettlement {
    request: SettlementRequest,
    queued: Queued,
    /// What was signed for it before it was handed over. Its failure is not the answer.
    earlier: Vec<B256>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Queued {
    Perhaps,
    Certainly,
}

/// The last block that is known to stay, and when it is asked for again.
#[derive(Default)]
struct SettledBlock {
    number: u64,
    due: Duration,
}

/// Why a follower has something to do.
enum WakeReason {
    /// A request came, or time has passed.
    ByCommand,
    /// The sender has seen transactions in blocks; none if notices of them were missed.
    ByBlocks(Option<Arc<[MinedNotice]>>),
    /// The command channel is closed.
    Closed,
}

impl QueuedSettlement {
    fn new(request: SettlementRequest) -> Self {
        Self { request, queued: Queued::Perhaps, earlier: Vec::new() }
    }
}

impl Sender {
    /// Follows until this process has the lease or nothing more can be asked. Returns the
    /// settlements that may not be in the queue.
    pub(super) async fn follow(
        &mut self,
        left: Vec<SettlementRequest>,
    ) -> (RoleEnd, Vec<SettlementRequest>) {
        let mut handed: BTreeMap<PaymentKey, QueuedSettlement> = BTreeMap::new();
        for request in left {
            handed.insert(request.key, QueuedSettlement::new(request));
        }
        let (mut lease_due, mut look_due) = (Duration::ZERO, Duration::ZERO);
        let mut settled = SettledBlock::default();
        loop {
            if lease_due <= self.now() {
                if let Ok(Some(epoch)) = self.parts.outbox.lease(self.parts.account).await {
                    return (RoleEnd::Leads(epoch), unqueued(handed));
                }
                lease_due = self.now() + LEASE_PERIOD;
            }
            self.hand_over(&mut handed).await;
            if look_due <= self.now() {
                self.look_for(&mut handed, &mut settled).await;
                look_due = self.now() + POLL;
            }
            let pause = look_due.saturating_sub(self.now());
            match self.gather_handed(&mut handed, pause).await {
                WakeReason::ByCommand => {}
                WakeReason::ByBlocks(Some(notices)) => {
                    let unread = self.take_mined(&mut handed, &notices);
                    self.look_up(&mut handed, &mut settled, unread).await;
                }
                WakeReason::ByBlocks(None) => look_due = Duration::ZERO,
                WakeReason::Closed => return (RoleEnd::Closed, Vec::new()),
            }
        }
    }

    async fn gather_handed(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        pause: Duration,
    ) -> WakeReason {
        let idle = self.waiters.is_empty();
        let mined = async {
            match &mut self.notices {
                Some(notices) => notices.mined().await,
                None => std::future::pending().await,
            }
        };
        let pause = if idle { LEASE_PERIOD } else { pause.max(PAUSE_LEAST) };
        let milliseconds = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let mut command = tokio::select! {
            biased;
            command = self.commands.recv() => match command {
                None => return WakeReason::Closed,
                command => command,
            },
            mined = mined => return WakeReason::ByBlocks(mined),
            _ = self.parts.clock.moment(milliseconds) => None,
        };
        while let Some(next) = command {
            match next {
                Command::Settle { request, answer } => {
                    let key = request.key;
                    self.wait_for(key, answer);
                    // Asked for again, it is queued again: the sender may have ended it.
                    let request = *request;
                    handed.insert(key, QueuedSettlement::new(request));
                }
                Command::Withdraw { key, answer } => {
                    let withdrawal = self.withdraw_handed(handed, key).await;
                    let _ = answer.send(withdrawal);
                }
            }
            command = self.commands.try_recv().ok();
        }
        WakeReason::ByCommand
    }

    async fn withdraw_handed(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        key: PaymentKey,
    ) -> Withdrawal {
        let Some(queue) = self.parts.outbox.queue() else { return Withdrawal::Unknown };
        // It is not to be queued after this, whatever the store says now.
        handed.remove(&key);
        queue.withdraw(key).await.unwrap_or(Withdrawal::Unknown)
    }

    async fn hand_over(&mut self, handed: &mut BTreeMap<PaymentKey, QueuedSettlement>) {
        let Some(queue) = self.parts.outbox.queue() else { return };
        let new = handed.values().filter(|one| one.queued == Queued::Perhaps);
        let requests: Vec<SettlementRequest> = new.map(|one| one.request.clone()).collect();
        if requests.is_empty() {
            return;
        }
        let keys: Vec<PaymentKey> = requests.iter().map(|request| request.key).collect();
        let Ok(earlier) = queue.enqueue(self.parts.account, &requests).await else { return };
        for key in keys {
            let Some(one) = handed.get_mut(&key) else { continue };
            one.earlier = hashes_of(key, &earlier).collect();
            one.queued = Queued::Certainly;
        }
    }

    /// Looks up the blocks of everything that requests here wait for. Some of it was not
    /// handed over: this process sent it while it had the lease.
    async fn look_for(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        settled: &mut SettledBlock,
    ) {
        self.waiters.retain(|_, waiters| waiters.iter().any(|waiter| !waiter.is_closed()));
        handed.retain(|key, _| self.waiters.contains_key(key));
        if self.waiters.is_empty() || self.parts.outbox.queue().is_none() {
            return;
        }
        let keys: Vec<PaymentKey> = self.waiters.keys().copied().collect();
        let Ok(sent) = self.parts.outbox.transactions(&keys).await else { return };
        self.find_refused(handed, &sent).await;
        let hashes: Vec<(PaymentKey, B256)> = sent
            .into_iter()
            .flat_map(|sent| sent.hashes.into_iter().map(move |hash| (sent.key, hash)))
            .collect();
        self.look_up(handed, settled, hashes).await;
    }

    /// Answers the requests whose transaction a notice shows in a block. Returns those
    /// transactions of which it only says that they are in one.
    fn take_mined(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        notices: &[MinedNotice],
    ) -> Vec<(PaymentKey, B256)> {
        let mut unread = Vec::new();
        for MinedNotice { key, transaction, mined } in notices {
            match mined {
                _ if !self.waiters.contains_key(key) => {}
                Some(mined) => self.answer_mined(handed, *key, mined.clone()),
                None => unread.push((*key, *transaction)),
            }
        }
        unread
    }

    fn answer_mined(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        key: PaymentKey,
        found: MinedTransaction,
    ) {
        let receipt = &found.receipt;
        let is_earlier = |one: &QueuedSettlement| one.earlier.contains(&receipt.transaction);
        let failed = receipt.outcome == ReceiptStatus::Reverted;
        if failed && handed.get(&key).is_some_and(is_earlier) {
            return;
        }
        handed.remove(&key);
        self.answer(key, &SenderOutcome::Mined(Box::new(found)));
    }

    /// Looks up the blocks of some transactions.
    async fn look_up(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        settled: &mut SettledBlock,
        mut hashes: Vec<(PaymentKey, B256)>,
    ) {
        hashes.retain(|(key, _)| self.waiters.contains_key(key));
        if hashes.is_empty() {
            return;
        }
        // Read before the receipts: what is at or below it then was so before.
        let settled = self.settled(settled).await;
        let asked: Vec<B256> = hashes.iter().map(|(_, hash)| *hash).collect();
        let progress = self.parts.node.progress(self.parts.account.address, &asked).await;
        let Ok(progress) = progress else { return };
        let mined = hashes.into_iter().zip(progress.receipts);
        let mined = mined.filter_map(|((key, _), receipt)| Some((key, receipt?))).collect();
        for (key, found) in self.with_blocks(progress.head, settled, mined).await {
            self.answer_mined(handed, key, found);
        }
    }

    /// The last block that is known to stay. An older one does no harm.
    async fn settled(&self, known: &mut SettledBlock) -> u64 {
        let now = self.now();
        if known.due <= now
            && let Ok(head) = self.parts.node.final_head().await
        {
            *known = SettledBlock { number: head.number, due: now + FINALITY_PERIOD };
        }
        known.number
    }

    /// Settlements that the sender took out of the queue without a nonce. A settlement
    /// leaves the queue in the commit that gives it a row, so one that is not in the queue
    /// now and has no row afterwards gets none.
    async fn find_refused(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, QueuedSettlement>,
        sent: &[SentTransactions],
    ) {
        let Some(queue) = self.parts.outbox.queue() else { return };
        // An earlier transaction may be the reason why the leader removed it.
        let queued =
            |one: &&QueuedSettlement| one.queued == Queued::Certainly && one.earlier.is_empty();
        let keys = handed.values().filter(queued).map(|one| one.request.key);
        let unsent: Vec<PaymentKey> = keys.filter(|key| is_unsent(*key, sent)).collect();
        if unsent.is_empty() {
            return;
        }
        let Ok(waiting) = queue.waiting(&unsent).await else { return };
        let gone: Vec<PaymentKey> =
            unsent.into_iter().filter(|key| !waiting.contains(key)).collect();
        if gone.is_empty() {
            return;
        }
        let Ok(sent) = self.parts.outbox.transactions(&gone).await else { return };
        for key in gone.into_iter().filter(|key| is_unsent(*key, &sent)) {
            handed.remove(&key);
            self.answer(key, &SenderOutcome::NotSent(NotSentReason::RefusedBySender));
        }
    }
}

fn hashes_of(key: PaymentKey, sent: &[SentTransactions]) -> impl Iterator<Item = B256> {
    sent.iter().filter(move |sent| sent.key == key).flat_map(|sent| sent.hashes.iter().copied())
}

fn is_unsent(key: PaymentKey, sent: &[SentTransactions]) -> bool {
    hashes_of(key, sent).next().is_none()
}

/// What is certainly in the queue is read from there.
fn unqueued(handed: BTreeMap<PaymentKey, QueuedSettlement>) -> Vec<SettlementRequest> {
    let perhaps = handed.into_values().filter(|one| one.queued == Queued::Perhaps);
    perhaps.map(|one| one.request).collect()
}
