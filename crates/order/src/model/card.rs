//! The postcard that a caller asks for, read from a draft with every fault named at once.

use crate::model::country::CountryCode;
use crate::model::image_url::PublicImageUrl;
use crate::model::redacted::redacted_debug;

pub mod warning;

/// A card's back has room for about this much handwriting.
pub const MESSAGE_CHARACTERS_MAX: usize = 1_000;
/// Longer than any line that fits on an address label.
pub const ADDRESS_CHARACTERS_MAX: usize = 100;

/// One 4x6 card. Personal data: it has no way to print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Postcard {
    pub front: PublicImageUrl,
    pub message: Message,
    pub recipient: Recipient,
}

/// What the card says.
#[derive(Clone, PartialEq, Eq)]
pub struct Message(String);

/// Where the card goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient {
    pub name: AddressLine,
    pub address: AddressLine,
    pub city: AddressLine,
    pub province: AddressLine,
    pub postal_code: AddressLine,
    pub country: CountryCode,
}

/// One line of an address.
#[derive(Clone, PartialEq, Eq)]
pub struct AddressLine(String);

impl Message {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AddressLine {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a caller sent, unchecked. A field is absent if it was missing or not text.
#[derive(Clone, Copy, Default)]
pub struct Draft<'a> {
    pub front_image_url: Option<&'a str>,
    pub message: Option<&'a str>,
    pub name: Option<&'a str>,
    pub address: Option<&'a str>,
    pub city: Option<&'a str>,
    pub province: Option<&'a str>,
    pub postal_code: Option<&'a str>,
    pub country: Option<&'a str>,
}

/// One invalid field, with a text for the caller. It never repeats what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    pub field: &'static str,
    pub message: String,
}

impl Postcard {
    pub fn parse(draft: &Draft<'_>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Vec::new();
        let front = field(&mut faults, "front_image_url", draft.front_image_url, |text| {
            PublicImageUrl::parse(text).map_err(|fault| fault.to_string())
        });
        let message = field(&mut faults, "message", draft.message, parse_message);
        let recipient = parse_recipient(&mut faults, draft);
        match (front, message, recipient) {
            (Some(front), Some(message), Some(recipient)) if faults.is_empty() => {
                Ok(Self { front, message, recipient })
            }
            _ => Err(faults),
        }
    }

    /// Every field in a fixed, written-down sequence, for digests and for
    /// sealing. Each is preceded by its length, so no two cards share a form.
    pub fn canonical(&self) -> Vec<u8> {
        let mut form = Vec::with_capacity(512);
        for text in self.fields() {
            let length = u32::try_from(text.len()).expect("a field is far below 4 GiB");
            form.extend_from_slice(&length.to_be_bytes());
            form.extend_from_slice(text.as_bytes());
        }
        form
    }

    /// Reads what [`canonical`](Self::canonical) wrote. The rules for requests are not
    /// applied again: if they grow stricter, a card that is owed must still be readable.
    pub fn from_canonical(mut form: &[u8]) -> Option<Self> {
        let mut next = || {
            let (length, rest) = form.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (text, rest) = rest.split_at_checked(length)?;
            form = rest;
            String::from_utf8(text.to_vec()).ok()
        };
        let card = Self {
            front: PublicImageUrl::kept(next()?),
            message: Message(next()?),
            recipient: Recipient {
                name: AddressLine(next()?),
                address: AddressLine(next()?),
                city: AddressLine(next()?),
                province: AddressLine(next()?),
                postal_code: AddressLine(next()?),
                country: CountryCode::kept(&next()?)?,
            },
        };
        form.is_empty().then_some(card)
    }

    fn fields(&self) -> [&str; 8] {
        let to = &self.recipient;
        [
            self.front.as_str(),
            self.message.as_str(),
            to.name.as_str(),
            to.address.as_str(),
            to.city.as_str(),
            to.province.as_str(),
            to.postal_code.as_str(),
            to.country.as_str(),
        ]
    }
}

