//! Any method, path, headers and body at any endpoint.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use web::surface::{HttpMethod, SURFACE};

use super::site::site;

/// Statuses of HTTP itself, which any endpoint may answer: preflights, conditional requests, other
/// methods, and heads or bodies that are too large.
const OF_HTTP: [u16; 6] = [204, 304, 405, 413, 431, 308];
/// The endpoints that people use; the contract has no table for them.
const OF_PAGES: [u16; 6] = [200, 303, 400, 403, 404, 503];

pub(crate) fn run(data: &[u8]) {
    let Some((request, method, path)) = parse(data) else { return };
    let site = site();
    let answer = site.send(request);
    site.forget();
    let known = SURFACE.iter().filter(|endpoint| matches(endpoint.path, &path));
    let mut known = known.filter(|endpoint| match endpoint.method {
        HttpMethod::Get => method == Method::GET || method == Method::HEAD,
        HttpMethod::Post => method == Method::POST,
    });
    let status = answer.status;
    let in_contract = match known.next() {
        Some(endpoint) => endpoint.statuses.contains(&status),
        None => OF_PAGES.contains(&status),
    };
    assert!(in_contract || OF_HTTP.contains(&status), "{status} to {method} {path}");
    if method == Method::HEAD {
        assert!(answer.body.is_empty(), "HEAD {path} with a body");
    }
    for value in answer.headers.values() {
        assert!(value.as_bytes().is_ascii(), "{path}: {value:?}");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = SURFACE
        .iter()
        .map(|endpoint| {
            format!("{} {}\n\n{{}}", endpoint.method.name(), endpoint.path).into_bytes()
        })
        .collect();
    seeds.extend(super::texts(&[
        "GET /api/x402/orders/0123456789abcdef0123456789abcdef\naccept: application/json\n\n",
        "GET /orders/0123456789abcdef0123456789abcdef\naccept-language: de, en;q=0.5\n\n",
        "GET /api/x402/resolve/@alice\n\n",
        "GET /api/x402/orders/%ff\n\n",
        "GET /orders/%ff\n\n",
        "GET /shop/checkout?sku=signer-mini\n\n",
        "GET /\nif-none-match: \"x\"\naccept-encoding: br;q=1, gzip\naccept: text/markdown\n\n",
        "POST /agent/auth\ncontent-type: application/json\n\n{\"type\":\"anonymous\",\"requested_credential_type\":\"access_token\"}",
        "POST /agent/auth/revoke\nauthorization: Bearer x.y\n\n{}",
        "POST /send\ncontent-type: application/x-www-form-urlencoded\n\nmessage=Hello%20there&name=A+B&front=sea&do=preview",
        "GET /send?lang=de\n\n",
        "OPTIONS /api/mpp/postcards\naccess-control-request-method: POST\n\n",
        "PUT /api/mpp/postcards\n\n",
        "GET /api\nx-service-api-version: 2\n\n",
        "GET /readyz\n\n",
    ]));
    seeds
}

/// The first line is method and target, then headers up to an empty line, then the body.
fn parse(data: &[u8]) -> Option<(Request<Body>, Method, String)> {
    let (head, body) = match data.windows(2).position(|pair| pair == b"\n\n") {
        Some(end) => (&data[..end], &data[end + 2..]),
        None => (data, &[][..]),
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.next()?;
    let space = first.iter().position(|byte| *byte == b' ')?;
    let method = Method::from_bytes(&first[..space]).ok()?;
    let uri = Uri::try_from(&first[space + 1..]).ok().filter(|uri| uri.path().starts_with('/'))?;
    let path = uri.path().to_owned();
    let mut request = Request::builder().method(method.clone()).uri(uri);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        request =
            request.header(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    Some((request.body(Body::from(body.to_vec())).ok()?, method, path))
}

/// Whether a path is one of a template with parameters in braces.
fn matches(template: &str, path: &str) -> bool {
    let (mut parts, mut wanted) = (path.split('/'), template.split('/'));
    loop {
        match (parts.next(), wanted.next()) {
            (None, None) => return true,
            (Some(part), Some(wanted)) if wanted.starts_with('{') && !part.is_empty() => {}
            (Some(part), Some(wanted)) if part == wanted => {}
            _ => return false,
        }
    }
}
