//! Cards for tests.

use crate::card::{Draft, Postcard};

/// A card that says `message` and is fine otherwise.
pub fn card(message: &str) -> Postcard {
    let text = |text: &str| Some(text.to_owned());
    let draft = Draft {
        front_image_url: text("https://images.example.org/sea.jpg"),
        message: text(message),
        name: text("Ada Lovelace"),
        address: text("12 St James's Square"),
        city: text("London"),
        province: text("Greater London"),
        postal_code: text("SW1Y 4LB"),
        country: text("GB"),
    };
    Postcard::parse(&draft).expect("a good card")
}
