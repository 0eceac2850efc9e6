//! The guard at a door beside the router.

use std::future::ready;

use http_body_util::Either;

use super::*;
use crate::front::FrontBody;

const ROUTE: &str = "/beside";

fn hello(_: Request) -> Making {
    Box::pin(ready(Response::new(Either::Right(Body::from("hello")))))
}

fn breaks(_: Request) -> Making {
    Box::pin(async { panic!("on purpose") })
}

fn request(method: Method, padding: usize) -> Request {
    ask(method, ROUTE).header("x", "v".repeat(padding)).body(Body::empty()).unwrap()
}

async fn watched(request: Request, answer: fn(Request) -> Making) -> Response {
    let answered: http::Response<FrontBody> =
        Guard::new(Limits::default()).watch(ROUTE, request, answer).await;
    answered.map(Body::new)
}

#[tokio::test]
async fn every_answer_beside_the_router_is_signed_too() {
    for (method, said) in [(Method::POST, "hello"), (Method::HEAD, "")] {
        let response = watched(request(method, 1), hello).await;
        assert_eq!(response.headers()["x-request-id"].len(), 32);
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), said);
    }
}

#[tokio::test]
async fn a_door_that_breaks_costs_one_answer() {
    let broken = watched(request(Method::POST, 1), breaks).await;
    assert_eq!(broken.headers()["x-request-id"].len(), 32);
    assert_eq!(problem_of(broken).await, expected(500, "internal_error", "same"));
}

#[tokio::test]
async fn a_head_that_is_too_large_does_not_come_to_the_door() {
    let refused = watched(request(Method::POST, HEAD_BYTES), breaks).await;
    assert_eq!(problem_of(refused).await, expected(431, "headers_too_large", "never"));
}
