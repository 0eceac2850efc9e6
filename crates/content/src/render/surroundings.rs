//! What stands around every page: navigation, languages, footer.

use minijinja::context;
use minijinja::value::Value;

use super::Renderer;
use crate::page::Page;
use crate::site::{Label, Language, Link, Words};

/// The page that a language's name leads to where a page is not translated.
const HOME: &str = "home";

impl Renderer<'_> {
    /// The facts that any text may mention.
    pub(super) fn facts(&self) -> Value {
        let site = &self.catalog.site;
        context! {
            base_url => self.frame.base_url,
            client_sha256 => self.frame.client_sha256,
            open => self.frame.open,
            networks => self.frame.networks,
            site => context! {
                name => site.name,
                legal_name => site.legal_name,
                address => site.address.to_string(),
                email => site.email,
                security_email => site.security_email,
                investor_email => site.investor_email,
            },
        }
    }

    pub(super) fn surroundings(
        &self,
        language: Language,
        here: &str,
        languages: Vec<Value>,
    ) -> Value {
        let site = &self.catalog.site;
        let words = site.words(language);
        let navigation = site.navigation.iter().map(|link| {
            context! { path => link.path, text => label(link, words), current => link.path == here }
        });
        let footer = site.footer.iter().map(|group| {
            let links = group.links.iter();
            let links =
                links.map(|link| context! { path => link.path, text => label(link, words) });
            context! { title => words.get(&group.title), links => links.collect::<Vec<_>>() }
        });
        context! {
            words => words,
            navigation => navigation.collect::<Vec<_>>(),
            footer => footer.collect::<Vec<_>>(),
            languages => languages,
            notices => self.notices(language),
            address => site.address_in(language),
            style => self.frame.style,
            webmcp => self.frame.script,
            ..self.facts()
        }
    }

    /// What a visitor must know of services that this installation does not offer.
    pub(super) fn notices(&self, language: Language) -> Vec<String> {
        let open = |service: &str| self.frame.open.contains(&service);
        let words = self.catalog.site.words(language);
        let closed = [
            (!open("x402"), "notice_no_orders"),
            (!open("preview"), "notice_no_previews"),
            (open("x402") && !open("mpp"), "notice_no_mpp"),
        ];
        let notices = closed.into_iter().filter(|(closed, _)| *closed);
        notices.filter_map(|(_, word)| words.get(word).cloned()).collect()
    }

    /// The way to each language: this page there, or else its front door.
    pub(super) fn tongues(&self, page: Option<&Page>) -> Vec<Value> {
        let site = &self.catalog.site;
        let here = page.map_or(site.default_language(), |page| page.language);
        let tongue = |language: &Language| {
            let code = language.code();
            let translated = page.and_then(|page| {
                let siblings = self.catalog.siblings(page);
                siblings.into_iter().find(|sibling| sibling.language == *language)
            });
            let target = translated.or_else(|| self.catalog.page(HOME, *language));
            let name = site.words(*language).get("language_name");
            target.map(|target| {
                let current = *language == here;
                context! { href => target.front.path, name, code, current }
            })
        };
        site.languages.iter().filter_map(tongue).collect()
    }

    /// For search engines: the same page in all its languages, if it has several.
    pub(super) fn alternates(&self, page: &Page) -> Vec<Value> {
        let alternates = self.catalog.alternates(page).into_iter();
        let alternate = |(hreflang, path): (&str, &str)| {
            context! { hreflang => hreflang, href => self.absolute(path) }
        };
        alternates.map(alternate).collect()
    }
}

fn label(link: &Link, words: &Words) -> String {
    match &link.label {
        Label::Text(text) => text.clone(),
        Label::Word(word) => words.get(word).cloned().unwrap_or_default(),
    }
}
