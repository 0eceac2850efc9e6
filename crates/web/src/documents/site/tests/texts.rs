//! Sentences that public texts must not contain, the spelling of each language, and numbers that
//! must match the code.

use content::site::Language;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use order::lifecycle::{IDENTITY_SECONDS, OFFER_SECONDS};
use order::model::card::{ADDRESS_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX};
use order::model::money::{CEILING, Cents, Price};

use super::*;

/// Sentences that were on the site and that nothing in this version makes true, in all four
/// languages. A sentence leaves this list with the change that makes it true.
const UNTRUE: [&str; 52] = [
    // No code makes refunds.
    "your money is returned",
    "or the money comes back",
    "a card or your money",
    "Geld zurück",
    "recuperes el dinero",
    "denaro non ti viene restituito",
    "until it is mailed or refunded",
    "We check it on the chain before the order says",
    "we check it on chain before the order shows",
    "or to `refunded`",
    "`refunded` is checked on chain",
    "we return the money",
    "owing cards and refunds",
    "and otherwise refund it",
    // The software alerts us. Whether a person reads that is not in its power.
    "a person is told",
    "erfährt ein Mensch",
    "se avisa a una persona",
    "viene avvisata una persona",
    // A provider can refuse a paid card, and Lob is not asked for a price.
    "everything that can say no is asked",
    "everything that can refuse a card is asked",
    "the provider is asked for its total",
    "ask the provider for its total",
    "The printer names its price",
    "If it does not serve the address",
    // Looks at a mailed card delay the 30 days.
    "forgotten as a duplicate after 30 days",
    "freed after 30 days",
    "After 30 days a finished card",
    // Payments use an allowance up, and an `approve` costs gas.
    "must have allowed once",
    "has to be allowed once",
    "must once allow",
    "once per network",
    "no further cost",
    "that approval is an ordinary transaction of yours and needs",
    // Contradicted by other pages, the terms or the catalog.
    "cost and margin under the ceiling is refused",
    "may send goods back within 14 days",
    "can be sent back within 14 days",
    "carries our signature",
    "the file we sign",
    "twelve dots",
    "from time to time, we take no money",
    "Our policy and current contact",
    "Contact and policy",
    // Contradicted by the code.
    "Every error body has",
    "as long as nothing has happened",
    "five requests",
    "Four ways to buy",
    "After four weeks without arrival",
    "or add `/index.md` to the page's address",
    "usually prints within",
    "are set in smaller type",
    "at most 2,048 characters",
    "64 KB",
];

/// English is that of Oxford: British words, and verbs in `-ize`. Numbers of four digits have a
/// comma, prices their sign in front, and a percent sign follows its number directly.
const NOT_OUR_ENGLISH: [&str; 22] = [
    "uthoris",
    "ecognis",
    "exualis",
    "rganis",
    "ormalis",
    "nitialis",
    "ynchronis",
    " color ",
    "avorite",
    "ehavior",
    "arbor",
    "eighbor",
    "the center",
    " catalog ",
    " catalog]",
    " catalog,",
    " catalog.",
    "e-mail",
    "block chain",
    " % ",
    "€\u{a0}",
    ", In stock",
];

/// By language: the other way of addressing a reader, English numbers, signs that belong to
/// another language, and words for which the page has another one.
const NOT_OUR_GERMAN: [&str; 12] = [
    " du ",
    " dein",
    " dich ",
    "3.50",
    "2.42",
    "0 USDC",
    "2 USDC",
    "21%",
    "21 %",
    "'",
    ", Auf Lager",
    "€ ",
];
const NOT_OUR_SPANISH: [&str; 12] = [
    " usted",
    "3.50",
    "2.42",
    "0 USDC",
    "2 USDC",
    "21%",
    "21 %",
    "'",
    "vista previa",
    "vistas previas",
    ", Disp",
    "€ ",
];
const NOT_OUR_ITALIAN: [&str; 10] =
    [" Lei ", " Suo ", " Vostr", "3.50", "2.42", "0 USDC", "2 USDC", "21 %", "'", ", Disp"];

/// Small words that no sentence of the other languages has.
const ENGLISH: [&str; 14] = [
    "the", "and", "with", "of", "for", "from", "your", "is", "are", "this", "by", "you", "or", "at",
];

