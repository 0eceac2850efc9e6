//! What a caller wants to read, and in which coding.

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Html,
    Markdown,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
}

/// A weight between 0 and 1, in thousandths, as RFC 9110 counts them.
type Weight = u16;
const FULL: Weight = 1_000;

impl Face {
    /// For a page: Markdown only when it is named and wanted no less than HTML, which may be
    /// wanted by a wildcard.
    pub(crate) fn of_page(headers: &HeaderMap) -> Self {
        let markdown = named(headers, "text/markdown");
        let html = ["text/html", "text/*", "*/*"].iter().find_map(|range| named(headers, range));
        let html = html.unwrap_or(0);
        match markdown {
            Some(weight) if weight > 0 && weight >= html => Self::Markdown,
            Some(_) | None => Self::Html,
        }
    }

    /// For a place where nothing is: whatever is named first among the best,
    /// and JSON for whoever takes anything.
    pub(crate) fn of_nothing(headers: &HeaderMap) -> Self {
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

impl Coding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
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

/// The weight of a media type that is named as such; a wildcard names nothing.
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
        let weight = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case("q").then(|| weight(value.trim()))
        });
        (name, weight.unwrap_or(FULL))
    })
}

/// What is no weight at all counts as none: it was meant to be less than 1.
fn weight(text: &str) -> Weight {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => FULL,
        "0" if digits => format!("{part:0<3}").parse().unwrap_or(0),
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
    fn markdown_is_for_whoever_names_it_and_wants_it_no_less_than_html() {
        for (accept, expected) in [
            ("text/markdown", Face::Markdown),
            ("text/markdown, text/html;q=0.9, */*;q=0.1", Face::Markdown),
            ("text/html, text/markdown", Face::Markdown),
            ("Text/Markdown ; Q=0.5", Face::Markdown),
            ("text/html;q=0.8, text/markdown;q=0.7", Face::Html),
            ("text/markdown;q=0.1, */*;q=0.9", Face::Html),
            ("text/markdown;q=0.1, text/*;q=0.9, */*;q=0", Face::Html),
            ("text/markdown;q=0.5, text/html;q=0.1, */*;q=0.9", Face::Markdown),
            ("text/markdown, */*", Face::Markdown),
            ("text/markdown;q=0", Face::Html),
            ("text/markdown;q=0.000, */*", Face::Html),
            ("*/*", Face::Html),
            ("text/*", Face::Html),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Face::Html),
            ("application/json", Face::Html),
            ("", Face::Html),
            ("text/markdown;q=fish", Face::Html),
        ] {
            assert_eq!(Face::of_page(&headers(ACCEPT, accept)), expected, "{accept}");
        }
        assert_eq!(Face::of_page(&HeaderMap::new()), Face::Html);
    }

    #[test]
    fn where_nothing_is_people_get_a_page_and_machines_what_they_name() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", Face::Html),
            ("text/markdown", Face::Markdown),
            ("application/json", Face::Json),
            ("application/json, text/html;q=0.5", Face::Json),
            ("*/*", Face::Json),
        ] {
            assert_eq!(Face::of_nothing(&headers(ACCEPT, accept)), expected, "{accept}");
        }
    }

    #[test]
    fn the_coding_is_the_heaviest_of_ours_and_brotli_among_equals() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", Coding::Brotli),
            ("gzip;q=1.0, br;q=0.5", Coding::Gzip),
            ("gzip;q=0, br;q=0", Coding::Identity),
            ("deflate", Coding::Identity),
            ("*", Coding::Identity),
            ("GZIP", Coding::Gzip),
        ] {
            assert_eq!(Coding::of(&headers(ACCEPT_ENCODING, accept)), expected, "{accept}");
        }
    }

    #[test]
    fn a_header_may_come_in_several_lines() {
        let mut headers = headers(ACCEPT, "text/html;q=0.4");
        headers.append(ACCEPT, "text/markdown".parse().unwrap());
        assert_eq!(Face::of_page(&headers), Face::Markdown);
    }
}
