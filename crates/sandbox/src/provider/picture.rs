//! Both sides of a card as SVG drawings. A drawing loads no external image, font or script.

mod back;
pub(crate) mod canvas;
mod front;
mod glyphs;
mod handwriting;
mod ink;
mod jitter;
mod postmark;
mod stamp;
pub(crate) mod svg;

use order::model::ids::Timestamp;

use crate::provider::picture::canvas::DrawingPurpose;
use crate::provider::state::card::PostcardContent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardSide {
    Front,
    Back,
}

impl CardSide {
    pub(crate) fn read(file: &str) -> Option<Self> {
        match file {
            "front.svg" => Some(Self::Front),
            "back.svg" => Some(Self::Back),
            _ => None,
        }
    }
}

pub(crate) fn draw(
    side: CardSide,
    content: &PostcardContent,
    at: Timestamp,
    occasion: DrawingPurpose,
) -> String {
    match side {
        CardSide::Front => front::draw(content),
        CardSide::Back => back::draw(content, at, occasion),
    }
}
