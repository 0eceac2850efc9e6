//! Lays out text in handwriting: breaks lines and finds the size that fits.

use crate::provider::picture::glyphs::glyph;

/// From one line to the next, in the units of a glyph.
pub(crate) const LINE: i64 = 112;
/// Height above the first baseline.
pub(crate) const RISE: i64 = 80;

/// The assumed width of characters without a glyph.
const WIDE: i64 = 62;
const USUAL: i64 = 42;

#[derive(Clone, Copy)]
pub(crate) struct TextBox {
    pub(crate) width: i64,
    pub(crate) height: i64,
}

/// Lines, and their size in hundredths of a glyph's own.
pub(crate) struct TextLayout {
    pub(crate) lines: Vec<String>,
    pub(crate) size: i64,
}

/// The text at the largest size, up to `most`, that fits the box.
pub(crate) fn set(text: &str, room: TextBox, most: i64) -> TextLayout {
    const LEAST: i64 = 12;
    let text = tidy(text);
    let mut size = most;
    while size > LEAST {
        let lines = wrapped(&text, room.width * 100 / size);
        if height(&lines, size) <= room.height {
            return TextLayout { lines, size };
        }
        size -= 1;
    }
    // Only for hundreds of short lines: they are joined.
    let lines = wrapped(&text.replace('\n', " "), room.width * 100 / LEAST);
    TextLayout { lines, size: LEAST }
}

/// One line, as large as the width allows.
pub(crate) fn set_line(text: &str, width: i64, most: i64) -> TextLayout {
    let line = tidy(text).replace('\n', " ");
    let size = (width * 100 / measured(&line).max(1)).clamp(1, most);
    TextLayout { lines: vec![line], size }
}

impl TextLayout {
    pub(crate) fn height(&self) -> i64 {
        height(&self.lines, self.size)
    }
}

fn height(lines: &[String], size: i64) -> i64 {
    let count = i64::try_from(lines.len()).unwrap_or(i64::MAX / LINE);
    count * LINE * size / 100
}

/// Without what cannot be written, and never two empty lines together.
fn tidy(text: &str) -> String {
    let kept: String =
        text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
    let mut lines: Vec<&str> = kept.lines().map(str::trim_end).collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines.join("\n").trim_matches('\n').to_owned()
}

fn wrapped(text: &str, width: i64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        for word in paragraph.split(' ').flat_map(|word| broken(word, width)) {
            let (taken, space) = (measured(&word), advance(' '));
            if line.is_empty() {
                (line, used) = (word, taken);
            } else if used + space + taken <= width {
                line.push(' ');
                line.push_str(&word);
                used += space + taken;
            } else {
                lines.push(std::mem::replace(&mut line, word));
                used = taken;
            }
        }
        lines.push(line);
    }
    lines
}

/// A word too long for any line, in pieces that fit.
fn broken(word: &str, width: i64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let next = advance(letter);
        if used + next > width && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += next;
        if let Some(piece) = pieces.last_mut() {
            piece.push(letter);
        }
    }
    pieces
}

pub(crate) fn measured(text: &str) -> i64 {
    text.chars().map(advance).sum()
}

pub(crate) fn advance(letter: char) -> i64 {
    match glyph(letter) {
        Some(glyph) => glyph.width + 4,
        None => foreign(letter),
    }
}

/// Joiners and marks have no width; most scripts without glyphs are wider than letters, and
/// emoji wider still.
const fn foreign(letter: char) -> i64 {
    match letter {
        '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0000}'..='\u{e007f}' => 0,
        '\u{1100}'..='\u{11ff}' | '\u{2600}'..='\u{27bf}' | '\u{2e80}'..='\u{a4cf}' => WIDE,
        '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}' | '\u{1f000}'..='\u{1ffff}' => WIDE,
        _ => USUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: TextBox = TextBox { width: 860, height: 1_000 };

    #[test]
    fn a_thousand_letters_of_any_kind_fit() {
        for letter in ["W", "i", "ß", "漢", "🐌", "Щ", "W ", "a\n", "\n", "ab cdef "] {
            let text: String = letter.chars().cycle().take(1_000).collect();
            let TextLayout { lines, size } = set(&text, ROOM, 95);
            assert!(height(&lines, size) <= ROOM.height, "{letter:?} at {size}");
            for line in &lines {
                assert!(measured(line) * size / 100 <= ROOM.width, "{letter:?}: {line}");
            }
        }
    }

    #[test]
    fn nothing_is_lost_between_the_lines() {
        let text =
            "Dear Ada,\n\nthe sea says hello, and Donaudampfschifffahrtsgesellschaft is a word.";
        let TextLayout { lines, .. } = set(&text.repeat(5), ROOM, 95);
        let letters =
            |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        assert_eq!(letters(&lines.concat()), letters(&text.repeat(5)));
    }

    #[test]
    fn a_short_text_is_large_but_not_without_bound() {
        assert_eq!(set("Hi", ROOM, 95).size, 95);
        assert!(set_line(&"W".repeat(100), 640, 80).size < 15);
    }
}
