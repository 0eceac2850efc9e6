//! The pages in HTML and Markdown, in four languages, and unknown paths.

use crate::fixture::test_app::TestApp;

const PAGES: [&str; 11] = [
    "/",
    "/bitcoin-deutschland/",
    "/de/",
    "/bitcoin-espana/",
    "/es/",
    "/bitcoin-italia/",
    "/it/",
    "/privacy-policy",
    "/invest",
    "/terms-of-service",
    "/docs/x402-username-marketplace",
];

#[test]
fn every_page_is_html_and_on_request_markdown() {
    let app = TestApp::start("");
    for path in PAGES.into_iter().chain(["/docs", "/developers", "/shop", "/support", "/about"]) {
        let html = app.get(path);
        assert_eq!((html.status, html.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(html.text().starts_with("<!doctype html>"), "{path}");
        let markdown = app.get_with(path, &[("Accept", "text/markdown")]);
        assert_eq!(markdown.status, 200, "{path}");
        assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8", "{path}");
        assert!(markdown.text().starts_with("# "), "{path}");
        for reply in [&html, &markdown] {
            assert_eq!(reply.header("vary"), "Accept, Accept-Encoding", "{path}");
            assert_eq!(reply.header("access-control-allow-origin"), "*", "{path}");
        }
        let tags = [html.header("etag"), markdown.header("etag")];
        assert!(tags[0] != tags[1] && tags.iter().all(|tag| tag.starts_with('"')), "{tags:?}");
        let known = app.get_with(path, &[("If-None-Match", tags[0])]);
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        let head = app.request(&format!("HEAD {path}"), &[], "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-length"), html.body.len().to_string(), "{path}");
    }
}

#[test]
fn aliases_show_the_canonical_page_and_link_to_it() {
    let app = TestApp::start("");
    for (alias, canonical, language) in [
        ("/de/", "/bitcoin-deutschland/", "de"),
        ("/es/", "/bitcoin-espana/", "es"),
        ("/it/", "/bitcoin-italia/", "it"),
    ] {
        let (shown, original) = (app.get(alias), app.get(canonical));
        assert_eq!(shown.status, 200);
        assert_eq!(shown.body, original.body);
        let base = format!("http://{}", app.address);
        let link = format!("<link rel=\"canonical\" href=\"{base}{canonical}\">");
        assert!(shown.text().contains(&link), "{alias}");
        assert!(shown.text().contains(&format!("<html lang=\"{language}\">")), "{alias}");
        let bare = app.get(alias.trim_end_matches('/'));
        assert_eq!((bare.status, bare.header("location")), (308, alias));
    }
    assert_eq!(app.get("/invest/").header("location"), "/invest");
}

#[test]
fn text_documents_have_the_media_types_of_the_contract() {
    let app = TestApp::start("");
    for (path, media_type) in [
        ("/invest/index.md", "text/markdown; charset=utf-8"),
        ("/docs/x402-username-marketplace/index.md", "text/markdown; charset=utf-8"),
        ("/card-support/index.md", "text/markdown; charset=utf-8"),
        ("/knowledge/index.md", "text/markdown; charset=utf-8"),
        ("/index.md", "text/markdown; charset=utf-8"),
        ("/privacy-policy.md", "text/markdown; charset=utf-8"),
        ("/llms.txt", "text/markdown; charset=utf-8"),
        ("/auth.md", "text/markdown; charset=utf-8"),
        ("/llms-full.txt", "text/plain; charset=utf-8"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/.well-known/security.txt", "text/plain; charset=utf-8"),
        ("/sitemap.xml", "application/xml"),
        ("/server.json", "application/json"),
        ("/favicon.svg", "image/svg+xml"),
        ("/favicon.ico", "image/vnd.microsoft.icon"),
        ("/apple-touch-icon.png", "image/png"),
        ("/icon-192.png", "image/png"),
        ("/icon-512.png", "image/png"),
        ("/og.png", "image/png"),
    ] {
        let reply = app.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, media_type), "{path}");
        assert!(!reply.body.is_empty(), "{path}");
    }
    let twin = app.get("/invest/index.md");
    assert_eq!(twin.body, app.get_with("/invest", &[("Accept", "text/markdown")]).body);
    let canonical = format!("<http://{}/invest>; rel=\"canonical\"", app.address);
    assert_eq!(twin.header("link"), canonical);
}

