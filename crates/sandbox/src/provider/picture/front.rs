//! The front of a card: a drawn landscape instead of the picture, which is not fetched.

use std::fmt::Write;

use url::Url;

use crate::provider::picture::canvas::{HEIGHT, SERIF, WIDTH, document};
use crate::provider::picture::jitter::Jitter;
use crate::provider::picture::svg::escaped;
use crate::provider::state::card::PostcardContent;

/// Sky above, sky below, sun, then hills from the far to the near.
type Palette = [&'static str; 6];

const PALETTES: &[Palette] = &[
    ["#f3d9a4", "#f8ecd0", "#c8462f", "#8f9a8b", "#5d6f63", "#33443c"],
    ["#cfdbe0", "#f4ead5", "#e6a63c", "#93a7ae", "#62808a", "#2f4f5b"],
    ["#e7b8a0", "#f9e6cf", "#fff4dd", "#b17f72", "#7d5356", "#472f3b"],
    ["#1f2a44", "#55597a", "#f3ebdb", "#3d4668", "#2a3150", "#171c33"],
];

/// The longest name of a host that is shown whole.
const HOST_CHARACTERS_MAX: usize = 44;

pub(crate) fn draw(content: &PostcardContent) -> String {
    let mut jitter = Jitter::of(&content.front);
    let whose = caption(&content.front);
    let view = view(&mut jitter);
    let (inner_width, inner_height) = (WIDTH - 120, HEIGHT - 120);
    let body = format!(
        "<defs><clipPath id=\"view\"><path d=\"M60 60h{inner_width}v{inner_height}H60z\"/></clipPath></defs>\
         <path d=\"M0 0h{WIDTH}v{HEIGHT}H0z\" fill=\"#fbf5e6\"/>\
         <g clip-path=\"url(#view)\">{view}</g>\
         <path d=\"M60 60h{inner_width}v{inner_height}H60z\" fill=\"none\" stroke=\"#a9843a\" stroke-width=\"3\"/>\
         <path d=\"M380 962h1040v134H380z\" fill=\"#fbf5e6\"/>\
         <path d=\"M390 972h1020v114H390z\" fill=\"none\" stroke=\"#a9843a\" stroke-width=\"2\"/>\
         <g text-anchor=\"middle\" font-family=\"{SERIF}\" fill=\"#1a1611\">\
         <text x=\"900\" y=\"1022\" font-size=\"40\" font-weight=\"600\">{}</text>\
         <text x=\"900\" y=\"1066\" font-size=\"28\" fill=\"#75684f\">This is a sandbox: it fetches no picture and mails no card.</text></g>",
        fitted(&whose)
    );
    document("The front of a postcard from the Pennyblack sandbox", &whose, &body)
}

fn caption(front: &str) -> String {
    let host = Url::parse(front).ok().and_then(|url| url.host_str().map(str::to_owned));
    match host {
        Some(host) if host.chars().count() > HOST_CHARACTERS_MAX => {
            let start: String = host.chars().take(HOST_CHARACTERS_MAX).collect();
            format!("Your picture from {start}\u{2026}")
        }
        Some(host) => format!("Your picture from {host}"),
        None => "Your own design".to_owned(),
    }
}

/// A long caption is condensed to fit the label.
fn fitted(caption: &str) -> String {
    let tight = caption.chars().count() > 48;
    let press = if tight { " textLength=\"980\" lengthAdjust=\"spacingAndGlyphs\"" } else { "" };
    format!("<tspan{press}>{}</tspan>", escaped(caption))
}

fn view(jitter: &mut Jitter) -> String {
    let palette = jitter.pick(PALETTES).copied().unwrap_or(PALETTES[0]);
    let [high, low, sun, hills @ ..] = palette;
    let (sun_x, sun_y) = (jitter.between(340, 1_460), jitter.between(250, 420));
    let radius = jitter.between(90, 150);
    let mut view = format!(
        "<defs><linearGradient id=\"sky\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">\
         <stop stop-color=\"{high}\"/><stop offset=\"1\" stop-color=\"{low}\"/></linearGradient></defs>\
         <path d=\"M0 0h{WIDTH}v{HEIGHT}H0z\" fill=\"url(#sky)\"/>\
         <circle cx=\"{sun_x}\" cy=\"{sun_y}\" r=\"{}\" fill=\"{sun}\" opacity=\".25\"/>\
         <circle cx=\"{sun_x}\" cy=\"{sun_y}\" r=\"{radius}\" fill=\"{sun}\"/>",
        radius * 3 / 2
    );
    for (colour, top) in hills.iter().zip([560, 700, 850]) {
        hill(&mut view, colour, top, jitter);
    }
    birds(&mut view, hills[2], jitter);
    view
}

fn hill(view: &mut String, colour: &str, top: i64, jitter: &mut Jitter) {
    let start = top + jitter.between(-40, 60);
    write!(view, "<path fill=\"{colour}\" d=\"M0 {start}")
        .expect("writing to a String cannot fail");
    let mut x = 0;
    while x < WIDTH {
        let (width, bend) = (jitter.between(260, 520), jitter.between(-150, 60));
        let end = top + jitter.between(-50, 70);
        let (middle, next) = (x + width / 2, x + width);
        write!(view, "Q{middle} {} {next} {end}", top + bend)
            .expect("writing to a String cannot fail");
        x = next;
    }
    write!(view, "V{HEIGHT}H0z\"/>").expect("writing to a String cannot fail");
}

fn birds(view: &mut String, colour: &str, jitter: &mut Jitter) {
    for _ in 0..jitter.between(2, 5) {
        let (x, y) = (jitter.between(200, 1_560), jitter.between(160, 420));
        let wing = jitter.between(16, 34);
        write!(
            view,
            "<path d=\"M{x} {y}q{} -{} {wing} 0q{} -{} {wing} 0\" fill=\"none\" \
             stroke=\"{colour}\" stroke-width=\"5\" stroke-linecap=\"round\"/>",
            wing / 2,
            wing / 2,
            wing / 2,
            wing / 2
        )
        .expect("writing to a String cannot fail");
    }
}
