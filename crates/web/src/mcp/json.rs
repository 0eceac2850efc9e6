//! A JSON parser that borrows from the body and rejects duplicate names and deep nesting.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The maximum nesting; valid messages have at most five levels.
pub(super) const LEVELS_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonValue<'a> {
    Null,
    Integer(u64),
    Text(Cow<'a, str>),
    Object(JsonObject<'a>),
    /// A boolean, a list or another number; no parameter has these types.
    Other,
}

/// The members of an object in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JsonObject<'a>(Vec<(Cow<'a, str>, JsonValue<'a>)>);

/// Why a text was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonError {
    /// Not JSON, or a number or an escape is invalid.
    Invalid,
    /// JSON, but not an object, or with a duplicate name or too many levels.
    Unsupported,
}

impl<'a> JsonValue<'a> {
    /// Parses a member of a message.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, JsonError> {
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        Levels(LEVELS_MAX - 1).deserialize(&mut reader).map_err(json_error)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Integer(_) | Self::Object(_) | Self::Other => None,
        }
    }

    pub(super) fn object(&self) -> Option<&JsonObject<'a>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Null | Self::Integer(_) | Self::Text(_) | Self::Other => None,
        }
    }
}

impl<'a> JsonObject<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&JsonValue<'a>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(JsonValue::text)
    }

    pub(super) fn object(&self, name: &str) -> Option<&Self> {
        self.get(name).and_then(JsonValue::object)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

/// The members of a body, not parsed yet.
pub(super) fn members(body: &[u8]) -> Result<Vec<(Cow<'_, str>, &RawValue)>, JsonError> {
    let text = str::from_utf8(body).map_err(|_| JsonError::Invalid)?;
    serde_json::from_str(text).map(|MessageMembers(members)| members).map_err(|error| {
        // A list is rejected at its first character; whether it is valid JSON shows at its end.
        let is_valid = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        match json_error(error) {
            JsonError::Unsupported if is_valid() => JsonError::Unsupported,
            JsonError::Unsupported | JsonError::Invalid => JsonError::Invalid,
        }
    })
}

fn json_error(error: serde_json::Error) -> JsonError {
    match error.classify() {
        Category::Data => JsonError::Unsupported,
        Category::Io | Category::Syntax | Category::Eof => JsonError::Invalid,
    }
}

struct MessageMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for MessageMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = MessageMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some((Name(name), raw)) = map.next_entry()? {
                    members.push((name, raw));
                }
                check_unique(&members).map(|()| MessageMembers(members))
            }
        }
        reader.deserialize_map(MembersVisitor)
    }
}

/// A string that is borrowed unless it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        reader.deserialize_str(NameVisitor)
    }
}

/// The number of levels that are left.
#[derive(Clone, Copy)]
struct Levels(usize);

impl Levels {
    fn below<E: Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = JsonValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<JsonValue<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Other)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Integer(number))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Other)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonValue<'de>, A::Error> {
        let below = self.below()?;
        while list.next_element_seed(below)?.is_some() {}
        Ok(JsonValue::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue<'de>, A::Error> {
        let below = self.below()?;
        let mut members = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            members.push((name, map.next_value_seed(below)?));
        }
        check_unique(&members).map(|()| JsonValue::Object(JsonObject(members)))
    }
}

/// Parsers disagree about which of two equal names counts, so duplicates are rejected.
fn check_unique<T, E: Error>(members: &[(Cow<'_, str>, T)]) -> Result<(), E> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    let has_duplicate = names.windows(2).any(|pair| pair.first() == pair.last());
    if has_duplicate { Err(E::custom("duplicate name")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
