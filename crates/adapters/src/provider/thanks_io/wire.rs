//! Requests and responses of thanks.io, as far as they are used.

use order::lifecycle::{Order, Submitting};
use order::model::card::Postcard;
use order::model::ids::OrderId;
use order::model::mail::{Mailpiece, Stage};
use order::model::money::Cents;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::provider::{AccountMode, BalanceCover, ReturnAddress};

/// A postcard request. Omitted fields use the account's defaults, so every field that is printed
/// is sent.
#[derive(Serialize)]
pub(super) struct PostcardRequest<'a> {
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
    metadata: Option<OrderMetadata>,
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

/// Metadata that thanks.io returns with every order, by which ours are found.
#[derive(Serialize)]
struct OrderMetadata {
    public_order_id: String,
    attempt: u32,
}

impl<'a> PostcardRequest<'a> {
    pub(super) fn new(card: &'a Postcard, sender: &'a ReturnAddress) -> Self {
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
        self.metadata = Some(OrderMetadata { public_order_id, attempt });
        self
    }
}

#[derive(Deserialize)]
pub(super) struct DataEnvelope<T> {
    pub(super) data: T,
}

/// A price is a whole number of cents.
#[derive(Deserialize)]
pub(super) struct Estimate {
    pub(super) total_cost_in_cents: u64,
    #[serde(default)]
    test_mode: bool,
    /// Whether the account could be charged for the card now.
    covered_by_balance: Option<bool>,
}

impl Estimate {
    /// If missing, the submission shows it.
    pub(super) const fn balance(&self) -> BalanceCover {
        match self.covered_by_balance {
            Some(true) => BalanceCover::Covered,
            Some(false) => BalanceCover::TooLow,
            None => BalanceCover::Unknown,
        }
    }

    pub(super) const fn mode(&self) -> AccountMode {
        if self.test_mode { AccountMode::Testing } else { AccountMode::Live }
    }
}

#[derive(Deserialize)]
pub(super) struct PreviewUrls {
    pub(super) previews: Vec<String>,
}

/// An accepted order. The id is the proof; an invalid total does not change that.
#[derive(Deserialize)]
pub(super) struct SubmittedOrder {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    authorization_total: Lenient<u64>,
    #[serde(default)]
    metadata: Lenient<OrderReference>,
}

impl SubmittedOrder {
    pub(super) fn total(&self) -> Option<Cents> {
        self.authorization_total.read().copied().map(Cents)
    }

    /// Whether the response is about our order, if it names one.
    pub(super) fn belongs_to(&self, order: OrderId) -> bool {
        // mutant: card-of-another-order
        self.metadata.read().is_none_or(|reference| reference.is(order))
    }
}

#[derive(Deserialize)]
pub(super) struct OrderReference {
    public_order_id: String,
}

impl OrderReference {
    fn is(&self, order: OrderId) -> bool {
        self.order() == Some(order)
    }

    fn order(&self) -> Option<OrderId> {
        self.public_order_id.parse().ok()
    }
}

/// A value of this type, or any other value, which is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Lenient<T> {
    Read(T),
    Other(IgnoredAny),
}

impl<T> Lenient<T> {
    pub(super) const fn read(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

/// One page of the account's orders, newest first.
#[derive(Deserialize)]
pub(super) struct ListPage {
    pub(super) data: Vec<ListedOrder>,
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    last_page: u64,
}

impl ListPage {
    pub(super) fn ids(&self) -> Vec<u64> {
        self.data.iter().map(|listed| listed.id).collect()
    }

    /// Whether another page may follow the one of this number. A short page proves nothing: the
    /// provider may return fewer orders than requested.
    pub(super) fn may_continue(&self, number: u64) -> bool {
        let last = self.meta.as_ref().map(|meta| meta.last_page);
        !self.data.is_empty() && last.is_none_or(|last| number < last)
    }
}

/// An order of the account, which may not be ours.
#[derive(Deserialize)]
pub(super) struct ListedOrder {
    pub(super) id: u64,
    #[serde(default)]
    status: String,
    #[serde(default)]
    metadata: Lenient<OrderReference>,
    #[serde(default)]
    pub(super) created_at: Lenient<String>,
    #[serde(default)]
    authorization_total: Lenient<u64>,
}

impl ListedOrder {
    /// Our order that this card belongs to.
    pub(super) fn order(&self) -> Option<OrderId> {
        self.metadata.read().and_then(OrderReference::order)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        is_cancelled(&self.status)
    }

    pub(super) fn total(&self) -> Option<Cents> {
        self.authorization_total.read().copied().map(Cents)
    }

    pub(super) fn mailpiece(&self) -> Mailpiece {
        Mailpiece(self.id.to_string())
    }
}

/// The order in a tracking response.
#[derive(Deserialize)]
pub(super) struct TrackedOrder {
    #[serde(default)]
    order: Lenient<OrderStatus>,
}

#[derive(Deserialize)]
struct OrderStatus {
    status: String,
}

impl TrackedOrder {
    pub(super) fn status(self) -> Option<String> {
        match self.order {
            Lenient::Read(order) => Some(order.status),
            Lenient::Other(_) => None,
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
    /// The stage of the card; none for an unknown status.
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

/// A response of which only the status is used, as long as it is a JSON object.
#[derive(Deserialize)]
pub(super) struct AnyObject {}

pub(super) fn is_cancelled(status: &str) -> bool {
    status.eq_ignore_ascii_case("cancelled") || status.eq_ignore_ascii_case("canceled")
}
