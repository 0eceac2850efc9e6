//! Reads the body of a send, with every fault named as this provider names it.

use order::model::country::CountryCode;
use serde_json::{Map, Value, json};
use url::Url;

use crate::provider::state::card::{CardRecipient, CardSize, PostcardContent};

const METADATA_BYTES_MAX: usize = 8_192;
const MESSAGE_CHARACTERS_MAX: usize = 1_000;
const LINE_CHARACTERS_MAX: usize = 100;

struct Reader {
    faults: Map<String, Value>,
}

pub(crate) fn content(body: &Value) -> Result<PostcardContent, Map<String, Value>> {
    let mut reader = Reader { faults: Map::new() };
    let size = match body.get("size") {
        None | Some(Value::Null) => CardSize::FourBySix,
        Some(size) => reader.take("size", size.as_str().and_then(CardSize::read), "is invalid"),
    };
    let front = reader.text(body, "front_image_url", "front_image_url", 2_048);
    let message = reader.text(body, "message", "message", MESSAGE_CHARACTERS_MAX);
    if !front.is_empty() && !is_web_address(&front) {
        reader.fault("front_image_url", "must be a valid URL");
    }
    let metadata = body.get("metadata").cloned().unwrap_or(Value::Null);
    if !metadata.is_object() && !metadata.is_null() {
        reader.fault("metadata", "must be an object");
    }
    if metadata.to_string().len() > METADATA_BYTES_MAX {
        reader.fault("metadata", "must not be greater than 8192 bytes");
    }
    if body.get("preview").is_some_and(|preview| !preview.is_boolean()) {
        reader.fault("preview", "must be true or false");
    }
    let recipient = reader.recipient(body);
    match (recipient, reader.faults.is_empty()) {
        (Some(recipient), true) => {
            Ok(PostcardContent { front, message, size, recipient, metadata })
        }
        (Some(_) | None, _) => Err(reader.faults),
    }
}

impl Reader {
    /// One recipient an order: this sandbox mails one card at a time.
    fn recipient(&mut self, body: &Value) -> Option<CardRecipient> {
        let listed = body.get("recipients").and_then(Value::as_array);
        let Some([recipient]) = listed.map(Vec::as_slice) else {
            let words = match listed {
                Some(several) if !several.is_empty() => "must hold one recipient in the sandbox",
                Some(_) | None => "is required",
            };
            self.fault("recipients", words);
            return None;
        };
        let mut line = |name: &str| {
            self.text(recipient, name, &format!("recipients.0.{name}"), LINE_CHARACTERS_MAX)
        };
        let [name, address, city, province, postal_code, country] =
            ["name", "address", "city", "province", "postal_code", "country"].map(&mut line);
        let optional =
            |name: &str| recipient.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (company, address2) = (optional("company"), optional("address2"));
        let country = CountryCode::parse(&country);
        if country.is_err() {
            self.fault("recipients.0.country", "must be a two-letter country code");
        }
        let country = country.ok()?;
        Some(CardRecipient {
            name,
            company,
            address,
            address2,
            city,
            province,
            postal_code,
            country,
        })
    }

    fn text(&mut self, from: &Value, name: &str, label: &str, most: usize) -> String {
        let text = match from.get(name) {
            Some(Value::String(text)) => text.trim(),
            Some(Value::Null) | None => "",
            Some(_) => {
                self.fault(label, "must be a string");
                return String::new();
            }
        };
        if text.is_empty() {
            self.fault(label, "is required");
        }
        if text.chars().count() > most {
            self.fault(label, &format!("must not be greater than {most} characters"));
        }
        text.to_owned()
    }

    fn take(&mut self, label: &str, read: Option<CardSize>, words: &str) -> CardSize {
        read.unwrap_or_else(|| {
            self.fault(label, words);
            CardSize::FourBySix
        })
    }

    /// The first fault of a field stands: the others follow from it.
    fn fault(&mut self, label: &str, words: &str) {
        let sentence = format!("The {label} field {words}.");
        self.faults.entry(label.to_owned()).or_insert_with(|| json!([sentence]));
    }
}

fn is_web_address(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
