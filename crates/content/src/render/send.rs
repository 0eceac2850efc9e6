//! The form in which a person writes a card: empty at start, and with faults, preview and price
//! for each request.

use std::collections::BTreeMap;

use minijinja::value::Value;
use minijinja::{Environment, context};
use serde::Serialize;

use super::phrases::{amount, phrase, shown_time};
use super::renderer::{Renderer, render_template};
use crate::fault::ContentFault;
use crate::page::{Page, PageKind};
use crate::site::{Language, UiWords};

/// The lines of an address, in the order of an envelope. The second word is for the keyboards of
/// phones.
const ADDRESS_LINES: [(&str, &str); 5] = [
    ("name", "words"),
    ("address", "words"),
    ("postal_code", "characters"),
    ("city", "words"),
    ("province", "words"),
];

/// What a person has written and what is said about it. It contains personal data, so it has no
/// `Debug`, and its page must not be stored.
#[derive(Clone, Copy, Default)]
pub struct CardForm<'a> {
    pub values: CardFormValues<'a>,
    pub faults: &'a [CardFormFault],
    pub notice: Option<CardFormNotice<'a>>,
    pub proof: Option<CardProof<'a>>,
}

/// The fields of the form, as they were sent.
#[derive(Clone, Copy, Default, Serialize)]
pub struct CardFormValues<'a> {
    /// A picture of the gallery, or `own`.
    pub picture: &'a str,
    pub front_image_url: &'a str,
    pub message: &'a str,
    pub name: &'a str,
    pub address: &'a str,
    pub city: &'a str,
    pub province: &'a str,
    pub postal_code: &'a str,
    pub country: &'a str,
}

/// A field that must be corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardFormFault {
    pub field: &'static str,
    /// The key of its text.
    pub text: String,
    /// How many characters it has.
    pub count: usize,
}

/// Why there is no preview or no payment page.
#[derive(Clone, Copy)]
pub struct CardFormNotice<'a> {
    /// The key of its text.
    pub text: &'static str,
    /// How long to wait.
    pub seconds: u64,
    /// The most that a card may cost, in USDC.
    pub maximum: &'a str,
    /// The order that it is about.
    pub order: Option<&'a str>,
}

/// The card as it will be printed, and its price.
#[derive(Clone, Copy)]
pub struct CardProof<'a> {
    /// The URLs of the pictures: the front first.
    pub sides: &'a [String],
    pub price: &'a ShownPrice,
    /// The most that can be charged, in USDC.
    pub maximum: &'a str,
    /// The keys of their texts.
    pub warnings: &'a [&'static str],
}

/// What the card costs, as far as it is known before payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownPrice {
    Quoted(ShownQuote),
    /// There is no price now, and the card can be paid for.
    KnownWhenPaid,
    /// The card cannot be paid for. The key of the text that says why.
    None(&'static str),
}

/// A price that the payment does not exceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownQuote {
    /// What the payment names.
    pub id: String,
    /// In USDC.
    pub charge: String,
    pub expires_at: String,
}

/// The page in every language, checked at start.
pub struct CardFormPages {
    templates: Environment<'static>,
    pages: BTreeMap<Language, FormPage>,
}

struct FormPage {
    path: String,
    texts: UiWords,
    /// By code.
    countries: BTreeMap<String, String>,
    context: Value,
}

impl Renderer<'_> {
    /// The form without a card. Renders a sample, so that a template error is found at start.
    pub fn card_form(&self) -> Result<CardFormPages, ContentFault> {
        let forms = self.catalog.pages.iter().filter(|page| page.front.kind == PageKind::Send);
        let mut pages = BTreeMap::new();
        for page in forms {
            let context = self.page_context(page, &[])?;
            let texts = self.catalog.send.texts(page.language).clone();
            let path = page.front.path.clone();
            let countries = self.catalog.send.countries(page.language).iter();
            let countries =
                countries.map(|country| (country.code.clone(), country.name.clone())).collect();
            pages.insert(page.language, FormPage { path, texts, countries, context });
        }
        let form = CardFormPages { templates: self.templates.clone(), pages };
        for language in form.pages.keys() {
            form.write(*language, &SAMPLE)?;
        }
        Ok(form)
    }

    /// The values of the empty form.
    pub(super) fn form_context(&self, page: &Page) -> Value {
        let texts = self.catalog.send.texts(page.language);
        let scripts = &self.context.send_scripts;
        let limits = self.context.card_limits;
        let gallery = self.catalog.gallery.iter().map(|picture| {
            context! {
                name => picture.name,
                url => format!("{}{}", self.context.picture_origin, picture.path()),
                thumbnail => picture.thumbnail_path(),
                title => picture.title(page.language),
                alt => picture.alt(page.language),
            }
        });
        context! {
            t => texts,
            countries => self.catalog.send.countries(page.language),
            gallery => gallery.collect::<Vec<_>>(),
            path => page.front.path,
            scripts => scripts,
            message_max => limits.message_characters,
            ..filled(texts, &CardForm::default())
        }
    }
}

