//! Documents: their codings, their names and what is left out when they are known.

use std::io::Read;

use http::header::ACCEPT_ENCODING;

use super::*;

fn draft() -> Draft {
    Draft::new("text/plain; charset=utf-8", "stamp ".repeat(500), Keep::AnHour)
}

fn asked(headers: &[(HeaderName, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
}

#[test]
fn every_coding_unpacks_to_the_same_bytes_under_a_name_of_its_own() {
    let document = draft().finish(Transport::Open);
    let plain = document.send(&HeaderMap::new());
    let gzip = document.send(&asked(&[(ACCEPT_ENCODING, "gzip")]));
    let brotli = document.send(&asked(&[(ACCEPT_ENCODING, "gzip, br")]));
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
fn whoever_knows_the_document_is_spared_its_body() {
    let document = draft().finish(Transport::Open);
    let tag = document.send(&HeaderMap::new()).headers[ETAG].to_str().unwrap().to_owned();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let sent = document.send(&asked(&[(IF_NONE_MATCH, &known)]));
        assert_eq!(sent.status, StatusCode::NOT_MODIFIED, "{known}");
        assert!(sent.body.is_empty() && !sent.headers.contains_key(CONTENT_LENGTH));
        assert_eq!(sent.headers[ETAG], tag.as_str());
    }
    let other = document.send(&asked(&[(IF_NONE_MATCH, "\"other\"")]));
    assert_eq!(other.status, StatusCode::OK);
    // The name of one coding is not that of another.
    let packed = asked(&[(IF_NONE_MATCH, &tag), (ACCEPT_ENCODING, "br")]);
    assert_eq!(document.send(&packed).status, StatusCode::OK);
}

#[test]
fn a_price_tag_is_never_not_modified() {
    let draft = Draft { status: StatusCode::PAYMENT_REQUIRED, ..draft() };
    let sent = draft.finish(Transport::Open).send(&asked(&[(IF_NONE_MATCH, "*")]));
    assert_eq!(sent.status, StatusCode::PAYMENT_REQUIRED);
}

#[test]
fn short_texts_and_pictures_stay_as_they_are() {
    let all = asked(&[(ACCEPT_ENCODING, "br, gzip")]);
    let short = Draft::new("text/plain", "short", Keep::Never).finish(Transport::Open);
    assert!(!short.send(&all).headers.contains_key(CONTENT_ENCODING));
    let picture = Draft::new("image/png", vec![7; 9_000], Keep::Never).finish(Transport::Open);
    assert!(!picture.send(&all).headers.contains_key(CONTENT_ENCODING));
}

#[test]
fn only_a_page_may_load_anything_and_only_from_here() {
    let page = Draft::new("text/html; charset=utf-8", "<p>", Keep::Never).finish(Transport::Sealed);
    let headers = page.send(&HeaderMap::new()).headers;
    let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    assert!(headers.contains_key(STRICT_TRANSPORT_SECURITY));
    let data = draft().finish(Transport::Open).send(&HeaderMap::new()).headers;
    assert_eq!(data[CONTENT_SECURITY_POLICY], "default-src 'none'; frame-ancestors 'none'");
    assert!(!data.contains_key(STRICT_TRANSPORT_SECURITY));
}
