//! Claim, revoke and their handling of tokens.

use super::*;

async fn offer(path: &str, authorization: &[u8]) -> (Response, Value) {
    let request = request(Method::POST, path)
        .header(AUTHORIZATION, HeaderValue::from_bytes(authorization).unwrap())
        .body(Body::from("{}"))
        .unwrap();
    send(&site(registry()), request).await
}

fn headers(values: &[&'static str]) -> HeaderMap {
    values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_static(value))).collect()
}

#[tokio::test]
async fn claim_answers_claim_not_required() {
    for body in ["", "{}", "nonsense", r#"{"claim_token":"x","email":"a@example.com"}"#] {
        let (response, answer) = post_to(&site(registry()), "/agent/auth/claim", body).await;
        assert_eq!(response.status(), StatusCode::CONFLICT, "{body}");
        assert_eq!(answer["error"], "claim_not_required", "{body}");
        assert!(
            answer["message"].as_str().unwrap().contains("Continue with your token"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn revoke_answers_200_and_revokes_nothing() {
    for body in ["", "{}", "nonsense", "token=abc"] {
        let (response, answer) = post_to(&site(registry()), "/agent/auth/revoke", body).await;
        assert_eq!(response.status(), StatusCode::OK, "{body}");
        assert_eq!(answer["revoked"], 0, "{body}");
        assert!(
            answer["message"].as_str().unwrap().starts_with("Tokens are not stored"),
            "{answer}"
        );
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
    }
}

#[tokio::test]
async fn an_issued_token_is_accepted() {
    let (_, registered) = register(GOOD).await;
    let credential = registered["credential"].as_str().unwrap();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let offered = format!("{scheme} {credential}");
        let (response, _) = offer("/agent/auth/claim", offered.as_bytes()).await;
        assert_eq!(response.status(), StatusCode::CONFLICT, "{scheme}");
        let (response, _) = offer("/agent/auth/revoke", offered.as_bytes()).await;
        assert_eq!(response.status(), StatusCode::OK, "{scheme}");
    }
}

#[tokio::test]
async fn a_foreign_token_is_rejected_with_the_metadata_url() {
    let foreign = TokenKeys::new(vec![[8; 32]]).issue([1; 16]);
    let foreign = format!("Bearer {foreign}");
    let offers: [&[u8]; 5] =
        [foreign.as_bytes(), b"Bearer x", b"Bearer ", b"Bearer", b"Bearer \xff"];
    for offered in offers {
        for path in ["/agent/auth/claim", "/agent/auth/revoke"] {
            let (response, answer) = offer(path, offered).await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path} {offered:?}");
            assert_eq!(
                response.headers()[WWW_AUTHENTICATE],
                "Bearer error=\"invalid_token\", resource_metadata=\
                 \"https://cards.example/.well-known/oauth-protected-resource\""
            );
            assert_eq!(answer["error"], "invalid_token", "{path}");
            assert!(answer["message"].as_str().unwrap().contains("register again"), "{answer}");
        }
    }
}

#[tokio::test]
async fn an_invalid_token_does_not_prevent_registration() {
    let request = request(Method::POST, "/agent/auth")
        .header(AUTHORIZATION, "Bearer dead")
        .body(Body::from(GOOD))
        .unwrap();
    assert_eq!(send(&site(registry()), request).await.0.status(), StatusCode::OK);
}

#[tokio::test]
async fn other_authorization_schemes_are_ignored() {
    for offered in ["Payment abc", "Basic abc", "Bearerabc", "Bear", ""] {
        let (response, _) = offer("/agent/auth/revoke", offered.as_bytes()).await;
        assert_eq!(response.status(), StatusCode::OK, "{offered}");
    }
}

#[test]
fn the_bearer_is_found_among_other_credentials() {
    assert_eq!(bearer(&headers(&[])), None);
    assert_eq!(bearer(&headers(&["Payment abc"])), None);
    assert_eq!(bearer(&headers(&["Bearer abc"])), Some("abc"));
    assert_eq!(bearer(&headers(&["bEARER   abc "])), Some("abc"));
    assert_eq!(bearer(&headers(&["Bearer"])), Some(""));

    let mut both = headers(&["Payment abc"]);
    both.append(AUTHORIZATION, HeaderValue::from_static("Bearer def"));
    assert_eq!(bearer(&both), Some("def"));
}

#[test]
fn an_invalid_base_url_only_drops_the_metadata_url() {
    let response = unauthorized("https://cards.example\n");
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()[WWW_AUTHENTICATE], r#"Bearer error="invalid_token""#);
}