fn parse_recipient(faults: &mut Vec<FieldFault>, draft: &Draft<'_>) -> Option<Recipient> {
    let name = field(faults, "recipient.name", draft.name, parse_line);
    let address = field(faults, "recipient.address", draft.address, parse_line);
    let city = field(faults, "recipient.city", draft.city, parse_line);
    let province = field(faults, "recipient.province", draft.province, parse_line);
    let postal_code = field(faults, "recipient.postal_code", draft.postal_code, parse_line);
    let country = field(faults, "recipient.country", draft.country, |text| {
        CountryCode::parse(text).map_err(|fault| fault.to_string())
    });
    Some(Recipient {
        name: name?,
        address: address?,
        city: city?,
        province: province?,
        postal_code: postal_code?,
        country: country?,
    })
}

fn field<T>(
    faults: &mut Vec<FieldFault>,
    field: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let read = match text {
        Some(text) => parse(text),
        None => Err("This field is required, as text.".into()),
    };
    // mutant: repeated-field
    read.map_err(|message| faults.push(FieldFault { field, message })).ok()
}

fn parse_message(text: &str) -> Result<Message, String> {
    let control = |letter: char| letter.is_control() && letter != '\n';
    plain(text, MESSAGE_CHARACTERS_MAX, control).map(Message)
}

fn parse_line(text: &str) -> Result<AddressLine, String> {
    plain(text, ADDRESS_CHARACTERS_MAX, char::is_control).map(AddressLine)
}

fn plain(text: &str, most: usize, control: impl Fn(char) -> bool) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("This field must not be empty.".into());
    }
    // No text has more characters than bytes.
    let characters = if text.len() > most { text.chars().count() } else { 0 };
    if characters > most {
        return Err(format!("At most {most} characters fit here; this has {characters}."));
    }
    // Most texts are plain ASCII, which is quick to check.
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !plain && text.chars().any(control) {
        return Err("Control characters cannot be printed; please remove them.".into());
    }
    Ok(text.to_owned())
}

redacted_debug!(Postcard, Message, Recipient, AddressLine, Draft<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft<'static> {
        Draft {
            front_image_url: Some("https://images.example.org/sea.jpg"),
            message: Some("The sea says hello.\nSo do I."),
            name: Some("Ada Lovelace"),
            address: Some("12 St James's Square"),
            city: Some("London"),
            province: Some("Greater London"),
            postal_code: Some("SW1Y 4LB"),
            country: Some("gb"),
        }
    }

    #[test]
    fn every_faulty_field_is_named_at_once() {
        let faulty = Draft {
            front_image_url: Some("http://10.0.0.1/a.png"),
            message: Some(&"x".repeat(1_001)),
            city: Some("  "),
            province: Some("line\nbreak"),
            country: Some("UK"),
            name: None,
            ..draft()
        };
        let faults = Postcard::parse(&faulty).unwrap_err();
        let named: Vec<_> = faults.iter().map(|fault| fault.field).collect();
        assert_eq!(
            named,
            [
                "front_image_url",
                "message",
                "recipient.name",
                "recipient.city",
                "recipient.province",
                "recipient.country",
            ]
        );
        assert!(faults.last().unwrap().message.contains("GB"), "{faults:?}");
    }

    #[test]
    fn a_card_reads_back_from_its_canonical_form_and_from_nothing_shorter_or_longer() {
        let card = Postcard::parse(&draft()).unwrap();
        let form = card.canonical();
        assert!(Postcard::from_canonical(&form) == Some(card));
        for length in 0..form.len() {
            assert!(Postcard::from_canonical(&form[..length]).is_none(), "{length}");
        }
        assert!(Postcard::from_canonical(&[form, vec![0]].concat()).is_none());
    }

    #[test]
    fn moving_a_letter_from_one_field_to_the_next_makes_another_card() {
        let (mut one, mut other) = (draft(), draft());
        (one.city, one.province) = (Some("ab"), Some("c"));
        (other.city, other.province) = (Some("a"), Some("bc"));
        let canonical = |draft| Postcard::parse(draft).unwrap().canonical();
        assert_ne!(canonical(&one), canonical(&other));
    }

    #[test]
    fn limits_count_characters_and_not_bytes() {
        let long = Draft { message: Some(&"ß".repeat(1_000)), ..draft() };
        assert!(Postcard::parse(&long).is_ok());
    }

    #[test]
    fn personal_data_does_not_print_itself() {
        let card = Postcard::parse(&draft()).unwrap();
        let printed = format!("{card:?} {:?} {:?} {:?}", card.recipient, card.message, draft());
        for word in ["sea", "Ada", "James", "London", "SW1Y"] {
            assert!(!printed.contains(word), "{printed}");
        }
    }
}
