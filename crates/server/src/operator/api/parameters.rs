//! The query and the JSON body of a request, read strictly.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use order::model::ids::{OrderId, Timestamp};
use serde_json::Value;

use crate::operator::error::OperatorError;

/// The parameters of a query. What is misspelled is rejected, so that a filter is never ignored.
pub(super) struct QueryParameters(BTreeMap<String, String>);

impl QueryParameters {
    pub(super) fn parse(query: Option<&str>, known: &[&str]) -> Result<Self, OperatorError> {
        let mut parameters = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if !known.contains(&name.as_ref()) {
                let message =
                    format!("There is no parameter `{name}`. Known: {}.", known.join(", "));
                return Err(OperatorError::invalid(message));
            }
            if parameters.insert(name.to_string(), value.into_owned()).is_some() {
                return Err(OperatorError::invalid(format!("`{name}` is given twice.")));
            }
        }
        Ok(Self(parameters))
    }

    /// A parameter that may be absent; `wanted` says what it must be.
    pub(super) fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, OperatorError> {
        let Some(text) = self.0.get(name) else { return Ok(None) };
        let invalid = || OperatorError::invalid(format!("`{name}` must be {wanted}."));
        parse(text).map(Some).ok_or_else(invalid)
    }

    pub(super) fn time(&self, name: &str) -> Result<Option<Timestamp>, OperatorError> {
        self.read(name, "a time such as 2026-11-15T09:30:00Z", |text| text.parse().ok())
    }

    /// A time without which the request makes no sense.
    pub(super) fn needed_time(&self, name: &str) -> Result<Timestamp, OperatorError> {
        let missing = || OperatorError::invalid(format!("`{name}` is missing."));
        self.time(name)?.ok_or_else(missing)
    }

    /// The place of an order in a list, as `next` of the page before names it.
    pub(super) fn place(&self, name: &str) -> Result<Option<(Timestamp, OrderId)>, OperatorError> {
        self.read(name, "the `next` of the page before", |text| {
            let (at, order) = text.split_once('-')?;
            Some((Timestamp(at.parse().ok()?), order.parse().ok()?))
        })
    }
}

/// What [`QueryParameters::place`] reads.
pub(super) fn place_text((at, order): (Timestamp, OrderId)) -> String {
    format!("{}-{order}", at.0)
}

pub(super) fn order_id(text: &str) -> Result<OrderId, OperatorError> {
    text.parse().map_err(|_| {
        let message = "An order's id has 32 hexadecimal digits.";
        OperatorError::new(StatusCode::NOT_FOUND, "unknown_order", message)
    })
}

/// The JSON object of a request. Browsers cannot send this content type to another origin unasked.
pub(super) struct JsonBody(serde_json::Map<String, Value>);

impl JsonBody {
    pub(super) fn parse(
        headers: &HeaderMap,
        body: &Bytes,
        known: &[&str],
    ) -> Result<Self, OperatorError> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let message = "The body must be sent as application/json.";
            return Err(OperatorError::new(status, "unsupported_media_type", message));
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => {
                let unknown = fields.keys().find(|name| !known.contains(&name.as_str()));
                match unknown.map(|name| format!("There is no field `{name}`.")) {
                    Some(message) => Err(OperatorError::invalid(message)),
                    None => Ok(Self(fields)),
                }
            }
            Ok(_) | Err(_) => Err(OperatorError::invalid("The body must be a JSON object.")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, OperatorError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(OperatorError::invalid(format!("`{name}` must be a text.")))
            }
        }
    }

    pub(super) fn needed_text(&self, name: &str) -> Result<&str, OperatorError> {
        let missing = || OperatorError::invalid(format!("`{name}` is missing."));
        self.text(name)?.ok_or_else(missing)
    }

    pub(super) fn needed_number(&self, name: &str) -> Result<u64, OperatorError> {
        let missing = || OperatorError::invalid(format!("`{name}` must be a number."));
        self.0.get(name).and_then(Value::as_u64).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_misspelled_or_repeated_parameter_is_rejected() {
        let parse = |query| QueryParameters::parse(Some(query), &["since", "after"]).map(drop);
        assert_eq!(parse("since=2026-01-01T00%3A00%3A00Z&after=x"), Ok(()));
        for query in ["sinc=1", "since=1&since=2"] {
            assert_eq!(parse(query).unwrap_err().status, StatusCode::BAD_REQUEST, "{query}");
        }
    }

    #[test]
    fn a_place_reads_back_as_written() {
        let place = (Timestamp(1_794_709_607), OrderId::from_bytes([7; 16]));
        let query = format!("after={}", place_text(place));
        let parameters = QueryParameters::parse(Some(&query), &["after"]).unwrap();
        assert_eq!(parameters.place("after"), Ok(Some(place)));
        let other = QueryParameters::parse(Some("after=7"), &["after"]).unwrap();
        assert!(other.place("after").is_err());
    }

    #[test]
    fn a_body_is_a_json_object_of_known_fields_and_declared_as_json() {
        let parse = |kind: &'static str, body: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            JsonBody::parse(&headers, &Bytes::from_static(body.as_bytes()), &["version"])
        };
        let body = parse("application/json; charset=utf-8", r#"{"version": 3}"#).unwrap();
        assert_eq!(body.needed_number("version"), Ok(3));
        let status = |kind, body| parse(kind, body).err().unwrap().status.as_u16();
        assert_eq!(status("text/plain", r#"{"version": 3}"#), 415);
        assert_eq!(status("application/x-www-form-urlencoded", r#"{"version": 3}"#), 415);
        assert_eq!(status("application/json", "[]"), 400);
        assert_eq!(status("application/json", r#"{"versoin": 3}"#), 400);
    }
}
