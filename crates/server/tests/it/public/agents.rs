//! Agent registration over real HTTP.

use serde_json::json;

use crate::house::House;

const REGISTER: &str = r#"{"type":"anonymous","requested_credential_type":"access_token"}"#;
const JSON: &[(&str, &str)] =
    &[("Content-Type", "application/json"), ("Accept", "application/json")];

#[test]
fn an_agent_registers_with_two_words_and_gets_six_members() {
    let house = House::open("");
    let reply = house.request("POST /agent/auth", JSON, REGISTER);
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
        let page = house.get_with("/openapi.json", &[("Authorization", token)]);
        assert_eq!(page.status, 200, "a token never breaks a public route");
    }
}

#[test]
fn every_code_of_the_contract_is_said_where_it_belongs() {
    let house = House::open("");
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
        let reply = house.request(&format!("POST {path}"), JSON, body);
        assert_eq!(reply.status, status, "{body}");
        assert_eq!(reply.json()["error"], code, "{body}");
        assert!(!reply.json()["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(house.request("POST /agent/auth/revoke", JSON, "{}").status, 200);
    let shut = House::open("[agents]\nanonymous = \"no\"");
    let reply = shut.request("POST /agent/auth", JSON, REGISTER);
    assert_eq!((reply.status, &reply.json()["error"]), (400, &json!("anonymous_not_enabled")));
}

#[test]
fn a_crowd_of_registrations_is_slowed_down() {
    let house = House::open("");
    let replies: Vec<_> =
        (0..61).map(|_| house.request("POST /agent/auth", JSON, REGISTER)).collect();
    let last = replies.last().unwrap();
    assert_eq!((last.status, &last.json()["error"]), (429, &json!("rate_limited")));
    assert!((1..=60).contains(&last.header("retry-after").parse::<u32>().unwrap()));
    assert!(replies[..60].iter().all(|reply| reply.status == 200));
}

#[test]
fn a_token_holds_as_long_as_its_key_does_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let keys = format!("[keys]\nfile = \"{}\"", folder.path().join("key").display());
    let before = House::open(&keys);
    let token = before.request("POST /agent/auth", JSON, REGISTER).json()["credential"].clone();
    drop(before);
    let token = format!("Bearer {}", token.as_str().unwrap());
    let offered = [("Authorization", token.as_str())];
    let after = House::open(&keys).request("POST /agent/auth/revoke", &offered, "");
    assert_eq!(after.status, 200, "the same key, another process");
    let stranger = House::open("").request("POST /agent/auth/revoke", &offered, "");
    assert_eq!(stranger.status, 401, "another key");
}

#[test]
fn a_wrong_token_is_told_where_to_look() {
    let house = House::open("");
    let reply = house.request("POST /agent/auth/revoke", &[("Authorization", "Bearer wrong")], "");
    assert_eq!(reply.status, 401);
    let expected = format!(
        "Bearer error=\"invalid_token\", resource_metadata=\"http://{}/.well-known/oauth-protected-resource\"",
        house.address
    );
    assert_eq!(reply.header("www-authenticate"), expected);
    let metadata = house.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(metadata["resource"], format!("http://{}", house.address));
    let agent_auth = &metadata["agent_auth"];
    assert_eq!(agent_auth["identity_types_supported"], json!(["anonymous"]));
    assert_eq!(agent_auth["anonymous"]["credential_types_supported"], json!(["access_token"]));
}
