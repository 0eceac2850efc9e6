//! The discovery quota and the version header.

use crate::fixture::test_app::TestApp;

const COUNTED: [&str; 4] = ["/openapi.json", "/shop/feed.json", "/api", "/api/x402"];

#[test]
fn one_window_counts_every_discovery_route_and_nothing_else() {
    let app = TestApp::start("");
    let mut remaining = 600;
    for path in COUNTED {
        for method in ["GET", "HEAD"] {
            let reply = app.request(&format!("{method} {path}"), &[], "");
            remaining -= 1;
            assert_eq!(reply.header("ratelimit-policy"), "\"public-discovery\";q=600;w=60");
            let state = reply.header("ratelimit");
            let start = format!("\"public-discovery\";r={remaining};t=");
            let seconds = state.strip_prefix(&start).unwrap_or_else(|| panic!("{state}"));
            assert!((1..=60).contains(&seconds.parse::<u32>().unwrap()), "{state}");
            assert_eq!(reply.header("x-service-api-version"), "1");
        }
    }
    for path in ["/", "/sitemap.xml", "/shop/checkout?sku=signer-mini", "/.well-known/api-catalog"]
    {
        assert_eq!(app.get(path).header("ratelimit"), "", "{path}");
    }
    for line in ["GET /mcp", "HEAD /mcp", "POST /mcp"] {
        remaining -= 1;
        let reply = app.request(line, &[], "");
        let start = format!("\"public-discovery\";r={remaining};t=");
        assert!(reply.header("ratelimit").starts_with(&start), "{line}");
    }
    let looked = app.request("HEAD /mcp", &[], "");
    assert_eq!((looked.status, looked.body.len()), (200, 0));
    let stream = app.get_with("/mcp", &[("Accept", "text/event-stream")]);
    assert_eq!((stream.status, stream.header("allow")), (405, "POST"));
}

#[test]
fn an_exhausted_quota_is_checked_before_the_version_and_has_retry_after() {
    let app = TestApp::start("[limits]\ndiscovery_quota = 3");
    for _ in 0..3 {
        assert_eq!(app.get("/api/x402").status, 200);
    }
    for path in COUNTED {
        let reply = app.get_with(path, &[("X-Service-API-Version", "2")]);
        assert_eq!(reply.status, 429, "{path}");
        let wait: u32 = reply.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(reply.header("ratelimit"), format!("\"public-discovery\";r=0;t={wait}"));
        assert_eq!(reply.header("content-type"), "application/problem+json");
        assert_eq!(reply.json()["error"]["code"], "rate_limited");
    }
    assert_eq!(app.get("/").status, 200, "pages are not counted");
}

#[test]
fn only_version_one_is_accepted_and_an_error_is_counted() {
    let app = TestApp::start("");
    for version in ["2", "0", "latest", "1.0", ""] {
        let reply = app.get_with("/openapi.json", &[("X-Service-API-Version", version)]);
        assert_eq!((reply.status, reply.header("x-service-api-version")), (400, "1"), "{version}");
        assert_eq!(reply.json()["error"]["code"], "unsupported_version");
        assert!(reply.header("ratelimit").starts_with("\"public-discovery\";r="));
    }
    let good = app.get_with("/openapi.json", &[("X-Service-API-Version", "1")]);
    assert_eq!(good.status, 200);
    assert!(good.header("ratelimit").contains(";r=594;"), "{}", good.header("ratelimit"));
    let free = app.get_with("/", &[("X-Service-API-Version", "9")]);
    assert_eq!(free.status, 200, "pages do not read the version");
    for absent in ["deprecation", "sunset"] {
        assert_eq!(good.header(absent), "", "nothing is deprecated");
    }
}

#[test]
fn a_method_that_is_not_counted_does_not_use_the_quota() {
    let app = TestApp::start("");
    for line in ["PUT /mcp", "DELETE /mcp", "PATCH /mcp", "OPTIONS /mcp", "POST /openapi.json"] {
        let status = app.request(line, &[], "").status;
        assert!([204, 405].contains(&status), "{line}: {status}");
    }
    let left = app.get("/api/x402");
    assert!(left.header("ratelimit").contains(";r=599;"), "{}", left.header("ratelimit"));
}

#[test]
fn errors_of_counted_routes_expose_their_headers_to_every_origin() {
    let app = TestApp::start("[limits]\ndiscovery_quota = 2");
    for (status, version) in [(400, "2"), (400, "2"), (429, "1")] {
        let line = if status == 400 { "/openapi.json" } else { "/mcp" };
        let reply = app.get_with(line, &[("X-Service-API-Version", version)]);
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (status, "*"));
        let exposed = reply.header("access-control-expose-headers").to_lowercase();
        for name in ["ratelimit", "ratelimit-policy", "retry-after", "x-service-api-version"] {
            assert!(exposed.split(", ").any(|shown| shown == name), "{name} is not in {exposed}");
        }
    }
}
