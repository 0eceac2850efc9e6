//! Errors of the endpoints that need no payment: HTTP itself, discovery, shop, orders, names,
//! agent registration.

use super::Snapshots;
use super::recording::Recording;
use super::service::Service;
use crate::fixture::sandbox::JSON;

const UNKNOWN_ORDER: &str = "GET /api/x402/orders/00000000000000000000000000000000";

pub(super) fn record(snapshots: &mut Snapshots) {
    let service = Service::start("");
    snapshots.insert("errors/http.txt".to_owned(), http(&service));
    snapshots.insert("errors/discovery.txt".to_owned(), discovery(&service));
    snapshots.insert("errors/shop.txt".to_owned(), shop(&service));
    snapshots.insert("errors/orders.txt".to_owned(), orders(&service));
    snapshots.insert("errors/resolve.txt".to_owned(), resolve(&service));
    snapshots.insert("errors/agent_auth.txt".to_owned(), agent_auth(&service));
}

/// A request, by its line, that needs neither headers nor a body.
fn plain(recording: &mut Recording, service: &Service, lines: &[&str]) {
    for line in lines {
        recording.add(line, &service.send(line, &[], ""));
    }
}

fn http(service: &Service) -> String {
    let mut recording = Recording::default();
    plain(&mut recording, service, &["GET /nowhere", "GET /api/nowhere", "POST /nowhere"]);
    for accept in ["text/html", "text/markdown", "application/json"] {
        let answer = service.send("GET /nowhere", &[("Accept", accept)], "");
        recording.add(&format!("GET /nowhere, Accept: {accept}"), &answer);
    }
    plain(
        &mut recording,
        service,
        &["POST /", "DELETE /openapi.json", "PUT /healthz", "PUT /readyz"],
    );
    let long = "x".repeat(16 * 1024);
    let answer = service.send("GET /healthz", &[("X-Long", &long)], "");
    recording.add("a header of 16 KiB", &answer);
    let answer = service.send("GET /openapi.json", &[("X-Long", &long)], "");
    recording.add("a header of 16 KiB, for a document", &answer);
    let answer = service.send(&format!("GET /{long}"), &[], "");
    recording.add("a path of 16 KiB", &answer);
    recording.text()
}

fn discovery(service: &Service) -> String {
    let mut recording = Recording::default();
    for path in ["/openapi.json", "/api", "/api/x402", "/shop/feed.json", "/mcp"] {
        let version = [("X-Service-API-Version", "2")];
        let answer = service.send(&format!("GET {path}"), &version, "");
        recording.add(&format!("GET {path}, unknown version"), &answer);
    }
    let exhausted = Service::start("[limits]\ndiscovery_quota = 1");
    exhausted.get("/api");
    let exhausted_lines = ["GET /openapi.json", "GET /api", "GET /api/x402", "GET /shop/feed.json"];
    for line in exhausted_lines {
        recording.add(&format!("{line}, quota used up"), &exhausted.send(line, &[], ""));
    }
    recording.add("POST /mcp, quota used up", &exhausted.send("POST /mcp", &[], ""));
    recording.text()
}

fn shop(service: &Service) -> String {
    let mut recording = Recording::default();
    plain(
        &mut recording,
        service,
        &[
            "GET /shop/checkout",
            "GET /shop/checkout?sku=",
            "GET /shop/checkout?sku=unknown",
            "GET /shop/checkout?sku=signer-mini",
            "POST /shop/checkout",
        ],
    );
    recording.text()
}

fn orders(service: &Service) -> String {
    let mut recording = Recording::default();
    recording.add("GET, unknown order", &service.send(UNKNOWN_ORDER, &[], ""));
    plain(
        &mut recording,
        service,
        &["GET /api/x402/orders/7", "GET /api/x402/orders/", "POST /api/x402/orders/7"],
    );
    recording.text()
}

fn resolve(service: &Service) -> String {
    let mut recording = Recording::default();
    plain(
        &mut recording,
        service,
        &[
            "GET /api/x402/resolve/two.words",
            "GET /api/x402/resolve/unknown",
            "POST /api/x402/resolve/demo",
        ],
    );
    let unreachable = Service::start(
        "[sandbox]\nmixed = \"yes\"\n[names]\nkind = \"ens\"\nrpc = [\"http://127.0.0.1:1\"]",
    );
    let line = "GET /api/x402/resolve/demo";
    recording.add("the node does not answer", &unreachable.send(line, &[], ""));
    recording.text()
}

fn agent_auth(service: &Service) -> String {
    const REGISTER: &str = "POST /agent/auth";
    const GOOD: &str = r#"{"type":"anonymous","requested_credential_type":"access_token"}"#;
    let mut recording = Recording::default();
    for body in [
        "",
        "no JSON",
        "[]",
        "{}",
        r#"{"type":"anonymous"}"#,
        r#"{"requested_credential_type":"access_token"}"#,
        r#"{"type":"anonymous","requested_credential_type":"api_key"}"#,
        r#"{"type":"identity_assertion"}"#,
        r#"{"type":"anonymous","requested_credential_type":"access_token","assertion":"x"}"#,
    ] {
        recording.add(&format!("register: {body}"), &service.send(REGISTER, &[JSON], body));
    }
    recording.add("register: GET", &service.get("/agent/auth"));
    let long = " ".repeat(64 * 1024 + 1);
    recording
        .add("register: a body of 64 KiB and one byte", &service.send(REGISTER, &[JSON], &long));
    let foreign = [JSON, ("Authorization", "Bearer foreign")];
    for path in ["/agent/auth/claim", "/agent/auth/revoke"] {
        let line = format!("POST {path}");
        recording.add(path, &service.send(&line, &[JSON], "{}"));
        recording.add(&format!("{path}, unknown token"), &service.send(&line, &foreign, "{}"));
        recording.add(&format!("{path}, GET"), &service.get(path));
    }
    let limited = (0..100).map(|_| service.send(REGISTER, &[JSON], GOOD));
    let limited = limited.into_iter().find(|answer| answer.status != 200).expect("a limit");
    recording.add("register: too many", &limited);
    let off = Service::start("[agents]\nanonymous = \"no\"");
    recording.add("register: switched off", &off.send(REGISTER, &[JSON], GOOD));
    recording.text()
}
