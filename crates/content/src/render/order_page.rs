//! The page of an order, for people: how far the card is, what was charged, and what comes next.

use std::collections::BTreeMap;

use minijinja::value::Value;
use minijinja::{Environment, context};
use serde::Serialize;

use super::phrases::{amount, linked, phrase, time};
use super::renderer::{Renderer, render_template};
use crate::fault::ContentFault;
use crate::site::{Language, UiWords};

const TEMPLATE: &str = "order.html";
const MISSING_TEMPLATE: &str = "order_missing.html";

/// What the page says about an order. It has no personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSummary {
    pub id: String,
    /// The word of the status endpoint, which is also the key of the texts.
    pub status: &'static str,
    pub timeline: Vec<TimelineStep>,
    pub payment: Option<PaymentSummary>,
    pub refund: Option<TransferProof>,
    /// Whether times of delivery are of interest.
    pub travels: bool,
    /// How often to look again. None if nothing will change.
    pub poll_seconds: Option<u32>,
}

/// One step on the way of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimelineStep {
    /// The key of its text.
    pub text: &'static str,
    /// The class of the step: `done`, `now` or `ahead`.
    pub progress: &'static str,
    pub at: Option<String>,
}

/// A payment that has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentSummary {
    pub charged: String,
    pub maximum: String,
    pub pay_to: String,
    pub transfer: TransferProof,
}

/// A transfer and where it can be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferProof {
    /// In USDC.
    pub amount: String,
    pub network: &'static str,
    pub transaction: String,
    /// None in the sandbox, whose chains no explorer knows.
    pub explorer: Option<ExplorerLink>,
    pub at: String,
}

/// The page of a transaction at a block explorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplorerLink {
    pub name: &'static str,
    pub url: String,
}

/// Why there is no page for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderPageError {
    MalformedId,
    UnknownOrder,
    Busy,
}

impl OrderPageError {
    const ALL: [Self; 3] = [Self::MalformedId, Self::UnknownOrder, Self::Busy];

    pub const fn status(self) -> u16 {
        match self {
            Self::MalformedId => 400,
            Self::UnknownOrder => 404,
            Self::Busy => 503,
        }
    }

    /// The keys of heading and text.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::MalformedId | Self::UnknownOrder => {
                ("order_unknown_heading", "order_unknown_text")
            }
            Self::Busy => ("order_heading", "order_unavailable"),
        }
    }
}

/// The page in every language, checked at start.
pub struct OrderPages {
    templates: Environment<'static>,
    pages: BTreeMap<Language, (UiWords, Value)>,
}

impl Renderer<'_> {
    /// The page without an order. Renders samples, so that a template error is found at start.
    pub fn order_pages(&self) -> Result<OrderPages, ContentFault> {
        let site = &self.catalog.site;
        let page = |language: &Language| {
            let texts = self.catalog.send.texts(*language);
            let links = site.languages.iter().map(|other| {
                let (code, name) = (other.code(), site.words(*other).get("language_name"));
                context! { href => format!("?lang={code}"), name, code, current => other == language }
            });
            let context = context! {
                t => texts,
                help => linked(texts, "order_help"),
                late => linked(texts, "delivery_late"),
                form_path => self.form_path(*language),
                order_script => self.context.order_script,
                ..self.layout(*language, "", links.collect())
            };
            (*language, (texts.clone(), context))
        };
        let pages = OrderPages {
            templates: self.templates.clone(),
            pages: site.languages.iter().map(page).collect(),
        };
        for language in &site.languages {
            pages.write(*language, &sample())?;
            for error in OrderPageError::ALL {
                pages.error(*language, error)?;
            }
        }
        Ok(pages)
    }
}

impl OrderPages {
    pub fn write(&self, language: Language, order: &OrderSummary) -> Result<String, ContentFault> {
        let (texts, layout) = self.page(language);
        let payment = order.payment.as_ref();
        let charge = payment.map_or_else(String::new, |paid| amount(language, &paid.charged));
        let most = payment.map_or_else(String::new, |paid| amount(language, &paid.maximum));
        let network = payment.map_or("", |paid| paid.transfer.network);
        let values = [("charge", &*charge), ("most", &*most), ("network", network)];
        let text = |kind: &str| phrase(texts, &format!("status_{}_{kind}", order.status), &values);
        let timeline = order.timeline.iter().map(|step| {
            let TimelineStep { text, progress, at } = step;
            context! { text => texts.get(*text), progress, at => at.as_deref().map(time) }
        });
        let payment = payment.map(|payment| {
            context! {
                charged => phrase(texts, "order_charged_of", &values),
                pay_to => payment.pay_to,
                transfer => transfer(language, texts, &payment.transfer),
            }
        });
        let refund = order.refund.as_ref().map(|refund| transfer(language, texts, refund));
        let title = phrase(texts, "order_title", &[("id", &order.id)]);
        let context = context! {
            page => about(language, texts, &title),
            order => context! {
                id => order.id,
                status => order.status,
                title => text("name"),
                text => text("text"),
                next => text("next"),
                travels => order.travels,
                timeline => timeline.collect::<Vec<_>>(),
                payment => payment,
                refund => refund,
                poll_seconds => order.poll_seconds,
            },
            ..layout.clone()
        };
        render_template(&self.templates, TEMPLATE, context)
    }

    pub fn error(&self, language: Language, error: OrderPageError) -> Result<String, ContentFault> {
        let (texts, layout) = self.page(language);
        let (heading, text) = error.texts();
        let context = context! {
            page => about(language, texts, &phrase(texts, heading, &[])),
            code => error.status(),
            title => texts.get(heading),
            text => texts.get(text),
            ..layout.clone()
        };
        render_template(&self.templates, MISSING_TEMPLATE, context)
    }

    fn page(&self, language: Language) -> &(UiWords, Value) {
        let first = || self.pages.first_key_value().map(|(_, page)| page);
        self.pages.get(&language).or_else(first).expect("the site has a language")
    }
}

fn about(language: Language, texts: &UiWords, title: &str) -> Value {
    let description = texts.get("order_description");
    context! { language => language.code(), title, description, noindex => true }
}

fn transfer(language: Language, texts: &UiWords, transfer: &TransferProof) -> Value {
    let explorer = transfer.explorer.as_ref().map(|explorer| {
        let text = phrase(texts, "order_see_transaction", &[("explorer", explorer.name)]);
        context! { url => explorer.url, text }
    });
    context! {
        amount => format!("{}\u{a0}USDC", amount(language, &transfer.amount)),
        network => transfer.network,
        transaction => transfer.transaction,
        explorer,
        at => time(&transfer.at),
    }
}

fn sample() -> OrderSummary {
    let transfer = TransferProof {
        amount: "0".to_owned(),
        network: "",
        transaction: String::new(),
        explorer: None,
        at: String::new(),
    };
    let step = TimelineStep { text: "status_paid_name", progress: "now", at: Some(String::new()) };
    OrderSummary {
        id: String::new(),
        status: "unpaid",
        timeline: vec![step],
        payment: Some(PaymentSummary {
            charged: "0".to_owned(),
            maximum: "0".to_owned(),
            pay_to: String::new(),
            transfer: transfer.clone(),
        }),
        refund: Some(transfer),
        travels: true,
        poll_seconds: Some(5),
    }
}

#[cfg(test)]
mod tests;
