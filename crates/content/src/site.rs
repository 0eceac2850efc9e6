//! Facts about the site that more than one page needs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::ContentFault;

pub(crate) const FILE: &str = "site.toml";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteInfo {
    pub name: String,
    pub legal_name: String,
    /// The site in one sentence.
    pub summary: String,
    pub founded: u16,
    pub email: String,
    pub security_email: String,
    pub investor_email: String,
    pub address: SiteAddress,
    /// The languages in which pages may exist; the first is the default.
    pub languages: Vec<Language>,
    /// The names of pages that exist in every language.
    pub translated: Vec<String>,
    pub navigation: Vec<SiteLink>,
    pub footer: Vec<LinkGroup>,
    pub words: BTreeMap<Language, UiWords>,
}

/// A link whose text is translated, or the same in all languages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SiteLink {
    pub path: String,
    #[serde(flatten)]
    pub label: LinkLabel,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkLabel {
    Word(String),
    Text(String),
}

/// A group of links with a translated title.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkGroup {
    pub title: String,
    pub links: Vec<SiteLink>,
}

/// Interface texts by key.
pub type UiWords = BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteAddress {
    pub street: String,
    pub postal_code: String,
    pub city: String,
    pub country: String,
    pub country_code: String,
}

impl fmt::Display for SiteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { street, postal_code, city, country, country_code: _ } = self;
        write!(f, "{street}, {postal_code} {city}, {country}")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    En,
    De,
    Es,
    It,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::En, Self::De, Self::Es, Self::It];

    /// The code in HTML, HTTP and file names.
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Es => "es",
            Self::It => "it",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }
}

impl SiteInfo {
    pub fn default_language(&self) -> Language {
        *self.languages.first().expect("checked when loaded")
    }

    /// The address with the country's name in this language.
    pub fn address_in(&self, language: Language) -> String {
        let country = self.words(language).get("country").unwrap_or(&self.address.country);
        SiteAddress { country: country.clone(), ..self.address.clone() }.to_string()
    }

    /// The interface texts of one language.
    pub fn words(&self, language: Language) -> &UiWords {
        self.words.get(&language).expect("checked when loaded")
    }

    /// The links of every page.
    pub(crate) fn links(&self) -> impl Iterator<Item = &SiteLink> {
        self.navigation.iter().chain(self.footer.iter().flat_map(|group| &group.links))
    }

    pub(crate) fn read(text: &str) -> Result<Self, Vec<ContentFault>> {
        let site: Self = toml::from_str(text)
            .map_err(|error| vec![ContentFault::new(FILE, error.to_string())])?;
        let faults = site.faults();
        if faults.is_empty() { Ok(site) } else { Err(faults) }
    }

    fn faults(&self) -> Vec<ContentFault> {
        let mut faults = Vec::new();
        let mut fault = |message: String| faults.push(ContentFault::new(FILE, message));
        if self.languages.is_empty() {
            fault("languages: name at least one".to_owned());
        }
        for (place, language) in self.languages.iter().enumerate() {
            if self.languages[..place].contains(language) {
                fault(format!("languages: {:?} is named twice", language.code()));
            }
            if !self.words.contains_key(language) {
                fault(format!("words.{}: is missing", language.code()));
            }
        }
        let every: std::collections::BTreeSet<&String> =
            self.words.values().flat_map(BTreeMap::keys).collect();
        let titles = self.footer.iter().map(|group| &group.title);
        let labels = self.links().filter_map(|link| match &link.label {
            LinkLabel::Word(word) => Some(word),
            LinkLabel::Text(_) => None,
        });
        for word in titles.chain(labels).filter(|word| !every.contains(word)) {
            fault(format!("navigation and footer: no words.{word}"));
        }
        for (language, words) in &self.words {
            for key in every.iter().filter(|key| !words.contains_key(**key)) {
                fault(format!("words.{}.{key}: is missing", language.code()));
            }
        }
        faults
    }
}
