//! Renders the mailbox page: one document, no script.

use std::fmt::Write;

use order::model::ids::Timestamp;
use order::model::money::Cents;

use crate::provider::dates;
use crate::provider::picture::svg::escaped;
use crate::provider::state::ProviderState;
use crate::provider::state::card::{CardStage, EmulatedCard};
use crate::provider::state::settings::REFERENCE_KEY;

const STYLE: &str = include_str!("page.css");
/// Maximum number of cards on the page.
const SHOWN_CARDS: usize = 60;

pub(crate) fn write(state: &ProviderState) -> String {
    let now = state.now();
    let count = state.ledger.all().count();
    let cards: String = state.ledger.all().take(SHOWN_CARDS).map(|card| entry(card, now)).collect();
    let (lead, body) = match count {
        0 => ("No cards yet.".to_owned(), empty(state)),
        1 => ("One card so far.".to_owned(), format!("<ol class=\"cards\">{cards}</ol>")),
        _ => (format!("{count} cards, newest first."), format!("<ol class=\"cards\">{cards}</ol>")),
    };
    let more = if count > SHOWN_CARDS {
        format!("<p class=\"note\">The newest {SHOWN_CARDS} are shown.</p>")
    } else {
        String::new()
    };
    let clock = clock(state, now);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>The sandbox's mailbox</title>\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
         <p class=\"notice\"><strong>This is a sandbox.</strong> No money moves, no card is mailed.</p>\
         <header><h1>The mailbox</h1><p class=\"lead\">All cards that the sandbox \
         accepted. {lead}</p>{clock}</header><main>{body}{more}</main>\
         <footer><p>Pennyblack sandbox on this machine. Controls: <a href=\"/__sandbox\">/__sandbox</a>, \
         <a href=\"/__sandbox/report\">report</a>, <a href=\"/__sandbox/journal\">journal</a>.</p>\
         </footer></body></html>"
    )
}

fn clock(state: &ProviderState, now: Timestamp) -> String {
    let ahead = state.clock.ahead_seconds() / 3_600;
    let ahead = match ahead {
        0 => String::new(),
        1 => " (an hour ahead)".to_owned(),
        hours => format!(" ({hours} hours ahead)"),
    };
    let written = dates::instant(now);
    let (day, time) = (dates::postmark(now), written.get(11..16).unwrap_or_default());
    format!(
        "<form class=\"clock\" method=\"post\" action=\"/let-an-hour-pass\">\
         <span>The sandbox's clock: {day}, {time} UTC{ahead}</span>\
         <button>Let an hour pass</button></form>"
    )
}

fn entry(card: &EmulatedCard, now: Timestamp) -> String {
    let stage = card.stage(now);
    let (word, explained) = stage_words(card, stage, now);
    let reference = card.reference.as_deref().map_or_else(
        || "<span class=\"note\">none</span>".to_owned(),
        |reference| format!("<code>{}</code>", escaped(reference)),
    );
    let mut sides = String::new();
    for (side, about) in [("back", "Back"), ("front", "Front")] {
        write!(
            sides,
            "<a href=\"/cards/{0}/{side}.svg\"><img src=\"/cards/{0}/{side}.svg\" \
             alt=\"{about} of card {1}\" width=\"1800\" height=\"1200\" loading=\"lazy\"></a>",
            card.token, card.id
        )
        .expect("writing to a String cannot fail");
    }
    let accepted = dates::instant(card.accepted_at);
    format!(
        "<li id=\"card-{id}\"><div class=\"sides\">{sides}</div><div class=\"facts\">\
         <h2>Card {id}</h2><p class=\"stage {class}\">{word}</p><p class=\"note\">{explained}</p>\
         <dl><div><dt>Country</dt><dd>{country}</dd></div><div><dt>Price</dt><dd>{price}</dd></div>\
         <div><dt>Accepted</dt><dd><time datetime=\"{accepted}\">{day}, {time} UTC</time></dd></div>\
         <div><dt>Reference</dt><dd>{reference}</dd></div></dl></div></li>",
        id = card.id,
        class = word.to_lowercase().replace(' ', "-"),
        country = card.content.recipient.country.as_str(),
        price = dollars(card.total),
        day = dates::postmark(card.accepted_at),
        time = accepted.get(11..16).unwrap_or_default(),
    )
}

fn stage_words(card: &EmulatedCard, stage: CardStage, now: Timestamp) -> (&'static str, String) {
    match stage {
        CardStage::Reviewing => {
            let left = card.schedule.printed_at.since(now).unwrap_or_default().div_ceil(60);
            let plural = if left == 1 { "" } else { "s" };
            ("In review", format!("It can be cancelled for {left} more minute{plural}."))
        }
        CardStage::Printed => ("Printed", "It can no longer be cancelled.".into()),
        CardStage::InTransit => ("In transit", "It is on its way.".into()),
        CardStage::Delivered => ("Delivered", "It was delivered, in the sandbox.".into()),
        CardStage::Cancelled => ("Cancelled", "It is not printed.".into()),
        CardStage::Failed => ("Failed", "The address could not be verified.".into()),
        CardStage::Returned => ("Returned", "It was returned to the sender.".into()),
    }
}

fn dollars(cents: Cents) -> String {
    format!("${}.{:02}", cents.0 / 100, cents.0 % 100)
}

/// The page without cards: a command to paste.
fn empty(state: &ProviderState) -> String {
    let command = format!(
        "curl -s {}/api/v2/send/postcard \\\n  -H 'Authorization: Bearer {}' \\\n  \
         -H 'Content-Type: application/json' \\\n  -d '{{\n    \
         \"front_image_url\": \"https://images.example.org/sea.jpg\",\n    \
         \"message\": \"Dear Ada,\\nthe sea says hello.\\nSo do I.\",\n    \
         \"recipients\": [{{\n      \"name\": \"Ada Lovelace\",\n      \
         \"address\": \"12 St James Square\",\n      \"city\": \"London\",\n      \
         \"province\": \"Greater London\",\n      \"postal_code\": \"SW1Y 4LB\",\n      \
         \"country\": \"GB\"\n    }}],\n    \"metadata\": {{\"{}\": \"my-first-card\"}}\n  }}'",
        state.base, state.settings.token, REFERENCE_KEY
    );
    format!(
        "<section class=\"empty\"><h2>Send the first card</h2>\
         <p>Buy one from Pennyblack, or send one directly. Paste this into a terminal, \
         then load this page again:</p><pre><code>{}</code></pre></section>",
        escaped(&command)
    )
}
