//! Answers to what people and agents ask, and how one is found.

use serde::Deserialize;

use crate::fault::ContentFault;
use crate::product::is_slug;

pub(crate) const FILE: &str = "support/faq.toml";

/// A word in the question says more about an answer than one inside of it.
const QUESTION_WEIGHT: usize = 5;
const KEYWORD_WEIGHT: usize = 4;
const TEXT_WEIGHT: usize = 1;
/// Below this, half of all words are one letter apart.
const SLIP_LETTERS_MIN: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub id: String,
    pub topic: String,
    pub question: String,
    /// Markdown without headings.
    pub answer: String,
    pub keywords: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    answer: Vec<Answer>,
}

impl Answer {
    pub(crate) fn read_all(text: &str) -> Result<Vec<Self>, ContentFault> {
        let file: File =
            toml::from_str(text).map_err(|error| ContentFault::new(FILE, error.to_string()))?;
        match file.answer.iter().find(|answer| !is_slug(&answer.id)) {
            None => Ok(file.answer),
            Some(bad) => Err(ContentFault::new(
                FILE,
                format!("id: {:?} is not made of a-z, 0-9 and single hyphens", bad.id),
            )),
        }
    }

    /// How well this answers a query, in points; none at all is no answer.
    fn score(&self, words: &[String]) -> usize {
        let (question, text) = (letters(&self.question), letters(&self.answer));
        words
            .iter()
            .map(|word| {
                let hit = |found: &[String], weight| {
                    let best = found.iter().map(|found| closeness(found, word)).max();
                    best.unwrap_or(0) * weight
                };
                hit(&self.keywords, KEYWORD_WEIGHT)
                    + hit(&question, QUESTION_WEIGHT)
                    + hit(&text, TEXT_WEIGHT)
            })
            .sum()
    }
}

/// The best answers to a query, best first; equally good ones in the sequence
/// in which they were written.
pub fn search<'a>(answers: &'a [Answer], query: &str, most: usize) -> Vec<&'a Answer> {
    let words = letters(query);
    let mut found: Vec<(usize, &Answer)> = answers
        .iter()
        .map(|answer| (answer.score(&words), answer))
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(most).map(|(_, answer)| answer).collect()
}

/// Two for the same word, one for its plural, its beginning, or a slip of the finger.
fn closeness(found: &str, asked: &str) -> usize {
    let (short, long) = if found.len() < asked.len() { (found, asked) } else { (asked, found) };
    if found == asked {
        2
    } else if short.len() >= 4 && (long.starts_with(short) || is_slip(short, long)) {
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

/// Words too common to tell one question from another.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "be", "can", "do", "does", "for", "how", "i", "in", "is", "it", "my",
    "of", "on", "or", "the", "there", "to", "what", "when", "where", "which", "with", "you",
    "your",
];

fn letters(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str, question: &str, keywords: &[&str]) -> Answer {
        Answer {
            id: id.to_owned(),
            topic: "Paying".to_owned(),
            question: question.to_owned(),
            answer: "Some words about money.".to_owned(),
            keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    fn found(query: &str) -> Vec<String> {
        let answers = [
            answer("refunds", "Do you give refunds?", &["refund", "money", "back"]),
            answer("networks", "Which networks can I pay on?", &["base", "polygon", "chain"]),
        ];
        search(&answers, query, 5).into_iter().map(|answer| answer.id.clone()).collect()
    }

    #[test]
    fn a_question_a_keyword_and_a_plural_find_their_answer_first() {
        for (query, expected) in [
            ("refund", "refunds"),
            ("How do I get my money back?", "refunds"),
            ("network", "networks"),
            ("POLYGON", "networks"),
        ] {
            assert_eq!(found(query).first().map(String::as_str), Some(expected), "{query}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_forgiven_once() {
        for query in ["refudn", "refnd s refun", "refumd", "reffund"] {
            assert_eq!(found(query).first().map(String::as_str), Some("refunds"), "{query}");
        }
        assert!(found("rxfumd").is_empty());
    }

    #[test]
    fn nothing_is_found_for_common_words_and_strange_ones() {
        assert!(found("what is the").is_empty());
        assert!(found("zeppelin").is_empty());
        assert!(found("").is_empty());
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
