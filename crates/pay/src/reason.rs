//! Reasons from a chain or a facilitator, made short and plain enough for a header.

const REASON_CHARACTERS_MAX: usize = 500;

/// Facilitators pass on what a chain said, at any length and in any characters. Replaces every
/// character that JSON would write as more than one byte.
pub(crate) fn shortened(reason: &str) -> String {
    let plain = |character: char| match character {
        '"' | '\\' => '\'',
        ' '..='~' => character,
        _ => '?',
    };
    reason.chars().take(REASON_CHARACTERS_MAX).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_500_printable_ascii_characters_at_most() {
        assert_eq!(shortened("a \"b\" \\ é\n"), "a 'b' ' ??");
        assert_eq!(shortened(&"é".repeat(600)), "?".repeat(500));
    }
}
