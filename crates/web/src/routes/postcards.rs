//! `POST /api/x402/postcards` and `POST /api/mpp/postcards`: take a payment and mail a postcard.
//!
//! Both are served before the router, because unpaid requests are the most frequent after
//! documents, and layers would cost as much as the response.

use std::collections::BTreeMap;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;

use axum::BoxError;
use axum::body::HttpBody;
use axum::response::IntoResponse;
use bytes::Bytes;
use content::render::{Money, PaywallPage};
use content::site::Language;
use http::header::{ACCESS_CONTROL_REQUEST_METHOD, ALLOW};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::Either;
use order::checkout::{Checkout, PendingOutcome};
use order::model::chain::Network;
use order::model::identity::quote::QuoteId;
use order::model::ids::OrderId;
use order::outcome::{Fulfilment, Outcome};
use order::refusal::Refusal;
use pay::http_binding::{AnswerContext, ClientKind, HttpAnswer, HttpBinding, PaymentHeaders};
use pay::mode::PaymentMode;
use pay::refusal_table::BadRequest;

use crate::http::cors::CorsPolicy;
use crate::http::limits::{RequestLimits, read_body, request_timed_out};
use crate::http::prepared_body::{PreparedBody, ResponseBody};
use crate::http::problem::{self, METHOD_NOT_ALLOWED, NOT_CONFIGURED, Problem};
use crate::http::request_metrics::RouteHistograms;
use crate::http::timeout::with_timeout;
use crate::http::tracked::ResponseFuture;
use crate::routes::draft::{self, DraftError};
use crate::routes::paywall::{PaywallRenderer, RequestRef};
use crate::task_tracker::TaskTracker;

pub const X402: &str = "/api/x402/postcards";
pub const MPP: &str = "/api/mpp/postcards";

/// Says on every response whether payments are real.
pub const X_SERVICE_MODE: HeaderName = HeaderName::from_static("x-service-mode");

const X402_CORS: CorsPolicy = CorsPolicy {
    allow_methods: "POST, OPTIONS",
    // The official client sends `access-control-expose-headers` as a request header.
    allow_headers: "content-type, idempotency-key, quote-id, payment-signature, x-payment, \
                    access-control-expose-headers",
    expose_headers: Some(
        "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id, X-Service-Mode",
    ),
};

const MPP_CORS: CorsPolicy = CorsPolicy {
    allow_methods: "POST, OPTIONS",
    allow_headers: "authorization, payment-authorization, payment-signature, accept-payment, \
                    content-type, idempotency-key, quote-id, access-control-expose-headers",
    expose_headers: Some(
        "WWW-Authenticate, Payment-Receipt, PAYMENT-REQUIRED, PAYMENT-RESPONSE, \
         Retry-After, X-Request-Id, X-Service-Mode",
    ),
};

/// The format of errors that occur before the payment protocol is involved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorFormat {
    Json,
    /// RFC 9457, as all errors of MPP.
    ProblemDocument,
}

/// Which OPTIONS requests are answered as preflights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preflight {
    Always,
    /// Only those of browsers, because the contract has 405 for all others.
    FromBrowsers,
}

/// What the configured payment protocols need.
#[derive(Clone)]
pub struct PaidRoutes {
    pub checkout: Arc<Checkout>,
    pub x402: Arc<dyn HttpBinding>,
    /// None without a settler for Base.
    pub mpp: Option<Arc<dyn HttpBinding>>,
    /// Whether payments are real.
    pub money: Money,
    /// The RPC URLs of the sandbox chains, for wallets. Empty outside of the sandbox.
    pub nodes: BTreeMap<Network, String>,
}

/// One paid endpoint.
pub(crate) struct PaidEndpoint {
    path: &'static str,
    histograms: Arc<RouteHistograms>,
    cors: CorsPolicy,
    preflight: Preflight,
    error_format: ErrorFormat,
    limits: RequestLimits,
    mode: PaymentMode,
    /// None if this payment protocol is not configured.
    payment: Option<PaymentBackend>,
}

/// What a person gets who wants to pay for a card.
pub(crate) enum PaymentPage {
    /// The challenge as a page.
    Due(HttpAnswer),
    /// Nothing is due: the card is paid.
    Paid(OrderId),
    NotConfigured,
}

