//! What is known to go wrong with a card that is valid.

use crate::model::card::Postcard;
use crate::model::country::postal_rules::{self, AddressRule};
use crate::model::image_url::picture_size;

/// One thing that a caller should look at before paying. It does not reject the card: only a
/// provider that gives no price for it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardWarning {
    pub code: WarningCode,
    pub field: &'static str,
    /// A text for the caller. It never repeats what was sent.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningCode {
    TextTooLong,
    UnprintableCharacters,
    AddressIncomplete,
    PictureTooSmall,
    PriceAboveMaximum,
    NoQuote,
}

impl WarningCode {
    pub const ALL: [Self; 6] = [
        Self::TextTooLong,
        Self::UnprintableCharacters,
        Self::AddressIncomplete,
        Self::PictureTooSmall,
        Self::PriceAboveMaximum,
        Self::NoQuote,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TextTooLong => "text_too_long",
            Self::UnprintableCharacters => "unprintable_characters",
            Self::AddressIncomplete => "address_incomplete",
            Self::PictureTooSmall => "picture_too_small",
            Self::PriceAboveMaximum => "price_above_maximum",
            Self::NoQuote => "no_quote",
        }
    }
}

/// What is known about a card whatever provider prints it.
pub fn warnings(card: &Postcard) -> Vec<CardWarning> {
    let to = &card.recipient;
    let broken = postal_rules::broken(to.country, to.postal_code.as_str(), to.province.as_str());
    let mut warnings: Vec<_> = broken.into_iter().map(address_warning).collect();
    if picture_size::is_too_small(card.front.as_str()) {
        let message = format!(
            "The URL asks for a picture that is smaller than {} by {} pixels, so it will be printed \
             blurred.",
            picture_size::WIDTH,
            picture_size::HEIGHT
        );
        let (code, field) = (WarningCode::PictureTooSmall, "front_image_url");
        warnings.push(CardWarning { code, field, message });
    }
    warnings
}

fn address_warning(rule: AddressRule) -> CardWarning {
    let (field, message) = match rule {
        AddressRule::PostalCode { example } => (
            "recipient.postal_code",
            format!("A postal code of this country is written like {example}."),
        ),
        AddressRule::Province { example } => (
            "recipient.province",
            format!(
                "A province or state of this country is written in two letters, like {example}."
            ),
        ),
    };
    CardWarning { code: WarningCode::AddressIncomplete, field, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::card::Draft;
    use crate::testing::fakes::cards::card_to;

    #[test]
    fn a_complete_card_has_no_warning() {
        assert_eq!(warnings(&card_to("GB", "hello")), []);
    }

    #[test]
    fn each_warning_names_its_field_and_repeats_nothing_of_the_card() {
        let card = Postcard::parse(&Draft {
            front_image_url: Some("https://picsum.photos/640/480"),
            message: Some("hello"),
            name: Some("Ada Lovelace"),
            address: Some("1 Market Street"),
            city: Some("San Francisco"),
            province: Some("Californication"),
            postal_code: Some("8811"),
            country: Some("US"),
        });
        let found = warnings(&card.unwrap());
        let named: Vec<_> =
            found.iter().map(|warning| (warning.code.as_str(), warning.field)).collect();
        assert_eq!(
            named,
            [
                ("address_incomplete", "recipient.postal_code"),
                ("address_incomplete", "recipient.province"),
                ("picture_too_small", "front_image_url"),
            ]
        );
        for word in ["Californication", "8811", "picsum", "640", "Ada"] {
            assert!(found.iter().all(|warning| !warning.message.contains(word)), "{found:?}");
        }
    }
}
