//! Nothing of the operator's interface is at the public listener.

use super::fixture::OperatorFixture;
use crate::fixture::test_app::RawConnection;

const ORDER: &str = "0123456789abcdef0123456789abcdef";

/// What differs between two responses to the same request.
const VARYING: [&str; 2] = ["date:", "x-request-id:"];

/// The raw response, without what varies.
fn respond(fixture: &OperatorFixture, method: &str, path: &str, headers: &str) -> String {
    let mut connection = RawConnection::open(fixture.app.address);
    connection.send(&format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}Content-Length: 2\r\n\r\n{{}}"
    ));
    let response = connection.receive_all();
    let varies = |line: &&str| {
        let line = line.to_ascii_lowercase();
        VARYING.iter().any(|name| line.starts_with(name))
    };
    response.split_inclusive("\r\n").filter(|line| !varies(line)).collect()
}

/// As a proxy on the same machine passes it on, too.
#[test]
fn every_operator_path_is_unknown_at_the_public_listener() {
    let fixture = OperatorFixture::start();
    let order = |more: &str| format!("/v1/orders/{ORDER}{more}");
    let page = |more: &str| format!("/console/orders/{ORDER}{more}");
    let mut paths: Vec<String> = [
        "/v1/orders",
        "/v1/events",
        "/v1/audit",
        "/v1/report",
        "/v1/backup",
        "/metrics",
        "/login",
        "/logout",
        "/money",
        "/v1",
        "/operator",
        "/console",
    ]
    .map(str::to_owned)
    .to_vec();
    for action in
        ["", "/evidence", "/resubmit", "/attach", "/refund", "/acknowledge", "/erase", "/reveal"]
    {
        paths.extend([order(action), page(action)]);
    }
    let token = format!("Authorization: Bearer {}\r\n", fixture.token);
    let headers = [
        String::new(),
        token.clone(),
        format!(
            "{token}Content-Type: application/json\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: localhost\r\n"
        ),
        "Cookie: pennyblack_operator=x\r\nAccept: text/html\r\n".to_owned(),
    ];
    let mut compared = 0;
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for headers in &headers {
            let unknown = respond(&fixture, method, "/nothing/is/here", headers);
            for path in &paths {
                let found = respond(&fixture, method, path, headers);
                assert_eq!(found, unknown, "{method} {path} {headers}");
                compared += 1;
            }
            if ["GET", "POST"].contains(&method) {
                assert!(unknown.starts_with("HTTP/1.1 404 "), "{method}: {unknown}");
            }
        }
    }
    assert_eq!(compared, 7 * 4 * 28);
}
