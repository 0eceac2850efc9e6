//! What a caller gave, read where it lies: nothing twice, nothing bottomless, and no copy without need.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// How deep a message may be nested; nothing that we take has more than five levels.
pub(super) const LEVELS_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given<'a> {
    Null,
    Whole(u64),
    Text(Cow<'a, str>),
    Object(Members<'a>),
    /// A truth, a list or another number, of which we take none.
    Other,
}

/// The members of an object in the sequence in which they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, Given<'a>)>);

/// Why something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is no JSON, or a number or an escape in it means nothing.
    NoJson,
    /// It is JSON, but not an object, or one that says the same twice or is nested too deep.
    NotTaken,
}

impl<'a> Given<'a> {
    /// Reads what stands one level inside of a message.
    pub(super) fn read(raw: &'a RawValue) -> Result<Self, Unreadable> {
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        Levels(LEVELS_MAX - 1).deserialize(&mut reader).map_err(unreadable)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Whole(_) | Self::Object(_) | Self::Other => None,
        }
    }

    pub(super) fn object(&self) -> Option<&Members<'a>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Null | Self::Whole(_) | Self::Text(_) | Self::Other => None,
        }
    }
}

impl<'a> Members<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Given<'a>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, given)| given)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Given::text)
    }

    pub(super) fn object(&self, name: &str) -> Option<&Self> {
        self.get(name).and_then(Given::object)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

/// The outermost members of a body, each still as it was written.
pub(super) fn envelope(body: &[u8]) -> Result<Vec<(Cow<'_, str>, &RawValue)>, Unreadable> {
    let text = str::from_utf8(body).map_err(|_| Unreadable::NoJson)?;
    serde_json::from_str(text).map(|Envelope(members)| members).map_err(|error| {
        // A list is refused at its first letter; whether it is one at all shows at its end.
        let whole = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        match unreadable(error) {
            Unreadable::NotTaken if whole() => Unreadable::NotTaken,
            Unreadable::NotTaken | Unreadable::NoJson => Unreadable::NoJson,
        }
    })
}

fn unreadable(error: serde_json::Error) -> Unreadable {
    match error.classify() {
        Category::Data => Unreadable::NotTaken,
        Category::Io | Category::Syntax | Category::Eof => Unreadable::NoJson,
    }
}

struct Envelope<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Opening;
        impl<'de> Visitor<'de> for Opening {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some((Name(name), raw)) = map.next_entry()? {
                    members.push((name, raw));
                }
                once_each(&members).map(|()| Envelope(members))
            }
        }
        reader.deserialize_map(Opening)
    }
}

/// A text that is borrowed unless it holds escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
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
        reader.deserialize_str(Reading)
    }
}

/// How many levels are left below.
#[derive(Clone, Copy)]
struct Levels(usize);

impl Levels {
    fn below<E: Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("nested too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = Given<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Given<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = Given<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Given<'de>, E> {
        Ok(Given::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Given<'de>, E> {
        Ok(Given::Other)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Given<'de>, E> {
        Ok(Given::Whole(number))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Given<'de>, E> {
        Ok(Given::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Given<'de>, E> {
        Ok(Given::Other)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Given<'de>, E> {
        Ok(Given::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Given<'de>, E> {
        Ok(Given::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Given<'de>, A::Error> {
        let below = self.below()?;
        while list.next_element_seed(below)?.is_some() {}
        Ok(Given::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given<'de>, A::Error> {
        let below = self.below()?;
        let mut members = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            members.push((name, map.next_value_seed(below)?));
        }
        once_each(&members).map(|()| Given::Object(Members(members)))
    }
}

/// Two readers of a name that stands twice may each believe another of the two.
fn once_each<T, E: Error>(members: &[(Cow<'_, str>, T)]) -> Result<(), E> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    let twice = names.windows(2).any(|pair| pair.first() == pair.last());
    if twice { Err(E::custom("the same name twice")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
