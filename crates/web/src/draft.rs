//! The body of a postcard request, read with every fault named at once.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, StatusCode};
use order::checkout::Request;
use order::model::card::{Draft, FieldFault, Postcard};
use order::model::ids::OperationId;
use order::model::payment::Credential;
use order::model::seller::Username;
use order::ports::NameService;
use order::refusal::Refusal;
use pay::envelope::Muddle;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A caller's own name for the operation, as a header.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Room for as many members as a postcard or a recipient has.
const MEMBERS: usize = 6;

/// What was asked for, and of whom.
pub(crate) struct Asked {
    pub(crate) card: Postcard,
    pub(crate) seller: Option<Username>,
    pub(crate) operation_id: Option<OperationId>,
}

impl Asked {
    /// What the desk is asked to do.
    pub(crate) fn with(self, credential: Option<Credential>) -> Request {
        let Self { card, seller, operation_id } = self;
        Request { seller, operation_id, card, credential }
    }
}

/// Why there is no card to speak of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Not even JSON.
    Malformed,
    Refused(Refusal),
}

/// Reads a whole request, and says whatever is wrong with it.
pub(crate) fn read(
    names: &dyn NameService,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Asked, Unread> {
    // A validator that knows no card yet sends nothing, and is to be told what one is.
    if body.is_empty() {
        return asked(names, headers, &Sheet::Members(Members(Vec::new())))
            .map_err(Unread::Refused);
    }
    // As one text, since it is quicker to see that once than for every word in it.
    let text = std::str::from_utf8(body).map_err(|_| Unread::Malformed)?;
    let sheet = serde_json::from_str(text).map_err(|_| Unread::Malformed)?;
    asked(names, headers, &sheet).map_err(Unread::Refused)
}

fn asked(
    names: &dyn NameService,
    headers: &HeaderMap,
    sheet: &Sheet<'_>,
) -> Result<Asked, Refusal> {
    let mut faults = Vec::new();
    let Sheet::Members(members) = sheet else {
        let message = "Send one JSON object with front_image_url, message and recipient.".into();
        return Err(Refusal::CardInvalid(vec![FieldFault { field: "body", message }]));
    };
    let card = Postcard::parse(&draft(members, &mut faults)).map_err(|found| {
        // A field that came twice has been named already, and is not missing.
        let known = |fault: &FieldFault| faults.iter().any(|other| other.field == fault.field);
        let found: Vec<_> = found.into_iter().filter(|fault| !known(fault)).collect();
        faults.extend(found);
    });
    let seller = seller(names, members, &mut faults);
    let operation_id = operation_id(headers, members);
    match (card, operation_id) {
        (Ok(card), Ok(operation_id)) if faults.is_empty() => {
            Ok(Asked { card, seller, operation_id })
        }
        (Ok(_), Err(WrongIdentifier)) if faults.is_empty() => Err(Refusal::IdentifierInvalid),
        (_, identifier) => {
            if identifier.is_err() {
                let message = "16 to 128 letters, digits, _ or -, and the same everywhere.".into();
                faults.push(FieldFault { field: "operation_id", message });
            }
            Err(Refusal::CardInvalid(faults))
        }
    }
}

fn draft<'a>(members: &'a Members<'a>, faults: &mut Vec<FieldFault>) -> Draft<'a> {
    let recipient = match members.find("recipient") {
        Found::Once(Sheet::Members(recipient)) => recipient,
        Found::Once(Sheet::Text(_) | Sheet::Other) | Found::Nowhere => NOTHING,
        Found::Twice => {
            faults.push(twice("recipient"));
            NOTHING
        }
    };
    let mut text = |members: &'a Members<'a>, name: &str, field| match members.find(name) {
        Found::Once(Sheet::Text(text)) => Some(text.as_ref()),
        Found::Once(Sheet::Members(_) | Sheet::Other) | Found::Nowhere => None,
        Found::Twice => {
            faults.push(twice(field));
            None
        }
    };
    Draft {
        front_image_url: text(members, "front_image_url", "front_image_url"),
        message: text(members, "message", "message"),
        name: text(recipient, "name", "recipient.name"),
        address: text(recipient, "address", "recipient.address"),
        city: text(recipient, "city", "recipient.city"),
        province: text(recipient, "province", "recipient.province"),
        postal_code: text(recipient, "postal_code", "recipient.postal_code"),
        country: text(recipient, "country", "recipient.country"),
    }
}

fn seller(
    names: &dyn NameService,
    members: &Members<'_>,
    faults: &mut Vec<FieldFault>,
) -> Option<Username> {
    let fault = match members.find("seller") {
        Found::Nowhere => return None,
        Found::Once(Sheet::Text(text)) => match names.read(text) {
            Ok(username) => return Some(username),
            Err(_) => {
                let message = "This cannot be a seller's username. Leave it out for the usual one.";
                FieldFault { field: "seller", message: message.into() }
            }
        },
        Found::Once(Sheet::Members(_) | Sheet::Other) => {
            FieldFault { field: "seller", message: "A username is text.".into() }
        }
        Found::Twice => twice("seller"),
    };
    faults.push(fault);
    None
}

/// An identifier that does not read, or two that differ.
struct WrongIdentifier;

fn operation_id(
    headers: &HeaderMap,
    members: &Members<'_>,
) -> Result<Option<OperationId>, WrongIdentifier> {
    let read = |text: &str| text.parse().map_err(|_| WrongIdentifier);
    let mut given = Vec::new();
    for value in headers.get_all(IDEMPOTENCY_KEY) {
        given.push(read(value.to_str().map_err(|_| WrongIdentifier)?)?);
    }
    match members.find("operation_id") {
        Found::Nowhere => {}
        Found::Once(Sheet::Text(text)) => given.push(read(text)?),
        Found::Once(Sheet::Members(_) | Sheet::Other) | Found::Twice => {
            return Err(WrongIdentifier);
        }
    }
    let first: Option<OperationId> = given.first().cloned();
    let agree = given.iter().all(|one| Some(one) == first.as_ref());
    if agree { Ok(first) } else { Err(WrongIdentifier) }
}

fn twice(field: &'static str) -> FieldFault {
    FieldFault { field, message: "This field is given twice; which one counts?".into() }
}

/// The contract's status, odd as it is.
pub(crate) const MALFORMED: Muddle = Muddle {
    status: StatusCode::INTERNAL_SERVER_ERROR,
    code: "malformed_json",
    message: "The body is not JSON. Nothing was sent or charged.",
};

/// As much of a JSON body as a postcard has: texts and members, read where they lie
/// unless something in them is escaped. It holds personal data, so it has no way to
/// print itself.
enum Sheet<'a> {
    Text(Cow<'a, str>),
    Members(Members<'a>),
    Other,
}

struct Members<'a>(Vec<(Name<'a>, Sheet<'a>)>);

const NOTHING: &Members<'_> = &Members(Vec::new());

struct Name<'a>(Cow<'a, str>);

enum Found<'a> {
    Nowhere,
    Once(&'a Sheet<'a>),
    Twice,
}

impl<'a> Members<'a> {
    fn find(&'a self, name: &str) -> Found<'a> {
        let mut of_that_name = self.0.iter().filter(|(member, _)| member.0 == name);
        match (of_that_name.next(), of_that_name.next()) {
            (None, _) => Found::Nowhere,
            (Some((_, sheet)), None) => Found::Once(sheet),
            (Some(_), Some(_)) => Found::Twice,
        }
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Sheet::deserialize(deserializer)? {
            Sheet::Text(text) => Ok(Self(text)),
            Sheet::Members(_) | Sheet::Other => Err(D::Error::custom("a name is text")),
        }
    }
}

impl<'de> Deserialize<'de> for Sheet<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Sheet<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sheet<'de>, A::Error> {
        let mut members = Vec::with_capacity(MEMBERS);
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Sheet::Members(Members(members)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sheet<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Sheet::Other)
    }

    fn visit_unit<E>(self) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Sheet<'de>, E> {
        Ok(Sheet::Other)
    }
}

#[cfg(test)]
mod tests;
