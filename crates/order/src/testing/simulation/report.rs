//! The counts of a simulation, summed over its scenarios.

use std::collections::BTreeMap;

use crate::model::ids::OrderId;
use crate::testing::fakes::audit::Breach;
use crate::testing::fakes::coverage::{Coverage, IncidentCounts};

/// Counts by name, in display order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulationReport {
    pub counts: BTreeMap<SimulationCount, u64>,
    pub breaches: BTreeMap<Breach, u64>,
    /// How often each outcome of each call met an order in each state.
    pub incidents: IncidentCounts,
    /// The first scenario that broke an invariant, with its seed.
    pub first_failure: Option<FailedScenario>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedScenario {
    pub number: u64,
    pub seed: u64,
    pub breaches: Vec<(Breach, Option<OrderId>)>,
}

macro_rules! counts {
    ($($name:ident => $words:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum SimulationCount { $($name),+ }

        impl SimulationCount {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            pub const fn words(self) -> &'static str {
                match self { $(Self::$name => $words),+ }
            }
        }
    };
}
counts! {
    Orders => "orders wanted",
    Requests => "requests sent",
    HangUps => "callers who hung up",
    SignedAgain => "payers who signed again out of turn",
    Invited => "answers 402",
    Paid => "answers 200",
    Conflict => "answers 409 and 410",
    Unclear => "answers 5xx",
    NoAnswer => "requests lost in a crash",
    Crashes => "crashes",
    ClockJumps => "clock jumps",
    Reorganisations => "reorganisations of the chain",
    TakenBack => "transfers that one took back",
    CancelledByPayer => "transfers that one took back for good",
    AddressChanges => "sellers who moved",
    SettleCalls => "settlements asked for",
    Charges => "charges on the chain",
    Cards => "cards in the post",
    Cancelled => "cards cancelled",
    PersonRefused => "left to a person: the provider keeps refusing",
    PersonLost => "left to a person: the provider's answer was lost",
    PersonUndelivered => "left to a person: accepted and not delivered",
    Losses => "left to a person: mailed, and the chain took the money back",
}

impl SimulationReport {
    pub fn add(&mut self, count: SimulationCount, by: u64) {
        *self.counts.entry(count).or_default() += by;
    }

    pub fn get(&self, count: SimulationCount) -> u64 {
        self.counts.get(&count).copied().unwrap_or_default()
    }

    pub fn merge(&mut self, other: Self) {
        for (count, by) in other.counts {
            self.add(count, by);
        }
        for (breach, by) in other.breaches {
            *self.breaches.entry(breach).or_default() += by;
        }
        self.incidents.merge(other.incidents);
        self.first_failure = match (self.first_failure.take(), other.first_failure) {
            (Some(one), Some(two)) => Some(if one.number <= two.number { one } else { two }),
            (one, two) => one.or(two),
        };
    }

    pub fn is_clean(&self) -> bool {
        self.breaches.values().all(|count| *count == 0)
            && self.incidents.unexpected(Coverage::Simulation).is_empty()
    }
}
