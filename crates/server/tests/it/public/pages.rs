//! Pages: two faces, four languages, and a kind word where nothing is.

use crate::house::House;

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
fn every_page_of_the_contract_is_html_and_on_request_markdown() {
    let house = House::open("");
    for path in PAGES.into_iter().chain(["/docs", "/developers", "/shop", "/support", "/about"]) {
        let html = house.get(path);
        assert_eq!((html.status, html.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(html.text().starts_with("<!doctype html>"), "{path}");
        let markdown = house.get_with(path, &[("Accept", "text/markdown")]);
        assert_eq!(markdown.status, 200, "{path}");
        assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8", "{path}");
        assert!(markdown.text().starts_with("# "), "{path}");
        for reply in [&html, &markdown] {
            assert_eq!(reply.header("vary"), "Accept, Accept-Encoding", "{path}");
            assert_eq!(reply.header("access-control-allow-origin"), "*", "{path}");
        }
        let tags = [html.header("etag"), markdown.header("etag")];
        assert!(tags[0] != tags[1] && tags.iter().all(|tag| tag.starts_with('"')), "{tags:?}");
        let known = house.get_with(path, &[("If-None-Match", tags[0])]);
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        let head = house.request(&format!("HEAD {path}"), &[], "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-length"), html.body.len().to_string(), "{path}");
    }
}

#[test]
fn aliases_show_the_canonical_page_and_say_so() {
    let house = House::open("");
    for (alias, canonical, language) in [
        ("/de/", "/bitcoin-deutschland/", "de"),
        ("/es/", "/bitcoin-espana/", "es"),
        ("/it/", "/bitcoin-italia/", "it"),
    ] {
        let (shown, original) = (house.get(alias), house.get(canonical));
        assert_eq!(shown.status, 200);
        assert_eq!(shown.body, original.body);
        let base = format!("http://{}", house.address);
        let link = format!("<link rel=\"canonical\" href=\"{base}{canonical}\">");
        assert!(shown.text().contains(&link), "{alias}");
        assert!(shown.text().contains(&format!("<html lang=\"{language}\">")), "{alias}");
        let bare = house.get(alias.trim_end_matches('/'));
        assert_eq!((bare.status, bare.header("location")), (308, alias));
    }
    assert_eq!(house.get("/invest/").header("location"), "/invest");
}

#[test]
fn texts_have_the_types_that_the_contract_gives_them() {
    let house = House::open("");
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
        ("/og.png", "image/png"),
    ] {
        let reply = house.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, media_type), "{path}");
        assert!(!reply.body.is_empty(), "{path}");
    }
    let twin = house.get("/invest/index.md");
    assert_eq!(twin.body, house.get_with("/invest", &[("Accept", "text/markdown")]).body);
    let canonical = format!("<http://{}/invest>; rel=\"canonical\"", house.address);
    assert_eq!(twin.header("link"), canonical);
}

#[test]
fn the_front_door_points_machines_on_their_way() {
    let house = House::open("");
    let link = house.get("/").header("link").to_owned();
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
fn where_nothing_is_everybody_is_told_in_their_own_words() {
    let house = House::open("");
    let page = house.get_with("/nowhere", &[("Accept", "text/html,*/*;q=0.8")]);
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    let text = house.get_with("/nowhere", &[("Accept", "text/markdown")]);
    assert_eq!((text.status, text.header("content-type")), (404, "text/markdown; charset=utf-8"));
    assert!(text.text().contains("/llms.txt"));
    for (path, accept) in [("/nowhere", "*/*"), ("/api/nowhere", "text/html"), ("/mcp/x", "*/*")] {
        let data = house.get_with(path, &[("Accept", accept)]);
        assert_eq!((data.status, data.header("content-type")), (404, "application/json"), "{path}");
        assert_eq!(data.json()["error"]["code"], "not_found");
    }
}

#[test]
fn packed_answers_are_smaller_and_say_what_they_are() {
    let house = House::open("");
    let plain = house.get("/");
    for (asked, coding) in [("gzip, deflate, br", "br"), ("gzip", "gzip")] {
        let packed = house.get_with("/", &[("Accept-Encoding", asked)]);
        assert_eq!(packed.header("content-encoding"), coding);
        assert!(packed.body.len() * 2 < plain.body.len(), "{coding}");
    }
}

#[test]
fn a_page_takes_reading_only_and_scripts_of_others_may_read_it() {
    let house = House::open("");
    let refused = house.request("POST /about", &[], "{}");
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(refused.json()["error"]["code"], "method_not_allowed");
    let preflight = house.request("OPTIONS /openapi.json", &[("Origin", "https://a.example")], "");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, "*"));
}
