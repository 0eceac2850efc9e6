//! Texts of the form and of the order page, and the names of countries, in every language.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::fault::ContentFault;
use crate::site::{Language, UiWords};
use crate::source::ContentSource;

const TEXTS: &str = "send/texts.toml";
const COUNTRIES: &str = "send/countries.toml";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendTexts {
    texts: BTreeMap<Language, UiWords>,
    countries: BTreeMap<Language, Vec<CountryName>>,
}

/// A country as a form names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountryName {
    /// Two letters of ISO 3166-1.
    pub code: String,
    pub name: String,
}

impl SendTexts {
    pub(crate) fn read(source: &ContentSource) -> Result<Self, Vec<ContentFault>> {
        let one = |fault| vec![fault];
        let texts: BTreeMap<Language, UiWords> = table(source, TEXTS).map_err(one)?;
        let lines: BTreeMap<Language, Vec<String>> = table(source, COUNTRIES).map_err(one)?;
        let mut faults = missing_texts(&texts);
        let mut countries = BTreeMap::new();
        for (language, lines) in lines {
            match lines.iter().map(|line| country(line)).collect() {
                Ok(names) => {
                    countries.insert(language, names);
                }
                Err(fault) => faults.push(fault),
            }
        }
        faults.extend(missing_countries(&countries));
        if faults.is_empty() { Ok(Self { texts, countries }) } else { Err(faults) }
    }

    /// The texts of one language, by key.
    pub fn texts(&self, language: Language) -> &UiWords {
        self.texts.get(&language).expect("checked when loaded")
    }

    /// The countries in the alphabetical order of the language.
    pub fn countries(&self, language: Language) -> &[CountryName] {
        self.countries.get(&language).map_or(&[], Vec::as_slice)
    }
}

fn table<T: serde::de::DeserializeOwned>(
    source: &ContentSource,
    file: &str,
) -> Result<T, ContentFault> {
    toml::from_str(&source.text(file)?).map_err(|error| ContentFault::new(file, error.to_string()))
}

/// From a line such as `DE Germany`.
fn country(line: &str) -> Result<CountryName, ContentFault> {
    let named = line.split_once(' ').filter(|(code, name)| code.len() == 2 && !name.is_empty());
    let (code, name) = named.ok_or_else(|| {
        ContentFault::new(COUNTRIES, format!("{line:?} is not a code, a space and a name"))
    })?;
    Ok(CountryName { code: code.to_owned(), name: name.to_owned() })
}

/// Every language has every text.
fn missing_texts(texts: &BTreeMap<Language, UiWords>) -> Vec<ContentFault> {
    let every: BTreeSet<&String> = texts.values().flat_map(BTreeMap::keys).collect();
    let missing = Language::ALL.into_iter().flat_map(|language| {
        let words = texts.get(&language);
        let absent = move |key: &&&String| words.is_none_or(|words| !words.contains_key(**key));
        every.iter().filter(absent).map(move |key| {
            ContentFault::new(TEXTS, format!("{}.{key}: is missing", language.code()))
        })
    });
    missing.collect()
}

/// Every language names every country once.
fn missing_countries(countries: &BTreeMap<Language, Vec<CountryName>>) -> Vec<ContentFault> {
    let codes = |names: &[CountryName]| {
        let mut codes: Vec<String> = names.iter().map(|country| country.code.clone()).collect();
        codes.sort_unstable();
        codes
    };
    let expected = countries.get(&Language::En).map(|names| codes(names));
    let different = Language::ALL.into_iter().filter(|language| {
        countries.get(language).map(|names| codes(names)) != expected || expected.is_none()
    });
    let fault = |language: Language| {
        let message = format!("{}: must have the countries of en, each once", language.code());
        ContentFault::new(COUNTRIES, message)
    };
    let twice = expected.iter().flatten().collect::<BTreeSet<_>>().len();
    let repeated = expected.as_ref().is_some_and(|codes| codes.len() != twice);
    let repeated = repeated.then(|| ContentFault::new(COUNTRIES, "en: names a country twice"));
    different.map(fault).chain(repeated).collect()
}

#[cfg(test)]
mod tests;
