//! Registration over the router, with the layer of the app.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Method, Request, StatusCode};
use serde_json::json;
use tower::ServiceExt;

use super::*;
use crate::app::layered;
use crate::http::layer::RequestLayer;
use crate::http::limits::RequestLimits;
use crate::http::problem;

mod tokens;

const PATHS: [&str; 3] = ["/agent/auth", "/agent/auth/claim", "/agent/auth/revoke"];
const GOOD: &str = r#"{"type":"anonymous","requested_credential_type":"access_token"}"#;

fn keys() -> TokenKeys {
    TokenKeys::new(vec![[7; 32]])
}

/// Counts up, so that registrations differ and tests can predict them.
fn registry() -> AgentRegistry {
    let next = AtomicU8::new(1);
    AgentRegistry {
        keys: keys(),
        random: Arc::new(move || Some([next.fetch_add(1, Ordering::Relaxed); 16])),
        mode: RegistrationMode::Open,
        base_url: "https://cards.example".into(),
    }
}

fn site(registry: AgentRegistry) -> Router {
    let open = Router::new().merge(routes(registry)).fallback(|| async { StatusCode::NOT_FOUND });
    layered(open, RequestLayer::new(RequestLimits::default()))
}

/// Sends a request, and checks what every response of these routes has.
async fn send(site: &Router, request: Request<Body>) -> (Response, Value) {
    let mut response = site.clone().oneshot(request).await.unwrap();
    let body = std::mem::take(response.body_mut());
    let bytes = to_bytes(body, 4096).await.unwrap();
    assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    if bytes.is_empty() {
        return (response, Value::Null);
    }
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    (response, serde_json::from_slice(&bytes).unwrap())
}

fn request(method: Method, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path)
}

async fn post_to(site: &Router, path: &str, body: &str) -> (Response, Value) {
    send(site, request(Method::POST, path).body(Body::from(body.to_owned())).unwrap()).await
}

async fn register(body: &str) -> (Response, Value) {
    post_to(&site(registry()), "/agent/auth", body).await
}

/// The status, code and message of an error that has no other members.
async fn refused(registry: AgentRegistry, body: &str) -> (u16, String, String) {
    let (response, error) = post_to(&site(registry), "/agent/auth", body).await;
    let members = error.as_object().unwrap();
    assert_eq!(members.len(), 2, "{error}");
    let word = |name: &str| members[name].as_str().unwrap().to_owned();
    (response.status().as_u16(), word("error"), word("message"))
}

