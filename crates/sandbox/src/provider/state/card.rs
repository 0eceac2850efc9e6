//! An accepted card: its content and its progress.

use order::model::country::CountryCode;
use order::model::ids::Timestamp;
use order::model::money::Cents;
use serde_json::Value;

/// The content of a postcard. Personal data: no `Debug`.
#[derive(Clone)]
pub(crate) struct PostcardContent {
    /// The URL of the picture. It is never fetched.
    pub(crate) front: String,
    pub(crate) message: String,
    pub(crate) size: CardSize,
    pub(crate) recipient: CardRecipient,
    /// Returned to the caller unchanged.
    pub(crate) metadata: Value,
}

#[derive(Clone)]
pub(crate) struct CardRecipient {
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
pub(crate) enum CardSize {
    FourBySix,
    SixByNine,
    SixByEleven,
}

impl CardSize {
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

/// The interface that a call or a card came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderApi {
    ThanksIo,
    Lob,
}

impl ProviderApi {
    pub const fn written(self) -> &'static str {
        match self {
            Self::ThanksIo => "thanks_io",
            Self::Lob => "lob",
        }
    }
}

/// The delivery outcome of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Arrives,
    /// Address verification fails before printing.
    Fails,
    Returns,
}

impl DeliveryOutcome {
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
pub(crate) enum CardStage {
    Reviewing,
    Printed,
    InTransit,
    Delivered,
    Cancelled,
    Failed,
    Returned,
}

/// Whether the caller has been told that the card was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerKnowledge {
    Informed,
    /// The response was lost or damaged, and no list has shown the card since.
    Uninformed,
}

/// When a card enters each stage.
#[derive(Clone, Copy)]
pub(crate) struct CardSchedule {
    pub(crate) visible_at: Timestamp,
    /// Until then it can be cancelled; then it is printed.
    pub(crate) printed_at: Timestamp,
    pub(crate) in_transit_at: Timestamp,
    pub(crate) delivered_at: Timestamp,
}

#[derive(Clone)]
pub(crate) struct EmulatedCard {
    pub(crate) id: u64,
    /// An unguessable token: Lob's id, and part of the picture URLs.
    pub(crate) token: String,
    pub(crate) api: ProviderApi,
    pub(crate) content: PostcardContent,
    pub(crate) reference: Option<String>,
    /// The idempotency key that created it.
    pub(crate) key: Option<String>,
    pub(crate) total: Cents,
    pub(crate) accepted_at: Timestamp,
    pub(crate) schedule: CardSchedule,
    pub(crate) cancelled_at: Option<Timestamp>,
    pub(crate) outcome: DeliveryOutcome,
    pub(crate) knowledge: CallerKnowledge,
}

impl EmulatedCard {
    pub(crate) fn stage(&self, now: Timestamp) -> CardStage {
        let times = self.schedule;
        if self.cancelled_at.is_some() {
            return CardStage::Cancelled;
        }
        if now < times.printed_at {
            return CardStage::Reviewing;
        }
        match self.outcome {
            DeliveryOutcome::Fails => CardStage::Failed,
            DeliveryOutcome::Arrives | DeliveryOutcome::Returns if now < times.in_transit_at => {
                CardStage::Printed
            }
            DeliveryOutcome::Arrives | DeliveryOutcome::Returns if now < times.delivered_at => {
                CardStage::InTransit
            }
            DeliveryOutcome::Arrives => CardStage::Delivered,
            DeliveryOutcome::Returns => CardStage::Returned,
        }
    }

    /// When its current stage began.
    pub(crate) fn stage_began(&self, now: Timestamp) -> Timestamp {
        match self.stage(now) {
            CardStage::Reviewing => self.accepted_at,
            CardStage::Printed | CardStage::Failed => self.schedule.printed_at,
            CardStage::InTransit => self.schedule.in_transit_at,
            CardStage::Delivered | CardStage::Returned => self.schedule.delivered_at,
            CardStage::Cancelled => self.cancelled_at.unwrap_or(self.accepted_at),
        }
    }
}
