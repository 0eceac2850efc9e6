//! Valid JSON, invalid JSON, and JSON that is not accepted.

use super::*;

fn read(text: &str) -> Result<JsonValue<'_>, JsonError> {
    JsonValue::read(serde_json::from_str(text).unwrap())
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn a_string_is_borrowed_unless_it_has_escapes() {
    assert!(matches!(read(r#""plain""#), Ok(JsonValue::Text(Cow::Borrowed("plain")))));
    assert!(
        matches!(read(r#""\u0070lain""#), Ok(JsonValue::Text(Cow::Owned(text))) if text == "plain")
    );
}

#[test]
fn members_are_found_by_name_and_type() {
    let given = read(r#"{"a":"x","b":7,"c":{"d":null},"e":[1,{}],"f":-1,"g":1.5}"#).unwrap();
    let members = given.object().unwrap();
    assert_eq!(members.text("a"), Some("x"));
    assert_eq!(members.get("b"), Some(&JsonValue::Integer(7)));
    assert_eq!(members.object("c").unwrap().get("d"), Some(&JsonValue::Null));
    for other in ["e", "f", "g"] {
        assert_eq!(members.get(other), Some(&JsonValue::Other), "{other}");
    }
    assert_eq!(members.names().collect::<String>(), "abcefg");
    assert_eq!((members.text("b"), members.get("moon")), (None, None));
}

#[test]
fn at_most_32_levels_are_accepted() {
    assert!(read(&nested(LEVELS_MAX - 1)).is_ok());
    assert_eq!(read(&nested(LEVELS_MAX)), Err(JsonError::Unsupported));
    assert_eq!(read(&nested(30_000)), Err(JsonError::Unsupported));
}

#[test]
fn duplicate_names_are_rejected_also_if_escaped() {
    for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":{},"\u0061":2}"#, r#"[{"x":{"y":1,"y":1}}]"#] {
        assert_eq!(read(text), Err(JsonError::Unsupported), "{text}");
    }
    assert_eq!(members(br#"{"id":1,"i\u0064":2}"#).unwrap_err(), JsonError::Unsupported);
}

#[test]
fn invalid_json_and_unsupported_json_are_different_errors() {
    for text in ["", "{", "[", "[1,", "{}}", "nul", "{\"a\":01}", "\"", "{\"a\":1,\"a\":1"] {
        assert_eq!(members(text.as_bytes()).unwrap_err(), JsonError::Invalid, "{text}");
    }
    for text in ["[]", "1", "null", "\"x\"", "[{}]", "{\"a\":1,\"a\":1}"] {
        assert_eq!(members(text.as_bytes()).unwrap_err(), JsonError::Unsupported, "{text}");
    }
    assert_eq!(members(b"{\"a\":\"\xff\"}").unwrap_err(), JsonError::Invalid);
    assert_eq!(read(r#""\ud800""#), Err(JsonError::Invalid));
    assert_eq!(read("1e999"), Err(JsonError::Invalid));
}
