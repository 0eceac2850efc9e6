//! The back of a card: the message, the address, a stamp and a postmark.

use order::model::ids::Timestamp;

use super::super::calendar;
use super::super::card::{Recipient, Sheet};
use super::chance::Chance;
use super::hand::{self, Room};
use super::ink::{self, Place};
use super::{HEIGHT, Occasion, SERIF, WIDTH, document, postmark, stamp};

const MESSAGE: Room = Room { width: 880, height: 1_000 };
/// A short greeting is written large, but it stays handwriting.
const MESSAGE_SIZE_MAX: i64 = 104;
const ADDRESS_WIDTH: i64 = 640;
const ADDRESS_SIZE_MAX: i64 = 66;
const ADDRESS_LEFT: i64 = 1_090;
const ADDRESS_BOTTOM: i64 = 1_080;

pub(crate) fn draw(sheet: &Sheet, at: Timestamp, occasion: Occasion) -> String {
    let mut chance = Chance::of(&sheet.message);
    let number = match occasion {
        Occasion::Preview => 0,
        Occasion::Card(number) => number,
    };
    let setting = hand::set(&sheet.message, MESSAGE, MESSAGE_SIZE_MAX);
    // A short message sits a little above the middle, as people begin one.
    let top = 84 + (MESSAGE.height - setting.height()).max(0) * 2 / 5;
    let message = ink::drawn(&setting, Place { left: 90, top }, &mut chance);
    let address = address(&sheet.recipient, &mut chance);
    let stamp = stamp::drawn(number);
    let postmark = postmark::drawn(&calendar::postmark(at), occasion);
    let tilt = chance.between(-2, 2);
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
    document("The back of a postcard from the Pennyblack sandbox", &sheet.message, &body)
}

/// Written on rules, from the last one upwards.
fn address(to: &Recipient, chance: &mut Chance) -> String {
    let lines = address_lines(to);
    let step = 92;
    let count = i64::try_from(lines.len()).unwrap_or_default();
    let mut drawing = String::new();
    for (line, number) in lines.iter().zip(0..) {
        let rule = ADDRESS_BOTTOM - (count - 1 - number) * step;
        let setting = hand::set_line(line, ADDRESS_WIDTH - 10, ADDRESS_SIZE_MAX);
        let top = rule - 12 - hand::RISE * setting.size / 100;
        drawing.push_str(&format!(
            "<path d=\"M{ADDRESS_LEFT} {rule}h{ADDRESS_WIDTH}\" stroke=\"#ddd2bc\" stroke-width=\"3\"/>{}",
            ink::drawn(&setting, Place { left: ADDRESS_LEFT + 6, top }, chance)
        ));
    }
    drawing
}

/// In the sequence of the country, as far as most of the world has two.
fn address_lines(to: &Recipient) -> Vec<String> {
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
