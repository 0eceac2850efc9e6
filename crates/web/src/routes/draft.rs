//! Parses the body of a postcard request and reports all invalid fields together.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use order::checkout::Request;
use order::model::card::{Draft, FieldFault, Postcard};
use order::model::identity::quote::QuoteId;
use order::model::ids::OperationId;
use order::model::payment::Credential;
use order::model::seller::Username;
use order::ports::NameService;
use order::refusal::Refusal;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The caller's operation identifier, as a header.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The quote that the charge must not exceed, as a header.
const QUOTE_ID: &str = "quote-id";

/// The number of members of a postcard and of a recipient.
const FIELDS_EXPECTED: usize = 6;

/// A postcard with its optional seller and operation identifier.
pub(crate) struct PostcardRequest {
    pub(crate) card: Postcard,
    pub(crate) seller: Option<Username>,
    pub(crate) operation_id: Option<OperationId>,
    pub(crate) quote: Option<QuoteId>,
}

impl PostcardRequest {
    /// The request for the checkout.
    pub(crate) fn with(self, credential: Option<Credential>) -> Request {
        let Self { card, seller, operation_id, quote } = self;
        Request { seller, operation_id, card, quote, credential }
    }
}

/// Why there is no valid postcard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DraftError {
    /// The body is not JSON.
    MalformedJson,
    Refused(Refusal),
}

