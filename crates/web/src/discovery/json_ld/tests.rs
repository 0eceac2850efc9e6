//! What search engines read about us.

use super::*;
use crate::discovery::samples;

fn read(text: &str) -> Value {
    assert!(!text.contains(['<', '\n']), "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["@context"], "https://schema.org");
    samples::has_no_relative_address(&value);
    value
}

#[test]
fn organization_and_website_refer_to_each_other() {
    let premises = samples::premises();
    let (organization, website) = (read(&organization(&premises)), read(&website(&premises)));
    let members = ["name", "legalName", "url", "logo", "address", "contactPoint"];
    samples::has_members(&organization, &members);
    assert_eq!(website["publisher"]["@id"], organization["@id"]);
    assert_eq!(website["inLanguage"], json!(["en", "de", "es", "it"]));
}

#[test]
fn every_product_is_offered_at_its_price_and_stock() {
    let premises = samples::premises();
    for one in &premises.catalog.products {
        let told = read(&product(&premises, one));
        assert_eq!(told["sku"], one.slug);
        assert_eq!(told["offers"]["price"], one.price_plain());
        assert_eq!(told["offers"]["itemCondition"], "https://schema.org/NewCondition");
        let stock = if one.stock > 0 { "InStock" } else { "OutOfStock" };
        assert_eq!(told["offers"]["availability"], format!("https://schema.org/{stock}"));
    }
}

#[test]
fn every_answer_is_told_without_marks() {
    let premises = samples::premises();
    let told = read(&faq(&premises));
    let questions = samples::list(&told["mainEntity"]);
    assert_eq!(questions.len(), premises.catalog.answers.len());
    for question in questions {
        let text = question["acceptedAnswer"]["text"].as_str().unwrap();
        assert!(!text.is_empty() && !text.contains("](") && !text.contains('`'), "{text}");
    }
}

#[test]
fn a_link_becomes_its_words_and_a_lone_bracket_stays() {
    assert_eq!(plain("See [the shop](/shop) and `code`, **now**."), "See the shop and code, now.");
    assert_eq!(plain("[a](/b)[c](/d) [e]"), "ac [e]");
    assert_eq!(plain("an [open](/end"), "an [open](/end");
}

#[test]
fn the_way_to_a_page_is_counted_from_one() {
    let premises = samples::premises();
    let told = read(&breadcrumbs(&premises, &[("Home", "/"), ("Shop", "/shop")]));
    let steps = samples::list(&told["itemListElement"]);
    assert_eq!(steps[0]["position"], 1);
    assert_eq!(steps[1]["item"], premises.url("/shop"));
}

#[test]
fn nothing_can_end_the_script_element_early() {
    let mut premises = samples::premises();
    premises.catalog.site.summary = "</script><script>alert(1)".to_owned();
    let text = website(&premises);
    assert!(!text.contains('<'), "{text}");
    assert_eq!(read(&text)["description"], "</script><script>alert(1)");
}
