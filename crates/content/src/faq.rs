//! Support answers and their search index.

use serde::Deserialize;

use crate::fault::ContentFault;
use crate::product::is_slug;
use crate::search::{SearchField, SearchIndex};

pub(crate) const FILE: &str = "support/faq.toml";

/// A word in the question is more relevant than one in the answer.
const QUESTION_WEIGHT: usize = 5;
const KEYWORD_WEIGHT: usize = 4;
const TEXT_WEIGHT: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportAnswer {
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
    answer: Vec<SupportAnswer>,
}

impl SupportAnswer {
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
}

/// The search index of the answers.
pub fn index(answers: &[SupportAnswer]) -> SearchIndex {
    let keywords: Vec<String> = answers.iter().map(|answer| answer.keywords.join("\n")).collect();
    let pairs = answers.iter().zip(&keywords);
    SearchIndex::of(&pairs.map(|(answer, keywords)| fields(answer, keywords)).collect::<Vec<_>>())
}

fn fields<'a>(answer: &'a SupportAnswer, keywords: &'a str) -> Vec<SearchField<'a>> {
    let field = |text, weight| SearchField { text, weight, hits_max: 1 };
    vec![
        field(keywords, KEYWORD_WEIGHT),
        field(&answer.question, QUESTION_WEIGHT),
        field(&answer.answer, TEXT_WEIGHT),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str, question: &str, keywords: &[&str]) -> SupportAnswer {
        SupportAnswer {
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
        let found = index(&answers).find(query).into_iter();
        found.map(|found| answers[found.text].id.clone()).collect()
    }

    #[test]
    fn questions_keywords_and_plurals_find_their_answer_first() {
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
    fn one_typo_in_a_word_is_tolerated() {
        for query in ["refudn", "refnd s refun", "refumd", "reffund"] {
            assert_eq!(found(query).first().map(String::as_str), Some("refunds"), "{query}");
        }
        assert!(found("rxfumd").is_empty());
    }

    #[test]
    fn common_and_unknown_words_find_nothing() {
        assert!(found("what is the").is_empty());
        assert!(found("zeppelin").is_empty());
        assert!(found("").is_empty());
    }
}
