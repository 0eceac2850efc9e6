//! What is said to thanks.io, and what it says, as far as we read it.

use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::ids::OrderId;
use order::model::mail::{Mailpiece, Stage};
use order::model::money::Cents;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::provider::{AccountMode, Sender};

/// One card as it is sent. What is left out falls back to the account's
/// defaults, so nothing is that could print something on a stranger's card.
#[derive(Serialize)]
pub(super) struct Sheet<'a> {
    size: &'static str,
    front_image_url: &'a str,
    message: &'a str,
    recipients: [Recipient<'a>; 1],
    qrcode_url: &'static str,
    return_name: &'a str,
    return_address: &'a str,
    return_address2: &'static str,
    return_city: &'a str,
    return_state: &'a str,
    return_postal_code: &'a str,
    send_standard_mail: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Reference>,
}

#[derive(Serialize)]
struct Recipient<'a> {
    name: &'a str,
    address: &'a str,
    city: &'a str,
    province: &'a str,
    postal_code: &'a str,
    country: &'a str,
}

/// What comes back unchanged with every order: how we find ours again.
#[derive(Serialize)]
struct Reference {
    public_order_id: String,
    attempt: u32,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(card: &'a Postcard, sender: &'a Sender) -> Self {
        let to = &card.recipient;
        Self {
            size: "4x6",
            front_image_url: card.front.as_str(),
            message: card.message.as_str(),
            recipients: [Recipient {
                name: to.name.as_str(),
                address: to.address.as_str(),
                city: to.city.as_str(),
                province: to.province.as_str(),
                postal_code: to.postal_code.as_str(),
                country: to.country.as_str(),
            }],
            qrcode_url: "",
            return_name: &sender.name,
            return_address: &sender.address,
            return_address2: "",
            return_city: &sender.city,
            return_state: &sender.state,
            return_postal_code: &sender.postal_code,
            send_standard_mail: false,
            preview: None,
            metadata: None,
        }
    }

    pub(super) fn for_preview(mut self) -> Self {
        self.preview = Some(true);
        self
    }

    pub(super) fn of(mut self, order: &Order<Submitting>) -> Self {
        let (public_order_id, attempt) = (order.id.to_string(), order.state.attempt);
        self.metadata = Some(Reference { public_order_id, attempt });
        self
    }
}

#[derive(Deserialize)]
pub(super) struct Enveloped<T> {
    pub(super) data: T,
}

/// Only a whole number of cents is a price.
#[derive(Deserialize)]
pub(super) struct Estimate {
    pub(super) total_cost_in_cents: u64,
    #[serde(default)]
    test_mode: bool,
    /// Whether the account could be charged for the card now.
    covered_by_balance: Option<bool>,
}

impl Estimate {
    /// Where it is not said, the card's own submission shows it.
    pub(super) fn is_covered(&self) -> bool {
        self.covered_by_balance.unwrap_or(true)
    }

    pub(super) const fn mode(&self) -> AccountMode {
        if self.test_mode { AccountMode::Testing } else { AccountMode::Live }
    }
}

#[derive(Deserialize)]
pub(super) struct Pictures {
    pub(super) previews: Vec<String>,
}

/// An order that was accepted. Its number is all the proof there is; a total
/// that makes no sense does not take that back.
#[derive(Deserialize)]
pub(super) struct Sent {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    authorization_total: Maybe<u64>,
    #[serde(default)]
    metadata: Maybe<Returned>,
}

impl Sent {
    pub(super) fn total(&self) -> Option<Cents> {
        self.authorization_total.read().copied().map(Cents)
    }

    /// Whether the answer is about our order, as far as it says.
    pub(super) fn belongs_to(&self, order: OrderId) -> bool {
        self.metadata.read().is_none_or(|reference| reference.is(order))
    }
}

#[derive(Deserialize)]
pub(super) struct Returned {
    public_order_id: String,
}

impl Returned {
    fn is(&self, order: OrderId) -> bool {
        self.order() == Some(order)
    }

    fn order(&self) -> Option<OrderId> {
        self.public_order_id.parse().ok()
    }
}

/// Something of this shape, or something else that is none of our business.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Maybe<T> {
    Read(T),
    Other(IgnoredAny),
}

impl<T> Maybe<T> {
    pub(super) const fn read(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

/// One page of the account's orders, newest first.
#[derive(Deserialize)]
pub(super) struct Page {
    pub(super) data: Vec<Listed>,
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    last_page: u64,
}

impl Page {
    pub(super) fn ids(&self) -> Vec<u64> {
        self.data.iter().map(|listed| listed.id).collect()
    }

    /// Whether another page may follow this one of this number. A short page
    /// proves nothing: the provider may give fewer than we ask for.
    pub(super) fn may_continue(&self, number: u64) -> bool {
        let last = self.meta.as_ref().map(|meta| meta.last_page);
        !self.data.is_empty() && last.is_none_or(|last| number < last)
    }
}

/// An order of the account, which may be somebody else's altogether.
#[derive(Deserialize)]
pub(super) struct Listed {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    metadata: Maybe<Returned>,
    #[serde(default)]
    pub(super) created_at: Maybe<String>,
}

impl Listed {
    /// The order of ours that this card belongs to, unless it was cancelled.
    pub(super) fn live_card_of(&self) -> Option<OrderId> {
        let order = self.metadata.read().and_then(Returned::order);
        order.filter(|_| !is_cancelled(&self.status))
    }

    pub(super) fn mailpiece(&self) -> Mailpiece {
        Mailpiece(self.id.to_string())
    }
}

/// The order inside an answer about its way.
#[derive(Deserialize)]
pub(super) struct Tracked {
    #[serde(default)]
    order: Maybe<Standing>,
}

#[derive(Deserialize)]
struct Standing {
    status: String,
}

impl Tracked {
    pub(super) fn status(self) -> Option<String> {
        match self.order {
            Maybe::Read(order) => Some(order.status),
            Maybe::Other(_) => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Items {
    data: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    status: String,
}

impl Items {
    /// How far the one piece has come; none if it is somewhere we do not know.
    pub(super) fn stage(&self) -> Option<Stage> {
        let Some(piece) = self.data.first() else { return Some(Stage::Accepted) };
        match piece.status.to_ascii_lowercase().as_str() {
            "processing" | "reviewing" => Some(Stage::Accepted),
            "printed" | "in transit" | "in local area" | "processed for delivery" | "re-routed" => {
                Some(Stage::Mailed)
            }
            "delivered" => Some(Stage::Delivered),
            "returned to sender" => Some(Stage::Returned),
            "failed" | "cancelled" => Some(Stage::Failed),
            _ => None,
        }
    }
}

/// An answer whose status says it all, as long as it is one of theirs.
#[derive(Deserialize)]
pub(super) struct AnyObject {}

pub(super) fn is_cancelled(status: &str) -> bool {
    status.eq_ignore_ascii_case("cancelled") || status.eq_ignore_ascii_case("canceled")
}
