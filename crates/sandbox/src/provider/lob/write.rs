//! Postcards, lists and proofs, as Lob writes them.

use order::model::ids::Timestamp;
use serde_json::{Value, json};

use super::super::books::Books;
use super::super::calendar;
use super::super::card::{Card, Stage};

pub(crate) fn id(card: &Card) -> String {
    format!("psc_{}", card.token)
}

pub(crate) fn postcard(card: &Card, books: &Books) -> Value {
    let now = books.now();
    let to = &card.sheet.recipient;
    let picture = |side: &str| format!("{}/cards/{}/{side}.svg", books.base, card.token);
    let thumbnails: Vec<Value> =
        [picture("front"), picture("back")].iter().map(|url| thumbnail(url)).collect();
    let mut written = json!({
        "id": id(card),
        "description": null,
        "metadata": card.sheet.metadata,
        "to": {
            "object": "address",
            "name": to.name,
            "company": to.company,
            "address_line1": to.address,
            "address_line2": to.address2,
            "address_city": to.city,
            "address_state": to.province,
            "address_zip": to.postal_code,
            "address_country": to.country.as_str(),
        },
        "url": picture("back"),
        "thumbnails": thumbnails,
        "carrier": "USPS",
        "size": card.sheet.size.written(),
        "mail_type": "usps_first_class",
        "tracking_events": events(card, now),
        "expected_delivery_date": calendar::day(card.timetable.delivered_at),
        "date_created": calendar::instant(card.accepted_at),
        "date_modified": calendar::instant(card.stage_began(now)),
        "send_date": calendar::instant(card.timetable.printed_at),
        "object": "postcard",
    });
    if card.stage(now) == Stage::Cancelled {
        written["deleted"] = Value::Bool(true);
    }
    written
}

/// `next` is the last card shown, if there are more behind it.
pub(crate) fn list(cards: &[&Card], next: Option<&Card>, books: &Books) -> Value {
    json!({
        "object": "list",
        "count": cards.len(),
        "data": cards.iter().map(|card| postcard(card, books)).collect::<Vec<_>>(),
        "next_url": next.map(|card| format!("{}/v1/postcards?after={}", books.base, id(card))),
        "previous_url": null,
    })
}

pub(crate) fn proof(pictures: &[String; 2], now: Timestamp) -> Value {
    let [front, back] = pictures;
    let name = front.rsplit('/').nth(1).unwrap_or_default();
    json!({
        "id": format!("res_prf_{name}"),
        "template_id": null,
        "resource_type": "postcard",
        "status": "completed",
        "thumbnails": [thumbnail(front), thumbnail(back)],
        "url": back,
        "errors": [],
        "date_created": calendar::instant(now),
        "date_modified": calendar::instant(now),
        "object": "resource_proof",
    })
}

/// A drawing has no size of its own, so one address serves all three.
fn thumbnail(url: &str) -> Value {
    json!({ "small": url, "medium": url, "large": url })
}

fn events(card: &Card, now: Timestamp) -> Vec<Value> {
    let times = card.timetable;
    let reached = |name: &str, at: Timestamp| {
        let time = calendar::instant(at);
        json!({ "name": name, "time": time, "object": "tracking_event" })
    };
    let printed = reached("Mailed", times.printed_at);
    let transit = reached("In Transit", times.in_transit_at);
    match card.stage(now) {
        Stage::Reviewing | Stage::Cancelled | Stage::Failed => Vec::new(),
        Stage::Printed => vec![printed],
        Stage::InTransit => vec![printed, transit],
        Stage::Delivered => vec![printed, transit, reached("Delivered", times.delivered_at)],
        Stage::Returned => {
            vec![printed, transit, reached("Returned to Sender", times.delivered_at)]
        }
    }
}