struct PaymentBackend {
    checkout: Arc<Checkout>,
    binding: Arc<dyn HttpBinding>,
    tasks: TaskTracker,
    /// The HTML version of the challenge, for browsers.
    paywall: Option<PaywallRenderer>,
}

impl PaidEndpoint {
    pub(crate) fn both(
        routes: Option<PaidRoutes>,
        page: PaywallPage,
        tasks: &TaskTracker,
        limits: RequestLimits,
        mode: PaymentMode,
    ) -> [Arc<Self>; 2] {
        let (x402, mpp) = routes.map_or((None, None), |routes| {
            let PaidRoutes { checkout, x402, mpp, money, nodes } = routes;
            let backend = |binding, paywall| {
                let (checkout, tasks) = (checkout.clone(), tasks.clone());
                PaymentBackend { checkout, binding, tasks, paywall }
            };
            let paywall = PaywallRenderer { page, money, nodes };
            (Some(backend(x402, Some(paywall))), mpp.map(|mpp| backend(mpp, None)))
        });
        let x402 = Self {
            path: X402,
            histograms: Arc::new(RouteHistograms::new(X402)),
            cors: X402_CORS,
            preflight: Preflight::Always,
            error_format: ErrorFormat::Json,
            limits,
            mode,
            payment: x402,
        };
        let mpp = Self {
            path: MPP,
            histograms: Arc::new(RouteHistograms::new(MPP)),
            cors: MPP_CORS,
            preflight: Preflight::FromBrowsers,
            error_format: ErrorFormat::ProblemDocument,
            limits,
            mode,
            payment: mpp,
        };
        [Arc::new(x402), Arc::new(mpp)]
    }

    pub(crate) fn path(&self) -> &'static str {
        self.path
    }

    pub(crate) fn histograms(&self) -> &Arc<RouteHistograms> {
        &self.histograms
    }

    pub(crate) fn mode(&self) -> PaymentMode {
        self.mode
    }

    /// The payment page of a card, as a browser gets it that sends this body without a payment.
    pub(crate) async fn payment_page(
        &self,
        body: &[u8],
        language: Language,
    ) -> Result<PaymentPage, Refusal> {
        let Some(payment) = &self.payment else { return Ok(PaymentPage::NotConfigured) };
        let headers = HeaderMap::new();
        let language = Some(language);
        let request = RequestRef { path: self.path, headers: &headers, body, language };
        let names = payment.checkout.names.as_ref();
        let postcard = draft::read(names, &headers, body).map_err(|error| match error {
            DraftError::Refused(refusal) => refusal,
            DraftError::MalformedJson => Refusal::Internal,
        })?;
        let quote = postcard.quote;
        let outcome = payment.check_out(postcard.with(None)).await;
        match outcome {
            Ok(Outcome::Paid { order, .. }) => Ok(PaymentPage::Paid(order)),
            Ok(Outcome::Due(_)) => {
                let page = payment.render(&outcome, ClientKind::Browser, &request, quote);
                Ok(PaymentPage::Due(page))
            }
            Err(refusal) => Err(refusal),
        }
    }

    pub(crate) fn respond<B>(self: Arc<Self>, request: Request<B>) -> ResponseFuture
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if *request.method() != Method::POST {
            return Box::pin(ready(self.other_method(&request).map(Either::Right)));
        }
        // Only what is needed goes into the box.
        let (Parts { headers, .. }, body) = request.into_parts();
        Box::pin(async move {
            let mut response = match self.post(&headers, body).await {
                Ok(answer) => response(answer),
                Err(problem) => self.problem_response(problem).map(Either::Right),
            };
            self.cors.set_headers(response.headers_mut());
            let mode = HeaderValue::from_static(self.mode.as_str());
            response.headers_mut().insert(X_SERVICE_MODE, mode);
            response
        })
    }

    /// The contract has 405 for every method but POST, except for preflights.
    fn other_method<B>(&self, request: &Request<B>) -> axum::response::Response {
        if *request.method() == Method::OPTIONS && self.preflight.applies_to(request.headers()) {
            return self.cors.preflight();
        }
        let mut response = METHOD_NOT_ALLOWED.into_response();
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        response
    }

    fn problem_response(&self, problem: Problem) -> axum::response::Response {
        match self.error_format {
            ErrorFormat::Json => problem.into_response(),
            ErrorFormat::ProblemDocument => problem::document(problem),
        }
    }

    async fn post<B>(&self, headers: &HeaderMap, body: B) -> Result<HttpAnswer, Problem>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        // It has its own time limit.
        let body = read_body(body, self.limits).await?;
        let Some(payment) = &self.payment else { return Err(NOT_CONFIGURED) };
        let request = RequestRef { path: self.path, headers, body: &body, language: None };
        // Pinned here, because moving the large future would copy it.
        let answer = pin!(payment.answer(&request));
        with_timeout(self.limits.request_time, answer).await.map_err(|_| request_timed_out())
    }
}

