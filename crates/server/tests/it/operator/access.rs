//! Token, session, `Host` and `Origin` at the loopback listener, and the modes of the files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::fixture::OperatorFixture;
use crate::fixture::http_client::{Reply, send_request};
use crate::fixture::sandbox::{JSON, code};
use crate::fixture::test_app::{RawConnection, run};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// Logs in, and returns the cookie.
fn log_in(fixture: &OperatorFixture) -> String {
    let form = format!("operator=grace&token={}", fixture.token);
    let reply = send_request(fixture.listener, "POST /login", &[FORM], &form);
    assert_eq!((reply.status, reply.header("location")), (303, "/"));
    let cookie = reply.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&fixture.token));
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn only_the_token_opens_the_api_and_never_in_the_query() {
    let fixture = OperatorFixture::start();
    let cookie = log_in(&fixture);
    let right = format!("Bearer {}", fixture.token);
    let short = &right[..right.len() - 1];
    let basic = format!("Basic {}", fixture.token);
    let bare = fixture.token.as_str();
    let in_query = format!("?token={0}&access_token={0}", fixture.token);
    let table = [
        ("", None::<(&str, &str)>, 401),
        ("", Some(("Authorization", "Bearer wrong")), 401),
        ("", Some(("Authorization", "Bearer ")), 401),
        ("", Some(("Authorization", short)), 401),
        ("", Some(("Authorization", &basic)), 401),
        ("", Some(("Authorization", bare)), 401),
        ("", Some(("Cookie", &cookie)), 401),
        (in_query.as_str(), None, 401),
        ("", Some(("Authorization", &right)), 200),
    ];
    for path in ["/v1/orders", "/v1/events?wait=0"] {
        for (query, header, status) in &table {
            let query =
                if path.contains('?') { query.replace('?', "&") } else { (*query).to_owned() };
            let line = format!("GET {path}{query}");
            let headers: Vec<_> = header.iter().copied().collect();
            let reply = send_request(fixture.listener, &line, &headers, "");
            assert_eq!(reply.status, *status, "{line} {header:?}: {}", reply.text());
            assert_eq!(reply.header("cache-control"), "no-store");
            if *status == 401 {
                assert_eq!(code(&reply), "unauthorized");
                assert!(reply.header("www-authenticate").starts_with("Bearer"));
            }
        }
    }
    for path in ["/metrics", "/v1/orders/00000000000000000000000000000000", "/v1/unknown"] {
        let reply = send_request(fixture.listener, &format!("GET {path}"), &[], "");
        assert_eq!(reply.status, 401, "{path}");
    }
    assert!(!fixture.app.log().contains(&fixture.token));
}

#[test]
fn a_browser_logs_in_once_and_out_again() {
    let fixture = OperatorFixture::start();
    let page = |cookie: &str| {
        let headers = [("Accept", "text/html"), ("Cookie", cookie)];
        send_request(fixture.listener, "GET /", &headers, "")
    };
    let stranger = page("pennyblack_operator=");
    assert_eq!(stranger.status, 401);
    assert!(stranger.text().contains("<form"), "the form for the token");
    let form = "operator=grace&token=wrong";
    assert_eq!(send_request(fixture.listener, "POST /login", &[FORM], form).status, 401);
    let form = format!("operator=no%20name&token={}", fixture.token);
    assert_eq!(send_request(fixture.listener, "POST /login", &[FORM], &form).status, 400);
    let cookie = log_in(&fixture);
    let first = page(&cookie);
    assert_eq!(first.status, 200, "{}", first.text());
    let text = first.text();
    let (_, after) = text.split_once("name=\"csrf\" value=\"").expect("a form with the token");
    let (csrf, _) = after.split_once('"').unwrap();
    let out = |form: &str| {
        send_request(fixture.listener, "POST /logout", &[FORM, ("Cookie", &cookie)], form)
    };
    assert_eq!(out("").status, 403, "without the CSRF token");
    assert_eq!(out("csrf=wrong").status, 403);
    assert_eq!(out(&format!("csrf={csrf}")).status, 303);
    assert_eq!(page(&cookie).status, 401);
}

