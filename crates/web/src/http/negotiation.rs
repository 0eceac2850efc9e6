//! Content negotiation: representation and content coding.

use content::site::Language;
use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representation {
    Html,
    Markdown,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Identity,
    Gzip,
    Brotli,
}

/// A quality value in thousandths, as in RFC 9110.
type Weight = u16;
const FULL: Weight = 1_000;

impl Representation {
    /// For a page: Markdown only if it is named and weighted no less than HTML, which a wildcard
    /// may include.
    pub(crate) fn for_page(headers: &HeaderMap) -> Self {
        let markdown = named(headers, "text/markdown");
        let html = ["text/html", "text/*", "*/*"].iter().find_map(|range| named(headers, range));
        let html = html.unwrap_or(0);
        match markdown {
            Some(weight) if weight > 0 && weight >= html => Self::Markdown,
            Some(_) | None => Self::Html,
        }
    }

    /// For an unknown path: the named type with the highest weight, or JSON.
    pub(crate) fn for_not_found(headers: &HeaderMap) -> Self {
        let html = named(headers, "text/html").unwrap_or(0);
        let markdown = named(headers, "text/markdown").unwrap_or(0);
        let json = named(headers, "application/json").unwrap_or(0);
        if markdown > 0 && markdown >= html && markdown >= json {
            Self::Markdown
        } else if html > 0 && html >= json {
            Self::Html
        } else {
            Self::Json
        }
    }
}

impl ContentCoding {
    pub(crate) fn for_request(headers: &HeaderMap) -> Self {
        let (mut gzip, mut brotli) = (0, 0);
        for (name, weight) in weighted(headers, &ACCEPT_ENCODING) {
            if name.eq_ignore_ascii_case("br") {
                brotli = weight;
            } else if name.eq_ignore_ascii_case("gzip") {
                gzip = weight;
            }
        }
        if brotli > 0 && brotli >= gzip {
            Self::Brotli
        } else if gzip > 0 {
            Self::Gzip
        } else {
            Self::Identity
        }
    }
}

/// The offered language that the client prefers. None if it accepts none of them.
pub(crate) fn preferred_language(headers: &HeaderMap, offered: &[Language]) -> Option<Language> {
    let mut best: Option<(Weight, Language)> = None;
    for (range, weight) in weighted(headers, &ACCEPT_LANGUAGE) {
        let primary = range.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let Some(language) = Language::from_code(&primary) else { continue };
        // Among equals the first is preferred.
        let better = weight > 0 && best.is_none_or(|(known, _)| weight > known);
        if better && offered.contains(&language) {
            best = Some((weight, language));
        }
    }
    best.map(|(_, language)| language)
}

/// The weight of a media type that is named itself; a wildcard does not count.
fn named(headers: &HeaderMap, media_type: &str) -> Option<Weight> {
    weighted(headers, &ACCEPT)
        .filter(|(name, _)| name.eq_ignore_ascii_case(media_type))
        .map(|(_, weight)| weight)
        .max()
}

fn weighted<'a>(
    headers: &'a HeaderMap,
    header: &http::HeaderName,
) -> impl Iterator<Item = (&'a str, Weight)> {
    let lines = headers.get_all(header).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|entry| {
        let mut parts = entry.split(';');
        let name = parts.next().unwrap_or_default().trim();
        let weight = parts.find_map(|fraction| {
            let (key, value) = fraction.split_once('=')?;
            key.trim().eq_ignore_ascii_case("q").then(|| weight(value.trim()))
        });
        (name, weight.unwrap_or(FULL))
    })
}

/// An invalid weight counts as 0.
fn weight(text: &str) -> Weight {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match integer {
        "1" => FULL,
        "0" if digits => format!("{fraction:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(header: http::HeaderName, value: &str) -> HeaderMap {
        [(header, value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn markdown_is_sent_if_it_is_named_and_weighted_no_less_than_html() {
        for (accept, expected) in [
            ("text/markdown", Representation::Markdown),
            ("text/markdown, text/html;q=0.9, */*;q=0.1", Representation::Markdown),
            ("text/html, text/markdown", Representation::Markdown),
            ("Text/Markdown ; Q=0.5", Representation::Markdown),
            ("text/html;q=0.8, text/markdown;q=0.7", Representation::Html),
            ("text/markdown;q=0.1, */*;q=0.9", Representation::Html),
            ("text/markdown;q=0.1, text/*;q=0.9, */*;q=0", Representation::Html),
            ("text/markdown;q=0.5, text/html;q=0.1, */*;q=0.9", Representation::Markdown),
            ("text/markdown, */*", Representation::Markdown),
            ("text/markdown;q=0", Representation::Html),
            ("text/markdown;q=0.000, */*", Representation::Html),
            ("*/*", Representation::Html),
            ("text/*", Representation::Html),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                Representation::Html,
            ),
            ("application/json", Representation::Html),
            ("", Representation::Html),
            ("text/markdown;q=fish", Representation::Html),
        ] {
            assert_eq!(Representation::for_page(&headers(ACCEPT, accept)), expected, "{accept}");
        }
        assert_eq!(Representation::for_page(&HeaderMap::new()), Representation::Html);
    }

    #[test]
    fn an_unknown_path_is_answered_in_the_named_type_or_in_json() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", Representation::Html),
            ("text/markdown", Representation::Markdown),
            ("application/json", Representation::Json),
            ("application/json, text/html;q=0.5", Representation::Json),
            ("*/*", Representation::Json),
        ] {
            assert_eq!(
                Representation::for_not_found(&headers(ACCEPT, accept)),
                expected,
                "{accept}"
            );
        }
    }

    #[test]
    fn the_coding_with_the_highest_weight_is_sent_and_brotli_among_equals() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", ContentCoding::Brotli),
            ("gzip;q=1.0, br;q=0.5", ContentCoding::Gzip),
            ("gzip;q=0, br;q=0", ContentCoding::Identity),
            ("deflate", ContentCoding::Identity),
            ("*", ContentCoding::Identity),
            ("GZIP", ContentCoding::Gzip),
        ] {
            assert_eq!(
                ContentCoding::for_request(&headers(ACCEPT_ENCODING, accept)),
                expected,
                "{accept}"
            );
        }
    }

    #[test]
    fn the_language_with_the_highest_weight_that_is_offered_is_preferred() {
        use Language::{De, En, Es, It};
        for (accept, expected) in [
            ("de-AT,de;q=0.9,en;q=0.8", Some(De)),
            ("fr-FR, es;q=0.7, it;q=0.8", Some(It)),
            ("en;q=0.2, DE;q=0.2", Some(En)),
            ("es;q=0, *;q=0.1", None),
            ("it", None),
            ("fr", None),
            ("", None),
        ] {
            let offered = if accept == "it" { &[En, De, Es][..] } else { &[En, De, Es, It] };
            let preferred = preferred_language(&headers(ACCEPT_LANGUAGE, accept), offered);
            assert_eq!(preferred, expected, "{accept}");
        }
    }

    #[test]
    fn a_header_may_have_several_lines() {
        let mut headers = headers(ACCEPT, "text/html;q=0.4");
        headers.append(ACCEPT, "text/markdown".parse().unwrap());
        assert_eq!(Representation::for_page(&headers), Representation::Markdown);
    }
}
