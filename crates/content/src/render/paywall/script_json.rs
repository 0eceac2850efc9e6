//! JSON for a script element, without characters that are special in HTML.

use std::fmt::Write;

pub(super) fn quoted_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

/// Text as a JSON string, with every character escaped that could end a script, start a comment
/// or be changed by an HTML parser.
pub(super) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        if letter.is_control() || matches!(letter, '"' | '\\') || needs_escape(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written.push('"');
    written
}

/// Escapes JSON for HTML. Outside of its strings there is nothing to escape.
pub(super) fn escaped_json(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    for letter in json.chars() {
        if needs_escape(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written
}

/// Characters that are special in HTML or in scripts.
fn needs_escape(letter: char) -> bool {
    matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// For characters of at most four hexadecimal digits.
fn escape(written: &mut String, letter: char) {
    // Writing to a string cannot fail.
    let _ = write!(written, "\\u{:04x}", u32::from(letter));
}
