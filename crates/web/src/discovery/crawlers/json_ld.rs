//! Structured data for search engines, as JSON for a script element.

use content::product::Product;
use serde_json::{Value, json};

use crate::discovery::links;
use crate::site_facts::SiteFacts;

const CONTEXT: &str = "https://schema.org";

pub fn organization(facts: &SiteFacts) -> String {
    let site = &facts.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    serialize(&json!({
        "@context": CONTEXT,
        "@type": "Organization",
        "@id": organization_id(facts),
        "name": site.name,
        "legalName": site.legal_name,
        "description": site.summary,
        "url": facts.url("/"),
        "logo": facts.url(links::ICON_PATH),
        "foundingDate": site.founded.to_string(),
        "email": site.email,
        "address": {
            "@type": "PostalAddress",
            "streetAddress": site.address.street,
            "postalCode": site.address.postal_code,
            "addressLocality": site.address.city,
            "addressCountry": site.address.country_code,
        },
        "contactPoint": [{
            "@type": "ContactPoint",
            "contactType": "customer support",
            "email": site.email,
            "url": links::page(facts, links::CONTACT),
            "availableLanguage": languages,
        }],
    }))
}

pub fn website(facts: &SiteFacts) -> String {
    let site = &facts.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    serialize(&json!({
        "@context": CONTEXT,
        "@type": "WebSite",
        "@id": facts.url("/#website"),
        "name": site.name,
        "description": site.summary,
        "url": facts.url("/"),
        "inLanguage": languages,
        "publisher": {"@id": organization_id(facts)},
    }))
}

pub fn product(facts: &SiteFacts, product: &Product) -> String {
    let address = facts.url(&product.path());
    let lines = product
        .specification
        .iter()
        .map(|line| json!({"@type": "PropertyValue", "name": line.name, "value": line.value}));
    let stock = if product.is_available() { "InStock" } else { "OutOfStock" };
    let mut offer = json!({
        "@type": "Offer",
        "url": address,
        "price": product.price_plain(),
        "priceCurrency": "EUR",
        "availability": format!("{CONTEXT}/{stock}"),
        "seller": {
            "@type": "Organization",
            "@id": organization_id(facts),
            "name": facts.catalog.site.name,
        },
    });
    if let Some(condition) = condition(&product.condition) {
        offer["itemCondition"] = condition.into();
    }
    serialize(&json!({
        "@context": CONTEXT,
        "@type": "Product",
        "@id": format!("{address}#product"),
        "name": product.name,
        "description": product.summary,
        "sku": product.slug,
        "category": product.kind,
        "url": address,
        "image": [facts.url(&product.picture_path())],
        "brand": {"@type": "Brand", "name": product.brand},
        "weight": {
            "@type": "QuantitativeValue",
            "value": product.weight_grams,
            "unitCode": "GRM",
        },
        "additionalProperty": lines.collect::<Vec<_>>(),
        "offers": offer,
    }))
}

/// For the page that shows all answers.
pub fn faq(facts: &SiteFacts) -> String {
    let address = links::page(facts, links::SUPPORT);
    let questions = facts.catalog.answers.iter().map(|answer| {
        json!({
            "@type": "Question",
            "@id": format!("{address}#{}", answer.id),
            "name": answer.question,
            "acceptedAnswer": {"@type": "Answer", "text": plain(&answer.answer)},
        })
    });
    serialize(&json!({
        "@context": CONTEXT,
        "@type": "FAQPage",
        "@id": format!("{address}#faq"),
        "url": address,
        "mainEntity": questions.collect::<Vec<_>>(),
    }))
}

/// The breadcrumb trail of a page from the home page, as names and paths.
pub fn breadcrumbs(facts: &SiteFacts, trail: &[(&str, &str)]) -> String {
    let steps = trail.iter().zip(1_u32..).map(|((name, path), position)| {
        json!({
            "@type": "ListItem",
            "position": position,
            "name": name,
            "item": facts.url(path),
        })
    });
    serialize(&json!({
        "@context": CONTEXT,
        "@type": "BreadcrumbList",
        "itemListElement": steps.collect::<Vec<_>>(),
    }))
}

fn organization_id(facts: &SiteFacts) -> String {
    facts.url("/#organization")
}

/// Schema.org has four conditions; any other is left out.
fn condition(word: &str) -> Option<String> {
    let known = match word {
        "new" => "NewCondition",
        "used" => "UsedCondition",
        "refurbished" => "RefurbishedCondition",
        "damaged" => "DamagedCondition",
        _ => return None,
    };
    Some(format!("{CONTEXT}/{known}"))
}

/// Markdown as plain text, because search engines show it unchanged.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown.trim();
    while let Some((before, label, after)) = first_link(rest) {
        text.push_str(before);
        text.push_str(label);
        rest = after;
    }
    text.push_str(rest);
    text.replace("**", "").replace('`', "")
}

/// The text before a link, its label, and the text after it.
fn first_link(text: &str) -> Option<(&str, &str, &str)> {
    let (head, tail) = text.split_once("](")?;
    let (before, label) = head.rsplit_once('[')?;
    let (_, after) = tail.split_once(')')?;
    Some((before, label, after))
}

/// A `<` could end the script element that the text is put into.
fn serialize(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