fn wrong_spellings(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &NOT_OUR_ENGLISH,
        Language::De => &NOT_OUR_GERMAN,
        Language::Es => &NOT_OUR_SPANISH,
        Language::It => &NOT_OUR_ITALIAN,
    }
}

/// The prose of a Markdown text, without code and URLs.
fn prose(markdown: &str) -> String {
    let outside = markdown.split("```").step_by(2).collect::<Vec<_>>().concat();
    let plain = outside.split('`').step_by(2).collect::<Vec<_>>().join("·");
    let mut pieces = plain.split("](");
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        read.push(']');
        read.push_str(piece.split_once(')').map_or("", |(_, rest)| rest));
    }
    read
}

/// Every text that is served or written into a response.
fn all_texts(site: &Site) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let is_picture = |path: &str| {
        let raster = pages::RASTER_IMAGES.iter().any(|(picture, _)| *picture == path);
        raster || path.starts_with("/gallery/")
    };
    for path in site.documents.paths().filter(|path| !is_picture(path)) {
        for accept in ["text/html", "text/markdown"] {
            let headers: HeaderMap =
                [(ACCEPT, HeaderValue::from_static(accept))].into_iter().collect();
            let sent = site.documents.find(path).unwrap().document(&headers).respond(&headers);
            texts.push((path.to_owned(), String::from_utf8(sent.body.to_vec()).unwrap()));
        }
    }
    texts.push(("not found".to_owned(), site.not_found_page.clone()));
    let paywall = site.facts.catalog.asset("templates/paywall.html").unwrap();
    texts.push(("paywall".to_owned(), String::from_utf8(paywall.into_owned()).unwrap()));
    for answer in &site.facts.catalog.answers {
        texts.push((answer.id.clone(), answer.answer.clone()));
    }
    texts
}

fn page<'a>(site: &'a Site, path: &str) -> &'a str {
    &site.pages.iter().find(|page| page.path == path).unwrap().markdown
}

fn html(site: &Site, path: &str) -> String {
    let headers = HeaderMap::new();
    let sent = site.documents.find(path).unwrap().document(&headers).respond(&headers);
    String::from_utf8(sent.body.to_vec()).unwrap()
}

#[test]
fn no_text_contains_a_sentence_that_is_untrue_in_this_version() {
    let site = site();
    for (place, text) in all_texts(&site) {
        for untrue in UNTRUE {
            assert!(!text.contains(untrue), "{place} says {untrue:?}");
        }
    }
}

#[test]
fn every_language_has_one_spelling() {
    let site = site();
    let pages = site.pages.iter();
    let pages = pages.map(|page| (page.path.clone(), page.language, page.markdown.clone()));
    let agents = &site.facts.catalog.agents;
    let skills = agents.skills.iter().map(|skill| (skill.name.as_str(), &skill.text));
    let agents = [("auth.md", &agents.auth), ("llms.txt", &agents.guide)].into_iter().chain(skills);
    let agents = agents.map(|(name, text)| (name.to_owned(), Language::En, text.clone()));
    let words = site.facts.catalog.site.words.iter().flat_map(|(language, words)| {
        let words = words.iter();
        words.map(|(key, word)| (format!("words.{key}"), *language, format!(" {word} ")))
    });
    let forms = Language::ALL.into_iter().flat_map(|language| {
        let texts = site.facts.catalog.send.texts(language).iter();
        texts.map(move |(key, text)| (format!("send.{key}"), language, format!(" {text} ")))
    });
    for (place, language, text) in pages.chain(agents).chain(words).chain(forms) {
        let text = prose(&text);
        for wrong in wrong_spellings(language) {
            assert!(!text.contains(wrong), "{place} says {wrong:?} in {}", language.code());
        }
    }
}

