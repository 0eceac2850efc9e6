//! Draws the postmark: the date, a ring with the notice, and waves.

use crate::provider::picture::canvas::{DrawingPurpose, SERIF};

/// Centered on the origin; the waves extend to the right.
pub(crate) fn drawn(date: &str, occasion: DrawingPurpose) -> String {
    let words = match occasion {
        DrawingPurpose::Preview => "SANDBOX \u{2022} PREVIEW \u{2022} NOT MAILED \u{2022} ",
        DrawingPurpose::Card(_) => "SANDBOX \u{2022} NO CARD IS MAILED \u{2022} ",
    };
    let (day, year) = date.rsplit_once(' ').unwrap_or((date, ""));
    let wave = "q20-16 40 0t40 0 40 0 40 0 40 0 40 0 40 0";
    format!(
        "<g transform=\"rotate(-8)\" fill=\"none\" stroke=\"#c22d2c\" stroke-width=\"4\" opacity=\".88\">\
         <circle r=\"118\"/><circle r=\"76\"/>\
         <path d=\"M122-58{wave}M125-20{wave}M125 18{wave}M122 56{wave}\"/>\
         <path id=\"ring\" stroke=\"none\" d=\"M0-88a88 88 0 1 1-.1 0\"/>\
         <g fill=\"#c22d2c\" stroke=\"none\" font-family=\"{SERIF}\" font-weight=\"600\">\
         <text font-size=\"25\"><textPath href=\"#ring\" textLength=\"545\" lengthAdjust=\"spacingAndGlyphs\">{words}</textPath></text>\
         <g text-anchor=\"middle\"><text y=\"-4\" font-size=\"36\">{day}</text>\
         <text y=\"36\" font-size=\"36\">{year}</text></g></g></g>"
    )
}