#[tokio::test]
async fn a_registration_has_the_six_members_of_the_contract() {
    let (response, body) = register(GOOD).await;
    assert_eq!(response.status(), StatusCode::OK);
    let expected = json!({
        "registration_id": format!("reg_{}", "01".repeat(16)),
        "registration_type": "anonymous",
        "credential_type": "access_token",
        "credential": keys().issue([1; 16]),
        "credential_expires": null,
        "scopes": ["public:read"],
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn each_registration_is_a_new_one() {
    let site = site(registry());
    let (_, one) = post_to(&site, "/agent/auth", GOOD).await;
    let (_, two) = post_to(&site, "/agent/auth", GOOD).await;
    assert_ne!(one["registration_id"], two["registration_id"]);
    assert_ne!(one["credential"], two["credential"]);
}

#[tokio::test]
async fn unknown_members_are_ignored() {
    let body = r#"{"type":"anonymous","requested_credential_type":"access_token","email":[]}"#;
    assert_eq!(register(body).await.0.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_body_that_is_not_a_json_object_is_an_invalid_request() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies = ["", "hello", "[]", "null", "\"anonymous\"", r#"["anonymous","access_token"]"#];
    for body in bodies.into_iter().chain([r#"{"type":"anonymous""#, "{}{}", &deep]) {
        let (status, code, message) = refused(registry(), body).await;
        assert_eq!((status, &*code), (400, "invalid_request"), "{body}");
        assert!(message.contains(GOOD), "{message}");
    }
}

#[tokio::test]
async fn an_invalid_request_names_every_invalid_field() {
    let cases = [
        ("{}", true, true),
        (r#"{"type":"human","requested_credential_type":"access_token"}"#, true, false),
        (r#"{"requested_credential_type":"access_token"}"#, true, false),
        (r#"{"type":null,"requested_credential_type":"access_token"}"#, true, false),
        (r#"{"type":"Anonymous","requested_credential_type":"access_token"}"#, true, false),
        (r#"{"type":"anonymous"}"#, false, true),
        (r#"{"type":"anonymous","requested_credential_type":7}"#, false, true),
        (r#"{"type":"human","requested_credential_type":"api_key"}"#, true, true),
        (r#"{"type":["anonymous"],"requested_credential_type":["access_token"]}"#, true, true),
    ];
    for (body, identity, credential) in cases {
        let (status, code, message) = refused(registry(), body).await;
        assert_eq!((status, &*code), (400, "invalid_request"), "{body}");
        assert_eq!(message.contains("Set type"), identity, "{body}: {message}");
        assert_eq!(message.contains("requested_credential_type"), credential, "{body}: {message}");
    }
}

#[tokio::test]
async fn an_identity_assertion_is_always_rejected() {
    for rest in ["", r#","requested_credential_type":"api_key""#, r#","assertion":"ey""#] {
        let body = format!(r#"{{"type":"identity_assertion"{rest}}}"#);
        let (status, code, message) = refused(registry(), &body).await;
        assert_eq!((status, &*code), (400, "identity_assertion_not_enabled"), "{body}");
        assert!(message.contains("Do not send one"), "{message}");
    }
}

#[tokio::test]
async fn another_credential_type_is_rejected() {
    for credential in ["api_key", "", "Access_Token"] {
        let body = format!(r#"{{"type":"anonymous","requested_credential_type":"{credential}"}}"#);
        let (status, code, message) = refused(registry(), &body).await;
        assert_eq!((status, &*code), (400, "unsupported_credential_type"), "{body}");
        assert!(message.contains("requested_credential_type to access_token"), "{message}");
    }
}

#[tokio::test]
async fn a_closed_registry_rejects_valid_requests_with_its_own_code() {
    let cases = [
        (GOOD, "anonymous_not_enabled"),
        ("hello", "invalid_request"),
        ("{}", "invalid_request"),
        (r#"{"type":"identity_assertion"}"#, "identity_assertion_not_enabled"),
        (
            r#"{"type":"anonymous","requested_credential_type":"api_key"}"#,
            "unsupported_credential_type",
        ),
    ];
    for (body, expected) in cases {
        let off = AgentRegistry { mode: RegistrationMode::Closed, ..registry() };
        let (status, code, _) = refused(off, body).await;
        assert_eq!((status, &*code), (400, expected), "{body}");
    }
}

#[tokio::test]
async fn registration_is_unavailable_without_a_random_source() {
    let dry = AgentRegistry { random: Arc::new(|| None), ..registry() };
    let (response, body) = post_to(&site(dry), "/agent/auth", GOOD).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[RETRY_AFTER], problem::RETRY_AFTER_SECONDS);
    assert_eq!(body["error"], "temporarily_unavailable");
}

#[tokio::test(start_paused = true)]
async fn the_61st_registration_of_a_minute_is_rate_limited() {
    let site = site(registry());
    for _ in 0..60 {
        assert_eq!(post_to(&site, "/agent/auth", GOOD).await.0.status(), StatusCode::OK);
    }
    tokio::time::advance(Duration::from_millis(12_500)).await;
    let (response, body) = post_to(&site, "/agent/auth", GOOD).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(body["error"], "rate_limited");
    let wait: u64 = response.headers()[RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert_eq!(wait, 48);

    tokio::time::advance(Duration::from_secs(wait)).await;
    assert_eq!(post_to(&site, "/agent/auth", GOOD).await.0.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn invalid_requests_are_rate_limited_too() {
    let site = site(registry());
    for _ in 0..60 {
        assert_eq!(post_to(&site, "/agent/auth", "").await.0.status(), StatusCode::BAD_REQUEST);
    }
    for body in ["", GOOD] {
        let (response, _) = post_to(&site, "/agent/auth", body).await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn claim_revoke_and_preflight_do_not_count_against_the_limit() {
    let site = site(registry());
    for _ in 0..61 {
        post_to(&site, "/agent/auth/claim", "{}").await;
        post_to(&site, "/agent/auth/revoke", "{}").await;
        let preflight = request(Method::OPTIONS, "/agent/auth").body(Body::empty()).unwrap();
        send(&site, preflight).await;
    }
    assert_eq!(post_to(&site, "/agent/auth", GOOD).await.0.status(), StatusCode::OK);
}

#[tokio::test]
async fn other_methods_answer_405_with_allow_post() {
    let site = site(registry());
    for path in PATHS {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
            let request = request(method, path).body(Body::empty()).unwrap();
            let (response, body) = send(&site, request).await;
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_eq!(response.headers()[ALLOW], "POST", "{path}");
            assert_eq!(body["error"]["code"], "method_not_allowed", "{path}");
        }
    }
}

#[tokio::test]
async fn a_page_of_any_origin_may_register() {
    let site = site(registry());
    for path in PATHS {
        let request = request(Method::OPTIONS, path)
            .header("origin", "https://agent.example")
            .header("access-control-request-method", "POST")
            .header("authorization", "Bearer nonsense")
            .body(Body::empty())
            .unwrap();
        let (response, body) = send(&site, request).await;
        assert_eq!(response.status(), StatusCode::NO_CONTENT, "{path}");
        assert_eq!(body, Value::Null, "{path}");
        let headers = response.headers();
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "POST, OPTIONS", "{path}");
        assert_eq!(headers[ACCESS_CONTROL_ALLOW_HEADERS], "content-type, authorization", "{path}");
        assert_eq!(headers[ACCESS_CONTROL_MAX_AGE], "86400", "{path}");
    }
}

#[tokio::test]
async fn other_paths_are_not_handled() {
    let request = request(Method::OPTIONS, "/agent/other").body(Body::empty()).unwrap();
    let response = site(registry()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert!(!response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
}

#[tokio::test]
async fn an_assertion_in_a_valid_request_is_rejected() {
    for assertion in ["\"eyJ\"", "{}", "null"] {
        let body = format!(
            r#"{{"type":"anonymous","requested_credential_type":"access_token","assertion":{assertion}}}"#
        );
        let (status, code, _) = refused(registry(), &body).await;
        assert_eq!((status, &*code), (400, "identity_assertion_not_enabled"), "{body}");
    }
}
