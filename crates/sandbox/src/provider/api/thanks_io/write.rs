//! Orders, estimates and pieces, as this provider writes them.

use order::model::ids::Timestamp;
use order::model::money::Cents;
use serde_json::{Value, json};

use crate::http::response::NOTICE;
use crate::provider::dates;
use crate::provider::state::ProviderState;
use crate::provider::state::card::{CardRecipient, CardStage, EmulatedCard, PostcardContent};
use crate::provider::state::settings::{ProviderSettings, SandboxAccountMode};

/// What the sandbox's account holds. Nothing is ever taken from it.
const BALANCE: Cents = Cents(100_000);

/// An order as sending, cancelling and tracking show it.
pub(crate) fn order(card: &EmulatedCard, state: &ProviderState) -> Value {
    let now = state.now();
    let stage = card.stage(now);
    let cents = card.total.0;
    let pictures =
        ["front", "back"].map(|side| format!("{}/cards/{}/{side}.svg", state.base, card.token));
    json!({
        "id": card.id,
        "sub_account_id": null,
        "type": "postcard",
        "display_type": format!("Postcard-{}", card.content.size.written()),
        "size": card.content.size.written(),
        "message": card.content.message,
        "style": 1,
        "front_image": card.content.front,
        "preview_images": pictures,
        "high_quality_preview": "",
        "leads_fee": 0,
        "authorization_total": cents,
        "order_total": cents,
        "grand_total": charged(card, stage),
        "total_estimated_recipients": 1,
        "total_recipients": 1,
        "recipient_count": 1,
        "recipients": [recipient(&card.content.recipient)],
        "status": status(stage),
        "display_status": display(stage),
        "cancellable": stage == CardStage::Reviewing,
        "method": "API",
        "total_scans": 0,
        "metadata": card.content.metadata,
        "created_at": dates::instant(card.accepted_at),
        "updated_at": dates::instant(card.stage_began(now)),
    })
}

/// An order as the list shows it: its status in display case.
pub(crate) fn listed(card: &EmulatedCard, state: &ProviderState) -> Value {
    let mut order = order(card, state);
    order["status"] = order["display_status"].clone();
    order
}

pub(crate) fn track(card: &EmulatedCard, state: &ProviderState) -> Value {
    let stage = card.stage(state.now());
    let count = |wanted: CardStage| u8::from(stage == wanted);
    let failed = count(CardStage::Failed) + count(CardStage::Cancelled);
    let mut unhappy = recipient(&card.content.recipient);
    unhappy["failure"] = failure(stage);
    let errors: Vec<&Value> = [&unhappy].into_iter().filter(|_| failed > 0).collect();
    let returned: Vec<&Value> =
        [&unhappy].into_iter().filter(|_| stage == CardStage::Returned).collect();
    json!({ "data": {
        "id": card.id,
        "order": listed(card, state),
        "stats": {
            "delivered": count(CardStage::Delivered),
            "processing": count(CardStage::Reviewing),
            "printed": count(CardStage::Printed),
            "in_transit": count(CardStage::InTransit),
            "in_local_area": 0,
            "processed_for_delivery": 0,
            "re_routed": 0,
            "returned_to_sender": count(CardStage::Returned),
            "failed": failed,
            "scans": 0,
            "multi_scans": 0,
        },
        "errors": errors,
        "returned": returned,
    }})
}

/// The one piece of an order.
pub(crate) fn item(card: &EmulatedCard, now: Timestamp) -> Value {
    let stage = card.stage(now);
    let delivered = (stage == CardStage::Delivered).then(|| dates::day(card.schedule.delivered_at));
    json!({
        "id": 2_600_000 + card.id,
        "status": match stage {
            CardStage::Reviewing => "Processing",
            CardStage::Printed => "Printed",
            CardStage::InTransit => "In Transit",
            CardStage::Delivered => "Delivered",
            CardStage::Returned => "Returned to Sender",
            CardStage::Failed | CardStage::Cancelled => "Failed",
        },
        "delivery_date": delivered,
        "scans": 0,
        "failure": failure(stage),
        "recipient": recipient(&card.content.recipient),
        "created_at": dates::instant(card.accepted_at),
    })
}

/// What the same body would be charged if it were sent.
pub(crate) fn estimate(content: &PostcardContent, settings: &ProviderSettings) -> Value {
    let cost = settings.price(content.recipient.country);
    let home = u8::from(content.recipient.country.as_str() == "US");
    json!({ "message": "OK", "data": {
        "type": "postcard",
        "size": content.size.written(),
        "total_recipients": 1,
        "recipients": { "united_states": home, "international": 1 - home },
        "costs_in_cents": { "mailers": cost.0, "leads": 0, "grand_total": cost.0 },
        "total_cost_in_cents": cost.0,
        "total_cost": format!("${}.{:02}", cost.0 / 100, cost.0 % 100),
        "current_balance_in_cents": BALANCE.0,
        "covered_by_balance": cost <= BALANCE,
        "test_mode": settings.account == SandboxAccountMode::Testing,
        "notes": [NOTICE],
    }})
}

fn recipient(to: &CardRecipient) -> Value {
    json!({
        "name": to.name,
        "company": to.company,
        "address": to.address,
        "address2": to.address2,
        "city": to.city,
        "province": to.province,
        "postal_code": to.postal_code,
        "country": to.country.as_str(),
    })
}

/// A card that was not printed is not charged.
fn charged(card: &EmulatedCard, stage: CardStage) -> u64 {
    match stage {
        CardStage::Cancelled | CardStage::Failed => 0,
        CardStage::Reviewing
        | CardStage::Printed
        | CardStage::InTransit
        | CardStage::Delivered
        | CardStage::Returned => card.total.0,
    }
}

fn status(stage: CardStage) -> &'static str {
    match stage {
        CardStage::Reviewing => "reviewing",
        CardStage::Printed => "printed",
        CardStage::InTransit => "shipped",
        CardStage::Delivered => "delivered",
        CardStage::Cancelled => "cancelled",
        CardStage::Failed | CardStage::Returned => "fulfilled",
    }
}

fn display(stage: CardStage) -> &'static str {
    match stage {
        CardStage::Reviewing => "Reviewing",
        CardStage::Printed => "Printed",
        CardStage::InTransit => "Shipped",
        CardStage::Delivered => "Delivered",
        CardStage::Cancelled => "Cancelled",
        CardStage::Failed | CardStage::Returned => "Fulfilled",
    }
}

fn failure(stage: CardStage) -> Value {
    match stage {
        CardStage::Failed => json!("The address could not be verified."),
        CardStage::Returned => json!("The post returned the card."),
        CardStage::Cancelled => json!("The order was cancelled."),
        CardStage::Reviewing | CardStage::Printed | CardStage::InTransit | CardStage::Delivered => {
            Value::Null
        }
    }
}
