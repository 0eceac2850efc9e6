//! Escapes text for SVG.

/// For text and for attribute values in double quotes. Characters that XML does not allow
/// are dropped.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' => safe.push('\n'),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_cannot_open_a_tag_or_end_an_attribute() {
        let hostile = "</text><script>alert(1)</script>\" onload='x' & \u{0}\u{8}\u{ffff}]]>\n";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{8}', '\u{ffff}']), "{safe}");
        assert!(safe.ends_with('\n'));
        assert_eq!(escaped("a & b"), "a &amp; b");
        assert_eq!(escaped("ß漢🐌"), "ß漢🐌");
    }
}
