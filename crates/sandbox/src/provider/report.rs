//! What an auditor asks after a storm: lost cards, doubled cards, cards of nobody.

use std::collections::BTreeMap;

use order::model::ids::Timestamp;
use serde_json::{Value, json};

use super::card::{Card, Knowledge, Stage};
use super::ledger::Ledger;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Every card that was ever accepted.
    pub accepted: u64,
    /// Cards that were mailed or will be.
    pub live: u64,
    pub cancelled: u64,
    /// Cards that the post gave up on, or sent back.
    pub undelivered: u64,
    /// Cards too old to be kept; what is below does not speak of them.
    pub forgotten: u64,
    /// References under which more than one card was accepted, with their ids.
    pub duplicates: BTreeMap<String, Vec<u64>>,
    /// References under which more than one card is past cancelling.
    pub double_mailings: BTreeMap<String, Vec<u64>>,
    /// Live cards that name no order of the caller's.
    pub orphans: Vec<u64>,
    /// Live cards whose acceptance no answer has told the caller.
    pub lost: Vec<u64>,
    /// References that somebody expected a card for, and that have no live one.
    pub missing: Vec<String>,
}

impl Report {
    pub(crate) fn of(ledger: &Ledger, expected: &[String], now: Timestamp) -> Self {
        let mut report =
            Self { accepted: ledger.accepted(), forgotten: ledger.forgotten(), ..Self::default() };
        let mut mailed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut alive: BTreeMap<&str, u64> = BTreeMap::new();
        for card in ledger.all() {
            let stage = card.stage(now);
            let reference = card.reference.as_deref();
            if let Some(reference) = reference {
                report.duplicates.entry(reference.to_owned()).or_default().push(card.id);
            }
            if report.count(card, stage) == Life::Over {
                continue;
            }
            match reference {
                None => report.orphans.push(card.id),
                Some(reference) => {
                    *alive.entry(reference).or_default() += 1;
                    if stage != Stage::Reviewing {
                        mailed.entry(reference.to_owned()).or_default().push(card.id);
                    }
                }
            }
        }
        report.duplicates.retain(|_, ids| ids.len() > 1);
        mailed.retain(|_, ids| ids.len() > 1);
        report.double_mailings = mailed;
        let absent = expected.iter().filter(|wanted| !alive.contains_key(wanted.as_str()));
        report.missing = absent.cloned().collect();
        report
    }

    fn count(&mut self, card: &Card, stage: Stage) -> Life {
        match stage {
            Stage::Reviewing | Stage::Printed | Stage::InTransit | Stage::Delivered => {
                self.live += 1;
                if card.knowledge == Knowledge::Untold {
                    self.lost.push(card.id);
                }
                Life::On
            }
            Stage::Failed | Stage::Returned => {
                self.undelivered += 1;
                Life::Over
            }
            Stage::Cancelled => {
                self.cancelled += 1;
                Life::Over
            }
        }
    }

    pub(crate) fn written(&self) -> Value {
        json!({
            "accepted": self.accepted,
            "live": self.live,
            "cancelled": self.cancelled,
            "undelivered": self.undelivered,
            "forgotten": self.forgotten,
            "duplicates": self.duplicates,
            "double_mailings": self.double_mailings,
            "orphans": self.orphans,
            "lost": self.lost,
            "missing": self.missing,
        })
    }
}

#[derive(PartialEq, Eq)]
enum Life {
    On,
    Over,
}
