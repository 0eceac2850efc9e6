//! Answers to what people and agents ask, and how one is found.

use serde::Deserialize;

use crate::fault::ContentFault;
use crate::product::is_slug;
use crate::search::{Field, Index};

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
}

/// The answers, ready to be searched.
pub fn index(answers: &[Answer]) -> Index {
    let keywords: Vec<String> = answers.iter().map(|answer| answer.keywords.join("\n")).collect();
    let pairs = answers.iter().zip(&keywords);
    Index::of(&pairs.map(|(answer, keywords)| fields(answer, keywords)).collect::<Vec<_>>())
}

fn fields<'a>(answer: &'a Answer, keywords: &'a str) -> Vec<Field<'a>> {
    let field = |text, weight| Field { text, weight, hits_max: 1 };
    vec![
        field(keywords, KEYWORD_WEIGHT),
        field(&answer.question, QUESTION_WEIGHT),
        field(&answer.answer, TEXT_WEIGHT),
    ]
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
        let found = index(&answers).find(query).into_iter();
        found.map(|found| answers[found.text].id.clone()).collect()
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
}
