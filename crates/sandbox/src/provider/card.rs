//! A card as the post office holds it: what is on it, and how far it has come.

use order::model::country::CountryCode;
use order::model::ids::Timestamp;
use order::model::money::Cents;
use serde_json::Value;

/// What a caller asked to have printed. Personal data: it cannot print itself.
#[derive(Clone)]
pub(crate) struct Sheet {
    /// The address of the picture. Nobody here ever fetches it.
    pub(crate) front: String,
    pub(crate) message: String,
    pub(crate) size: Size,
    pub(crate) recipient: Recipient,
    /// What the caller wants back unchanged.
    pub(crate) metadata: Value,
}

#[derive(Clone)]
pub(crate) struct Recipient {
    pub(crate) name: String,
    pub(crate) company: String,
    pub(crate) address: String,
    pub(crate) address2: String,
    pub(crate) city: String,
    pub(crate) province: String,
    pub(crate) postal_code: String,
    pub(crate) country: CountryCode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    FourBySix,
    SixByNine,
    SixByEleven,
}

impl Size {
    pub(crate) const ALL: [Self; 3] = [Self::FourBySix, Self::SixByNine, Self::SixByEleven];

    pub(crate) const fn written(self) -> &'static str {
        match self {
            Self::FourBySix => "4x6",
            Self::SixByNine => "6x9",
            Self::SixByEleven => "6x11",
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.written() == text)
    }
}

/// Through which door a card came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    ThanksIo,
    Lob,
}

impl Surface {
    pub const fn written(self) -> &'static str {
        match self {
            Self::ThanksIo => "thanks_io",
            Self::Lob => "lob",
        }
    }
}

/// What will become of a card once it is with the post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// Address verification gives up before printing.
    Fails,
    Returns,
}

impl Fate {
    pub(crate) const ALL: [Self; 3] = [Self::Arrives, Self::Fails, Self::Returns];

    pub const fn written(self) -> &'static str {
        match self {
            Self::Arrives => "arrives",
            Self::Fails => "fails",
            Self::Returns => "returns",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Reviewing,
    Printed,
    InTransit,
    Delivered,
    Cancelled,
    Failed,
    Returned,
}

/// Whether the caller can know that the card was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    Told,
    /// The answer was spoiled, and no list has shown the card since.
    Untold,
}

/// When a card moves on by itself.
#[derive(Clone, Copy)]
pub(crate) struct Timetable {
    pub(crate) visible_at: Timestamp,
    /// Until then it can be cancelled; then it is printed.
    pub(crate) printed_at: Timestamp,
    pub(crate) in_transit_at: Timestamp,
    pub(crate) delivered_at: Timestamp,
}

#[derive(Clone)]
pub(crate) struct Card {
    pub(crate) id: u64,
    /// How Lob names it, and how its pictures are addressed: not to be guessed.
    pub(crate) token: String,
    pub(crate) surface: Surface,
    pub(crate) sheet: Sheet,
    pub(crate) reference: Option<String>,
    /// The idempotency key that made it.
    pub(crate) key: Option<String>,
    pub(crate) total: Cents,
    pub(crate) accepted_at: Timestamp,
    pub(crate) timetable: Timetable,
    pub(crate) cancelled_at: Option<Timestamp>,
    pub(crate) fate: Fate,
    pub(crate) knowledge: Knowledge,
}

impl Card {
    pub(crate) fn stage(&self, now: Timestamp) -> Stage {
        let times = self.timetable;
        if self.cancelled_at.is_some() {
            return Stage::Cancelled;
        }
        if now < times.printed_at {
            return Stage::Reviewing;
        }
        match self.fate {
            Fate::Fails => Stage::Failed,
            Fate::Arrives | Fate::Returns if now < times.in_transit_at => Stage::Printed,
            Fate::Arrives | Fate::Returns if now < times.delivered_at => Stage::InTransit,
            Fate::Arrives => Stage::Delivered,
            Fate::Returns => Stage::Returned,
        }
    }

    /// When the stage that it is in began.
    pub(crate) fn stage_began(&self, now: Timestamp) -> Timestamp {
        match self.stage(now) {
            Stage::Reviewing => self.accepted_at,
            Stage::Printed | Stage::Failed => self.timetable.printed_at,
            Stage::InTransit => self.timetable.in_transit_at,
            Stage::Delivered | Stage::Returned => self.timetable.delivered_at,
            Stage::Cancelled => self.cancelled_at.unwrap_or(self.accepted_at),
        }
    }
}
