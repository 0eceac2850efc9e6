//! The report: lost, duplicate and orphaned cards.

use std::collections::BTreeMap;

use order::model::ids::Timestamp;
use serde_json::{Value, json};

use crate::provider::state::card::{CallerKnowledge, CardStage, EmulatedCard};
use crate::provider::state::ledger::CardLedger;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderReport {
    /// Every card that was ever accepted.
    pub accepted: u64,
    /// Cards that were mailed or will be.
    pub live: u64,
    pub cancelled: u64,
    /// Cards that failed or were returned.
    pub undelivered: u64,
    /// Cards dropped from the ledger; the fields below do not include them.
    pub forgotten: u64,
    /// References under which more than one card was accepted, with their ids.
    pub duplicates: BTreeMap<String, Vec<u64>>,
    /// References under which more than one card is past cancelling.
    pub double_mailings: BTreeMap<String, Vec<u64>>,
    /// Live cards without a reference.
    pub orphans: Vec<u64>,
    /// Live cards whose acceptance was not reported to the caller.
    pub lost: Vec<u64>,
    /// Expected references without a live card.
    pub missing: Vec<String>,
}

impl ProviderReport {
    pub(crate) fn of(ledger: &CardLedger, expected: &[String], now: Timestamp) -> Self {
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
                    if stage != CardStage::Reviewing {
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

    fn count(&mut self, card: &EmulatedCard, stage: CardStage) -> Life {
        match stage {
            CardStage::Reviewing
            | CardStage::Printed
            | CardStage::InTransit
            | CardStage::Delivered => {
                self.live += 1;
                if card.knowledge == CallerKnowledge::Uninformed {
                    self.lost.push(card.id);
                }
                Life::On
            }
            CardStage::Failed | CardStage::Returned => {
                self.undelivered += 1;
                Life::Over
            }
            CardStage::Cancelled => {
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
