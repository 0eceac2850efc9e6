//! Finds texts by their words, forgives a slip of the finger, and puts the best first.
//!
//! Whatever can be done before anybody asks is done when the index is made: a
//! search looks up a handful of spellings and adds up points.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Below this, the beginning of a word says too little.
const BEGINNING_LETTERS_MIN: usize = 4;
/// Below this, half of all words are one letter apart.
const SLIP_LETTERS_MIN: usize = 5;

/// A part of a text, and what a word in it is worth.
pub struct Field<'a> {
    pub text: &'a str,
    pub weight: usize,
    /// How often a word counts at most, so that a long text does not win by length.
    pub hits_max: usize,
}

/// A text that fits a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its place among the texts from which the index was made.
    pub text: usize,
    /// The first line of the last field that holds one of the words.
    pub line: Option<usize>,
    points: usize,
}

#[derive(Debug)]
pub struct Index {
    texts: usize,
    /// As many as the text with the most of them has.
    fields: usize,
    /// Sorted, each with every place where it stands.
    words: Vec<(String, Vec<Place>)>,
    /// Every word with one letter left out, as a hash, and whole: two words that
    /// are a slip apart share one of these.
    spellings: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    text: usize,
    field: usize,
    /// What the word is worth here.
    points: usize,
    line: Option<usize>,
}

