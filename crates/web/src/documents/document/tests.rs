//! Codings, entity tags and conditional requests.

use std::io::Read;

use http::header::ACCEPT_ENCODING;

use super::*;

fn document() -> DocumentBuilder {
    DocumentBuilder::new("text/plain; charset=utf-8", "stamp ".repeat(500), CachePolicy::OneHour)
}

fn request(headers: &[(HeaderName, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
}

#[test]
fn every_coding_has_the_same_bytes_and_its_own_entity_tag() {
    let document = document().build(UrlScheme::Http);
    let plain = document.respond(&HeaderMap::new());
    let gzip = document.respond(&request(&[(ACCEPT_ENCODING, "gzip")]));
    let brotli = document.respond(&request(&[(ACCEPT_ENCODING, "gzip, br")]));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let mut unpacked = Vec::new();
    brotli::BrotliDecompress(&mut &brotli.body[..], &mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    assert_eq!(gzip.headers[CONTENT_ENCODING], "gzip");
    assert_eq!(brotli.headers[CONTENT_ENCODING], "br");
    assert!(!plain.headers.contains_key(CONTENT_ENCODING));
    let tags = [&plain, &gzip, &brotli].map(|sent| sent.headers[ETAG].clone());
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    for sent in [plain, gzip, brotli] {
        assert_eq!(sent.headers[CONTENT_LENGTH], sent.body.len().to_string());
        assert_eq!(sent.headers[VARY], "Accept-Encoding");
    }
}

#[test]
fn a_matching_entity_tag_answers_304_without_a_body() {
    let document = document().build(UrlScheme::Http);
    let tag = document.respond(&HeaderMap::new()).headers[ETAG].to_str().unwrap().to_owned();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let sent = document.respond(&request(&[(IF_NONE_MATCH, &known)]));
        assert_eq!(sent.status, StatusCode::NOT_MODIFIED, "{known}");
        assert!(sent.body.is_empty() && !sent.headers.contains_key(CONTENT_LENGTH));
        assert_eq!(sent.headers[ETAG], tag.as_str());
    }
    let other = document.respond(&request(&[(IF_NONE_MATCH, "\"other\"")]));
    assert_eq!(other.status, StatusCode::OK);
    // Each coding has its own entity tag.
    let packed = request(&[(IF_NONE_MATCH, &tag), (ACCEPT_ENCODING, "br")]);
    assert_eq!(document.respond(&packed).status, StatusCode::OK);
}

#[test]
fn a_quote_is_never_answered_304() {
    let document = DocumentBuilder { status: StatusCode::PAYMENT_REQUIRED, ..document() };
    let sent = document.build(UrlScheme::Http).respond(&request(&[(IF_NONE_MATCH, "*")]));
    assert_eq!(sent.status, StatusCode::PAYMENT_REQUIRED);
}

#[test]
fn short_texts_and_images_are_not_compressed() {
    let all = request(&[(ACCEPT_ENCODING, "br, gzip")]);
    let short =
        DocumentBuilder::new("text/plain", "short", CachePolicy::NoStore).build(UrlScheme::Http);
    assert!(!short.respond(&all).headers.contains_key(CONTENT_ENCODING));
    let picture = DocumentBuilder::new("image/png", vec![7; 9_000], CachePolicy::NoStore)
        .build(UrlScheme::Http);
    assert!(!picture.respond(&all).headers.contains_key(CONTENT_ENCODING));
}

#[test]
fn only_pages_may_load_resources_and_only_from_this_origin() {
    let page = DocumentBuilder::new("text/html; charset=utf-8", "<p>", CachePolicy::NoStore)
        .build(UrlScheme::Https);
    let headers = page.respond(&HeaderMap::new()).headers;
    let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    assert!(headers.contains_key(STRICT_TRANSPORT_SECURITY));
    let data = document().build(UrlScheme::Http).respond(&HeaderMap::new()).headers;
    assert_eq!(data[CONTENT_SECURITY_POLICY], "default-src 'none'; frame-ancestors 'none'");
    assert!(!data.contains_key(STRICT_TRANSPORT_SECURITY));
}
