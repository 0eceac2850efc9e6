//! The rules for an image URL written a second time, by hand and without the parser, so that a
//! fault in one of the two shows.

use crate::unicode::{fold, from_punycode, is_pictograph, is_right_to_left, to_punycode};

type Verdict<T = ()> = Result<T, &'static str>;

const SUFFIXES: [&[&str]; 14] = [
    &["localhost"],
    &["local"],
    &["internal"],
    &["lan"],
    &["home", "arpa"],
    &["onion"],
    &["test"],
    &["invalid"],
    &["corp"],
    &["home"],
    &["intranet"],
    &["localdomain"],
    &["svc"],
    &["cluster", "local"],
];

pub(crate) fn judge(text: &str) -> Verdict {
    if text.len() > 2_048 {
        return Err("too long as sent");
    }
    if text.chars().any(is_unwelcome) {
        return Err("unwelcome character");
    }
    let (start, rest) = text.split_at_checked(8).ok_or("too short")?;
    if !start.eq_ignore_ascii_case("https://") {
        return Err("no https://");
    }
    let end = rest.find(|letter| "/?#".contains(letter)).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if authority.contains(['@', '%', '[', ']']) {
        return Err("user, escape or bracket");
    }
    let host = without_port(authority)?;
    let labels = folded_labels(host)?;
    judge_shape(&labels)?;
    judge_direction(&labels)?;
    let name = labels.iter().map(Label::written).collect::<Verdict<Vec<String>>>()?.join(".");
    judge_name(&name)?;
    if 8 + name.len() + written_length(tail) > 2_048 {
        return Err("too long as written");
    }
    Ok(())
}

fn is_unwelcome(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0..=0x20 | 0x5c | 0x7f..=0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f
            | 0x205f | 0x3000
    )
}

fn without_port(authority: &str) -> Verdict<&str> {
    let Some((host, port)) = authority.split_once(':') else {
        return Ok(authority);
    };
    if port.is_empty() || port.trim_start_matches('0') == "443" {
        return Ok(host);
    }
    Err("port")
}

/// A part of a name as Unicode has it; punycode is read back.
struct Label {
    letters: Vec<char>,
}

impl Label {
    fn is_plain(&self) -> bool {
        self.letters.iter().all(char::is_ascii)
    }

    fn written(&self) -> Verdict<String> {
        if self.is_plain() {
            return Ok(self.letters.iter().collect());
        }
        let coded = to_punycode(&self.letters).ok_or("punycode cannot hold it")?;
        Ok(format!("xn--{coded}"))
    }
}

fn folded_labels(host: &str) -> Verdict<Vec<Label>> {
    let folded: String = host.chars().filter_map(fold).collect();
    folded.split('.').map(read_label).collect()
}

fn read_label(text: &str) -> Verdict<Label> {
    let Some(coded) = text.strip_prefix("xn--") else {
        return Ok(Label { letters: text.chars().collect() });
    };
    let letters = from_punycode(coded).ok_or("broken punycode")?;
    let is_same = letters.iter().all(|letter| fold(*letter) == Some(*letter));
    if !is_same || to_punycode(&letters).as_deref() != Some(coded) {
        return Err("punycode of what would be written otherwise");
    }
    let label = Label { letters };
    if label.is_plain() { Err("punycode without need") } else { Ok(label) }
}

fn judge_shape(labels: &[Label]) -> Verdict {
    for label in labels {
        let is_known = |letter: &char| {
            letter.is_ascii_alphanumeric()
                || *letter == '-'
                || !letter.is_ascii() && (letter.is_alphabetic() || is_pictograph(*letter))
        };
        if label.letters.is_empty() || !label.letters.iter().all(is_known) {
            return Err("empty part or strange letter");
        }
        // Where a part has other letters it begins with `xn--` once written.
        let has_outer_hyphen = label.letters.starts_with(&['-']) || label.letters.ends_with(&['-']);
        if label.is_plain() && has_outer_hyphen {
            return Err("outer hyphen");
        }
    }
    Ok(())
}

/// RFC 5893: if one part of a name runs from right to left, no part may be ambiguous.
fn judge_direction(labels: &[Label]) -> Verdict {
    let is_leftward = |label: &Label| label.letters.iter().any(|letter| is_right_to_left(*letter));
    if !labels.iter().any(is_leftward) {
        return Ok(());
    }
    for label in labels {
        let (Some(first), Some(last)) = (label.letters.first(), label.letters.last()) else {
            return Err("empty part");
        };
        let starts_well = first.is_alphabetic();
        let ends_well = last.is_alphanumeric();
        let letters = || label.letters.iter().filter(|letter| letter.is_alphabetic());
        let is_mixed =
            letters().any(|letter| is_right_to_left(*letter) != is_right_to_left(*first));
        if !starts_well || !ends_well || is_mixed {
            return Err("direction");
        }
    }
    Ok(())
}

fn judge_name(name: &str) -> Verdict {
    let parts: Vec<&str> = name.split('.').collect();
    if read_leniently(&parts).is_some() {
        return Err("numeric address");
    }
    if SUFFIXES.iter().any(|suffix| parts.ends_with(suffix)) {
        return Err("private suffix");
    }
    if parts.len() < 2 {
        return Err("single word");
    }
    if name.len() > 253 || parts.iter().any(|part| part.len() > 63) {
        return Err("long name");
    }
    match parts.last().and_then(|part| part.chars().next()) {
        Some('a'..='z') => Ok(()),
        Some(_) | None => Err("no top-level domain"),
    }
}

/// Reads numbers as the oldest resolvers do: up to four, in three bases, the last one wide.
fn read_leniently(parts: &[&str]) -> Option<u32> {
    let numbers: Vec<u64> = parts.iter().map(|part| read_number(part)).collect::<Option<_>>()?;
    let (last, leading) = numbers.split_last()?;
    if leading.len() > 3 || leading.iter().any(|number| *number > 255) {
        return None;
    }
    let high = leading.iter().fold(0, |high, number| high << 8 | number);
    let width = 32 - 8 * u32::try_from(leading.len()).ok()?;
    u32::try_from(high << width | last).ok()
}

fn read_number(part: &str) -> Option<u64> {
    let (digits, base) = match part.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if part.starts_with('0') => (part, 8),
        None => (part, 10),
    };
    u64::from_str_radix(digits, base).ok()
}

/// What follows the host, without its fragment, once all but ASCII is escaped.
fn written_length(tail: &str) -> usize {
    let sent = tail.split('#').next().unwrap_or_default();
    let slash = usize::from(!sent.starts_with('/'));
    sent.bytes().map(|byte| if byte.is_ascii() { 1 } else { 3 }).sum::<usize>() + slash
}
