//! Revert data in JSON-RPC errors, whose place differs by node software.

use alloy_primitives::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The `data` of an error.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RevertData {
    /// The bytes in hexadecimal, perhaps with a prefix.
    Text(String),
    /// The same one level deeper.
    Wrapped {
        data: String,
    },
    Nested {
        #[serde(rename = "originalError")]
        original: Original,
    },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Original {
    data: String,
}

impl RevertData {
    pub(super) fn bytes(self) -> Option<Bytes> {
        let text = match self {
            Self::Text(text) | Self::Wrapped { data: text } => text,
            Self::Nested { original } => original.data,
            Self::Other(_) => return None,
        };
        let digits = text.strip_prefix("Reverted ").unwrap_or(&text);
        digits.starts_with("0x").then(|| digits.parse().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revert_data_is_found_in_every_place() {
        let bytes = |json: &str| serde_json::from_str::<RevertData>(json).unwrap().bytes();
        let expected = Some(Bytes::from_static(&[0x55, 0x6f]));
        for json in [
            r#""0x556f""#,
            r#""Reverted 0x556f""#,
            r#"{"data":"0x556f","message":"no"}"#,
            r#"{"originalError":{"code":3,"data":"0x556f"}}"#,
        ] {
            assert_eq!(bytes(json), expected, "{json}");
        }
        for json in [r#""execution reverted""#, "7", "[]", r#"{"why":"no"}"#, r#""0x5""#] {
            assert_eq!(bytes(json), None, "{json}");
        }
    }
}
