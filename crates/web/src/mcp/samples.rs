//! A door without a house, and messages for it.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::Request;
use http::Response;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt;

use super::library::{Library, PublicPage};
use super::transport::Desk;
use crate::discovery::samples::premises;
use crate::front::FrontBody;
use crate::guard::Limits;
use crate::premises::{Profile, Reach};
use crate::publish;
use crate::quota::Quota;

/// A door that never runs out of its quota.
pub(super) fn door(profile: Profile) -> Desk {
    door_at(profile, Reach::Loopback)
}

pub(super) fn door_at(profile: Profile, reach: Reach) -> Desk {
    static PAGES: OnceLock<Vec<PublicPage>> = OnceLock::new();
    let pages = PAGES.get_or_init(|| publish::everything(&premises(), 0).unwrap().pages).clone();
    let mut library = Library { premises: premises(), pages };
    library.premises.profile = profile;
    Desk::new(&library, Arc::new(Quota::new(u32::MAX)), Limits::default(), reach)
}

/// A message with the usual headers and these.
pub(super) fn request(headers: &[(&str, &str)], message: impl Into<Body>) -> Request {
    let mut request = Request::post("/mcp")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(message.into()).unwrap()
}

pub(super) async fn body(response: Response<FrontBody>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}
