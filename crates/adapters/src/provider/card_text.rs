//! What fits on the back of a card, and which characters are printed.

use std::ops::RangeInclusive;

use order::model::card::Postcard;
use order::model::card::warning::{CardWarning, WarningCode};

/// What fits beside the address at the smallest size that can be read, 8 points.
const LINE_CHARACTERS: usize = 42;
const LINES_MAX: usize = 27;

/// The letters of European languages in Latin script, their punctuation, and the euro sign.
const LATIN: [RangeInclusive<char>; 4] =
    ['\n'..='\n', ' '..='~', '\u{a0}'..='\u{17f}', '\u{218}'..='\u{21b}'];
const PUNCTUATION: [RangeInclusive<char>; 3] =
    ['\u{2010}'..='\u{2015}', '\u{2018}'..='\u{201f}', '\u{2020}'..='\u{2026}'];
const CURRENCIES: [RangeInclusive<char>; 1] = ['€'..='€'];
const GREEK_AND_CYRILLIC: [RangeInclusive<char>; 1] = ['\u{370}'..='\u{52f}'];

/// The scripts whose letters a provider is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typeface {
    /// The handwriting of thanks.io. Its documentation lists no characters, and its customers
    /// write English.
    Handwriting,
    /// Georgia, which our HTML for Lob names.
    Georgia,
}

impl Typeface {
    fn has(self, letter: char) -> bool {
        let is_in =
            |ranges: &[RangeInclusive<char>]| ranges.iter().any(|range| range.contains(&letter));
        let latin = is_in(&LATIN) || is_in(&PUNCTUATION) || is_in(&CURRENCIES);
        match self {
            Self::Handwriting => latin,
            Self::Georgia => latin || is_in(&GREEK_AND_CYRILLIC),
        }
    }
}

/// Whether a message fits. Every line counts as narrow as those beside the address.
pub(super) fn fits(message: &str) -> bool {
    lines(message, LINE_CHARACTERS) <= LINES_MAX
}

/// How many lines of this width a message takes.
pub(super) fn lines(message: &str, width: usize) -> usize {
    message.split('\n').map(|line| line.chars().count().div_ceil(width).max(1)).sum()
}

/// The text of a card that does not fit or may not be printed.
pub(super) fn warnings(card: &Postcard, typeface: Typeface) -> Vec<CardWarning> {
    let mut warnings = Vec::new();
    if !fits(card.message.as_str()) {
        let message = format!(
            "At most {LINES_MAX} lines of {LINE_CHARACTERS} characters fit on the card; the rest may \
             be cut off or too small to read."
        );
        warnings.push(CardWarning { code: WarningCode::TextTooLong, field: "message", message });
    }
    let to = &card.recipient;
    for (field, text) in [
        ("message", card.message.as_str()),
        ("recipient.name", to.name.as_str()),
        ("recipient.address", to.address.as_str()),
        ("recipient.city", to.city.as_str()),
        ("recipient.province", to.province.as_str()),
        ("recipient.postal_code", to.postal_code.as_str()),
    ] {
        if !text.chars().all(|letter| typeface.has(letter)) {
            let message = "This text has characters, such as emoji or letters of another script, \
                           that the provider may not print. Look at the preview."
                .into();
            let code = WarningCode::UnprintableCharacters;
            warnings.push(CardWarning { code, field, message });
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use order::testing::fakes::cards::card;

    use super::*;

    fn found(message: &str, typeface: Typeface) -> Vec<(&'static str, &'static str)> {
        let warnings = warnings(&card(message), typeface);
        warnings.iter().map(|warning| (warning.code.as_str(), warning.field)).collect()
    }

    #[test]
    fn a_message_that_does_not_fit_is_reported() {
        assert_eq!(found(&"a\n".repeat(26), Typeface::Handwriting), []);
        let long = found(&"a\n".repeat(27), Typeface::Handwriting);
        assert_eq!(long, [("text_too_long", "message")]);
    }

    #[test]
    fn characters_that_may_not_be_printed_are_reported_for_their_field() {
        let unprintable = [("unprintable_characters", "message")];
        for (message, handwriting, georgia) in [
            ("Grüße, señor – “ça va”… 3 €\nŁódź", true, true),
            ("Καλημέρα", false, true),
            ("Привет", false, true),
            ("你好", false, false),
            ("🚀", false, false),
            ("a\u{202e}b", false, false),
            ("\u{fffd}", false, false),
        ] {
            for (typeface, printed) in
                [(Typeface::Handwriting, handwriting), (Typeface::Georgia, georgia)]
            {
                let expected: &[_] = if printed { &[] } else { &unprintable };
                assert_eq!(found(message, typeface), expected, "{message} {typeface:?}");
            }
        }
    }
}
