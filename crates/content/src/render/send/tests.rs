//! The form with what a person wrote, in every language.

use super::*;
use crate::render::tests::{catalog, context};

/// Text that could end an attribute, an element or a text area.
const HOSTILE: &str = "</textarea></option><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\
                       {{ 4711 * 1009 }}{% raw %}&lt;";

fn pages() -> CardFormPages {
    let catalog = catalog();
    Renderer::new(&catalog, context()).unwrap().card_form().unwrap()
}

fn hostile() -> CardFormValues<'static> {
    CardFormValues {
        picture: HOSTILE,
        front_image_url: HOSTILE,
        message: HOSTILE,
        name: HOSTILE,
        address: HOSTILE,
        city: HOSTILE,
        province: HOSTILE,
        postal_code: HOSTILE,
        country: HOSTILE,
    }
}

fn quoted() -> ShownPrice {
    ShownPrice::Quoted(ShownQuote {
        id: "q".to_owned(),
        charge: "2.42".to_owned(),
        expires_at: "2026-11-18T09:00:00Z".to_owned(),
    })
}

fn proof<'a>(sides: &'a [String], price: &'a ShownPrice) -> CardProof<'a> {
    CardProof { sides, price, maximum: "3.50", warnings: &[] }
}

#[test]
fn the_form_has_a_path_in_every_language() {
    let paths: Vec<_> = pages().paths().map(|(_, path)| path.to_owned()).collect();
    assert_eq!(paths, ["/send", "/de/send", "/es/send", "/it/send"]);
}

#[test]
fn a_field_shows_its_value_and_its_fault() {
    let pages = pages();
    let values = CardFormValues { city: "Łódź", message: "\nDear Ada", ..Default::default() };
    let text = "error_name_missing".to_owned();
    let faults = [CardFormFault { field: "name", text, count: 0 }];
    for (language, word) in [(Language::En, "Give the name"), (Language::De, "Namen")] {
        let form = CardForm { values, faults: &faults, ..CardForm::default() };
        let html = pages.write(language, &form).unwrap();
        assert!(html.contains("value=\"Łódź\""));
        // The parser drops the first line break of a text area.
        assert!(html.contains("aria-describedby=\"message-hint message-count\">\n\nDear Ada<"));
        assert!(html.contains("<p class=\"fault\" id=\"name-fault\">"), "{}", language.code());
        assert_eq!(html.matches("aria-invalid").count(), 1);
        assert!(html.contains(word), "{word}");
        assert!(!html.contains("id=\"proof\"") && !html.contains("id=\"notice\""));
    }
}

#[test]
fn the_price_is_in_the_format_of_the_language() {
    let (pages, quote) = (pages(), quoted());
    let sides = ["https://cdn.example/1".to_owned(), "https://cdn.example/2".to_owned()];
    for (language, price) in [(Language::En, ">2.42 USDC"), (Language::It, ">2,42")] {
        let values = CardFormValues { country: "GB", ..CardFormValues::default() };
        let form = CardForm { values, proof: Some(proof(&sides, &quote)), ..CardForm::default() };
        let html = pages.write(language, &form).unwrap();
        assert!(html.contains("2026-11-18 09:00 UTC") && !html.contains("{charge}"));
        assert!(html.contains("name=\"quote_id\" value=\"q\""));
        assert!(html.contains(price), "{price}");
        assert!(html.contains("src=\"https:&#x2f;&#x2f;cdn.example&#x2f;1\""));
        assert!(html.contains("value=\"pay\""));
    }
}

#[test]
fn a_card_that_cannot_be_bought_is_not_offered_for_payment() {
    let pages = pages();
    for (price, text, is_offered) in [
        (ShownPrice::KnownWhenPaid, "is known when you pay", true),
        (ShownPrice::None("quote_too_expensive"), "would cost more than 3.50", false),
        (ShownPrice::None("preview_failed_refused"), "cannot print this card", false),
    ] {
        let form = CardForm { proof: Some(proof(&[], &price)), ..CardForm::default() };
        let html = pages.write(Language::En, &form).unwrap();
        assert!(html.contains(text), "{text}");
        assert_eq!(html.contains("value=\"pay\""), is_offered, "{text}");
        assert!(!html.contains("name=\"quote_id\""), "{text}");
    }
}

#[test]
fn what_was_written_never_becomes_markup() {
    let pages = pages();
    let sides = [HOSTILE.to_owned()];
    let (quiet, loud, price) = (CardFormValues::default(), hostile(), quoted());
    let html = |values, sides| {
        let notice = Some(CardFormNotice {
            text: "preview_failed_busy",
            seconds: 9,
            maximum: "3.50",
            order: None,
        });
        let form =
            CardForm { values, notice, proof: Some(proof(sides, &price)), ..CardForm::default() };
        pages.write(Language::En, &form).unwrap()
    };
    let (quiet, loud) = (html(quiet, &["".to_owned()]), html(loud, &sides));
    for mark in ["<script", "</textarea", "<img", "<option", "\">", "onerror=alert(1)>"] {
        assert_eq!(loud.matches(mark).count(), quiet.matches(mark).count(), "{mark}");
    }
    assert!(!loud.contains("4753399"), "the text was taken for a template");
}

#[test]
fn a_page_without_javascript_hides_what_needs_it() {
    let html = pages().write(Language::En, &CardForm::default()).unwrap();
    for id in
        ["drawing", "message-count", "handoff-filled", "handoff-unreadable", "handoff-too-large"]
    {
        let (_, rest) = html.split_once(&format!("id=\"{id}\"")).unwrap();
        assert!(rest.split('>').next().unwrap().ends_with("hidden"), "{id}");
    }
    assert!(html.contains("method=\"post\" action=\"&#x2f;send\""));
}