impl Preflight {
    fn applies_to(self, headers: &HeaderMap) -> bool {
        match self {
            Self::Always => true,
            Self::FromBrowsers => headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }
}

impl PaymentBackend {
    async fn answer(&self, request: &RequestRef<'_>) -> HttpAnswer {
        let payment_headers = match self.binding.payment_headers(request.headers, request.body) {
            Ok(payment_headers) => payment_headers,
            Err(why) => return self.binding.bad_request(&why),
        };
        let PaymentHeaders { credential, client } = payment_headers;
        let names = self.checkout.names.as_ref();
        let postcard = match draft::read(names, request.headers, request.body) {
            Ok(postcard) => postcard,
            Err(DraftError::Refused(refusal)) => {
                return self.render(&Err(refusal), client, request, None);
            }
            Err(DraftError::MalformedJson) => {
                return self.binding.bad_request(&BadRequest::MalformedJson);
            }
        };
        let quote = postcard.quote;
        let outcome = self.check_out(postcard.with(credential)).await;
        log_unresolved(&outcome);
        self.render(&outcome, client, request, quote)
    }

    fn render(
        &self,
        outcome: &Result<Outcome, Refusal>,
        client: ClientKind,
        request: &RequestRef<'_>,
        quote: Option<QuoteId>,
    ) -> HttpAnswer {
        let context =
            AnswerContext { client, body: request.body, now: self.checkout.writer.clock.now() };
        let mut answer = self.binding.answer(outcome, &context);
        if let (Ok(Outcome::Due(offer)), ClientKind::Browser, Some(paywall)) =
            (outcome, client, &self.paywall)
        {
            paywall.replace_body(&mut answer, offer, request, quote);
        }
        answer
    }

    /// A request with a credential runs in its own task, which a disconnect does not stop.
    fn check_out(&self, request: order::checkout::Request) -> PendingOutcome<'_> {
        if request.credential.is_none() {
            return self.checkout.send(&*self.binding, request);
        }
        let (checkout, binding) = (self.checkout.clone(), self.binding.clone());
        let task = Box::pin(async move { checkout.send(&*binding, request).await });
        match self.tasks.spawn(task) {
            // After a panic, everything that was begun is in the store.
            Ok(task) => Box::pin(async { task.await.unwrap_or(Err(Refusal::Internal)) }),
            Err(_) => Box::pin(ready(Err(Refusal::PaymentUnavailable))),
        }
    }
}

/// Connects an error that a payer reports with its order.
fn log_unresolved(outcome: &Result<Outcome, Refusal>) {
    if let Err(Refusal::PaymentUnconfirmed(order) | Refusal::SubmissionUnresolved(order)) = outcome
    {
        tracing::warn!(order.id = %order, "order outcome unknown; reconciliation follows");
    }
    if let Ok(Outcome::Paid { order, fulfilment: Fulfilment::NeedsReconciliation, .. }) = outcome {
        tracing::warn!(order.id = %order, "paid order not confirmed by the provider");
    }
}

fn response(answer: HttpAnswer) -> Response<ResponseBody> {
    let HttpAnswer { status, headers, body } = answer;
    let mut response = Response::new(Either::Left(PreparedBody::new(body.into())));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

#[cfg(test)]
mod tests;
