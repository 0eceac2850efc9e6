//! Draws a stamp after the Penny Black, with a letter in two corners.

use std::fmt::Write;

use crate::provider::picture::canvas::SERIF;

/// Drawn 240 wide and 290 high, from its upper left corner.
///
/// The first stamps carried two letters that told a stamp's place on its sheet;
/// these tell the card's number.
pub(crate) fn drawn(number: u64) -> String {
    let mut rose = String::new();
    for turn in 0..18 {
        write!(rose, "<ellipse rx=\"84\" ry=\"33\" transform=\"rotate({})\"/>", turn * 10)
            .expect("writing to a String cannot fail");
    }
    let (left, right) = (letter(number / 26), letter(number));
    format!(
        "<defs><pattern id=\"engraving\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><path d=\"M0 3h6\" stroke=\"#6d6353\" stroke-width=\"2\"/>\
         </pattern></defs>\
         <path d=\"M4 7h240v290H4z\" fill=\"#3c280a\" opacity=\".2\"/>\
         <path d=\"M0 0h240v290H0z\" fill=\"#fffefb\"/>\
         <path d=\"M0 0h240v290H0z\" fill=\"none\" stroke=\"#fbf5e6\" stroke-width=\"13\" \
         stroke-linecap=\"round\" stroke-dasharray=\"0 18.93\"/>\
         <path d=\"M20 20h200v250H20z\" fill=\"#1a1611\"/>\
         <path d=\"M26 26h188v238H26z\" fill=\"url(#engraving)\"/>\
         <path d=\"M26 26h188v36H26zM26 228h188v36H26z\" fill=\"#1a1611\"/>\
         <path d=\"M26 26h188v238H26zM26 62h188M26 228h188M62 26v36M178 26v36M62 228v36M178 228v36\" \
         fill=\"none\" stroke=\"#efe6d3\" stroke-width=\"1.6\"/>\
         <path d=\"M34 34l20 20M54 34l-20 20M32 44h24M44 32v24M186 34l20 20M206 34l-20 20M184 44h24M196 32v24\" \
         stroke=\"#efe6d3\" stroke-width=\"1.6\"/>\
         <circle cx=\"120\" cy=\"145\" r=\"82\" fill=\"#1a1611\"/>\
         <g transform=\"translate(120 145)\" fill=\"none\" stroke=\"#efe6d3\" stroke-width=\"1.1\">\
         <circle r=\"80\"/>{rose}</g>\
         <circle cx=\"120\" cy=\"145\" r=\"34\" fill=\"#1a1611\"/>\
         <circle cx=\"120\" cy=\"145\" r=\"31\" fill=\"none\" stroke=\"#c9a55a\" stroke-width=\"2.4\"/>\
         <g fill=\"#fffaf0\" font-family=\"{SERIF}\" font-weight=\"600\" text-anchor=\"middle\">\
         <text x=\"120\" y=\"160\" font-size=\"44\">P</text>\
         <text x=\"120\" y=\"52\" font-size=\"22\" textLength=\"102\" lengthAdjust=\"spacingAndGlyphs\">POSTAGE</text>\
         <text x=\"120\" y=\"254\" font-size=\"22\" textLength=\"102\" lengthAdjust=\"spacingAndGlyphs\">SANDBOX</text>\
         <text x=\"44\" y=\"254\" font-size=\"23\">{left}</text>\
         <text x=\"196\" y=\"254\" font-size=\"23\">{right}</text></g>"
    )
}

fn letter(number: u64) -> char {
    u8::try_from(number % 26).map_or('A', |place| char::from(b'A' + place))
}
