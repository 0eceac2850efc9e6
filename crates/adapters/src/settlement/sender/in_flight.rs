//! The leader's open rows: when they were sent, and whether they are in a block.

use std::collections::BTreeMap;
use std::time::Duration;

use alloy_primitives::B256;
use order::model::chain::EvmAddress;
use order::model::payment::PaymentKey;

use crate::rpc::{ReceiptStatus, TransactionReceipt};
use crate::settlement::outbox::{AccountCode, OutboxRow};

/// One nonce that is not final yet.
pub(super) struct InFlightRow {
    pub(super) row: OutboxRow,
    /// When its newest transaction was last sent.
    pub(super) sent: Duration,
    /// The chain's head at that time.
    pub(super) sent_head: u64,
    /// For its newest transaction.
    pub(super) node_answer: NodeAnswer,
    pub(super) mined: Option<Box<TransactionReceipt>>,
    /// Since when the chain has counted its nonce without a receipt for any of its hashes.
    pub(super) missing: Option<Duration>,
    /// Set once that is certain: another program has used its nonce.
    pub(super) displaced: Option<Duration>,
}

/// Whether the node has answered for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeAnswer {
    /// It was not sent, or the answer was lost.
    Missing,
    /// The node has taken it or objected to it.
    Received,
}

impl InFlightRow {
    pub(super) fn new(row: OutboxRow, sent: Duration, sent_head: u64) -> Self {
        let node_answer = NodeAnswer::Missing;
        Self { row, sent, sent_head, node_answer, mined: None, missing: None, displaced: None }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.mined.as_ref().is_some_and(|receipt| receipt.outcome == ReceiptStatus::Reverted)
    }
}

/// Open rows by nonce.
#[derive(Default)]
pub(super) struct InFlightRows {
    by_nonce: BTreeMap<u64, InFlightRow>,
}

impl InFlightRows {
    pub(super) fn insert(&mut self, flight: InFlightRow) {
        self.by_nonce.insert(flight.row.nonce, flight);
    }

    pub(super) fn remove(&mut self, nonce: u64) {
        self.by_nonce.remove(&nonce);
    }

    pub(super) fn get_mut(&mut self, nonce: u64) -> Option<&mut InFlightRow> {
        self.by_nonce.get_mut(&nonce)
    }

    pub(super) fn get(&self, nonce: u64) -> Option<&InFlightRow> {
        self.by_nonce.get(&nonce)
    }

    pub(super) fn last_nonce(&self) -> Option<u64> {
        self.by_nonce.keys().next_back().copied()
    }

    pub(super) fn first_nonce(&self) -> Option<u64> {
        self.by_nonce.keys().next().copied()
    }

    /// The newest flight of a payment.
    pub(super) fn of_payment(&mut self, key: PaymentKey) -> Option<&mut InFlightRow> {
        self.by_nonce.values_mut().rev().find(|flight| flight.row.key() == Some(key))
    }

    pub(super) fn has_unmined(&self) -> bool {
        self.by_nonce.values().any(|flight| flight.mined.is_none() && flight.displaced.is_none())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_nonce.is_empty()
    }

    /// The hashes of the lowest flights that are in no block, at most so many flights.
    pub(super) fn unmined(&self, most: usize) -> Vec<(u64, B256)> {
        let unmined = self.by_nonce.iter().filter(|(_, flight)| flight.mined.is_none());
        let hashes = |(nonce, flight): (&u64, &InFlightRow)| {
            let nonce = *nonce;
            flight.row.hashes().into_iter().map(move |hash| (nonce, hash))
        };
        unmined.take(most).flat_map(hashes).collect()
    }

    /// Flights in blocks at or below this one, by nonce, at most so many.
    pub(super) fn mined_up_to(&self, block: u64, most: usize) -> Vec<(u64, B256)> {
        let mined = self.by_nonce.iter().filter_map(|(nonce, flight)| {
            let receipt = flight.mined.as_ref().filter(|receipt| receipt.block <= block)?;
            Some((*nonce, receipt.transaction))
        });
        mined.take(most).collect()
    }

    /// From this nonce on, in order, without gaps.
    pub(super) fn unbroken_from(&self, nonce: u64) -> Vec<u64> {
        (nonce..).take_while(|nonce| self.by_nonce.contains_key(nonce)).collect()
    }

    /// In order, everything from this nonce on that no node has answered for.
    pub(super) fn unanswered_from(&self, nonce: u64) -> Vec<u64> {
        let open = self.by_nonce.range(nonce..).filter(|(_, flight)| {
            flight.mined.is_none() && flight.node_answer == NodeAnswer::Missing
        });
        open.map(|(nonce, _)| *nonce).collect()
    }

    /// What the chain has taken back: in a block once, and not counted any more.
    pub(super) fn take_back(&mut self, mined: u64) -> bool {
        let mut taken = false;
        for (_, flight) in self.by_nonce.range_mut(mined..) {
            taken |= flight.mined.take().is_some();
            (flight.missing, flight.displaced) = (None, None);
        }
        taken
    }

    /// Whether a payment of this account is in no block yet.
    pub(super) fn is_in_flight(&self, payer: EvmAddress) -> bool {
        self.by_nonce.values().any(|flight| {
            let of_payer = |request: &_| matches_payer(request, payer);
            flight.mined.is_none() && flight.row.request.as_ref().is_some_and(of_payer)
        })
    }

    /// Displaced flights whose authorization has expired by this second of the chain.
    pub(super) fn displaced_before(&self, second: u64) -> Vec<u64> {
        let expired = |flight: &InFlightRow| {
            flight.row.request.as_ref().is_none_or(|request| request.deadline < second)
        };
        let displaced = self.by_nonce.iter().filter(|(_, flight)| flight.displaced.is_some());
        displaced.filter(|(_, flight)| expired(flight)).map(|(nonce, _)| *nonce).collect()
    }
}

fn matches_payer(
    request: &crate::settlement::outbox::SettlementRequest,
    payer: EvmAddress,
) -> bool {
    request.payer == payer && request.code == AccountCode::Present
}
