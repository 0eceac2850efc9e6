//! The investor briefing.

use serde::{Deserialize, Serialize};

use crate::fault::ContentFault;
use crate::page::is_date;

pub(crate) const FILE: &str = "invest.toml";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Briefing {
    pub updated: String,
    pub headline: String,
    pub facts: Vec<Fact>,
    pub risks: Vec<Risk>,
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub label: String,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    pub title: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub question: String,
    pub answer: String,
}

impl Briefing {
    pub(crate) fn read(text: &str) -> Result<Self, ContentFault> {
        let briefing: Self =
            toml::from_str(text).map_err(|error| ContentFault::new(FILE, error.to_string()))?;
        if is_date(&briefing.updated) {
            Ok(briefing)
        } else {
            Err(ContentFault::new(FILE, "updated: is not a date such as 2026-11-15"))
        }
    }
}
