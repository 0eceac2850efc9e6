//! The card, sent as its file has it, every time.

use std::fs;
use std::path::Path;

use evm::hex;
use evm::keccak::keccak256;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::outcome::PaymentOutcome;

pub(crate) struct CardFile {
    raw: Box<RawValue>,
    /// An identifier that its author gave it.
    pub(crate) operation_id: Option<String>,
}

impl CardFile {
    pub(crate) fn read(path: &Path) -> Result<Self, PaymentOutcome> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            PaymentOutcome::Unusable(format!("The card {shown} cannot be read: {error}.\n"))
        })?;
        Self::parse(&text).map_err(|fault| {
            PaymentOutcome::Unusable(format!(
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
    pub(crate) fn document(&self) -> &RawValue {
        &self.raw
    }

    /// The document as it travels.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.raw.get().as_bytes()
    }

    /// Identifies this card without revealing what is on it.
    pub(crate) fn digest(&self) -> String {
        hex::encode(&keccak256(&[self.bytes()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_sent_as_it_was_written() {
        let text = "{ \"message\" : \"1.0\",\n \"n\": 1.0 }";
        let card = CardFile::parse(&format!("\n{text}\n\n")).unwrap();
        assert_eq!(serde_json::to_string(card.document()).unwrap(), text);
        assert_eq!(card.bytes(), text.as_bytes());
        assert_eq!(card.operation_id, None);
        assert_ne!(card.digest(), CardFile::parse("{}").unwrap().digest());
    }

    #[test]
    fn only_a_json_object_is_a_card() {
        for text in ["", "[1]", "\"card\"", "{\"message\": }"] {
            assert!(CardFile::parse(text).is_err(), "{text}");
        }
        let named = CardFile::parse(r#"{"operation_id": "birthday-of-ada-1"}"#).unwrap();
        assert_eq!(named.operation_id.as_deref(), Some("birthday-of-ada-1"));
    }
}
