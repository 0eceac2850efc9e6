//! A page in one language.

use serde::{Deserialize, Serialize};

use crate::fault::ContentFault;
use crate::site::Language;

const FENCE: &str = "+++";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The same in all languages, such as `home`.
    pub name: String,
    pub language: Language,
    pub front: FrontMatter,
    /// Markdown with placeholders.
    pub source: String,
}

/// The TOML above the text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The canonical path.
    pub path: String,
    /// Other paths of the same page.
    #[serde(default)]
    pub aliases: Vec<String>,
    pub kind: PageKind,
    pub title: String,
    pub description: String,
    pub heading: String,
    pub lead: String,
    pub updated: String,
    #[serde(default)]
    pub actions: Vec<PageAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    Landing,
    Prose,
    Legal,
    Docs,
    /// The form in which a card is written.
    Send,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageAction {
    pub text: String,
    pub href: String,
}

impl PageKind {
    pub(crate) const fn template(self) -> &'static str {
        match self {
            Self::Landing => "landing.html",
            Self::Prose | Self::Legal => "prose.html",
            Self::Docs => "docs.html",
            Self::Send => "send.html",
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
            .ok_or_else(|| fault("must be named <name>.<language>.md".to_owned()))?;
        let language = Language::from_code(language)
            .ok_or_else(|| fault(format!("{language:?} is not a supported language")))?;
        let (front, source) = text
            .strip_prefix(FENCE)
            .and_then(|rest| rest.split_once(&format!("\n{FENCE}\n")))
            .ok_or_else(|| fault(format!("must begin with TOML between two lines of {FENCE}")))?;
        let front: FrontMatter = toml::from_str(front).map_err(|error| fault(error.to_string()))?;
        let page =
            Self { name: name.to_owned(), language, front, source: source.trim().to_owned() };
        match page.invalid_field() {
            None => Ok(page),
            Some(message) => Err(fault(message)),
        }
    }

    /// The path of the Markdown, without negotiation.
    pub fn markdown_path(&self) -> String {
        markdown_path(&self.front.path)
    }

    fn invalid_field(&self) -> Option<String> {
        let FrontMatter { path, aliases, title, description, updated, .. } = &self.front;
        if let Some(path) = [path].into_iter().chain(aliases).find(|path| !path.starts_with('/')) {
            return Some(format!("{path:?} must begin with a slash"));
        }
        // Search engines cut off longer texts.
        if !(10..=65).contains(&title.chars().count()) {
            return Some("title: must have between 10 and 65 characters".to_owned());
        }
        if !(50..=160).contains(&description.chars().count()) {
            return Some("description: must have between 50 and 160 characters".to_owned());
        }
        if !is_date(updated) {
            return Some(format!("updated: {updated:?} is not a date such as 2026-11-15"));
        }
        None
    }
}

/// The Markdown path of a page: `/invest/index.md` of `/invest`.
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
