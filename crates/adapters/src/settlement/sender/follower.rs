//! A process that does not send: it hands settlements to the one that does, and waits.

use std::collections::BTreeMap;
use std::time::Duration;

use alloy_primitives::B256;
use order::payment::PaymentKey;

use super::{Command, MinedTransaction, NotSentReason, RoleEnd, Sender, SenderOutcome};
use crate::rpc::Outcome;
use crate::settlement::outbox::{SettlementRequest, Withdrawal};

/// How often the outbox is read for the settlements that this process waits for, if it is
/// not told of a change sooner.
const POLL: Duration = Duration::from_millis(100);
/// How often the lease is tried.
const LEASE_PERIOD: Duration = Duration::from_millis(500);

/// A settlement that another process should send.
struct Handed {
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

impl Handed {
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
        let mut handed: BTreeMap<PaymentKey, Handed> = BTreeMap::new();
        for request in left {
            handed.insert(request.key, Handed::new(request));
        }
        let mut lease_due = Duration::ZERO;
        loop {
            if lease_due <= self.now() {
                if let Ok(Some(epoch)) = self.parts.outbox.lease(self.parts.account).await {
                    return (RoleEnd::Leads(epoch), unqueued(handed));
                }
                lease_due = self.now() + LEASE_PERIOD;
            }
            self.hand_over(&mut handed).await;
            self.find_refused(&mut handed).await;
            self.look_for(&mut handed).await;
            if !self.gather_handed(&mut handed).await {
                return (RoleEnd::Closed, Vec::new());
            }
        }
    }

    async fn gather_handed(&mut self, handed: &mut BTreeMap<PaymentKey, Handed>) -> bool {
        let queue = self.parts.outbox.queue();
        let idle = self.waiters.is_empty();
        let changed = async {
            match queue {
                Some(queue) if !idle => queue.changed().await,
                Some(_) | None => std::future::pending().await,
            }
        };
        let pause = if idle { LEASE_PERIOD } else { POLL };
        let milliseconds = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let mut command = tokio::select! {
            biased;
            command = self.commands.recv() => match command {
                None => return false,
                command => command,
            },
            () = changed => None,
            _ = self.parts.clock.moment(milliseconds) => None,
        };
        while let Some(next) = command {
            match next {
                Command::Settle { request, answer } => {
                    let key = request.key;
                    self.wait_for(key, answer);
                    // Asked for again, it is queued again: the sender may have ended it.
                    let request = *request;
                    handed.insert(key, Handed::new(request));
                }
                Command::Withdraw { key, answer } => {
                    let withdrawal = self.withdraw_handed(handed, key).await;
                    let _ = answer.send(withdrawal);
                }
            }
            command = self.commands.try_recv().ok();
        }
        true
    }

    async fn withdraw_handed(
        &mut self,
        handed: &mut BTreeMap<PaymentKey, Handed>,
        key: PaymentKey,
    ) -> Withdrawal {
        let Some(queue) = self.parts.outbox.queue() else { return Withdrawal::Unknown };
        // It is not to be queued after this, whatever the store says now.
        handed.remove(&key);
        queue.withdraw(key).await.unwrap_or(Withdrawal::Unknown)
    }

    async fn hand_over(&mut self, handed: &mut BTreeMap<PaymentKey, Handed>) {
        let Some(queue) = self.parts.outbox.queue() else { return };
        let account = self.parts.account;
        for one in handed.values_mut().filter(|one| one.queued == Queued::Perhaps) {
            let Ok(earlier) = self.parts.outbox.transactions(&[one.request.key]).await else {
                return;
            };
            one.earlier = earlier.into_iter().flat_map(|sent| sent.hashes).collect();
            if queue.enqueue(account, &one.request).await.is_err() {
                return;
            }
            one.queued = Queued::Certainly;
        }
    }

    /// Settlements that the sender took out of the queue without a nonce. A settlement
    /// leaves the queue in the commit that gives it a row, so one that is not in the queue
    /// now and has no new row afterwards gets none.
    async fn find_refused(&mut self, handed: &mut BTreeMap<PaymentKey, Handed>) {
        let Some(queue) = self.parts.outbox.queue() else { return };
        let queued = handed.values().filter(|one| one.queued == Queued::Certainly);
        let keys: Vec<PaymentKey> = queued.map(|one| one.request.key).collect();
        if keys.is_empty() {
            return;
        }
        let Ok(waiting) = queue.waiting(&keys).await else { return };
        let Ok(sent) = self.parts.outbox.transactions(&keys).await else { return };
        for key in keys.into_iter().filter(|key| !waiting.contains(key)) {
            let Some(one) = handed.get(&key) else { continue };
            let hashes = sent.iter().filter(|sent| sent.key == key).flat_map(|sent| &sent.hashes);
            let mut hashes = hashes.peekable();
            // A transaction that was sent before may be what the sender found on its way.
            if hashes.peek().is_none() && one.earlier.is_empty() {
                handed.remove(&key);
                self.answer(key, &SenderOutcome::NotSent(NotSentReason::RefusedBySender));
            }
        }
    }

    /// Looks up the blocks of everything that requests here wait for. Some of it was not
    /// handed over: this process sent it while it had the lease.
    async fn look_for(&mut self, handed: &mut BTreeMap<PaymentKey, Handed>) {
        self.waiters.retain(|_, waiters| waiters.iter().any(|waiter| !waiter.is_closed()));
        handed.retain(|key, _| self.waiters.contains_key(key));
        if self.waiters.is_empty() || self.parts.outbox.queue().is_none() {
            return;
        }
        let keys: Vec<PaymentKey> = self.waiters.keys().copied().collect();
        let Ok(sent) = self.parts.outbox.transactions(&keys).await else { return };
        let hashes: Vec<(PaymentKey, B256)> = sent
            .into_iter()
            .flat_map(|sent| sent.hashes.into_iter().map(move |hash| (sent.key, hash)))
            .collect();
        if hashes.is_empty() {
            return;
        }
        let asked: Vec<B256> = hashes.iter().map(|(_, hash)| *hash).collect();
        let progress = self.parts.node.progress(self.parts.account.address, &asked).await;
        let Ok(progress) = progress else { return };
        for ((key, _), receipt) in hashes.into_iter().zip(progress.receipts) {
            if let Some(receipt) = receipt {
                let is_earlier = |one: &Handed| one.earlier.contains(&receipt.transaction);
                let failed = receipt.outcome == Outcome::Reverted;
                if failed && handed.get(&key).is_some_and(is_earlier) {
                    continue;
                }
                handed.remove(&key);
                let found = MinedTransaction { receipt, in_block: None };
                self.answer(key, &SenderOutcome::Mined(Box::new(found)));
            }
        }
    }
}

/// What is certainly in the queue is read from there.
fn unqueued(handed: BTreeMap<PaymentKey, Handed>) -> Vec<SettlementRequest> {
    let perhaps = handed.into_values().filter(|one| one.queued == Queued::Perhaps);
    perhaps.map(|one| one.request).collect()
}