impl CardFormPages {
    /// The path of the form in each language.
    pub fn paths(&self) -> impl Iterator<Item = (Language, &str)> {
        self.pages.iter().map(|(language, page)| (*language, page.path.as_str()))
    }

    /// The whole page. It must not be stored.
    pub fn write(&self, language: Language, form: &CardForm<'_>) -> Result<String, ContentFault> {
        let page = self.pages.get(&language).expect("only the languages of `paths` are asked for");
        let country = page.countries.get(form.values.country).map_or("", String::as_str);
        let proof = form.proof.map(|proof| proof_context(language, &page.texts, country, &proof));
        let notice = form.notice.map(|notice| {
            let (seconds, most) = (notice.seconds.to_string(), amount(language, notice.maximum));
            let values = [("seconds", &*seconds), ("most", &*most), ("country", country)];
            context! { text => phrase(&page.texts, notice.text, &values), order => notice.order }
        });
        let answer = context! { proof, notice, ..filled(&page.texts, form) };
        let context = context! { ..answer, ..page.context.clone() };
        render_template(&self.templates, PageKind::Send.template(), context)
    }
}

/// The fields with their values and faults.
fn filled(texts: &UiWords, form: &CardForm<'_>) -> Value {
    let text =
        |fault: &CardFormFault| phrase(texts, &fault.text, &[("count", &fault.count.to_string())]);
    let fault = |field: &str| form.faults.iter().find(|fault| fault.field == field).map(text);
    let values = Value::from_serialize(form.values);
    let lines = ADDRESS_LINES.map(|(name, capitals)| {
        let value = values.get_attr(name).unwrap_or_default();
        let label = texts.get(&format!("{name}_label"));
        let hint = texts.get(&format!("{name}_hint"));
        context! { name, capitals, value, label, hint, fault => fault(name) }
    });
    let faults = form.faults.iter();
    let faults = faults.map(|fault| context! { field => fault.field, text => text(fault) });
    context! {
        values => values,
        lines => lines,
        faults => faults.collect::<Vec<_>>(),
        picture_fault => fault("front_image_url"),
        message_fault => fault("message"),
        country_fault => fault("country"),
    }
}

fn proof_context(
    language: Language,
    texts: &UiWords,
    country: &str,
    proof: &CardProof<'_>,
) -> Value {
    let most = amount(language, proof.maximum);
    let text = |key| phrase(texts, key, &[("country", country), ("most", &most)]);
    let (quote, no_quote, can_be_paid) = match proof.price {
        ShownPrice::Quoted(quote) => {
            (Some(quote_context(language, texts, country, quote, &most)), None, true)
        }
        ShownPrice::KnownWhenPaid => (None, Some(text("quote_none")), true),
        ShownPrice::None(key) => (None, Some(text(key)), false),
    };
    let warnings: Vec<String> = proof.warnings.iter().map(|key| text(key)).collect();
    context! { sides => proof.sides, quote, no_quote, can_be_paid, warnings }
}

fn quote_context(
    language: Language,
    texts: &UiWords,
    country: &str,
    quote: &ShownQuote,
    most: &str,
) -> Value {
    let (charge, time) = (amount(language, &quote.charge), shown_time(&quote.expires_at));
    let values = [("charge", &*charge), ("most", most), ("country", country), ("time", &*time)];
    let text = |key| phrase(texts, key, &values);
    context! {
        id => quote.id,
        charge => text("quote_charge"),
        maximum => text("quote_maximum"),
        valid => text("quote_valid"),
    }
}

const SAMPLE: CardForm<'static> = CardForm {
    values: CardFormValues {
        picture: "own",
        front_image_url: "",
        message: "",
        name: "",
        address: "",
        city: "",
        province: "",
        postal_code: "",
        country: "",
    },
    faults: &[],
    notice: Some(CardFormNotice {
        text: "notice_failed",
        seconds: 0,
        maximum: "0",
        order: Some(""),
    }),
    proof: Some(CardProof {
        sides: &[],
        price: &ShownPrice::KnownWhenPaid,
        maximum: "0",
        warnings: &[],
    }),
};

#[cfg(test)]
mod tests;
