//! The values of the page layout: navigation, languages, footer and notices.

use minijinja::context;
use minijinja::value::Value;

use super::renderer::{Money, Renderer};
use crate::page::{Page, PageKind};
use crate::site::{Language, LinkLabel, SiteLink, UiWords};

/// The target of a language link if the page is not translated.
const HOME: &str = "home";

impl Renderer<'_> {
    /// The values that every text may use.
    pub(super) fn facts(&self) -> Value {
        let site = &self.catalog.site;
        context! {
            base_url => self.context.base_url,
            client_sha256 => self.context.client_sha256,
            open => self.context.open,
            networks => self.context.networks,
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

    pub(super) fn layout(&self, language: Language, here: &str, languages: Vec<Value>) -> Value {
        let site = &self.catalog.site;
        let words = site.words(language);
        let navigation = site.navigation.iter().map(|link| {
            let path = self.catalog.path_in(&link.path, language);
            context! { path, text => label(link, words), current => path == here }
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
            style => self.context.style,
            webmcp => self.context.script,
            ..self.facts()
        }
    }

    /// Notices about the sandbox, and about services that this installation does not offer.
    pub(super) fn notices(&self, language: Language) -> Vec<String> {
        let open = |service: &str| self.context.open.contains(&service);
        let words = self.catalog.site.words(language);
        let applies = [
            (self.context.money == Money::Play, "notice_sandbox"),
            (!open("x402"), "notice_no_orders"),
            (!open("preview"), "notice_no_previews"),
            (open("x402") && !open("mpp"), "notice_no_mpp"),
        ];
        let notices = applies.into_iter().filter(|(applies, _)| *applies);
        notices.filter_map(|(_, word)| words.get(word).cloned()).collect()
    }

    /// Links to this page in each language, or to the home page of the language.
    pub(super) fn language_links(&self, page: Option<&Page>) -> Vec<Value> {
        let site = &self.catalog.site;
        let here = page.map_or(site.default_language(), |page| page.language);
        let link = |language: &Language| {
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
        site.languages.iter().filter_map(link).collect()
    }

    /// The path of the form in which a card is written.
    pub(super) fn form_path(&self, language: Language) -> &str {
        let forms = self.catalog.pages.iter().filter(|page| page.front.kind == PageKind::Send);
        let own = forms.clone().find(|page| page.language == language);
        own.or_else(|| forms.clone().next()).map_or("/", |page| &page.front.path)
    }

    /// The `hreflang` links of a translated page.
    pub(super) fn alternates(&self, page: &Page) -> Vec<Value> {
        let alternates = self.catalog.alternates(page).into_iter();
        let alternate = |(hreflang, path): (&str, &str)| {
            context! { hreflang => hreflang, href => self.absolute(path) }
        };
        alternates.map(alternate).collect()
    }
}

fn label(link: &SiteLink, words: &UiWords) -> String {
    match &link.label {
        LinkLabel::Text(text) => text.clone(),
        LinkLabel::Word(word) => words.get(word).cloned().unwrap_or_default(),
    }
}
