//! The back of a card: the message, the address, a stamp and a postmark.

use order::model::ids::Timestamp;

use crate::provider::dates;
use crate::provider::picture::canvas::{DrawingPurpose, HEIGHT, SERIF, WIDTH, document};
use crate::provider::picture::handwriting::{self, TextBox};
use crate::provider::picture::ink::{self, Place};
use crate::provider::picture::jitter::Jitter;
use crate::provider::picture::{postmark, stamp};
use crate::provider::state::card::{CardRecipient, PostcardContent};

const MESSAGE: TextBox = TextBox { width: 880, height: 1_000 };
/// Maximum size of a short message.
const MESSAGE_SIZE_MAX: i64 = 104;
const ADDRESS_WIDTH: i64 = 640;
const ADDRESS_SIZE_MAX: i64 = 66;
const ADDRESS_LEFT: i64 = 1_090;
const ADDRESS_BOTTOM: i64 = 1_080;

pub(crate) fn draw(content: &PostcardContent, at: Timestamp, occasion: DrawingPurpose) -> String {
    let mut jitter = Jitter::of(&content.message);
    let number = match occasion {
        DrawingPurpose::Preview => 0,
        DrawingPurpose::Card(number) => number,
    };
    let setting = handwriting::set(&content.message, MESSAGE, MESSAGE_SIZE_MAX);
    // A short message is placed a little above the middle.
    let top = 84 + (MESSAGE.height - setting.height()).max(0) * 2 / 5;
    let message = ink::drawn(&setting, Place { left: 90, top }, &mut jitter);
    let address = address(&content.recipient, &mut jitter);
    let stamp = stamp::drawn(number);
    let postmark = postmark::drawn(&dates::postmark(at), occasion);
    let tilt = jitter.between(-2, 2);
    let foot = "Pennyblack sandbox. No money moves, no card is mailed.";
    let body = format!(
        "<path d=\"M0 0h{WIDTH}v{HEIGHT}H0z\" fill=\"#fbf5e6\"/>\
         <path d=\"M36 36h1728v1128H36z\" fill=\"none\" stroke=\"#cfc1a5\" stroke-width=\"3\"/>\
         <path d=\"M1030 120v940\" stroke=\"#cfc1a5\" stroke-width=\"3\"/>\
         {message}{address}\
         <g transform=\"translate(1480 84) rotate({tilt} 120 145)\">{stamp}</g>\
         <g transform=\"translate(1290 250)\">{postmark}</g>\
         <text x=\"1728\" y=\"1140\" text-anchor=\"end\" font-size=\"26\" fill=\"#75684f\" \
         font-family=\"{SERIF}\">{foot}</text>"
    );
    document("The back of a postcard from the Pennyblack sandbox", &content.message, &body)
}

/// Written on rules, from the last one upwards.
fn address(to: &CardRecipient, jitter: &mut Jitter) -> String {
    let lines = address_lines(to);
    let step = 92;
    let count = i64::try_from(lines.len()).unwrap_or_default();
    let mut drawing = String::new();
    for (line, number) in lines.iter().zip(0..) {
        let rule = ADDRESS_BOTTOM - (count - 1 - number) * step;
        let setting = handwriting::set_line(line, ADDRESS_WIDTH - 10, ADDRESS_SIZE_MAX);
        let top = rule - 12 - handwriting::RISE * setting.size / 100;
        drawing.push_str(&format!(
            "<path d=\"M{ADDRESS_LEFT} {rule}h{ADDRESS_WIDTH}\" stroke=\"#ddd2bc\" stroke-width=\"3\"/>{}",
            ink::drawn(&setting, Place { left: ADDRESS_LEFT + 6, top }, jitter)
        ));
    }
    drawing
}

/// In the order that is usual in the country.
fn address_lines(to: &CardRecipient) -> Vec<String> {
    let country = to.country.as_str();
    let place = match country {
        "US" | "CA" | "AU" | "GB" | "IN" | "NZ" => {
            vec![format!("{}, {} {}", to.city, to.province, to.postal_code)]
        }
        _ if to.city == to.province => vec![format!("{} {}", to.postal_code, to.city)],
        _ => vec![format!("{} {}", to.postal_code, to.city), to.province.clone()],
    };
    let above = [&to.name, &to.company, &to.address, &to.address2].map(Clone::clone);
    let lines = above.into_iter().chain(place).chain([country.to_owned()]);
    lines.filter(|line| !line.trim().is_empty()).collect()
}