/// Parses body and headers, and reports everything that is invalid.
pub(crate) fn read(
    names: &dyn NameService,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<PostcardRequest, DraftError> {
    // An empty body gets the list of required fields, as an empty object does.
    if body.is_empty() {
        return parse_request(names, headers, &Field::Fields(Fields(Vec::new())))
            .map_err(DraftError::Refused);
    }
    // Checked as a whole, because that is faster than checking each string.
    let text = std::str::from_utf8(body).map_err(|_| DraftError::MalformedJson)?;
    // mutant: malformed-json-accepted
    let root = serde_json::from_str(text).map_err(|_| DraftError::MalformedJson)?;
    parse_request(names, headers, &root).map_err(DraftError::Refused)
}

fn parse_request(
    names: &dyn NameService,
    headers: &HeaderMap,
    root: &Field<'_>,
) -> Result<PostcardRequest, Refusal> {
    let mut faults = Vec::new();
    let Field::Fields(fields) = root else {
        let message = "Send one JSON object with front_image_url, message and recipient.".into();
        return Err(Refusal::CardInvalid(vec![FieldFault { field: "body", message }]));
    };
    let card = Postcard::parse(&draft(fields, &mut faults)).map_err(|found| {
        // A duplicate field is reported already, and is not missing.
        let known = |fault: &FieldFault| faults.iter().any(|other| other.field == fault.field);
        let found: Vec<_> = found.into_iter().filter(|fault| !known(fault)).collect();
        faults.extend(found);
    });
    let seller = seller(names, fields, &mut faults);
    let quote = quote(headers, fields, &mut faults);
    let operation_id = operation_id(headers, fields);
    match (card, operation_id) {
        (Ok(card), Ok(operation_id)) if faults.is_empty() => {
            Ok(PostcardRequest { card, seller, operation_id, quote })
        }
        (Ok(_), Err(InvalidIdentifier)) if faults.is_empty() => Err(Refusal::IdentifierInvalid),
        (_, identifier) => {
            if identifier.is_err() {
                let message =
                    "Must be 16 to 128 letters, digits, _ or -, and equal in header and body."
                        .into();
                faults.push(FieldFault { field: "operation_id", message });
            }
            Err(Refusal::CardInvalid(faults))
        }
    }
}

fn draft<'a>(fields: &'a Fields<'a>, faults: &mut Vec<FieldFault>) -> Draft<'a> {
    let recipient = match fields.find("recipient") {
        Lookup::One(Field::Fields(recipient)) => recipient,
        Lookup::One(Field::Text(_) | Field::Other) | Lookup::Missing => NO_FIELDS,
        Lookup::Duplicate => {
            faults.push(duplicate_field("recipient"));
            NO_FIELDS
        }
    };
    let mut text = |fields: &'a Fields<'a>, name: &str, field| match fields.find(name) {
        Lookup::One(Field::Text(text)) => Some(text.as_ref()),
        Lookup::One(Field::Fields(_) | Field::Other) | Lookup::Missing => None,
        Lookup::Duplicate => {
            faults.push(duplicate_field(field));
            None
        }
    };
    Draft {
        front_image_url: text(fields, "front_image_url", "front_image_url"),
        message: text(fields, "message", "message"),
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
    fields: &Fields<'_>,
    faults: &mut Vec<FieldFault>,
) -> Option<Username> {
    let fault = match fields.find("seller") {
        Lookup::Missing => return None,
        Lookup::One(Field::Text(text)) => match names.read(text) {
            Ok(username) => return Some(username),
            Err(_) => {
                // begin mutant: seller-in-answer
                let message =
                    "This is not a valid seller username. Omit it to use the default seller.";
                FieldFault { field: "seller", message: message.into() }
                // end mutant
            }
        },
        Lookup::One(Field::Fields(_) | Field::Other) => {
            FieldFault { field: "seller", message: "The username must be a string.".into() }
        }
        Lookup::Duplicate => duplicate_field("seller"),
    };
    faults.push(fault);
    None
}

/// An invalid identifier, or two that differ.
struct InvalidIdentifier;

fn operation_id(
    headers: &HeaderMap,
    fields: &Fields<'_>,
) -> Result<Option<OperationId>, InvalidIdentifier> {
    identifier(headers, IDEMPOTENCY_KEY, fields, "operation_id")
}

fn quote(
    headers: &HeaderMap,
    fields: &Fields<'_>,
    faults: &mut Vec<FieldFault>,
) -> Option<QuoteId> {
    let quote = identifier(headers, QUOTE_ID, fields, "quote_id");
    quote.unwrap_or_else(|InvalidIdentifier| {
        let message = "Must be the id of a quote, 64 lowercase hexadecimal characters, and equal in \
                       header and body.";
        faults.push(FieldFault { field: "quote_id", message: message.into() });
        None
    })
}

/// An identifier that may be in a header, in the body or in both.
fn identifier<T: FromStr + Clone + PartialEq>(
    headers: &HeaderMap,
    header: &str,
    fields: &Fields<'_>,
    field: &str,
) -> Result<Option<T>, InvalidIdentifier> {
    let read = |text: &str| text.parse().map_err(|_| InvalidIdentifier);
    let mut identifiers = Vec::new();
    for value in headers.get_all(header) {
        identifiers.push(read(value.to_str().map_err(|_| InvalidIdentifier)?)?);
    }
    match fields.find(field) {
        Lookup::Missing => {}
        Lookup::One(Field::Text(text)) => identifiers.push(read(text)?),
        Lookup::One(Field::Fields(_) | Field::Other) | Lookup::Duplicate => {
            return Err(InvalidIdentifier);
        }
    }
    let first: Option<T> = identifiers.first().cloned();
    let agree = identifiers.iter().all(|one| Some(one) == first.as_ref());
    if agree { Ok(first) } else { Err(InvalidIdentifier) }
}

fn duplicate_field(field: &'static str) -> FieldFault {
    FieldFault { field, message: "This field occurs twice.".into() }
}

/// The part of JSON that a postcard uses, borrowed from the body unless a string has escapes. It
/// contains personal data, so it has no `Debug`.
enum Field<'a> {
    Text(Cow<'a, str>),
    Fields(Fields<'a>),
    Other,
}

struct Fields<'a>(Vec<(Name<'a>, Field<'a>)>);

const NO_FIELDS: &Fields<'_> = &Fields(Vec::new());

struct Name<'a>(Cow<'a, str>);

enum Lookup<'a> {
    Missing,
    One(&'a Field<'a>),
    Duplicate,
}

impl<'a> Fields<'a> {
    fn find(&'a self, name: &str) -> Lookup<'a> {
        let mut matches = self.0.iter().filter(|(member, _)| member.0 == name);
        match (matches.next(), matches.next()) {
            (None, _) => Lookup::Missing,
            (Some((_, root)), None) => Lookup::One(root),
            (Some(_), Some(_)) => Lookup::Duplicate,
        }
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Field::deserialize(deserializer)? {
            Field::Text(text) => Ok(Self(text)),
            Field::Fields(_) | Field::Other => Err(D::Error::custom("a name must be a string")),
        }
    }
}

impl<'de> Deserialize<'de> for Field<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<'de>, A::Error> {
        let mut fields = Vec::with_capacity(FIELDS_EXPECTED);
        while let Some(member) = map.next_entry()? {
            fields.push(member);
        }
        Ok(Field::Fields(Fields(fields)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::Other)
    }

    fn visit_unit<E>(self) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }
}

#[cfg(test)]
mod tests;
