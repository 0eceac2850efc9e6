//! The challenges of one authentication scheme in `WWW-Authenticate`, parameter by parameter.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Names are in small letters; of a name that comes twice there is neither.
pub(crate) type Parameters = BTreeMap<String, String>;

/// Every challenge of this scheme in one value of the header, in their order. What
/// cannot be read ends the list: a challenge that is cut short is no challenge.
pub(crate) fn of_scheme(scheme: &str, value: &str) -> Vec<Parameters> {
    let mut reader = Reader { letters: value.chars().peekable() };
    let mut found = Vec::new();
    // Where no scheme has been named yet there is nothing to collect for.
    let mut current: Option<(String, Parameters)> = None;
    let mut whole = Whole::Yes;
    while let Some(part) = reader.part() {
        match part {
            Part::Scheme(name) => {
                found.extend(current.replace((name, Parameters::new())));
            }
            Part::Parameter(name, text) => {
                let Some((_, parameters)) = &mut current else { continue };
                if parameters.insert(name.to_lowercase(), text).is_some() {
                    parameters.remove(&name.to_lowercase());
                }
            }
            Part::Unreadable => {
                whole = Whole::No;
                break;
            }
        }
    }
    match whole {
        Whole::Yes => found.extend(current),
        Whole::No => {}
    }
    let ours = |(name, _): &(String, Parameters)| name.eq_ignore_ascii_case(scheme);
    found.into_iter().filter(ours).map(|(_, parameters)| parameters).collect()
}

enum Whole {
    Yes,
    No,
}

enum Part {
    Scheme(String),
    Parameter(String, String),
    Unreadable,
}

struct Reader<'a> {
    letters: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn part(&mut self) -> Option<Part> {
        self.skip(|letter| letter == ',' || letter.is_ascii_whitespace());
        self.letters.peek()?;
        let name = self.token();
        if name.is_empty() {
            return Some(Part::Unreadable);
        }
        let mut behind = self.letters.clone();
        self.skip(|letter| letter.is_ascii_whitespace());
        if self.letters.next_if_eq(&'=').is_none() {
            // No value: it names a scheme.
            std::mem::swap(&mut self.letters, &mut behind);
            return Some(Part::Scheme(name));
        }
        self.skip(|letter| letter.is_ascii_whitespace());
        let text = if self.letters.next_if_eq(&'"').is_some() {
            self.quoted()
        } else {
            Some(self.token()).filter(|token| !token.is_empty())
        };
        Some(text.map_or(Part::Unreadable, |text| Part::Parameter(name, text)))
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.letters.next_if(|letter| skipped(*letter)).is_some() {}
    }

    fn token(&mut self) -> String {
        let mut token = String::new();
        let plain = |letter: &char| {
            letter.is_ascii_graphic() && !matches!(letter, ',' | '=' | '"' | '\\' | '(' | ')')
        };
        while let Some(letter) = self.letters.next_if(plain) {
            token.push(letter);
        }
        token
    }

    /// Up to the closing mark, which must come.
    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.letters.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.letters.next()?),
                letter => text.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Vec<Vec<(String, String)>> {
        of_scheme("Payment", value).into_iter().map(|one| one.into_iter().collect()).collect()
    }

    fn pair(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn challenges_are_separated_from_each_other_and_from_those_of_other_schemes() {
        let value = r#"Bearer realm="a, Payment id=1", payment ID="x", Realm = plain , Payment id="z", Basic id="q""#;
        let expected = [vec![pair("id", "x"), pair("realm", "plain")], vec![pair("id", "z")]];
        assert_eq!(read(value), expected);
        assert_eq!(read("Bearer"), [[]; 0]);
        assert_eq!(read(""), [[]; 0]);
    }

    #[test]
    fn marks_inside_a_text_end_nothing() {
        let value = r#"Payment description="a \"b\", c=d \\", id="1""#;
        assert_eq!(read(value), [[pair("description", r#"a "b", c=d \"#), pair("id", "1")]]);
    }

    #[test]
    fn what_is_cut_short_or_said_twice_is_not_used() {
        assert_eq!(read(r#"Payment id="1", Payment id="2"#), [[pair("id", "1")]]);
        assert_eq!(read(r#"Payment id="1", realm=, x="#), [[]; 0]);
        assert_eq!(read(r#"Payment id="1", ID="2", realm="r""#), [[pair("realm", "r")]]);
    }
}