#[test]
fn translated_pages_contain_no_english() {
    let site = site();
    let products = &site.facts.catalog.products;
    // Names stay what they are.
    let mut names: Vec<&str> = products.iter().map(|product| product.name.as_str()).collect();
    names.extend(["402 Payment Required", "London Penny Post"]);
    for page in site.pages.iter().filter(|page| page.language != Language::En) {
        let mut read = prose(&page.markdown);
        for product in products {
            let translation = product.translated(page.language);
            read.push_str(&format!(" {} {}", translation.kind, translation.picture_alt));
        }
        for name in &names {
            read = read.replace(name, "");
        }
        let words: BTreeSet<&str> = read.split(|letter: char| !letter.is_alphabetic()).collect();
        for word in ENGLISH {
            assert!(!words.contains(word), "{}: {word:?}", page.path);
        }
    }
}

#[test]
fn the_address_is_in_the_language_of_the_page() {
    let site = site();
    for (path, country) in [
        ("/", "Netherlands"),
        ("/bitcoin-deutschland/", "Niederlande"),
        ("/bitcoin-espana/", "Países Bajos"),
        ("/bitcoin-italia/", "Paesi Bassi"),
    ] {
        let html = html(&site, path);
        assert!(html.contains(&format!("Maastricht, {country}")), "{path}");
        assert_eq!(html.contains(", Netherlands"), country == "Netherlands", "{path}");
    }
}

/// With a comma between thousands, as pages write it.
fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

#[test]
fn limits_and_times_on_pages_match_the_code() {
    let site = site();
    let message = grouped(MESSAGE_CHARACTERS_MAX);
    let (kib, quota) = (crate::app::POSTCARD_BYTES / 1_024, quota::REQUESTS);
    let (hours, days) = (OFFER_SECONDS / 3_600, IDENTITY_SECONDS / 86_400);
    let docs = page(&site, "/docs");
    for said in [
        format!("| `message` | 1 to {message} characters;"),
        format!("at most {ADDRESS_CHARACTERS_MAX} characters each"),
        format!("| Request body | {kib} KiB |"),
        format!("| x402 authorization | at most {CEILING} USDC |"),
        format!("| MPP price | {CEILING} USDC |"),
        format!("| Discovery quota | {quota} requests in 60 seconds"),
        format!("An explicit identifier lapses after {hours} hours without payment"),
        format!("answers 410 for {days} days"),
        format!("at least {days} days"),
    ] {
        assert!(docs.contains(&said), "/docs does not say {said:?}");
    }
    let support = page(&site, "/support");
    for said in [
        format!(
            "At most {message} characters, and each address field at most {ADDRESS_CHARACTERS_MAX}."
        ),
        format!("larger than {kib} KiB"),
        format!("{quota} requests in 60 seconds"),
        format!("unless you named the operation yourself: then {hours} hours."),
        format!("410 for {days} days"),
    ] {
        assert!(support.contains(&said), "/support does not say {said:?}");
    }
}

#[test]
fn prices_on_pages_match_the_price_rule() {
    let site = site();
    let (x402, mpp) = (Price::UpTo(CEILING), Price::Fixed(CEILING));
    let charged = |price: Price, cents: u64| match price.charge(Cents(cents)) {
        Ok(charge) => format!("{charge} USDC"),
        Err(_) => "refused with 409".to_owned(),
    };
    let marketplace = page(&site, "/docs/x402-username-marketplace");
    for cents in [120, 175, 289, 290, 351] {
        let (dollars, rest) = (cents / 100, cents % 100);
        let product = grouped(usize::try_from(cents * 12_100).unwrap());
        let row = format!(
            "| {dollars}.{rest:02} USD ({cents} cents) | {cents} × 12,100 = {product} | {} | {} |",
            charged(x402, cents),
            charged(mpp, cents),
        );
        assert!(marketplace.contains(&row), "{row}");
    }
    let at_two = charged(x402, 200);
    for (path, example) in [
        ("/", at_two.clone()),
        ("/bitcoin-deutschland/", at_two.replace('.', ",")),
        ("/bitcoin-espana/", at_two.replace('.', ",")),
        ("/bitcoin-italia/", at_two.replace('.', ",")),
    ] {
        let read = page(&site, path).replace('\u{a0}', " ");
        assert!(read.contains(&example), "{path}: {example}");
    }
    for path in ["/support", "/invest"] {
        let example = charged(x402, 175);
        assert!(page(&site, path).contains(&example), "{path}: {example}");
    }
}
