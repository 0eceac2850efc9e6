//! A page in one language, as its author wrote it.

use serde::{Deserialize, Serialize};

use crate::fault::ContentFault;
use crate::site::Language;

const FENCE: &str = "+++";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What all languages of the page share, such as `home`.
    pub name: String,
    pub language: Language,
    pub front: Front,
    /// Markdown with marks for what the house fills in.
    pub source: String,
}

/// What stands above the text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// The one address that search engines shall know.
    pub path: String,
    /// Addresses that show the same page.
    #[serde(default)]
    pub aliases: Vec<String>,
    pub kind: Kind,
    pub title: String,
    pub description: String,
    pub heading: String,
    pub lead: String,
    pub updated: String,
    #[serde(default)]
    pub actions: Vec<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Landing,
    Prose,
    Legal,
    Docs,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    pub text: String,
    pub href: String,
}

impl Kind {
    pub(crate) const fn template(self) -> &'static str {
        match self {
            Self::Landing => "landing.html",
            Self::Prose | Self::Legal => "prose.html",
            Self::Docs => "docs.html",
        }
    }
}

impl Page {
    /// From a file called `<name>.<language>.md`.
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, ContentFault> {
        let fault = |message: String| ContentFault::new(file, message);
        let (name, language) = file
            .rsplit('/')
            .next()
            .and_then(|file| file.strip_suffix(".md"))
            .and_then(|stem| stem.rsplit_once('.'))
            .ok_or_else(|| fault("a page is called <name>.<language>.md".to_owned()))?;
        let language = Language::from_code(language)
            .ok_or_else(|| fault(format!("{language:?} is no language of ours")))?;
        let (front, source) = text
            .strip_prefix(FENCE)
            .and_then(|rest| rest.split_once(&format!("\n{FENCE}\n")))
            .ok_or_else(|| fault(format!("begins with TOML between two lines of {FENCE}")))?;
        let front: Front = toml::from_str(front).map_err(|error| fault(error.to_string()))?;
        let page =
            Self { name: name.to_owned(), language, front, source: source.trim().to_owned() };
        match page.objection() {
            None => Ok(page),
            Some(objection) => Err(fault(objection)),
        }
    }

    /// Where the Markdown of the page can be had without negotiation.
    pub fn markdown_path(&self) -> String {
        markdown_path(&self.front.path)
    }

    fn objection(&self) -> Option<String> {
        let Front { path, aliases, title, description, updated, .. } = &self.front;
        if let Some(path) = [path].into_iter().chain(aliases).find(|path| !path.starts_with('/')) {
            return Some(format!("{path:?} does not begin with a slash"));
        }
        // What search engines show whole.
        if !(10..=65).contains(&title.chars().count()) {
            return Some("title: between 10 and 65 characters".to_owned());
        }
        if !(50..=160).contains(&description.chars().count()) {
            return Some("description: between 50 and 160 characters".to_owned());
        }
        if !is_date(updated) {
            return Some(format!("updated: {updated:?} is no date such as 2026-11-15"));
        }
        None
    }
}

/// The twin of any address, such as `/invest/index.md` of `/invest`.
pub(crate) fn markdown_path(path: &str) -> String {
    format!("{}/index.md", path.trim_end_matches('/'))
}

pub(crate) fn is_date(text: &str) -> bool {
    let shape = text.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    text.len() == 10 && shape
}
