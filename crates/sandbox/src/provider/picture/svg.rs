//! Text that may stand in a drawing, whatever it says.

/// For text and for attribute values in double quotes. What XML cannot hold at
/// all is left out: a drawing that does not open helps nobody.
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
    fn no_letter_can_open_a_tag_end_a_value_or_break_the_document() {
        let hostile = "</text><script>alert(1)</script>\" onload='x' & \u{0}\u{8}\u{ffff}]]>\n";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{8}', '\u{ffff}']), "{safe}");
        assert!(safe.ends_with('\n'));
        assert_eq!(escaped("a & b"), "a &amp; b");
        assert_eq!(escaped("ß漢🐌"), "ß漢🐌");
    }
}
