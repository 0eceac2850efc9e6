//! The size and the frame of every drawing.

use crate::provider::picture::svg::escaped;

/// A card is six inches by four; a unit is a three-hundredth of an inch.
pub(crate) const WIDTH: i64 = 1_800;
pub(crate) const HEIGHT: i64 = 1_200;

pub(crate) const SERIF: &str =
    "'Iowan Old Style','Palatino Linotype',Palatino,'URW Palladio L',P052,Georgia,serif";

/// Whether a preview or a card is drawn; the postmark shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawingPurpose {
    Preview,
    /// The number under which the card was accepted.
    Card(u64),
}

pub(crate) fn document(title: &str, description: &str, body: &str) -> String {
    let (title, description) = (escaped(title), escaped(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\"><title>{title}</title>\
         <desc>{description}</desc>{body}</svg>"
    )
}