#[test]
fn the_home_page_links_to_the_discovery_documents() {
    let app = TestApp::start("");
    let link = app.get("/").header("link").to_owned();
    for sign in [
        "</.well-known/api-catalog>; rel=\"api-catalog\"; type=\"application/linkset+json\"",
        "</openapi.json>; rel=\"service-desc\"; type=\"application/json\"",
        "</docs>; rel=\"service-doc\"; type=\"text/html\"",
        "</llms.txt>; rel=\"describedby\"; type=\"text/markdown\"",
        "</index.md>; rel=\"alternate\"; type=\"text/markdown\"",
    ] {
        assert!(link.contains(sign), "{sign} is not in {link}");
    }
}

#[test]
fn an_unknown_path_is_404_in_the_accepted_media_type() {
    let app = TestApp::start("");
    let page = app.get_with("/unknown", &[("Accept", "text/html,*/*;q=0.8")]);
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    let text = app.get_with("/unknown", &[("Accept", "text/markdown")]);
    assert_eq!((text.status, text.header("content-type")), (404, "text/markdown; charset=utf-8"));
    assert!(text.text().contains("/llms.txt"));
    for (path, accept) in [("/unknown", "*/*"), ("/api/unknown", "text/html"), ("/mcp/x", "*/*")] {
        let data = app.get_with(path, &[("Accept", accept)]);
        assert_eq!((data.status, data.header("content-type")), (404, "application/json"), "{path}");
        assert_eq!(data.json()["error"]["code"], "not_found");
    }
}

#[test]
fn compressed_responses_are_smaller_and_name_their_encoding() {
    let app = TestApp::start("");
    let plain = app.get("/");
    for (asked, coding) in [("gzip, deflate, br", "br"), ("gzip", "gzip")] {
        let packed = app.get_with("/", &[("Accept-Encoding", asked)]);
        assert_eq!(packed.header("content-encoding"), coding);
        assert!(packed.body.len() * 2 < plain.body.len(), "{coding}");
    }
}

#[test]
fn a_page_accepts_only_reading_and_allows_every_origin() {
    let app = TestApp::start("");
    let refused = app.request("POST /about", &[], "{}");
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(refused.json()["error"]["code"], "method_not_allowed");
    let preflight = app.request("OPTIONS /openapi.json", &[("Origin", "https://a.example")], "");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, "*"));
}

#[test]
fn every_page_says_its_language() {
    let app = TestApp::start("");
    for (path, language) in [
        ("/", "en"),
        ("/bitcoin-deutschland/", "de"),
        ("/de/", "de"),
        ("/bitcoin-espana/", "es"),
        ("/bitcoin-italia/", "it"),
        ("/docs", "en"),
        ("/no-such-page", "en"),
    ] {
        for accept in ["text/html", "text/markdown"] {
            let reply = app.get_with(path, &[("Accept", accept)]);
            assert_eq!(reply.header("content-language"), language, "{path} {accept}");
        }
    }
}

#[test]
fn the_icons_have_the_sizes_that_their_names_say() {
    let app = TestApp::start("");
    // The width and height of a PNG are in its first chunk.
    let size = |png: &[u8]| {
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    };
    for (path, side) in
        [("/icon-192.png", 192), ("/icon-512.png", 512), ("/apple-touch-icon.png", 180)]
    {
        let reply = app.get(path);
        assert_eq!(size(&reply.body), (side, side), "{path}");
        assert!(reply.body.len() < 20_000, "{path}: {}", reply.body.len());
    }
    let icon = app.get("/favicon.ico").body;
    assert_eq!(icon[..6], [0, 0, 1, 0, 3, 0], "three pictures");
    for (place, side) in [(6, 16), (22, 32), (38, 48)] {
        assert_eq!(icon[place..place + 2], [side, side]);
        let start = u32::from_le_bytes(icon[place + 12..place + 16].try_into().unwrap());
        let (start, side) = (usize::try_from(start).unwrap(), u32::from(side));
        assert_eq!(size(&icon[start..]), (side, side));
    }
}
