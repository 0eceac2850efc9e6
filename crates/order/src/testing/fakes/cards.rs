//! Cards for tests.

use crate::model::card::{Draft, Postcard};

/// A card that says `message` and is fine otherwise.
pub fn card(message: &str) -> Postcard {
    card_to("GB", message)
}

/// The same to another country.
pub fn card_to(country: &str, message: &str) -> Postcard {
    let draft = Draft {
        front_image_url: Some("https://images.example.org/sea.jpg"),
        message: Some(message),
        name: Some("Ada Lovelace"),
        address: Some("12 St James's Square"),
        city: Some("London"),
        province: Some("Greater London"),
        postal_code: Some("SW1Y 4LB"),
        country: Some(country),
    };
    Postcard::parse(&draft).expect("a good card")
}
