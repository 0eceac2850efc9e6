//! What a translation shares with its original: structure, links, numbers, and no text.

use super::*;
use crate::markdown;
use crate::site::LinkLabel;

fn built_in() -> Catalog {
    Catalog::built_in(OTHER_PATHS).unwrap()
}

/// A page and its translations.
fn translations(catalog: &Catalog) -> Vec<(&Page, &Page)> {
    let default = catalog.site.default_language();
    let others = catalog.pages.iter().filter(|page| page.language != default);
    others.map(|page| (catalog.page(&page.name, default).unwrap(), page)).collect()
}

/// What begins each line: headings by level, items, rows, quotations, fences, paragraphs.
fn outline(source: &str) -> Vec<String> {
    let mut fenced = false;
    let mut outline = Vec::new();
    for line in source.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("```") {
            fenced = !fenced;
            outline.push(line.to_owned());
            continue;
        }
        if fenced {
            continue;
        }
        let start = line.split(' ').next().unwrap_or_default();
        let numbered = start.strip_suffix('.').is_some_and(|it| it.parse::<u8>().is_ok());
        let kind = match start {
            "##" | "###" | "-" | "*" | ">" | "|" | "{{" => start,
            _ if numbered => start,
            _ if start.starts_with('|') => "|",
            _ => "text",
        };
        let bold = line.matches("**").count() + 2 * line.matches('`').count();
        outline.push(format!("{kind} {bold}"));
    }
    outline
}

/// Digits, with one way of writing decimals.
fn numbers(text: &str) -> Vec<String> {
    let text = text.replace(',', ".");
    let numbers = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let numbers = numbers.map(|number| number.trim_matches('.').to_owned());
    let mut numbers: Vec<String> = numbers.filter(|number| !number.is_empty()).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_translation_has_the_outline_and_the_links_of_its_original() {
    let catalog = built_in();
    for (original, page) in translations(&catalog) {
        let language = page.language.code();
        assert_eq!(outline(&page.source), outline(&original.source), "{} {language}", page.name);
        let links = |page: &Page| {
            let mut links = markdown::links(&page.source);
            links.extend(page.front.actions.iter().map(|action| action.href.clone()));
            links.sort_unstable();
            links
        };
        assert_eq!(links(page), links(original), "{} {language}", page.name);
        assert_eq!(page.front.updated, original.front.updated, "{} {language}", page.name);
    }
}

#[test]
fn a_translation_names_the_prices_of_its_original() {
    let catalog = built_in();
    for (original, page) in translations(&catalog) {
        let prices = |page: &Page| {
            let front = &page.front;
            let text = format!("{} {} {}", front.description, front.lead, page.source);
            let text = text.replace('\u{a0}', " ");
            let words: Vec<&str> = text.split_whitespace().collect();
            let pairs = words.windows(2).filter(|pair| pair[1].starts_with("USDC"));
            let mut prices: Vec<String> = pairs.flat_map(|pair| numbers(pair[0])).collect();
            prices.sort_unstable();
            prices
        };
        assert_eq!(prices(page), prices(original), "{} {}", page.name, page.language.code());
    }
}

#[test]
fn a_product_is_told_in_every_language_with_the_same_numbers() {
    let catalog = built_in();
    let others = &catalog.site.languages[1..];
    for product in &catalog.products {
        for language in others {
            let place = format!("{} {}", product.slug, language.code());
            let translation =
                product.translations.get(language).unwrap_or_else(|| panic!("{place}"));
            for (own, text) in [
                (&product.kind, &translation.kind),
                (&product.summary, &translation.summary),
                (&product.picture_alt, &translation.picture_alt),
            ] {
                assert!(!text.is_empty() && text != own, "{place}: {text}");
                assert_eq!(numbers(text), numbers(own), "{place}: {text}");
                assert_eq!(text.ends_with('.'), own.ends_with('.'), "{place}: {text}");
            }
            // One kind has one name.
            for other in catalog.products.iter().filter(|other| other.kind == product.kind) {
                assert_eq!(other.translated(*language).kind, translation.kind, "{place}");
            }
        }
    }
}

#[test]
fn the_words_of_the_interface_are_translated() {
    let catalog = built_in();
    let (original, others) = catalog.site.languages.split_first().unwrap();
    let original = catalog.site.words(*original);
    for language in others {
        for (key, word) in catalog.site.words(*language) {
            // German says shop too.
            let shared = (language.code(), key.as_str()) == ("de", "shop");
            assert_eq!(word == &original[key], shared, "words.{}.{key}", language.code());
            assert_eq!(numbers(word), numbers(&original[key]), "words.{}.{key}", language.code());
        }
    }
    let texts = catalog.site.links().filter_map(|link| match &link.label {
        LinkLabel::Text(text) => Some(text.as_str()),
        LinkLabel::Word(_) => None,
    });
    // Names of files and of a format, which no language translates.
    assert_eq!(texts.collect::<Vec<_>>(), ["security.txt", "llms.txt", "OpenAPI", "auth.md"]);
}
