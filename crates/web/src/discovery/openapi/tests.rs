//! Compares the document with the endpoint list, the pages and the parsers.

use std::collections::BTreeSet;

use order::model::card::{Draft, Postcard};
use order::model::image_url::PublicImageUrl;

use super::*;
use crate::discovery::fixtures::site_facts;
use crate::discovery::openapi::schemas::IMAGE_URL_CHARACTERS_MAX;
use crate::surface::{HttpMethod, QuotaScope, SURFACE};

/// The limit of the crawlers of payment registries.
const CRAWLED_BYTES: usize = 64 * 1_024;
const METHODS: [&str; 3] = ["get", "head", "post"];

fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let item = item.as_object().unwrap().iter();
        item.map(move |(method, operation)| (method.clone(), path.clone(), operation))
    });
    operations.collect()
}

/// The target of every `$ref` of the document.
fn references<'a>(part: &'a Value, found: &mut BTreeSet<&'a str>) {
    match part {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_document_has_exactly_the_endpoints_and_the_pages() {
    let facts = site_facts();
    let mut expected = vec![("get".to_owned(), paths::PRODUCT_PATH.to_owned())];
    for endpoint in SURFACE {
        let methods = match (endpoint.quota, endpoint.method) {
            (QuotaScope::Exempt, HttpMethod::Get) => &["get"][..],
            (QuotaScope::Exempt, HttpMethod::Post) => &["post"],
            (QuotaScope::Discovery, HttpMethod::Get) => &["get", "head"],
            (QuotaScope::Discovery, HttpMethod::Post) => &METHODS,
        };
        let each = methods.iter().map(|method| ((*method).to_owned(), endpoint.path.to_owned()));
        expected.extend(each);
    }
    for page in facts.catalog.pages.iter().filter(|page| paths::is_listed(&facts, page)) {
        let all = page.front.aliases.iter().chain([&page.front.path]);
        expected.extend(all.map(|path| ("get".to_owned(), path.clone())));
    }
    let document = document(&facts);
    let mut found: Vec<_> =
        operations(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn every_operation_has_details_and_all_details_have_an_operation() {
    for endpoint in SURFACE {
        let name = endpoint.operation;
        let details = details::of(name).unwrap_or_else(|| panic!("{name} has no details"));
        let statuses: Vec<u16> = details.responses.iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses, endpoint.statuses, "{name}");
    }
    let mut named: Vec<&str> = details::DETAILS.iter().map(|details| details.operation).collect();
    let mut listed: Vec<&str> = SURFACE.iter().map(|endpoint| endpoint.operation).collect();
    named.sort_unstable();
    listed.sort_unstable();
    assert_eq!(named, listed);
}

#[test]
fn a_successful_response_has_the_media_type_of_the_endpoint() {
    let document = document(&site_facts());
    let responses = &document["components"]["responses"];
    for endpoint in SURFACE {
        let responses_of = details::of(endpoint.operation).unwrap().responses;
        for (_, name) in responses_of.iter().filter(|(status, _)| *status == 200) {
            let media = endpoint.format.essence();
            assert!(responses[name]["content"][media].is_object(), "{name} is no {media}");
        }
    }
}

#[test]
fn every_operation_has_a_unique_name_and_a_description() {
    let document = document(&site_facts());
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        assert!(names.insert(name), "{name} is not unique");
        for member in ["summary", "description"] {
            assert_ne!(operation[member].as_str().unwrap(), "", "{method} {path}");
        }
        assert_eq!(operation["tags"].as_array().unwrap().len(), 1, "{method} {path}");
        assert_eq!(operation["security"], json!([]), "{method} {path}");
    }
}

#[test]
fn every_reference_has_a_target_and_every_component_is_used() {
    let mut closed = site_facts();
    closed.enabled.clear();
    for facts in [site_facts(), closed] {
        references_match_components(&facts);
    }
}

fn references_match_components(facts: &SiteFacts) {
    let document = document(facts);
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let kinds = document["components"].as_object().unwrap().iter();
    let there: BTreeSet<String> = kinds
        .flat_map(|(kind, parts)| {
            let names = parts.as_object().unwrap().keys();
            names.map(move |name| format!("#/components/{kind}/{name}"))
        })
        .collect();
    assert_eq!(found, there.iter().map(String::as_str).collect());
}

#[test]
fn the_document_is_small_enough_for_crawlers() {
    let bytes = document(&site_facts()).to_string().len();
    assert!(bytes < CRAWLED_BYTES, "{bytes}");
}

#[test]
fn the_example_is_a_valid_postcard() {
    let example = example_body();
    let recipient = &example["recipient"];
    let draft = Draft {
        front_image_url: example["front_image_url"].as_str(),
        message: example["message"].as_str(),
        name: recipient["name"].as_str(),
        address: recipient["address"].as_str(),
        city: recipient["city"].as_str(),
        province: recipient["province"].as_str(),
        postal_code: recipient["postal_code"].as_str(),
        country: recipient["country"].as_str(),
    };
    assert_eq!(Postcard::parse(&draft).err(), None);
}

#[test]
fn the_schema_and_the_parser_have_the_same_limit_for_image_urls() {
    let start = "https://pennyblack.example/";
    let longest = format!("{start}{}", "a".repeat(IMAGE_URL_CHARACTERS_MAX - start.len()));
    assert!(PublicImageUrl::parse(&longest).is_ok());
    assert!(PublicImageUrl::parse(&format!("{longest}a")).is_err());
}

#[test]
fn paid_operations_have_a_price_and_a_402_response() {
    let document = document(&site_facts());
    let paid: Vec<_> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation["x-payment-info"].is_object())
        .collect();
    assert_eq!(paid.len(), 2);
    for (_, path, operation) in paid {
        assert!(operation["responses"]["402"].is_object(), "{path}");
        assert!(operation["requestBody"].is_object(), "{path}");
    }
    let mpp = &document["paths"]["/api/mpp/postcards"]["post"]["x-payment-info"];
    assert_eq!(mpp["offers"][0]["amount"], "3500000");
    assert_eq!(mpp["price"]["amount"], "3.50");
    let x402 = &document["paths"]["/api/x402/postcards"]["post"]["x-payment-info"];
    assert_eq!(x402["price"]["max"], "3.50");
    assert!(x402.get("offers").is_none());
}