impl Index {
    /// One entry for each text: its fields, of which the last is the running text.
    pub fn of(texts: &[Vec<Field<'_>>]) -> Self {
        let mut words: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for (text, fields) in texts.iter().enumerate() {
            for (field, read) in fields.iter().enumerate() {
                let is_last = field + 1 == fields.len();
                for (word, (hits, line)) in counted(read.text) {
                    let points = read.weight * hits.min(read.hits_max);
                    let line = is_last.then_some(line);
                    words.entry(word).or_default().push(Place { text, field, points, line });
                }
            }
        }
        let words: Vec<(String, Vec<Place>)> = words.into_iter().collect();
        let mut spellings: Vec<(u64, usize)> = Vec::new();
        for (place, (word, _)) in words.iter().enumerate() {
            spellings.extend(shortened(word).into_iter().map(|hash| (hash, place)));
        }
        spellings.sort_unstable();
        let fields = texts.iter().map(Vec::len).max().unwrap_or(0);
        Self { texts: texts.len(), fields, words, spellings }
    }

    /// The best texts first; equally good ones in the sequence in which they came.
    pub fn find(&self, query: &str) -> Vec<Found> {
        let mut found: Vec<Found> =
            (0..self.texts).map(|text| Found { text, line: None, points: 0 }).collect();
        let asked: BTreeSet<String> = words(query).collect();
        for word in &asked {
            for place in self.best(word) {
                let found = &mut found[place.text];
                found.points += place.points;
                found.line = match (found.line, place.line) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        found.retain(|found| found.points > 0);
        found.sort_by_key(|found| Reverse(found.points));
        found
    }

    /// For each field that holds a word like this one, the best place in it.
    fn best(&self, asked: &str) -> impl Iterator<Item = Place> {
        let mut best: Vec<Option<Place>> = vec![None; self.texts * self.fields];
        for candidate in self.like(asked) {
            let (word, places) = &self.words[candidate];
            let closeness = closeness(word, asked);
            for place in places.iter().filter(|_| closeness > 0) {
                let held = &mut best[place.text * self.fields + place.field];
                let points = place.points * closeness;
                if held.is_none_or(|held| held.points < points) {
                    *held = Some(Place { points, ..*place });
                }
            }
        }
        best.into_iter().flatten()
    }

    /// The places of all words that may be like this one, each once.
    fn like(&self, asked: &str) -> Vec<usize> {
        let from = |start: &str| self.words.partition_point(|(word, _)| word.as_str() < start);
        let mut places: Vec<usize> = Vec::new();
        let begins = |place: &usize| {
            let word = self.words.get(*place).map(|(word, _)| word.as_str());
            word.is_some_and(|word| word.starts_with(asked))
        };
        if asked.len() < BEGINNING_LETTERS_MIN {
            places.extend(Some(from(asked)).filter(begins));
        } else {
            places.extend((from(asked)..).take_while(begins));
        }
        let cuts = asked.char_indices().map(|(cut, _)| &asked[..cut]);
        for start in cuts.filter(|start| start.len() >= BEGINNING_LETTERS_MIN) {
            let place = from(start);
            let is_it = self.words.get(place).is_some_and(|(word, _)| word == start);
            places.extend(is_it.then_some(place));
        }
        for hash in shortened(asked) {
            let start = self.spellings.partition_point(|(other, _)| *other < hash);
            let same = self.spellings[start..].iter().take_while(|(other, _)| *other == hash);
            places.extend(same.map(|(_, place)| *place));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// How often each word stands in a text, and in which line first.
fn counted(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counted: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (line, read) in text.lines().enumerate() {
        for word in words(read) {
            counted.entry(word).or_insert((0, line)).0 += 1;
        }
    }
    counted
}

/// Two for the same word, one for its plural, its beginning, or a slip of the finger.
fn closeness(found: &str, asked: &str) -> usize {
    let (short, long) = if found.len() < asked.len() { (found, asked) } else { (asked, found) };
    if found == asked {
        2
    } else if short.len() >= BEGINNING_LETTERS_MIN
        && (long.starts_with(short) || is_slip(short, long))
    {
        1
    } else {
        0
    }
}

/// Whether one letter too many, too few or wrong, or two in the wrong sequence,
/// make one of the words out of the other. Short words are too much alike.
fn is_slip(short: &str, long: &str) -> bool {
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    if short.len() < SLIP_LETTERS_MIN || !(0..=1).contains(&long.len().wrapping_sub(short.len())) {
        return false;
    }
    let same = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
    let (one, other) = (&short[same..], &long[same..]);
    if short.len() < long.len() {
        return one == &other[1..];
    }
    let swapped = one.len() >= 2 && one[0] == other[1] && one[1] == other[0];
    one[1..] == other[1..] || (swapped && one[2..] == other[2..])
}

/// The word whole and with each of its letters left out, as hashes; none for a
/// word so short that a slip is not forgiven.
fn shortened(word: &str) -> Vec<u64> {
    if word.chars().count() < SLIP_LETTERS_MIN {
        return Vec::new();
    }
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let without = word.char_indices().map(|(cut, letter)| {
        let (head, tail) = (&word[..cut], &word[cut + letter.len_utf8()..]);
        hasher.hash_one(head.chars().chain(tail.chars()).collect::<String>())
    });
    std::iter::once(hasher.hash_one(word)).chain(without).collect()
}

/// Words too common to tell one text from another, in each of our languages.
const COMMON: [&[&str]; 4] = [
    &[
        "a", "an", "and", "are", "be", "can", "do", "does", "for", "how", "i", "in", "is", "it",
        "my", "of", "on", "or", "the", "there", "to", "what", "when", "where", "which", "with",
        "you", "your",
    ],
    &["das", "der", "die", "ein", "eine", "ich", "ist", "mit", "und", "wie", "wo", "zu"],
    &["con", "cómo", "de", "el", "en", "es", "la", "los", "mi", "para", "que", "qué", "un", "y"],
    &["che", "come", "di", "e", "il", "le", "per", "una"],
];

/// The words of a text that tell something, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !COMMON.iter().any(|common| common.contains(&word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with a title each.
    fn index(texts: &[(&'static str, &'static str)]) -> Index {
        let fields = |(title, text): &(&'static str, &'static str)| {
            let title = Field { text: title, weight: 10, hits_max: 1 };
            vec![title, Field { text, weight: 1, hits_max: 5 }]
        };
        Index::of(&texts.iter().map(fields).collect::<Vec<_>>())
    }

    fn found(query: &str) -> Vec<usize> {
        let index = index(&[
            ("Terms", "Refunds are given.\nRefund, refund, refund: within a week."),
            ("Refunds", "How money comes back."),
            ("Zahlung", "Die Karte kostet Geld.\nBezahlt wird mit der Überweisung."),
        ]);
        index.find(query).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn a_title_is_worth_more_than_many_words_and_equals_keep_their_sequence() {
        assert_eq!(found("refunds"), [1, 0]);
        assert_eq!(found("WEEK money"), [0, 1]);
        assert_eq!(found("überweisung"), [2]);
    }

    #[test]
    fn beginnings_plurals_and_one_slip_find_the_word() {
        for query in ["refun", "refundss", "refudns", "rfunds", "reffunds", "refumds"] {
            assert_eq!(found(query).first(), Some(&1), "{query}");
        }
        for query in ["", "ref", "rxfumds", "wek", "what is the", "wie ist der", "zeppelin"] {
            assert!(found(query).is_empty(), "{query}");
        }
    }

    #[test]
    fn the_first_line_with_a_word_is_told() {
        let index = index(&[("Refunds", "One.\nTwo words.\nThree words.")]);
        let line = |query: &str| index.find(query).first().and_then(|found| found.line);
        assert_eq!(
            (line("words"), line("three words"), line("three")),
            (Some(1), Some(1), Some(2))
        );
        assert_eq!(line("refunds"), None);
    }

    #[test]
    fn looking_up_spellings_finds_what_comparing_with_every_word_would() {
        let words = [
            "abcde",
            "abcdf",
            "abced",
            "bacde",
            "äöüßé",
            "äöüßê",
            "abcdef",
            "bcdef",
            "abcd",
            "ab",
            "refund",
            "refunds",
            "network",
            "networks",
            "netwrok",
            "polygon",
        ];
        let index = index(&[("", "abcde abcd refund network polygon äöüßé")]);
        for asked in words {
            let known = index.words.iter().enumerate();
            let compared: Vec<usize> = known
                .filter(|(_, (word, _))| closeness(word, asked) > 0)
                .map(|(place, _)| place)
                .collect();
            let mut looked_up = index.like(asked);
            looked_up.retain(|place| closeness(&index.words[*place].0, asked) > 0);
            assert_eq!(looked_up, compared, "{asked}");
        }
    }

    #[test]
    fn no_two_words_make_the_comparison_stumble() {
        let words = ["", "a", "ab", "abcde", "abcdf", "abced", "äöüßé", "äöüßê", "abcdef", "bcdef"];
        for one in words {
            for other in words {
                assert_eq!(closeness(one, other), closeness(other, one), "{one} {other}");
            }
        }
    }
}
