//! Structured data of pages and products.

use super::*;
use crate::discovery::fixtures;

fn read(text: &str) -> Value {
    assert!(!text.contains(['<', '\n']), "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["@context"], "https://schema.org");
    fixtures::has_no_relative_address(&value);
    value
}

#[test]
fn organization_and_website_refer_to_each_other() {
    let facts = fixtures::site_facts();
    let (organization, website) = (read(&organization(&facts)), read(&website(&facts)));
    let members = ["name", "legalName", "url", "logo", "address", "contactPoint"];
    fixtures::has_members(&organization, &members);
    assert_eq!(website["publisher"]["@id"], organization["@id"]);
    assert_eq!(website["inLanguage"], json!(["en", "de", "es", "it"]));
}

#[test]
fn every_product_has_its_price_and_availability() {
    let facts = fixtures::site_facts();
    for one in &facts.catalog.products {
        let data = read(&product(&facts, one));
        assert_eq!(data["sku"], one.slug);
        assert_eq!(data["offers"]["price"], one.price_plain());
        assert_eq!(data["offers"]["itemCondition"], "https://schema.org/NewCondition");
        let stock = if one.stock > 0 { "InStock" } else { "OutOfStock" };
        assert_eq!(data["offers"]["availability"], format!("https://schema.org/{stock}"));
    }
}

#[test]
fn every_answer_is_plain_text() {
    let facts = fixtures::site_facts();
    let data = read(&faq(&facts));
    let questions = fixtures::list(&data["mainEntity"]);
    assert_eq!(questions.len(), facts.catalog.answers.len());
    for question in questions {
        let text = question["acceptedAnswer"]["text"].as_str().unwrap();
        assert!(!text.is_empty() && !text.contains("](") && !text.contains('`'), "{text}");
    }
}

#[test]
fn a_link_becomes_its_label_and_a_single_bracket_stays() {
    assert_eq!(plain("See [the shop](/shop) and `code`, **now**."), "See the shop and code, now.");
    assert_eq!(plain("[a](/b)[c](/d) [e]"), "ac [e]");
    assert_eq!(plain("an [open](/end"), "an [open](/end");
}

#[test]
fn breadcrumb_positions_start_at_one() {
    let facts = fixtures::site_facts();
    let data = read(&breadcrumbs(&facts, &[("Home", "/"), ("Shop", "/shop")]));
    let steps = fixtures::list(&data["itemListElement"]);
    assert_eq!(steps[0]["position"], 1);
    assert_eq!(steps[1]["item"], facts.url("/shop"));
}

#[test]
fn nothing_can_end_the_script_element_early() {
    let mut facts = fixtures::site_facts();
    facts.catalog.site.summary = "</script><script>alert(1)".to_owned();
    let text = website(&facts);
    assert!(!text.contains('<'), "{text}");
    assert_eq!(read(&text)["description"], "</script><script>alert(1)");
}
