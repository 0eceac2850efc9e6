//! A source file as tokens: without comments, without literals, without items for tests.

/// A name, `::`, or one character of punctuation, with its line.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub text: String,
    pub line: usize,
}

/// The tokens of a file that is compiled outside of tests too.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub all: Vec<Token>,
    /// The modules that are declared for tests only, as `mod NAME;`.
    pub test_modules: Vec<String>,
}

impl Tokens {
    pub(crate) fn of(source: &str) -> Self {
        without_test_items(split(&blank(source)))
    }

    pub(crate) fn text(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |token| token.text.as_str())
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn is_part_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The source with a space for every character of a comment or of a literal. Lines stay.
fn blank(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut blanked = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let end = end_of_hidden(&characters, at);
        if end == at {
            blanked.push(character);
            at += 1;
            continue;
        }
        let hidden = characters.get(at..end).unwrap_or_default();
        blanked.extend(hidden.iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    blanked
}

/// Where the comment or literal that begins here ends; here, if none begins.
fn end_of_hidden(characters: &[char], at: usize) -> usize {
    let rest = characters.get(at..).unwrap_or_default();
    let inside_name = at > 0 && is_part_of_name(characters[at - 1]);
    let length = match rest {
        ['/', '/', ..] => position(rest, |c| c == '\n'),
        ['/', '*', ..] => length_of_block_comment(rest),
        ['"', ..] => length_of_string(rest),
        ['\'', ..] => length_of_character(rest),
        ['b' | 'c', 'r', '#' | '"', ..] if !inside_name => 2 + length_of_raw_string(&rest[2..]),
        ['r', '#' | '"', ..] if !inside_name => match length_of_raw_string(&rest[1..]) {
            0 => 0,
            length => 1 + length,
        },
        _ => 0,
    };
    at + length
}

fn position(rest: &[char], ends: impl Fn(char) -> bool) -> usize {
    rest.iter().position(|c| ends(*c)).unwrap_or(rest.len())
}

fn length_of_block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest.get(at..at + 2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn length_of_string(rest: &[char]) -> usize {
    let mut at = 1;
    while let Some(character) = rest.get(at) {
        match character {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The hashes and the string after them; zero for a raw name such as `r#type`.
fn length_of_raw_string(rest: &[char]) -> usize {
    let hashes = position(rest, |c| c != '#');
    if rest.get(hashes) != Some(&'"') {
        return 0;
    }
    let mut at = hashes + 1;
    while at < rest.len() {
        let after = rest.get(at + 1..).unwrap_or_default();
        if rest[at] == '"' && after.iter().take_while(|c| **c == '#').count() >= hashes {
            return at + 1 + hashes;
        }
        at += 1;
    }
    rest.len()
}

/// Zero for a lifetime such as `'a`.
fn length_of_character(rest: &[char]) -> usize {
    match rest {
        [_, '\\', _, after @ ..] => 3 + position(after, |c| c == '\'') + 1,
        [_, _, '\'', ..] => 3,
        _ => 0,
    }
}

fn split(blanked: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, text) in blanked.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_part_of_name(first) {
                rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (token, after) = rest.split_at(length);
            tokens.push(Token { text: token.to_owned(), line: index + 1 });
            rest = after.trim_start();
        }
    }
    tokens
}

fn without_test_items(tokens: Vec<Token>) -> Tokens {
    let source = Tokens { all: tokens, test_modules: Vec::new() };
    let mut kept = Tokens::default();
    let mut at = 0;
    while at < source.all.len() {
        if is_test_attribute(&source, at) {
            let item = after_attributes(&source, at);
            if source.text(item) == "mod" && source.text(item + 2) == ";" {
                kept.test_modules.push(source.text(item + 1).to_owned());
            }
            at = end_of_item(&source, item);
        } else {
            kept.all.push(source.all[at].clone());
            at += 1;
        }
    }
    kept
}

/// `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_test_attribute(tokens: &Tokens, at: usize) -> bool {
    let reads = |words: &[&str]| {
        words.iter().enumerate().all(|(offset, word)| tokens.text(at + offset) == *word)
    };
    reads(&["#", "[", "cfg", "(", "test", ")", "]"])
        || reads(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// The first token after these attributes and a visibility.
fn after_attributes(tokens: &Tokens, mut at: usize) -> usize {
    while tokens.text(at) == "#" {
        at = end_of_group(tokens, at + 1);
    }
    if tokens.text(at) == "pub" {
        at += 1;
        if tokens.text(at) == "(" {
            at = end_of_group(tokens, at);
        }
    }
    at
}

/// After the bracket that closes the one here.
fn end_of_group(tokens: &Tokens, mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.all.len() {
        match tokens.text(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

fn end_of_item(tokens: &Tokens, mut at: usize) -> usize {
    const ITEMS: [&str; 16] = [
        "async",
        "const",
        "enum",
        "extern",
        "fn",
        "impl",
        "let",
        "macro_rules",
        "mod",
        "static",
        "struct",
        "trait",
        "type",
        "union",
        "unsafe",
        "use",
    ];
    let is_item = ITEMS.contains(&tokens.text(at));
    while at < tokens.all.len() {
        match tokens.text(at) {
            ";" => return at + 1,
            // A field or a variant.
            "," if !is_item => return at + 1,
            "{" => return end_of_group(tokens, at),
            "(" | "[" => at = end_of_group(tokens, at),
            ")" | "]" | "}" => return at,
            _ => at += 1,
        }
    }
    at
}

fn words(source: &str) -> Vec<String> {
    Tokens::of(source).all.into_iter().map(|token| token.text).collect()
}

#[test]
fn comments_and_literals_are_no_tokens() {
    let source = r##"a // crate::x
        /* crate /* nested */ ::y */ b "crate::z \" crate" 'c' '\'' '\u{1f}' r#"crate "::" q"#
        br"crate" d"##;
    assert_eq!(words(source), ["a", "b", "d"]);
}

#[test]
fn lifetimes_and_raw_names_stay_tokens() {
    assert_eq!(words("&'a r#type x_r"), ["&", "'", "a", "r", "#", "type", "x_r"]);
}

#[test]
fn items_for_tests_are_left_out() {
    let source = "#[cfg(test)] mod tests { use crate::x; fn f() {} } a;
        #[cfg(test)] #[path = \"y\"] pub(crate) mod fixture; b;
        #[cfg(test)] use crate::{c, d}; #[cfg(test)] impl<A, B> X<A, B> { fn f() {} } e;
        struct S { #[cfg(test)] field: T, other: U }
        #[cfg(any(test, feature = \"fakes\"))] mod fakes;";
    let tokens = Tokens::of(source);
    assert_eq!(tokens.test_modules, ["fixture"]);
    let text = tokens.all.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
    assert_eq!(
        text,
        "a ; b ; ; e ; struct S { other : U } # [ cfg ( any ( test , feature = ) ) ] mod fakes ;"
    );
}

#[test]
fn a_token_knows_its_line() {
    let tokens = Tokens::of("a\n\"x\ny\"\nb");
    assert_eq!(tokens.all.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 4]);
}
