//! Full-text search that tolerates one typo per word and ranks its hits.
//!
//! Most work is done when the index is built; a search looks up a few spellings and adds points.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Shorter prefixes match too many words.
const PREFIX_LETTERS_MIN: usize = 4;
/// Half of all shorter words differ by one letter.
const TYPO_LETTERS_MIN: usize = 5;

/// A part of a text, with the weight of its words.
pub struct SearchField<'a> {
    pub text: &'a str,
    pub weight: usize,
    /// How often a word counts at most, so that length does not decide.
    pub hits_max: usize,
}

/// A text that matches a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Its position among the indexed texts.
    pub text: usize,
    /// The first line of the last field that contains one of the words.
    pub line: Option<usize>,
    points: usize,
}

#[derive(Debug)]
pub struct SearchIndex {
    texts: usize,
    /// The maximum number of fields of a text.
    fields: usize,
    /// Sorted, each with all its occurrences.
    words: Vec<(String, Vec<Occurrence>)>,
    /// Hashes of every word and of the word without each of its letters. Two words that differ by
    /// one typo share one of these.
    spellings: Vec<(u64, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Occurrence {
    text: usize,
    field: usize,
    /// The weight of the word here.
    points: usize,
    line: Option<usize>,
}

impl SearchIndex {
    /// One entry per text: its fields, the last of which is the body.
    pub fn of(texts: &[Vec<SearchField<'_>>]) -> Self {
        let mut words: BTreeMap<String, Vec<Occurrence>> = BTreeMap::new();
        for (text, fields) in texts.iter().enumerate() {
            for (field, read) in fields.iter().enumerate() {
                let is_last = field + 1 == fields.len();
                for (word, (hits, line)) in counted(read.text) {
                    let points = read.weight * hits.min(read.hits_max);
                    let line = is_last.then_some(line);
                    words.entry(word).or_default().push(Occurrence { text, field, points, line });
                }
            }
        }
        let words: Vec<(String, Vec<Occurrence>)> = words.into_iter().collect();
        let mut spellings: Vec<(u64, usize)> = Vec::new();
        for (place, (word, _)) in words.iter().enumerate() {
            spellings.extend(spelling_hashes(word).into_iter().map(|hash| (hash, place)));
        }
        spellings.sort_unstable();
        let fields = texts.iter().map(Vec::len).max().unwrap_or(0);
        Self { texts: texts.len(), fields, words, spellings }
    }

    /// The best hits first; equal hits in the order of the texts.
    pub fn find(&self, query: &str) -> Vec<SearchHit> {
        let mut found: Vec<SearchHit> =
            (0..self.texts).map(|text| SearchHit { text, line: None, points: 0 }).collect();
        let query_word: BTreeSet<String> = words(query).collect();
        for word in &query_word {
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

    /// The best occurrence in each field with a similar word.
    fn best(&self, query_word: &str) -> impl Iterator<Item = Occurrence> {
        let mut best: Vec<Option<Occurrence>> = vec![None; self.texts * self.fields];
        for candidate in self.similar(query_word) {
            let (word, places) = &self.words[candidate];
            let closeness = closeness(word, query_word);
            for place in places.iter().filter(|_| closeness > 0) {
                let held = &mut best[place.text * self.fields + place.field];
                let points = place.points * closeness;
                if held.is_none_or(|held| held.points < points) {
                    *held = Some(Occurrence { points, ..*place });
                }
            }
        }
        best.into_iter().flatten()
    }

    /// The positions of all words that may be similar, each once.
    fn similar(&self, query_word: &str) -> Vec<usize> {
        let from = |start: &str| self.words.partition_point(|(word, _)| word.as_str() < start);
        let mut places: Vec<usize> = Vec::new();
        let begins = |place: &usize| {
            let word = self.words.get(*place).map(|(word, _)| word.as_str());
            word.is_some_and(|word| word.starts_with(query_word))
        };
        if query_word.len() < PREFIX_LETTERS_MIN {
            places.extend(Some(from(query_word)).filter(begins));
        } else {
            places.extend((from(query_word)..).take_while(begins));
        }
        let cuts = query_word.char_indices().map(|(cut, _)| &query_word[..cut]);
        for start in cuts.filter(|start| start.len() >= PREFIX_LETTERS_MIN) {
            let place = from(start);
            let is_it = self.words.get(place).is_some_and(|(word, _)| word == start);
            places.extend(is_it.then_some(place));
        }
        for hash in spelling_hashes(query_word) {
            let start = self.spellings.partition_point(|(other, _)| *other < hash);
            let same = self.spellings[start..].iter().take_while(|(other, _)| *other == hash);
            places.extend(same.map(|(_, place)| *place));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The count of each word in a text, and the line of its first occurrence.
fn counted(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counted: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (line, read) in text.lines().enumerate() {
        for word in words(read) {
            counted.entry(word).or_insert((0, line)).0 += 1;
        }
    }
    counted
}

/// Two for the same word, one for its plural, a prefix or a typo.
fn closeness(found: &str, query_word: &str) -> usize {
    let (short, long) =
        if found.len() < query_word.len() { (found, query_word) } else { (query_word, found) };
    if found == query_word {
        2
    } else if short.len() >= PREFIX_LETTERS_MIN && (long.starts_with(short) || is_typo(short, long))
    {
        1
    } else {
        0
    }
}

/// Whether the words differ by one inserted, missing, wrong or swapped letter. Short words do
/// not count.
fn is_typo(short: &str, long: &str) -> bool {
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    if short.len() < TYPO_LETTERS_MIN || !(0..=1).contains(&long.len().wrapping_sub(short.len())) {
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

/// Hashes of the word and of the word without each of its letters. None for words that are too
/// short for typos.
fn spelling_hashes(word: &str) -> Vec<u64> {
    if word.chars().count() < TYPO_LETTERS_MIN {
        return Vec::new();
    }
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let without = word.char_indices().map(|(cut, letter)| {
        let (head, tail) = (&word[..cut], &word[cut + letter.len_utf8()..]);
        hasher.hash_one(head.chars().chain(tail.chars()).collect::<String>())
    });
    std::iter::once(hasher.hash_one(word)).chain(without).collect()
}

/// Stop words in each language.
const STOP_WORDS: [&[&str]; 4] = [
    &[
        "a", "an", "and", "are", "be", "can", "do", "does", "for", "how", "i", "in", "is", "it",
        "my", "of", "on", "or", "the", "there", "to", "what", "when", "where", "which", "with",
        "you", "your",
    ],
    &["das", "der", "die", "ein", "eine", "ich", "ist", "mit", "und", "wie", "wo", "zu"],
    &["con", "cómo", "de", "el", "en", "es", "la", "los", "mi", "para", "que", "qué", "un", "y"],
    &["che", "come", "di", "e", "il", "le", "per", "una"],
];

/// The words of a text without stop words, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.iter().any(|common| common.contains(&word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with a title each.
    fn index(texts: &[(&'static str, &'static str)]) -> SearchIndex {
        let fields = |(title, text): &(&'static str, &'static str)| {
            let title = SearchField { text: title, weight: 10, hits_max: 1 };
            vec![title, SearchField { text, weight: 1, hits_max: 5 }]
        };
        SearchIndex::of(&texts.iter().map(fields).collect::<Vec<_>>())
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
    fn a_title_outweighs_the_body_and_equal_hits_keep_their_order() {
        assert_eq!(found("refunds"), [1, 0]);
        assert_eq!(found("WEEK money"), [0, 1]);
        assert_eq!(found("überweisung"), [2]);
    }

    #[test]
    fn prefixes_plurals_and_one_typo_find_the_word() {
        for query in ["refun", "refundss", "refudns", "rfunds", "reffunds", "refumds"] {
            assert_eq!(found(query).first(), Some(&1), "{query}");
        }
        for query in ["", "ref", "rxfumds", "wek", "what is the", "wie ist der", "zeppelin"] {
            assert!(found(query).is_empty(), "{query}");
        }
    }

    #[test]
    fn the_first_line_with_a_word_is_reported() {
        let index = index(&[("Refunds", "One.\nTwo words.\nThree words.")]);
        let line = |query: &str| index.find(query).first().and_then(|found| found.line);
        assert_eq!(
            (line("words"), line("three words"), line("three")),
            (Some(1), Some(1), Some(2))
        );
        assert_eq!(line("refunds"), None);
    }

    #[test]
    fn the_spelling_index_finds_the_same_as_a_full_comparison() {
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
        for query_word in words {
            let known = index.words.iter().enumerate();
            let compared: Vec<usize> = known
                .filter(|(_, (word, _))| closeness(word, query_word) > 0)
                .map(|(place, _)| place)
                .collect();
            let mut looked_up = index.similar(query_word);
            looked_up.retain(|place| closeness(&index.words[*place].0, query_word) > 0);
            assert_eq!(looked_up, compared, "{query_word}");
        }
    }

    #[test]
    fn the_comparison_is_symmetric_for_any_two_words() {
        let words = ["", "a", "ab", "abcde", "abcdf", "abced", "äöüßé", "äöüßê", "abcdef", "bcdef"];
        for one in words {
            for other in words {
                assert_eq!(closeness(one, other), closeness(other, one), "{one} {other}");
            }
        }
    }
}
