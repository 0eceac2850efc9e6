//! Orders, estimates and pieces, as this provider writes them.

use order::model::ids::Timestamp;
use order::model::money::Cents;
use serde_json::{Value, json};

use super::super::answer::NOTICE;
use super::super::books::Books;
use super::super::calendar;
use super::super::card::{Card, Recipient, Sheet, Stage};
use super::super::settings::{Account, Settings};

/// What the sandbox's account holds. Nothing is ever taken from it.
const BALANCE: Cents = Cents(100_000);

/// An order as sending, cancelling and tracking show it.
pub(crate) fn order(card: &Card, books: &Books) -> Value {
    let now = books.now();
    let stage = card.stage(now);
    let cents = card.total.0;
    let pictures =
        ["front", "back"].map(|side| format!("{}/cards/{}/{side}.svg", books.base, card.token));
    json!({
        "id": card.id,
        "sub_account_id": null,
        "type": "postcard",
        "display_type": format!("Postcard-{}", card.sheet.size.written()),
        "size": card.sheet.size.written(),
        "message": card.sheet.message,
        "style": 1,
        "front_image": card.sheet.front,
        "preview_images": pictures,
        "high_quality_preview": "",
        "leads_fee": 0,
        "authorization_total": cents,
        "order_total": cents,
        "grand_total": charged(card, stage),
        "total_estimated_recipients": 1,
        "total_recipients": 1,
        "recipient_count": 1,
        "recipients": [recipient(&card.sheet.recipient)],
        "status": status(stage),
        "display_status": display(stage),
        "cancellable": stage == Stage::Reviewing,
        "method": "API",
        "total_scans": 0,
        "metadata": card.sheet.metadata,
        "created_at": calendar::instant(card.accepted_at),
        "updated_at": calendar::instant(card.stage_began(now)),
    })
}

/// An order as the list shows it: its status in display case.
pub(crate) fn listed(card: &Card, books: &Books) -> Value {
    let mut order = order(card, books);
    order["status"] = order["display_status"].clone();
    order
}

pub(crate) fn track(card: &Card, books: &Books) -> Value {
    let stage = card.stage(books.now());
    let count = |wanted: Stage| u8::from(stage == wanted);
    let failed = count(Stage::Failed) + count(Stage::Cancelled);
    let mut unhappy = recipient(&card.sheet.recipient);
    unhappy["failure"] = failure(stage);
    let errors: Vec<&Value> = [&unhappy].into_iter().filter(|_| failed > 0).collect();
    let returned: Vec<&Value> =
        [&unhappy].into_iter().filter(|_| stage == Stage::Returned).collect();
    json!({ "data": {
        "id": card.id,
        "order": listed(card, books),
        "stats": {
            "delivered": count(Stage::Delivered),
            "processing": count(Stage::Reviewing),
            "printed": count(Stage::Printed),
            "in_transit": count(Stage::InTransit),
            "in_local_area": 0,
            "processed_for_delivery": 0,
            "re_routed": 0,
            "returned_to_sender": count(Stage::Returned),
            "failed": failed,
            "scans": 0,
            "multi_scans": 0,
        },
        "errors": errors,
        "returned": returned,
    }})
}

/// The one piece of an order.
pub(crate) fn item(card: &Card, now: Timestamp) -> Value {
    let stage = card.stage(now);
    let delivered = (stage == Stage::Delivered).then(|| calendar::day(card.timetable.delivered_at));
    json!({
        "id": 2_600_000 + card.id,
        "status": match stage {
            Stage::Reviewing => "Processing",
            Stage::Printed => "Printed",
            Stage::InTransit => "In Transit",
            Stage::Delivered => "Delivered",
            Stage::Returned => "Returned to Sender",
            Stage::Failed | Stage::Cancelled => "Failed",
        },
        "delivery_date": delivered,
        "scans": 0,
        "failure": failure(stage),
        "recipient": recipient(&card.sheet.recipient),
        "created_at": calendar::instant(card.accepted_at),
    })
}

/// What the same body would be charged if it were sent.
pub(crate) fn estimate(sheet: &Sheet, settings: &Settings) -> Value {
    let cost = settings.price(sheet.recipient.country);
    let home = u8::from(sheet.recipient.country.as_str() == "US");
    json!({ "message": "OK", "data": {
        "type": "postcard",
        "size": sheet.size.written(),
        "total_recipients": 1,
        "recipients": { "united_states": home, "international": 1 - home },
        "costs_in_cents": { "mailers": cost.0, "leads": 0, "grand_total": cost.0 },
        "total_cost_in_cents": cost.0,
        "total_cost": format!("${}.{:02}", cost.0 / 100, cost.0 % 100),
        "current_balance_in_cents": BALANCE.0,
        "covered_by_balance": cost <= BALANCE,
        "test_mode": settings.account == Account::Testing,
        "notes": [NOTICE],
    }})
}

fn recipient(to: &Recipient) -> Value {
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
fn charged(card: &Card, stage: Stage) -> u64 {
    match stage {
        Stage::Cancelled | Stage::Failed => 0,
        Stage::Reviewing
        | Stage::Printed
        | Stage::InTransit
        | Stage::Delivered
        | Stage::Returned => card.total.0,
    }
}

fn status(stage: Stage) -> &'static str {
    match stage {
        Stage::Reviewing => "reviewing",
        Stage::Printed => "printed",
        Stage::InTransit => "shipped",
        Stage::Delivered => "delivered",
        Stage::Cancelled => "cancelled",
        Stage::Failed | Stage::Returned => "fulfilled",
    }
}

fn display(stage: Stage) -> &'static str {
    match stage {
        Stage::Reviewing => "Reviewing",
        Stage::Printed => "Printed",
        Stage::InTransit => "Shipped",
        Stage::Delivered => "Delivered",
        Stage::Cancelled => "Cancelled",
        Stage::Failed | Stage::Returned => "Fulfilled",
    }
}

fn failure(stage: Stage) -> Value {
    match stage {
        Stage::Failed => json!("The address could not be verified."),
        Stage::Returned => json!("The post returned the card."),
        Stage::Cancelled => json!("The order was cancelled."),
        Stage::Reviewing | Stage::Printed | Stage::InTransit | Stage::Delivered => Value::Null,
    }
}
