//! Doors behind which nobody carries money, and bodies that no door takes.

use http::header::RETRY_AFTER;

use super::*;

fn closed() -> Site {
    let site = site();
    let page = publish::everything(&premises(), 0).unwrap().paywall;
    Site {
        doors: Doors::new(None, page, site.walks.clone(), Limits::default(), Mode::Live),
        ..site
    }
}

#[tokio::test]
async fn a_closed_door_says_so_and_keeps_its_manners() {
    let site = closed();
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
        // It is not a matter of time.
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
async fn what_is_too_large_is_refused_in_the_words_of_its_door() {
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
