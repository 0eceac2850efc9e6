//! The service that sells the card: what it is sent, and its responses.

use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::card::CardFile;
use crate::io::{HttpRequest, NoResponse, PayerIo, PayerResponse};
use crate::outcome::PaymentOutcome;
use crate::values::rail::PaymentRail;

pub(crate) mod reply;

/// A payment is settled and a card submitted meanwhile; the service has its own
/// limit, which is shorter.
const PAYMENT_TIMEOUT: Duration = Duration::from_secs(180);

pub(crate) struct PaidService {
    pub(crate) rail: PaymentRail,
    base_url: String,
    /// The URL to which the card is sent.
    pub(crate) endpoint: String,
}

impl PaidService {
    pub(crate) fn at(
        io: &dyn PayerIo,
        base_url: &str,
        rail: PaymentRail,
    ) -> Result<Self, PaymentOutcome> {
        let base_url = base_url.trim_end_matches('/').to_owned();
        let endpoint = format!("{base_url}{}", path(rail));
        for url in [&endpoint, &base_url] {
            io.check_url(url).map_err(|fault| {
                PaymentOutcome::Unusable(format!("The service's address cannot be used. {fault}\n"))
            })?;
        }
        Ok(Self { rail, base_url, endpoint })
    }

    /// Sends the card, with a payment or without.
    pub(crate) async fn send(
        &self,
        io: &dyn PayerIo,
        card: &CardFile,
        payment: Option<&str>,
    ) -> Result<PayerResponse, NoResponse> {
        let body = card.document().to_owned();
        let mut request = HttpRequest::post("the service", self.endpoint.clone(), body);
        request.secret_header = payment.map(|payment| (header(self.rail), payment.to_owned()));
        request.timeout = Some(PAYMENT_TIMEOUT);
        io.send(request).await
    }

    /// What the service reports about an order, if it does.
    pub(crate) async fn order(&self, io: &dyn PayerIo, id: &str) -> Option<Value> {
        let url = url_below(io, &self.base_url, &["api", "x402", "orders", id]).ok()?;
        io.send(HttpRequest::get("the service", url)).await.ok()?.good_json().ok()
    }

    /// The page of an order, for a person.
    pub(crate) fn order_url(&self, id: &str) -> String {
        format!("{}/api/x402/orders/{id}", self.base_url)
    }
}

const fn path(rail: PaymentRail) -> &'static str {
    match rail {
        PaymentRail::X402 => "/api/x402/postcards",
        PaymentRail::Mpp => "/api/mpp/postcards",
    }
}

/// The header that a payment is sent in.
const fn header(rail: PaymentRail) -> &'static str {
    match rail {
        PaymentRail::X402 => "payment-signature",
        PaymentRail::Mpp => "authorization",
    }
}

/// A URL with these segments appended to its path. Each is one segment, whatever it
/// contains, so an identifier that a server chose cannot lead to another path.
pub(crate) fn url_below(io: &dyn PayerIo, base: &str, segments: &[&str]) -> Result<String, String> {
    io.check_url(base)?;
    let mut url = Url::parse(base).map_err(|fault| fault.to_string())?;
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    Ok(url.into())
}