#[test]
fn the_socket_and_the_token_are_for_their_owner_only() {
    let mut fixture = OperatorFixture::start();
    for name in ["operator.sock", "operator.token"] {
        let mode = fs::metadata(fixture.file(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let reply = fixture.socket_request("GET /v1/orders", "");
    let empty = json!({ "orders": [], "unreadable": [], "next": null });
    assert_eq!((reply.status, reply.json()), (200, empty));
    assert_eq!(fixture.socket_request("GET /login", "").status, 404, "the console is not there");
    fixture.app.signal("TERM");
    assert!(fixture.app.wait_for_exit().success());
    assert!(!fixture.file("operator.sock").exists(), "removed at the end");
}

/// DNS can point any name to this machine, and the browser then takes the page of that name for
/// the same origin.
#[test]
fn a_host_that_is_not_this_machine_is_refused() {
    let fixture = OperatorFixture::start();
    let port = fixture.listener.port();
    for (host, status) in [
        (format!("127.0.0.1:{port}"), "200"),
        (format!("localhost:{port}"), "200"),
        (format!("cards.example:{port}"), "421"),
        ("127.0.0.1.cards.example".to_owned(), "421"),
    ] {
        let mut connection = RawConnection::open(fixture.listener);
        connection.send(&format!(
            "GET /v1/orders HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
            fixture.token
        ));
        let response = connection.receive_all();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {response}");
    }
}

#[test]
fn a_page_of_another_origin_cannot_act() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let before = fixture.show(&order);
    let body = json!({ "version": before["version"], "operator": "eve", "note": "x" }).to_string();
    let line = format!("POST /v1/orders/{order}/acknowledge");
    let refused = |headers: &[(&str, &str)], status: u16| {
        let reply = fixture.request(&line, headers, &body);
        assert_eq!(reply.status, status, "{headers:?}: {}", reply.text());
    };
    refused(&[JSON, ("Origin", "https://cards.example")], 403);
    refused(&[JSON, ("Origin", &format!("http://{}", fixture.app.address))], 403);
    refused(&[JSON, ("Origin", "null")], 403);
    refused(&[JSON, ("Sec-Fetch-Site", "cross-site")], 403);
    refused(&[JSON, ("Sec-Fetch-Site", "same-site")], 403);
    refused(&[("Content-Type", "text/plain")], 415);
    refused(&[FORM], 415);
    let cookie = log_in(&fixture);
    let form = format!("version={}&note=x", before["version"]);
    let session = [FORM, ("Cookie", cookie.as_str())];
    let path = format!("POST /console/orders/{order}/acknowledge");
    let act = |headers: &[(&str, &str)]| -> Reply {
        send_request(fixture.listener, &path, headers, &form)
    };
    let page = |reply: Reply, status: u16, text: &str| {
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (status, "text/html; charset=utf-8")
        );
        assert!(reply.text().contains(text), "{}", reply.text());
    };
    page(act(&session), 403, "The form is not from a page of this session.");
    let evil = [&session[..], &[("Origin", "https://cards.example")]].concat();
    page(act(&evil), 403, "This request comes from a page of another origin.");
    page(act(&[FORM]), 401, "action=\"/login\"");
    let actors = |order: &serde_json::Value| order["events"].to_string().contains("operator:");
    assert!(!actors(&fixture.show(&order)), "nothing was done");
    let own = format!("http://{}", fixture.listener);
    let reply =
        fixture.request(&line, &[JSON, ("Origin", &own), ("Sec-Fetch-Site", "same-origin")], &body);
    assert!([200, 409].contains(&reply.status), "{}", reply.text());
}

#[test]
fn an_address_that_others_can_reach_is_rejected() {
    for (listen, wanted) in
        [("0.0.0.0:8404", "can be reached from other machines"), ("8404", "is neither")]
    {
        let output = run(&["check"], &format!("[operator]\nlisten = '{listen}'\n"), &[]);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(wanted) && text.contains("operator.listen"), "{text}");
    }
    let output = run(&["check"], "[operator]\nlisten = 'off'\n", &[]);
    assert_eq!(output.status.code(), Some(0));
}
