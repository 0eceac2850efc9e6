//! What search engines are told beside the text of a page, as JSON for a script element.

use content::product::Product;
use serde_json::{Value, json};

use super::places;
use crate::premises::Premises;

const CONTEXT: &str = "https://schema.org";

pub fn organization(premises: &Premises) -> String {
    let site = &premises.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    written(&json!({
        "@context": CONTEXT,
        "@type": "Organization",
        "@id": organization_id(premises),
        "name": site.name,
        "legalName": site.legal_name,
        "description": site.summary,
        "url": premises.url("/"),
        "logo": premises.url(places::ICON_PATH),
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
            "url": places::page(premises, places::CONTACT),
            "availableLanguage": languages,
        }],
    }))
}

pub fn website(premises: &Premises) -> String {
    let site = &premises.catalog.site;
    let languages: Vec<&str> = site.languages.iter().map(|language| language.code()).collect();
    written(&json!({
        "@context": CONTEXT,
        "@type": "WebSite",
        "@id": premises.url("/#website"),
        "name": site.name,
        "description": site.summary,
        "url": premises.url("/"),
        "inLanguage": languages,
        "publisher": {"@id": organization_id(premises)},
    }))
}

pub fn product(premises: &Premises, product: &Product) -> String {
    let address = premises.url(&product.path());
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
            "@id": organization_id(premises),
            "name": premises.catalog.site.name,
        },
    });
    if let Some(condition) = condition(&product.condition) {
        offer["itemCondition"] = condition.into();
    }
    written(&json!({
        "@context": CONTEXT,
        "@type": "Product",
        "@id": format!("{address}#product"),
        "name": product.name,
        "description": product.summary,
        "sku": product.slug,
        "category": product.kind,
        "url": address,
        "image": [premises.url(&product.picture_path())],
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

/// All answers, for the page that shows them all.
pub fn faq(premises: &Premises) -> String {
    let address = places::page(premises, places::SUPPORT);
    let questions = premises.catalog.answers.iter().map(|answer| {
        json!({
            "@type": "Question",
            "@id": format!("{address}#{}", answer.id),
            "name": answer.question,
            "acceptedAnswer": {"@type": "Answer", "text": plain(&answer.answer)},
        })
    });
    written(&json!({
        "@context": CONTEXT,
        "@type": "FAQPage",
        "@id": format!("{address}#faq"),
        "url": address,
        "mainEntity": questions.collect::<Vec<_>>(),
    }))
}

/// The way to a page, from the front door on, as names and paths.
pub fn breadcrumbs(premises: &Premises, way: &[(&str, &str)]) -> String {
    let steps = way.iter().zip(1_u32..).map(|((name, path), position)| {
        json!({
            "@type": "ListItem",
            "position": position,
            "name": name,
            "item": premises.url(path),
        })
    });
    written(&json!({
        "@context": CONTEXT,
        "@type": "BreadcrumbList",
        "itemListElement": steps.collect::<Vec<_>>(),
    }))
}

fn organization_id(premises: &Premises) -> String {
    premises.url("/#organization")
}

/// The vocabulary has four conditions; a word that is none of them is not told.
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

/// Markdown without its marks: search engines show the text as it is.
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

/// What stands before a link, its label, and what follows it.
fn first_link(text: &str) -> Option<(&str, &str, &str)> {
    let (head, tail) = text.split_once("](")?;
    let (before, label) = head.rsplit_once('[')?;
    let (_, after) = tail.split_once(')')?;
    Some((before, label, after))
}

/// A `<` could end the script element that the text is put into.
fn written(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
