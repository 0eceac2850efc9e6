//! Text from outside, made safe for a terminal.

/// Long enough for everything that a service has to say in one place.
const TEXT_MAX: usize = 400;

/// The text without control characters, which could move a terminal's cursor.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_moves_the_cursor() {
        assert_eq!(plain("a\u{1b}[2Jb\r\nc"), "a[2Jbc");
    }
}
