//! Values that are different in each run, replaced by names in angle brackets.

const ORDER_ID_DIGITS: usize = 32;

/// Order and request ids, moments, ports, and what is derived from them.
pub(super) fn replaced(text: &str) -> String {
    let text = each_word(text, |word| match word {
        word if is_hex(word, ORDER_ID_DIGITS) => Some("<id>"),
        word if is_moment(word) => Some("<moment>"),
        _ => None,
    });
    ports_replaced(&text)
}

/// The text between a start and the next end, wherever it occurs.
pub(super) fn between(text: &str, start: &str, end: &str, name: &str) -> String {
    let mut parts = text.split(start);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find(end).map_or("", |place| &part[place..]);
        replaced.push_str(&format!("{start}<{name}>{rest}"));
    }
    replaced
}

/// A word is what identifiers and moments consist of.
fn each_word(text: &str, name: impl Fn(&str) -> Option<&'static str>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-:.".contains(c);
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        // A moment or an id at the end of a sentence.
        let bare = word.trim_end_matches(['.', ':']);
        replaced.push_str(before);
        replaced.push_str(name(bare).unwrap_or(bare));
        replaced.push_str(&word[bare.len()..]);
        rest = after;
    }
    replaced + rest
}

fn is_hex(word: &str, digits: usize) -> bool {
    word.len() == digits && word.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// `2026-08-29T12:00:00Z`, with or without a fraction.
fn is_moment(word: &str) -> bool {
    let shape = word.bytes().map(|c| if c.is_ascii_digit() { b'0' } else { c });
    let shape = String::from_utf8(shape.collect()).unwrap_or_default();
    shape.starts_with("0000-00-00T00:00:00") && shape.ends_with('Z')
}

fn ports_replaced(text: &str) -> String {
    const HOST: &str = "127.0.0.1:";
    let mut parts = text.split(HOST);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        replaced.push_str(HOST);
        replaced.push_str("<port>");
        replaced.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    replaced
}

#[test]
fn ids_moments_and_ports_get_names_and_other_words_stay() {
    let id = "0123456789abcdef0123456789abcdef";
    let text = format!("/orders/{id}. 0x{id} 2026-08-29 2026-08-29T12:00:00.5Z, a:b 127.0.0.1:80/");
    let expected = format!("/orders/<id>. 0x{id} 2026-08-29 <moment>, a:b 127.0.0.1:<port>/");
    assert_eq!(replaced(&text), expected);
    assert_eq!(between("id=\"7\", id=\"8\"", "id=\"", "\"", "id"), "id=\"<id>\", id=\"<id>\"");
}
