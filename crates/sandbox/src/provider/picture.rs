//! Both sides of a card as drawings that a person enjoys opening.
//!
//! A drawing asks nobody for anything: no picture, no font, no script.

mod back;
mod chance;
mod front;
mod glyphs;
mod hand;
mod ink;
mod postmark;
mod stamp;
mod svg;

pub(crate) use svg::escaped;

use order::model::ids::Timestamp;

use super::card::Sheet;

/// A card is six inches by four; a unit is a three-hundredth of an inch.
pub(crate) const WIDTH: i64 = 1_800;
pub(crate) const HEIGHT: i64 = 1_200;

pub(crate) const SERIF: &str =
    "'Iowan Old Style','Palatino Linotype',Palatino,'URW Palladio L',P052,Georgia,serif";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Front,
    Back,
}

impl Side {
    pub(crate) fn read(file: &str) -> Option<Self> {
        match file {
            "front.svg" => Some(Self::Front),
            "back.svg" => Some(Self::Back),
            _ => None,
        }
    }
}

/// Why the card is drawn, which the postmark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    Preview,
    /// The number under which the card was accepted.
    Card(u64),
}

pub(crate) fn draw(side: Side, sheet: &Sheet, at: Timestamp, occasion: Occasion) -> String {
    match side {
        Side::Front => front::draw(sheet),
        Side::Back => back::draw(sheet, at, occasion),
    }
}

fn document(title: &str, description: &str, body: &str) -> String {
    let (title, description) = (escaped(title), escaped(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\"><title>{title}</title>\
         <desc>{description}</desc>{body}</svg>"
    )
}
