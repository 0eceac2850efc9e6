//! `POST /agent/auth`, `/agent/auth/claim` and `/agent/auth/revoke`.

use serde_json::json;

use crate::fixture::test_app::TestApp;

const REGISTER: &str = r#"{"type":"anonymous","requested_credential_type":"access_token"}"#;
const JSON: &[(&str, &str)] =
    &[("Content-Type", "application/json"), ("Accept", "application/json")];

#[test]
fn a_registration_needs_two_fields_and_returns_six() {
    let app = TestApp::start("");
    let reply = app.request("POST /agent/auth", JSON, REGISTER);
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
    let body = reply.json();
    let mut members: Vec<&String> = body.as_object().unwrap().keys().collect();
    members.sort();
    let expected = [
        "credential",
        "credential_expires",
        "credential_type",
        "registration_id",
        "registration_type",
        "scopes",
    ];
    assert_eq!(members, expected);
    assert_eq!(body["registration_type"], "anonymous");
    assert_eq!(body["credential_type"], "access_token");
    assert_eq!(body["credential_expires"], json!(null));
    assert_eq!(body["scopes"], json!(["public:read"]));
    let token = format!("Bearer {}", body["credential"].as_str().unwrap());
    for token in [token.as_str(), "Bearer nonsense", "Basic x"] {
        let page = app.get_with("/openapi.json", &[("Authorization", token)]);
        assert_eq!(page.status, 200, "a token never affects a public route");
    }
}

#[test]
fn every_error_code_of_the_contract_is_returned() {
    let app = TestApp::start("");
    for (path, body, status, code) in [
        (
            "/agent/auth",
            r#"{"type":"anonymous","requested_credential_type":"api_key"}"#,
            400,
            "unsupported_credential_type",
        ),
        ("/agent/auth", r#"{"type":"identity_assertion"}"#, 400, "identity_assertion_not_enabled"),
        ("/agent/auth", "not json", 400, "invalid_request"),
        ("/agent/auth/claim", "{}", 409, "claim_not_required"),
    ] {
        let reply = app.request(&format!("POST {path}"), JSON, body);
        assert_eq!(reply.status, status, "{body}");
        assert_eq!(reply.json()["error"], code, "{body}");
        assert!(!reply.json()["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(app.request("POST /agent/auth/revoke", JSON, "{}").status, 200);
    let disabled = TestApp::start("[agents]\nanonymous = \"no\"");
    let reply = disabled.request("POST /agent/auth", JSON, REGISTER);
    assert_eq!((reply.status, &reply.json()["error"]), (400, &json!("anonymous_not_enabled")));
}

#[test]
fn the_61st_registration_in_a_minute_is_rate_limited() {
    let app = TestApp::start("");
    let replies: Vec<_> =
        (0..61).map(|_| app.request("POST /agent/auth", JSON, REGISTER)).collect();
    let last = replies.last().unwrap();
    assert_eq!((last.status, &last.json()["error"]), (429, &json!("rate_limited")));
    assert!((1..=60).contains(&last.header("retry-after").parse::<u32>().unwrap()));
    assert!(replies[..60].iter().all(|reply| reply.status == 200));
}

#[test]
fn a_token_is_valid_as_long_as_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let keys = format!("[keys]\nfile = \"{}\"", folder.path().join("key").display());
    let before = TestApp::start(&keys);
    let token = before.request("POST /agent/auth", JSON, REGISTER).json()["credential"].clone();
    drop(before);
    let token = format!("Bearer {}", token.as_str().unwrap());
    let offered = [("Authorization", token.as_str())];
    let after = TestApp::start(&keys).request("POST /agent/auth/revoke", &offered, "");
    assert_eq!(after.status, 200, "the same key, another process");
    let stranger = TestApp::start("").request("POST /agent/auth/revoke", &offered, "");
    assert_eq!(stranger.status, 401, "another key");
}

#[test]
fn an_invalid_token_gets_the_resource_metadata() {
    let app = TestApp::start("");
    let reply = app.request("POST /agent/auth/revoke", &[("Authorization", "Bearer wrong")], "");
    assert_eq!(reply.status, 401);
    let expected = format!(
        "Bearer error=\"invalid_token\", resource_metadata=\"http://{}/.well-known/oauth-protected-resource\"",
        app.address
    );
    assert_eq!(reply.header("www-authenticate"), expected);
    let metadata = app.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(metadata["resource"], format!("http://{}", app.address));
    let agent_auth = &metadata["agent_auth"];
    assert_eq!(agent_auth["identity_types_supported"], json!(["anonymous"]));
    assert_eq!(agent_auth["anonymous"]["credential_types_supported"], json!(["access_token"]));
}
