//! Endpoints without a payment protocol, and bodies that are too large.

use http::header::RETRY_AFTER;

use super::*;

fn not_configured() -> TestSite {
    let site = site();
    let limits = RequestLimits::default();
    let endpoints =
        PaidEndpoint::both(None, paywall_page(), &site.tasks, limits, PaymentMode::Live);
    TestSite { endpoints, ..site }
}

#[tokio::test]
async fn an_endpoint_that_is_not_configured_answers_503_with_cors() {
    let site = not_configured();
    for (path, kind) in [(X402, "application/json"), (MPP, "application/problem+json")] {
        let (reply, said) = ask_at(&site, path, Method::POST, &[coin(&site)]).await;
        assert_eq!(
            (reply.status(), &said["error"]["code"]),
            (StatusCode::SERVICE_UNAVAILABLE, &json!("not_configured"))
        );
        assert_eq!(
            (&reply.headers()[CONTENT_TYPE], &said["error"]["retry"]),
            (&HeaderValue::from_static(kind), &json!("never"))
        );
        // Waiting does not help.
        assert_eq!(reply.headers().get(RETRY_AFTER), None);
        assert_eq!(reply.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        let browser = [("access-control-request-method", "POST".to_owned())];
        let (asked, _) = ask_at(&site, path, Method::OPTIONS, &browser).await;
        assert_eq!(asked.status(), StatusCode::NO_CONTENT);
        let (other, _) = ask_at(&site, path, Method::GET, &[]).await;
        assert_eq!(
            (other.status(), &other.headers()[ALLOW]),
            (StatusCode::METHOD_NOT_ALLOWED, &HeaderValue::from_static("POST"))
        );
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected_in_the_format_of_the_endpoint() {
    let site = site();
    for (path, kind) in [(X402, "application/json"), (MPP, "application/problem+json")] {
        let request = Request::post(path).body(Body::from(vec![b' '; 70_000])).unwrap();
        let (reply, body) = serve(&site, request).await;
        let said: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(reply.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(
            (&reply.headers()[CONTENT_TYPE], &said["error"]["code"]),
            (&HeaderValue::from_static(kind), &json!("body_too_large"))
        );
    }
}
