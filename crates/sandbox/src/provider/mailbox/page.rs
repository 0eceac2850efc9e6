//! Writes the mailbox page: one document, no script.

use std::fmt::Write;

use order::model::ids::Timestamp;
use order::model::money::Cents;

use super::super::books::Books;
use super::super::calendar;
use super::super::card::{Card, Stage};
use super::super::picture::escaped;

const STYLE: &str = include_str!("page.css");
/// More pictures than this make a slow page.
const SHOWN_CARDS: usize = 60;

pub(crate) fn write(books: &Books) -> String {
    let now = books.now();
    let count = books.ledger.all().count();
    let cards: String = books.ledger.all().take(SHOWN_CARDS).map(|card| entry(card, now)).collect();
    let (lead, body) = match count {
        0 => ("Nothing has come in yet.".to_owned(), empty(books)),
        1 => ("One card so far.".to_owned(), format!("<ol class=\"cards\">{cards}</ol>")),
        _ => (format!("{count} cards, newest first."), format!("<ol class=\"cards\">{cards}</ol>")),
    };
    let more = if count > SHOWN_CARDS {
        format!("<p class=\"note\">The newest {SHOWN_CARDS} are shown.</p>")
    } else {
        String::new()
    };
    let clock = clock(books, now);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>The sandbox's mailbox</title>\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
         <p class=\"notice\"><strong>This is a sandbox.</strong> No money moves, no card is mailed.</p>\
         <header><h1>The mailbox</h1><p class=\"lead\">Every card that the sandbox took in, \
         as it would have gone out. {lead}</p>{clock}</header><main>{body}{more}</main>\
         <footer><p>Pennyblack sandbox on this machine. Controls: <a href=\"/__sandbox\">/__sandbox</a>, \
         <a href=\"/__sandbox/report\">report</a>, <a href=\"/__sandbox/journal\">journal</a>.</p>\
         </footer></body></html>"
    )
}

fn clock(books: &Books, now: Timestamp) -> String {
    let ahead = books.clock.ahead_seconds() / 3_600;
    let ahead = match ahead {
        0 => String::new(),
        1 => " (an hour ahead)".to_owned(),
        hours => format!(" ({hours} hours ahead)"),
    };
    let written = calendar::instant(now);
    let (day, time) = (calendar::postmark(now), written.get(11..16).unwrap_or_default());
    format!(
        "<form class=\"clock\" method=\"post\" action=\"/let-an-hour-pass\">\
         <span>The sandbox's clock: {day}, {time} UTC{ahead}</span>\
         <button>Let an hour pass</button></form>"
    )
}

fn entry(card: &Card, now: Timestamp) -> String {
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
        .expect("a String takes every text");
    }
    let accepted = calendar::instant(card.accepted_at);
    format!(
        "<li id=\"card-{id}\"><div class=\"sides\">{sides}</div><div class=\"facts\">\
         <h2>Card {id}</h2><p class=\"stage {class}\">{word}</p><p class=\"note\">{explained}</p>\
         <dl><div><dt>Country</dt><dd>{country}</dd></div><div><dt>Price</dt><dd>{price}</dd></div>\
         <div><dt>Accepted</dt><dd><time datetime=\"{accepted}\">{day}, {time} UTC</time></dd></div>\
         <div><dt>Reference</dt><dd>{reference}</dd></div></dl></div></li>",
        id = card.id,
        class = word.to_lowercase().replace(' ', "-"),
        country = card.sheet.recipient.country.as_str(),
        price = dollars(card.total),
        day = calendar::postmark(card.accepted_at),
        time = accepted.get(11..16).unwrap_or_default(),
    )
}

fn stage_words(card: &Card, stage: Stage, now: Timestamp) -> (&'static str, String) {
    match stage {
        Stage::Reviewing => {
            let left = card.timetable.printed_at.since(now).unwrap_or_default().div_ceil(60);
            let plural = if left == 1 { "" } else { "s" };
            ("In review", format!("It can be cancelled for {left} more minute{plural}."))
        }
        Stage::Printed => ("Printed", "Past cancelling; it waits for the van.".into()),
        Stage::InTransit => ("In transit", "Somewhere between here and there.".into()),
        Stage::Delivered => ("Delivered", "As far as a sandbox can deliver.".into()),
        Stage::Cancelled => ("Cancelled", "It would not have been printed.".into()),
        Stage::Failed => ("Failed", "The address could not be verified.".into()),
        Stage::Returned => ("Returned", "The post would have brought it back.".into()),
    }
}

fn dollars(cents: Cents) -> String {
    format!("${}.{:02}", cents.0 / 100, cents.0 % 100)
}

/// What to do when there is nothing: one command to paste.
fn empty(books: &Books) -> String {
    let command = format!(
        "curl -s {}/api/v2/send/postcard \\\n  -H 'Authorization: Bearer {}' \\\n  \
         -H 'Content-Type: application/json' \\\n  -d '{{\n    \
         \"front_image_url\": \"https://images.example.org/sea.jpg\",\n    \
         \"message\": \"Dear Ada,\\nthe sea says hello.\\nSo do I.\",\n    \
         \"recipients\": [{{\n      \"name\": \"Ada Lovelace\",\n      \
         \"address\": \"12 St James Square\",\n      \"city\": \"London\",\n      \
         \"province\": \"Greater London\",\n      \"postal_code\": \"SW1Y 4LB\",\n      \
         \"country\": \"GB\"\n    }}],\n    \"metadata\": {{\"{}\": \"my-first-card\"}}\n  }}'",
        books.base, books.settings.token, books.settings.reference_key
    );
    format!(
        "<section class=\"empty\"><h2>Send the first card</h2>\
         <p>Buy one from Pennyblack, or hand one in here yourself. Paste this into a terminal, \
         then load this page again:</p><pre><code>{}</code></pre></section>",
        escaped(&command)
    )
}
