//! The card as its file has it: sent as it is written, every time.

use std::fs;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::end::End;
use super::hex;
use super::typed::keccak;

pub(super) struct Card {
    raw: Box<RawValue>,
    /// An identifier that its author gave it.
    pub(super) operation_id: Option<String>,
}

impl Card {
    pub(super) fn read(path: &Path) -> Result<Self, End> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            End::Unusable(format!("The card {shown} cannot be read: {error}.\n"))
        })?;
        Self::parse(&text).map_err(|fault| {
            End::Unusable(format!(
                "The card {shown} is no JSON object{fault}.\n\
                 The quick start of the documentation, /docs, has one to begin with.\n"
            ))
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let raw: Box<RawValue> =
            serde_json::from_str(text).map_err(|error| format!(": {error}"))?;
        let card: Value = serde_json::from_str(raw.get()).map_err(|error| format!(": {error}"))?;
        if !card.is_object() {
            return Err(String::new());
        }
        let operation_id = card["operation_id"].as_str().map(str::to_owned);
        Ok(Self { raw, operation_id })
    }

    /// The document to send.
    pub(super) fn document(&self) -> &RawValue {
        &self.raw
    }

    /// The document as it travels.
    pub(super) fn bytes(&self) -> &[u8] {
        self.raw.get().as_bytes()
    }

    /// Tells this card from every other, without telling what is on it.
    pub(super) fn digest(&self) -> String {
        hex::encode(&keccak(self.raw.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_sent_as_it_was_written() {
        let text = "{ \"message\" : \"1.0\",\n \"n\": 1.0 }";
        let card = Card::parse(&format!("\n{text}\n\n")).unwrap();
        assert_eq!(serde_json::to_string(card.document()).unwrap(), text);
        assert_eq!(card.bytes(), text.as_bytes());
        assert_eq!(card.operation_id, None);
        assert_ne!(card.digest(), Card::parse("{}").unwrap().digest());
    }

    #[test]
    fn what_is_no_object_is_no_card() {
        for text in ["", "[1]", "\"card\"", "{\"message\": }"] {
            assert!(Card::parse(text).is_err(), "{text}");
        }
        let named = Card::parse(r#"{"operation_id": "birthday-of-ada-1"}"#).unwrap();
        assert_eq!(named.operation_id.as_deref(), Some("birthday-of-ada-1"));
    }
}
