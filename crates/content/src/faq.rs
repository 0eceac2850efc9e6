//! Answers to what people and agents ask, and how one is found.

use serde::Deserialize;

use crate::fault::ContentFault;
use crate::product::is_slug;

pub(crate) const FILE: &str = "support/faq.toml";

/// A word in the question says more about an answer than one inside of it.
const QUESTION_WEIGHT: usize = 5;
const KEYWORD_WEIGHT: usize = 4;
const TEXT_WEIGHT: usize = 1;

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

/// Two for the same word, one for its plural, its beginning or its stem.
fn closeness(found: &str, asked: &str) -> usize {
    let (short, long) = if found.len() < asked.len() { (found, asked) } else { (asked, found) };
    if found == asked {
        2
    } else if short.len() >= 4 && long.starts_with(short) {
        1
    } else {
        0
    }
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
