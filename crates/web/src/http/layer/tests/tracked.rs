//! Endpoints that are served before the router.

use std::future::ready;

use http_body_util::Either;

use super::*;
use crate::http::limits::HEAD_BYTES;
use crate::http::prepared_body::ResponseBody;
use crate::http::request_metrics::RouteHistograms;
use crate::http::tracked::{ResponseFuture, TrackedResponse};

const ROUTE: &str = "/tracked";

fn hello(_: Request) -> ResponseFuture {
    Box::pin(ready(Response::new(Either::Right(Body::from("hello")))))
}

fn panics(_: Request) -> ResponseFuture {
    Box::pin(async { panic!("on purpose") })
}

fn request(method: Method, padding: usize) -> Request {
    ask(method, ROUTE).header("x", "v".repeat(padding)).body(Body::empty()).unwrap()
}

async fn tracked(request: Request, respond: fn(Request) -> ResponseFuture) -> Response {
    let route = Arc::new(RouteHistograms::new(ROUTE));
    let response: http::Response<ResponseBody> =
        TrackedResponse::start(&RequestIds::new(), &route, request, respond).await;
    response.map(Body::new)
}

#[tokio::test]
async fn every_response_has_a_request_id() {
    for (method, said) in [(Method::POST, "hello"), (Method::HEAD, "")] {
        let response = tracked(request(method, 1), hello).await;
        assert_eq!(response.headers()["x-request-id"].len(), 32);
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), said);
    }
}

#[tokio::test]
async fn an_endpoint_that_panics_answers_500() {
    let broken = tracked(request(Method::POST, 1), panics).await;
    assert_eq!(broken.headers()["x-request-id"].len(), 32);
    assert_eq!(problem_of(broken).await, expected(500, "internal_error", "same"));
}

#[tokio::test]
async fn a_head_that_is_too_large_does_not_reach_the_endpoint() {
    let refused = tracked(request(Method::POST, HEAD_BYTES), panics).await;
    assert_eq!(problem_of(refused).await, expected(431, "headers_too_large", "never"));
}
