//! Image URLs that would make the provider call internal hosts are refused.

use order::model::image_url::PublicImageUrl;
use serde_json::json;

use crate::fixture::sandbox::{ProviderControl, card, code, preview};
use crate::fixture::test_app::TestApp;

/// Hosts, each tried alone and with a path, a query and a fragment.
const HOSTILE_HOSTS: [&str; 84] = [
    // This machine.
    "127.0.0.1",
    "127.0.0.1:443",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "a.localhost",
    "ip6-loopback",
    "127.1",
    "127.0.1",
    "0",
    "2130706433",
    "0x7f000001",
    "0X7F.1",
    "0177.0.0.1",
    "0017700000001",
    "0177.0x0.0.01",
    "127.0.0.1.",
    "２130706433",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    // Private networks.
    "10.0.0.1",
    "10.1",
    "0xa.0x0.0x0.0x1",
    "172.16.0.1",
    "192.168.1.1",
    "192.168.257",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xA9.0376.43518",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "4294967296",
    "256.0.0.1",
    "1.2.3.4.5",
    "8.8.8.8",
    // IPv6.
    "[::1]",
    "[::]",
    "[::]:443",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fd00:ec2::254]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[2002:a00:1::]",
    "[2606:4700::1111]",
    "[::1",
    "[example.org]",
    // Names of internal networks.
    "metadata.google.internal",
    "printer.local",
    "printer。local",
    "printer.ⓛⓞⓒⓐⓛ",
    "router.lan",
    "nas.home.arpa",
    "a.onion",
    "a.test",
    "a.invalid",
    "a.corp",
    "a.home",
    "a.intranet",
    "default.svc",
    "db.default.svc.cluster.local",
    "router",
    "com",
    "printer.local.",
    // Misleading authorities.
    "example.org@10.0.0.1",
    "user:secret@example.org",
    "@example.org",
    "a@b@c.org",
    "example.org%2f@10.0.0.1",
    "localhos%74",
    "127%2e0%2e0%2e1",
    "example.org%00.png",
    // Other ports, and invalid names.
    "example.org:80",
    "example.org:22",
    "10.0.0.1:6379",
    "example.org:0",
    "a.org:443:443",
    "a_b.org",
    "-a.org",
    "a..org",
    "xn--a.org",
];

/// Whole URLs that are invalid outside of the host.
const HOSTILE: [&str; 30] = [
    "",
    "https",
    "https:",
    "https://",
    "https:///",
    "https:example.org",
    "https:/example.org",
    "https:////10.0.0.1/",
    "//example.org/a.png",
    "example.org/a.png",
    "/etc/passwd",
    "http://example.org/a.png",
    "http://127.0.0.1/",
    "ftp://example.org/a.png",
    "file:///etc/passwd",
    "gopher://10.0.0.1:6379/_FLUSHALL",
    "data:image/png;base64,AAAA",
    "javascript:alert(1)",
    "blob:https://example.org/1",
    "dict://10.0.0.1:11211/stat",
    "ldap://10.0.0.1/",
    "jar:https://example.org!/",
    "https:\\\\example.org\\a.png",
    "https://example.org\\@10.0.0.1/",
    " https://example.org/",
    "https://example.org/a b.png",
    "https://exa\tmple.org/",
    "ht\ntps://example.org/",
    "https://127.0\r\n.0.1/",
    "https://example.org/\u{0}.png",
];

const GOOD: [&str; 20] = [
    "https://example.org",
    "https://example.org/a.png",
    "HTTPS://EXAMPLE.ORG/A.PNG",
    "https://example.org:443/a.png",
    "https://images.example.org/sea.jpg?size=4x6",
    "https://example.org/a%20b%2Fc.png",
    "https://example.org/a/../b/./c.png",
    "https://bücher.example/ü.png",
    "https://xn--bcher-kva.example/",
    "https://пример.рф/",
    "https://straße.de/",
    "https://127.0.0.1.example.org/",
    "https://localhost.example.org/",
    "https://10-0-0-1.example.org/",
    "https://internal.example.org/",
    "https://1password.com/a.png",
    "https://mylocal.org/",
    "https://example.latest/",
    "https://example.org/?u=http://10.0.0.1/",
    "https://example.org/@user:8080/[a]",
];

/// So many previews fit into one minute's rate limit.
const SHOWN: usize = 12;

#[test]
fn no_hostile_image_url_reaches_the_provider() {
    let app = TestApp::start("");
    let bare = HOSTILE_HOSTS.map(|host| format!("https://{host}"));
    let dressed = HOSTILE_HOSTS.map(|host| format!("https://{host}/a.png?b#c"));
    let long = format!("https://example.org/{}", "a".repeat(2_029));
    let whole = HOSTILE.map(str::to_owned);
    let all: Vec<String> = [&bare[..], &dressed, &whole, &[long]].concat();
    assert_eq!(all.len(), 199);
    for url in &all {
        let mut card = card();
        card["front_image_url"] = json!(url);
        let reply = preview(&app, &card);
        assert_eq!((reply.status, code(&reply).as_str()), (400, "invalid_postcard"), "{url:?}");
        let said = reply.json();
        let fields = said["error"]["fields"].as_array().unwrap();
        assert_eq!(fields.len(), 1, "{url:?}: {said}");
        assert_eq!(fields[0]["field"], "front_image_url", "{url:?}");
    }
    assert_eq!(ProviderControl::of(&app).calls(), 0);
}

#[test]
fn valid_image_urls_are_accepted() {
    let app = TestApp::start("");
    for url in GOOD {
        assert!(PublicImageUrl::parse(url).is_ok(), "{url}");
    }
    for url in &GOOD[..SHOWN] {
        let mut card = card();
        card["front_image_url"] = json!(url);
        let reply = preview(&app, &card);
        assert_eq!(reply.status, 200, "{url}: {}", reply.text());
    }
    // And one price.
    assert_eq!(ProviderControl::of(&app).calls(), SHOWN + 1);
}
