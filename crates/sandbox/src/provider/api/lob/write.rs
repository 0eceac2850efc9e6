//! Postcards, lists and proofs in Lob's format.

use order::model::ids::Timestamp;
use serde_json::{Value, json};

use crate::provider::dates;
use crate::provider::state::ProviderState;
use crate::provider::state::card::{CardStage, EmulatedCard};

pub(crate) fn id(card: &EmulatedCard) -> String {
    format!("psc_{}", card.token)
}

pub(crate) fn postcard(card: &EmulatedCard, state: &ProviderState) -> Value {
    let now = state.now();
    let to = &card.content.recipient;
    let picture = |side: &str| format!("{}/cards/{}/{side}.svg", state.base, card.token);
    let thumbnails: Vec<Value> =
        [picture("front"), picture("back")].iter().map(|url| thumbnail(url)).collect();
    let mut written = json!({
        "id": id(card),
        "description": null,
        "metadata": card.content.metadata,
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
        "size": card.content.size.written(),
        "mail_type": "usps_first_class",
        "tracking_events": events(card, now),
        "expected_delivery_date": dates::day(card.schedule.delivered_at),
        "date_created": dates::instant(card.accepted_at),
        "date_modified": dates::instant(card.stage_began(now)),
        "send_date": dates::instant(card.schedule.printed_at),
        "object": "postcard",
    });
    if card.stage(now) == CardStage::Cancelled {
        written["deleted"] = Value::Bool(true);
    }
    written
}

/// `next` is the last card shown, if there are more behind it.
pub(crate) fn list(
    cards: &[&EmulatedCard],
    next: Option<&EmulatedCard>,
    state: &ProviderState,
) -> Value {
    json!({
        "object": "list",
        "count": cards.len(),
        "data": cards.iter().map(|card| postcard(card, state)).collect::<Vec<_>>(),
        "next_url": next.map(|card| format!("{}/v1/postcards?after={}", state.base, id(card))),
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
        "date_created": dates::instant(now),
        "date_modified": dates::instant(now),
        "object": "resource_proof",
    })
}

/// A drawing has no size of its own, so one address serves all three.
fn thumbnail(url: &str) -> Value {
    json!({ "small": url, "medium": url, "large": url })
}

fn events(card: &EmulatedCard, now: Timestamp) -> Vec<Value> {
    let times = card.schedule;
    let reached = |name: &str, at: Timestamp| {
        let time = dates::instant(at);
        json!({ "name": name, "time": time, "object": "tracking_event" })
    };
    let printed = reached("Mailed", times.printed_at);
    let transit = reached("In Transit", times.in_transit_at);
    match card.stage(now) {
        CardStage::Reviewing | CardStage::Cancelled | CardStage::Failed => Vec::new(),
        CardStage::Printed => vec![printed],
        CardStage::InTransit => vec![printed, transit],
        CardStage::Delivered => vec![printed, transit, reached("Delivered", times.delivered_at)],
        CardStage::Returned => {
            vec![printed, transit, reached("Returned to Sender", times.delivered_at)]
        }
    }
}
