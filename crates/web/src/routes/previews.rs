//! `POST /api/x402/postcards/preview`: renders a postcard without payment, mailing or storage.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::header::{CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use order::checkout::preview::{CardPreview, Previews, PriceCall};
use order::model::card::Postcard;
use order::model::card::warning::CardWarning;
use order::model::payment::TenderKind;
use order::model::seller::Username;
use order::refusal::Refusal;
use pay::error_body::quote_body;
use serde::Serialize;
use serde_json::Value;

use crate::http::cors::CorsPolicy;
use crate::http::problem::{self, Problem, Retry};
use crate::http::rate_limit::{Admission, RateLimiter};
use crate::routes::draft;
use crate::routes::refused::{refused, unread};

pub(crate) const PATH: &str = "/api/x402/postcards/preview";

/// Per minute: a preview is one call, and two if the price of its country must be requested too.
/// The provider allows sixty calls per minute in total, and paid requests have priority.
const CALLS_PER_MINUTE: u32 = 15;

const CORS: CorsPolicy = CorsPolicy {
    allow_methods: "POST, OPTIONS",
    allow_headers: "content-type",
    expose_headers: None,
};

/// Previews with the limit that all their users share.
pub(crate) struct PreviewState {
    previews: Previews,
    limiter: RateLimiter,
}

/// Why there is no preview.
pub(crate) enum PreviewError {
    RateLimited { seconds: u64 },
    Refused(Refusal),
}

impl PreviewState {
    pub(crate) fn new(previews: Previews) -> Arc<Self> {
        Arc::new(Self { previews, limiter: RateLimiter::new(CALLS_PER_MINUTE) })
    }

    /// For a valid card: requests that never reach the provider do not count.
    pub(crate) async fn show(
        &self,
        seller: Option<&Username>,
        card: &Postcard,
    ) -> Result<CardPreview, PreviewError> {
        // mutant: preview-counted-first
        self.previews.check_seller(seller).await.map_err(PreviewError::Refused)?;
        let decision = self.limiter.take();
        match decision.admission {
            Admission::Admitted => {}
            Admission::Exhausted => {
                return Err(PreviewError::RateLimited { seconds: decision.reset_seconds.get() });
            }
        }
        let may_call = || self.price_call();
        self.previews.show(card, &may_call).await.map_err(PreviewError::Refused)
    }

    /// A price that must be requested counts like a preview.
    fn price_call(&self) -> PriceCall {
        match self.limiter.take().admission {
            Admission::Admitted => PriceCall::Allowed,
            Admission::Exhausted => PriceCall::NotAllowed,
        }
    }
}

/// Without previews the route answers 503.
pub(crate) fn routes(previews: Option<Arc<PreviewState>>) -> Router {
    let state = match previews {
        Some(state) => post(preview).with_state(state),
        None => post(|| async { problem::NOT_CONFIGURED }),
    };
    CORS.apply(Router::new().route(PATH, state))
}

async fn preview(
    State(state): State<Arc<PreviewState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = match draft::read(state.previews.names.as_ref(), &headers, &body) {
        Ok(request) => request,
        Err(why) => return unread(&why),
    };
    match state.show(request.seller.as_ref(), &request.card).await {
        Ok(preview) => preview_response(preview),
        Err(PreviewError::RateLimited { seconds }) => rate_limited(seconds),
        Err(PreviewError::Refused(refusal)) => refused(&refusal),
    }
}

/// The images show the recipient, so they must not be cached.
fn preview_response(preview: CardPreview) -> Response {
    let quote = |tender| preview.quote(tender).map(quote_body);
    let body = PreviewBody {
        quote: quote(TenderKind::X402),
        mpp_quote: quote(TenderKind::Mpp),
        warnings: preview.warnings.iter().map(WarningRecord::of).collect(),
        preview_urls: preview.urls,
    };
    let mut response = Json(body).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn rate_limited(seconds: u64) -> Response {
    let mut response = RATE_LIMITED.into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

const RATE_LIMITED: Problem = Problem {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "preview_busy",
    message: Cow::Borrowed(
        "Too many previews. Wait for the seconds in Retry-After, then retry. Do not send a paid \
         request merely because of this error.",
    ),
    retry: Retry::Same,
};

#[derive(Serialize)]
struct PreviewBody {
    preview_urls: Vec<String>,
    /// `null` if x402 is not enabled or the card has no price.
    quote: Option<Value>,
    mpp_quote: Option<Value>,
    warnings: Vec<WarningRecord>,
}

#[derive(Serialize)]
struct WarningRecord {
    code: &'static str,
    field: &'static str,
    message: String,
}

impl WarningRecord {
    fn of(warning: &CardWarning) -> Self {
        let CardWarning { code, field, message } = warning;
        Self { code: code.as_str(), field, message: message.clone() }
    }
}

#[cfg(test)]
mod tests;
