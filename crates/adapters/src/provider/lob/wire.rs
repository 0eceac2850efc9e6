//! What is said to Lob, and what it says, as far as we read it.

use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::ids::OrderId;
use order::model::mail::Stage;
use serde::{Deserialize, Serialize};

use super::back;
use crate::provider::Sender;

/// The longest lines that Lob takes.
const NAME_CHARACTERS_MAX: usize = 40;
const LINE_CHARACTERS_MAX: usize = 64;

/// Whether Lob would take these lines. It says so itself only when it is too late.
pub(super) fn takes(card: &Postcard) -> bool {
    let to = &card.recipient;
    let within = |text: &str, most: usize| text.chars().count() <= most;
    within(to.name.as_str(), NAME_CHARACTERS_MAX)
        && within(to.address.as_str(), LINE_CHARACTERS_MAX)
        && (to.country.as_str() != "US" || is_zip(to.postal_code.as_str()))
}

/// Five digits, or five and four.
fn is_zip(text: &str) -> bool {
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match text.split_once('-') {
        Some((first, last)) => digits(first, 5) && digits(last, 4),
        None => digits(text, 5),
    }
}

/// One card as it is sent.
#[derive(Serialize)]
pub(super) struct Sheet<'a> {
    size: &'static str,
    to: Place<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Place<'a>>,
    front: &'a str,
    back: String,
}

#[derive(Serialize)]
struct Place<'a> {
    name: &'a str,
    address_line1: &'a str,
    address_city: &'a str,
    address_state: &'a str,
    address_zip: &'a str,
    address_country: &'a str,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(card: &'a Postcard, sender: Option<&'a Sender>) -> Self {
        let to = &card.recipient;
        Self {
            size: "4x6",
            to: Place {
                name: to.name.as_str(),
                address_line1: to.address.as_str(),
                address_city: to.city.as_str(),
                address_state: to.province.as_str(),
                address_zip: to.postal_code.as_str(),
                address_country: to.country.as_str(),
            },
            from: sender.map(|sender| Place {
                name: &sender.name,
                address_line1: &sender.address,
                address_city: &sender.city,
                address_state: &sender.state,
                address_zip: &sender.postal_code,
                address_country: "US",
            }),
            front: card.front.as_str(),
            back: back::page(card.message.as_str()),
        }
    }

    pub(super) fn of(self, order: &Order<Submitting>, send_date: Option<String>) -> Wish<'a> {
        let metadata = Reference {
            public_order_id: order.id.to_string(),
            attempt: order.state.attempt.to_string(),
        };
        Wish { sheet: self, use_type: "operational", metadata, send_date }
    }
}

/// A card to be printed and mailed.
#[derive(Serialize)]
pub(super) struct Wish<'a> {
    #[serde(flatten)]
    sheet: Sheet<'a>,
    use_type: &'static str,
    metadata: Reference,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_date: Option<String>,
}

/// How we find ours again. Lob keeps texts only.
#[derive(Serialize)]
struct Reference {
    public_order_id: String,
    attempt: String,
}

/// A card to be drawn and thrown away.
#[derive(Serialize)]
pub(super) struct ProofWish<'a> {
    resource_type: &'static str,
    resource_parameters: Sheet<'a>,
}

impl<'a> ProofWish<'a> {
    pub(super) const fn new(sheet: Sheet<'a>) -> Self {
        Self { resource_type: "postcard", resource_parameters: sheet }
    }
}

#[derive(Deserialize)]
pub(super) struct Proof {
    pub(super) id: String,
    pub(super) status: ProofStatus,
    #[serde(default)]
    thumbnails: Vec<Thumbnail>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProofStatus {
    Processing,
    Completed,
    Failed,
}

#[derive(Deserialize)]
struct Thumbnail {
    large: String,
}

impl Proof {
    pub(super) fn pictures(self) -> Vec<String> {
        self.thumbnails.into_iter().map(|thumbnail| thumbnail.large).collect()
    }
}

/// A card that Lob has.
#[derive(Deserialize)]
pub(super) struct Made {
    pub(super) id: String,
    #[serde(default)]
    metadata: Option<Returned>,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    tracking_events: Option<Vec<TrackingEvent>>,
}

#[derive(Deserialize)]
struct Returned {
    #[serde(default)]
    public_order_id: Option<String>,
}

#[derive(Deserialize)]
struct TrackingEvent {
    name: String,
}

impl Made {
    pub(super) fn is_card_of(&self, order: OrderId) -> bool {
        let reference = self.metadata.as_ref().and_then(|kept| kept.public_order_id.as_deref());
        reference == Some(order.to_string().as_str()) && !self.id.is_empty()
    }

    pub(super) fn stage(&self) -> Stage {
        let events = self.tracking_events.as_deref().unwrap_or_default();
        let reached = |name: &str| events.iter().any(|event| event.name == name);
        if self.deleted || self.status.as_deref() == Some("failed") {
            Stage::Failed
        } else if reached("Returned to Sender") {
            Stage::Returned
        } else if reached("Delivered") {
            Stage::Delivered
        } else if events.is_empty() {
            Stage::Accepted
        } else {
            Stage::Mailed
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Cards {
    pub(super) data: Vec<Made>,
    #[serde(default)]
    pub(super) next_url: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Removed {
    #[serde(default)]
    pub(super) deleted: bool,
}
