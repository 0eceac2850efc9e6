//! What is read, what is not JSON, and what is JSON and still not taken.

use super::*;

fn read(text: &str) -> Result<Given<'_>, Unreadable> {
    Given::read(serde_json::from_str(text).unwrap())
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn a_text_is_borrowed_unless_it_holds_escapes() {
    assert!(matches!(read(r#""plain""#), Ok(Given::Text(Cow::Borrowed("plain")))));
    assert!(
        matches!(read(r#""\u0070lain""#), Ok(Given::Text(Cow::Owned(text))) if text == "plain")
    );
}

#[test]
fn members_are_found_by_name_and_by_kind() {
    let given = read(r#"{"a":"x","b":7,"c":{"d":null},"e":[1,{}],"f":-1,"g":1.5}"#).unwrap();
    let members = given.object().unwrap();
    assert_eq!(members.text("a"), Some("x"));
    assert_eq!(members.get("b"), Some(&Given::Whole(7)));
    assert_eq!(members.object("c").unwrap().get("d"), Some(&Given::Null));
    for other in ["e", "f", "g"] {
        assert_eq!(members.get(other), Some(&Given::Other), "{other}");
    }
    assert_eq!(members.names().collect::<String>(), "abcefg");
    assert_eq!((members.text("b"), members.get("moon")), (None, None));
}

#[test]
fn the_thirty_second_level_is_the_last() {
    assert!(read(&nested(LEVELS_MAX - 1)).is_ok());
    assert_eq!(read(&nested(LEVELS_MAX)), Err(Unreadable::NotTaken));
    assert_eq!(read(&nested(30_000)), Err(Unreadable::NotTaken));
}

#[test]
fn a_name_that_stands_twice_is_not_taken_however_it_is_written() {
    for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":{},"\u0061":2}"#, r#"[{"x":{"y":1,"y":1}}]"#] {
        assert_eq!(read(text), Err(Unreadable::NotTaken), "{text}");
    }
    assert_eq!(envelope(br#"{"id":1,"i\u0064":2}"#).unwrap_err(), Unreadable::NotTaken);
}

#[test]
fn what_is_no_json_is_told_from_what_is_not_taken() {
    for text in ["", "{", "[", "[1,", "{}}", "nul", "{\"a\":01}", "\"", "{\"a\":1,\"a\":1"] {
        assert_eq!(envelope(text.as_bytes()).unwrap_err(), Unreadable::NoJson, "{text}");
    }
    for text in ["[]", "1", "null", "\"x\"", "[{}]", "{\"a\":1,\"a\":1}"] {
        assert_eq!(envelope(text.as_bytes()).unwrap_err(), Unreadable::NotTaken, "{text}");
    }
    assert_eq!(envelope(b"{\"a\":\"\xff\"}").unwrap_err(), Unreadable::NoJson);
    assert_eq!(read(r#""\ud800""#), Err(Unreadable::NoJson));
    assert_eq!(read("1e999"), Err(Unreadable::NoJson));
}
