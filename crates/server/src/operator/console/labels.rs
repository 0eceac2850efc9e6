//! The words that the console uses for states, networks and stages.

use order::lifecycle::Standing;
use order::model::chain::Network;
use order::model::mail::Stage;
use order::model::payment::TenderKind;

/// How a state is shown: its colour says whether a person has to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateTone {
    /// Ended as it should.
    Done,
    /// The service works on it.
    Working,
    /// A card or money is owed.
    Owed,
    /// No money moved.
    Quiet,
}

impl StateTone {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Working => "working",
            Self::Owed => "owed",
            Self::Quiet => "quiet",
        }
    }
}

/// Every state, by its headline.
pub(super) const STATES: [(&str, &str, StateTone); 11] = [
    ("settling", "Settling", StateTone::Working),
    ("unconfirmed", "Payment unconfirmed", StateTone::Working),
    ("submitting", "Submitting", StateTone::Working),
    ("unfulfilled_refused", "Refused by provider", StateTone::Owed),
    ("unfulfilled_lost", "Outcome unknown", StateTone::Owed),
    ("unfulfilled_undelivered", "Undelivered", StateTone::Owed),
    ("unfulfilled_erased", "Erased, refund due", StateTone::Owed),
    ("mailed", "Mailed", StateTone::Done),
    ("refunded", "Refunded", StateTone::Done),
    ("offered", "Not paid", StateTone::Quiet),
    ("lapsed", "Expired", StateTone::Quiet),
];

/// The label and the colour of a state. An event may name one that this version does not know.
pub(super) fn state(headline: &str) -> (&str, StateTone) {
    let known = STATES.iter().find(|(code, ..)| *code == headline);
    known.map_or((headline, StateTone::Quiet), |(_, label, tone)| (*label, *tone))
}

pub(super) const fn network(network: Network) -> &'static str {
    match network {
        Network::Base => "Base",
        Network::Polygon => "Polygon",
        Network::Arbitrum => "Arbitrum",
    }
}

pub(super) const fn tender(kind: TenderKind) -> &'static str {
    match kind {
        TenderKind::X402 => "x402",
        TenderKind::Mpp => "MPP",
    }
}

pub(super) const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Accepted => "accepted",
        Stage::Mailed => "mailed",
        Stage::Delivered => "delivered",
        Stage::Returned => "returned",
        Stage::Failed => "failed",
    }
}

pub(super) const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Provisional => "not final yet",
        Standing::Final => "final",
        Standing::Reversed => "taken back by the chain",
    }
}
