//! Requests and responses of Lob, as far as they are used.

use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::card::warning::{CardWarning, WarningCode};
use order::model::ids::OrderId;
use order::model::mail::Stage;
use serde::{Deserialize, Serialize};

use super::back_html;
use crate::provider::ReturnAddress;
use crate::provider::time::ProviderTime;

/// Lob's limits for address lines.
const NAME_CHARACTERS_MAX: usize = 40;
const LINE_CHARACTERS_MAX: usize = 64;

/// The lines of the address that Lob refuses. It would refuse them only after payment.
pub(super) fn refused_lines(card: &Postcard) -> Vec<CardWarning> {
    let to = &card.recipient;
    let mut refused = Vec::new();
    for (field, text, most) in [
        ("recipient.name", to.name.as_str(), NAME_CHARACTERS_MAX),
        ("recipient.address", to.address.as_str(), LINE_CHARACTERS_MAX),
    ] {
        if text.chars().count() > most {
            let message = format!("At most {most} characters fit on this line of the address.");
            refused.push(CardWarning { code: WarningCode::TextTooLong, field, message });
        }
    }
    if to.country.as_str() == "US" && !is_zip(to.postal_code.as_str()) {
        let message = "A ZIP code has five digits, or five and four with a hyphen.".into();
        let (code, field) = (WarningCode::AddressIncomplete, "recipient.postal_code");
        refused.push(CardWarning { code, field, message });
    }
    refused
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

/// The content of a card.
#[derive(Serialize)]
pub(super) struct PostcardContent<'a> {
    size: &'static str,
    to: LobAddress<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<LobAddress<'a>>,
    front: &'a str,
    back: String,
}

#[derive(Serialize)]
struct LobAddress<'a> {
    name: &'a str,
    address_line1: &'a str,
    address_city: &'a str,
    address_state: &'a str,
    address_zip: &'a str,
    address_country: &'a str,
}

impl<'a> PostcardContent<'a> {
    pub(super) fn new(card: &'a Postcard, sender: Option<&'a ReturnAddress>) -> Self {
        let to = &card.recipient;
        Self {
            size: "4x6",
            to: LobAddress {
                name: to.name.as_str(),
                address_line1: to.address.as_str(),
                address_city: to.city.as_str(),
                address_state: to.province.as_str(),
                address_zip: to.postal_code.as_str(),
                address_country: to.country.as_str(),
            },
            from: sender.map(|sender| LobAddress {
                name: &sender.name,
                address_line1: &sender.address,
                address_city: &sender.city,
                address_state: &sender.state,
                address_zip: &sender.postal_code,
                address_country: "US",
            }),
            front: card.front.as_str(),
            back: back_html::page(card.message.as_str()),
        }
    }

    pub(super) fn of(
        self,
        order: &Order<Submitting>,
        send_date: Option<String>,
    ) -> CreatePostcard<'a> {
        let metadata = OrderMetadata {
            public_order_id: order.id.to_string(),
            attempt: order.state.attempt.to_string(),
        };
        CreatePostcard { content: self, use_type: "operational", metadata, send_date }
    }
}

/// A request to print and mail a card.
#[derive(Serialize)]
pub(super) struct CreatePostcard<'a> {
    #[serde(flatten)]
    content: PostcardContent<'a>,
    use_type: &'static str,
    metadata: OrderMetadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_date: Option<String>,
}

/// Metadata by which our cards are found. Lob stores strings only.
#[derive(Serialize)]
struct OrderMetadata {
    public_order_id: String,
    attempt: String,
}

/// A request to render a proof.
#[derive(Serialize)]
pub(super) struct CreateProof<'a> {
    resource_type: &'static str,
    resource_parameters: PostcardContent<'a>,
}

impl<'a> CreateProof<'a> {
    pub(super) const fn new(content: PostcardContent<'a>) -> Self {
        Self { resource_type: "postcard", resource_parameters: content }
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

/// A card at Lob.
#[derive(Deserialize)]
pub(super) struct LobPostcard {
    pub(super) id: String,
    #[serde(default)]
    metadata: Option<LobMetadata>,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    date_created: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    tracking_events: Option<Vec<TrackingEvent>>,
}

#[derive(Deserialize)]
struct LobMetadata {
    #[serde(default)]
    public_order_id: Option<String>,
}

#[derive(Deserialize)]
struct TrackingEvent {
    name: String,
}

impl LobPostcard {
    pub(super) fn is_card_of(&self, order: OrderId) -> bool {
        // mutant: lob-card-of-another-order
        self.order() == Some(order) && !self.id.is_empty()
    }

    /// Our order that this card belongs to.
    pub(super) fn order(&self) -> Option<OrderId> {
        self.metadata.as_ref()?.public_order_id.as_deref()?.parse().ok()
    }

    pub(super) fn created(&self) -> Option<ProviderTime> {
        ProviderTime::parse(self.date_created.as_deref()?)
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
pub(super) struct PostcardList {
    pub(super) data: Vec<LobPostcard>,
    #[serde(default)]
    pub(super) next_url: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct DeletedPostcard {
    #[serde(default)]
    pub(super) deleted: bool,
}
