//! `POST /send`: the card that a person wrote, with its faults, its preview or its payment page.
//!
//! Nothing is stored. What was written is in the response only, which no cache keeps.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use content::render::{
    CardForm, CardFormFault, CardFormNotice, CardFormPages, CardProof, ShownPrice, ShownQuote,
};
use content::site::Language;
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use order::checkout::preview::{CardPreview, NoPrice};
use order::model::card::Postcard;
use order::model::card::warning::{CardWarning, WarningCode};
use order::model::ids::OrderId;
use order::model::money::CEILING;
use order::model::payment::TenderKind;
use order::refusal::Refusal;
use pay::refusal_table::HttpError;

use crate::documents::document::UrlScheme;
use crate::documents::rendered_page::{PageCache, RenderedPage};
use crate::http::problem::NOT_CONFIGURED;
use crate::routes::postcards::{PaidEndpoint, PaymentPage, X_SERVICE_MODE};
use crate::routes::previews::{PreviewError, PreviewState};
use crate::routes::send::written_card::{GalleryUrl, WrittenCard};

pub(crate) mod written_card;

/// What the form needs from the rest of the site.
pub(crate) struct SendState {
    pub(crate) pages: CardFormPages,
    /// None without a postcard provider.
    pub(crate) previews: Option<Arc<PreviewState>>,
    pub(crate) payment: Arc<PaidEndpoint>,
    pub(crate) gallery: Vec<GalleryUrl>,
    pub(crate) scheme: UrlScheme,
}

/// The status of a form for which there is neither a preview nor a payment page.
#[derive(Clone, Copy)]
struct FormRefusal {
    status: StatusCode,
    order: Option<OrderId>,
    retry_after_seconds: Option<u64>,
}

const CLOSED: FormRefusal =
    FormRefusal { status: NOT_CONFIGURED.status, order: None, retry_after_seconds: None };

pub(crate) fn routes(state: SendState) -> Router {
    let state = Arc::new(state);
    let mut router = Router::new();
    for (language, path) in state.pages.paths() {
        let submit = move |State(state): State<Arc<SendState>>, body: Bytes| async move {
            state.submit(language, &body).await
        };
        router = router.route(path, post(submit));
    }
    router.with_state(state.clone())
}

impl SendState {
    async fn submit(&self, language: Language, body: &[u8]) -> Response {
        let written = WrittenCard::read(body, &self.gallery);
        let card = match Postcard::parse(&written.draft()) {
            Ok(card) => card,
            Err(faults) => {
                let faults: Vec<CardFormFault> =
                    faults.iter().map(|fault| written.fault(fault.field)).collect();
                let form = CardForm { faults: &faults, ..written.form() };
                return self.page(language, StatusCode::BAD_REQUEST, &form);
            }
        };
        if written.pays() {
            self.payment_page(language, &written).await
        } else {
            self.preview(language, &written, &card).await
        }
    }

    async fn preview(
        &self,
        language: Language,
        written: &WrittenCard,
        card: &Postcard,
    ) -> Response {
        let Some(state) = &self.previews else {
            return self.refused(language, written, CLOSED, "preview_failed_off");
        };
        match state.show(None, card).await {
            Ok(preview) => self.proof(language, written, &preview),
            Err(PreviewError::RateLimited { seconds }) => {
                let why = FormRefusal { retry_after_seconds: Some(seconds), ..CLOSED };
                self.refused(language, written, why, "preview_failed_busy")
            }
            Err(PreviewError::Refused(refusal)) => self.refusal(language, written, &refusal),
        }
    }

    /// The form with both sides of the card and its price, which the payment then names.
    fn proof(&self, language: Language, written: &WrittenCard, preview: &CardPreview) -> Response {
        let maximum = CEILING.to_string();
        let price = match preview.price(TenderKind::X402) {
            Some(Ok(quote)) => ShownPrice::Quoted(ShownQuote {
                id: quote.id.to_string(),
                charge: quote.charge.to_string(),
                expires_at: quote.expires_at.to_string(),
            }),
            Some(Err(NoPrice::Unknown)) | None => ShownPrice::KnownWhenPaid,
            Some(Err(NoPrice::AboveMaximum)) => ShownPrice::None("quote_too_expensive"),
            Some(Err(NoPrice::Rejected)) => ShownPrice::None("preview_failed_refused"),
        };
        let mut warnings: Vec<&str> = preview.warnings.iter().filter_map(shown).collect();
        warnings.dedup();
        let (sides, price) = (&*preview.urls, &price);
        let proof = CardProof { sides, price, maximum: &maximum, warnings: &warnings };
        let form = CardForm { proof: Some(proof), ..written.form() };
        self.page(language, StatusCode::OK, &form)
    }

    async fn payment_page(&self, language: Language, written: &WrittenCard) -> Response {
        match self.payment.payment_page(&written.json(), language).await {
            Ok(PaymentPage::Due(page)) => {
                let (status, headers, body) = (page.status, page.headers, page.body);
                let mut response = (status, headers, body).into_response();
                let mode = HeaderValue::from_static(self.payment.mode().as_str());
                response.headers_mut().insert(X_SERVICE_MODE, mode);
                response
            }
            Ok(PaymentPage::Paid(order)) => {
                let place = format!("/orders/{order}?lang={}", language.code());
                let place = HeaderValue::try_from(place).expect("an id is hexadecimal");
                (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
            }
            Ok(PaymentPage::NotConfigured) => {
                self.refused(language, written, CLOSED, "pay_unavailable")
            }
            Err(refusal) => self.refusal(language, written, &refusal),
        }
    }

    /// The form with the reason for which there is nothing else.
    fn refusal(&self, language: Language, written: &WrittenCard, refusal: &Refusal) -> Response {
        let HttpError { status, order, retry_after_seconds, .. } = HttpError::from(refusal);
        let why = FormRefusal { status, order, retry_after_seconds };
        self.refused(language, written, why, notice_text(refusal))
    }

    fn refused(
        &self,
        language: Language,
        written: &WrittenCard,
        why: FormRefusal,
        text: &'static str,
    ) -> Response {
        let FormRefusal { status, order, retry_after_seconds } = why;
        let (order, maximum) = (order.map(|order| order.to_string()), CEILING.to_string());
        let notice = CardFormNotice {
            text,
            seconds: retry_after_seconds.unwrap_or_default(),
            maximum: &maximum,
            order: order.as_deref(),
        };
        let form = CardForm { notice: Some(notice), ..written.form() };
        let mut response = self.page(language, status, &form);
        if let Some(seconds) = retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn page(&self, language: Language, status: StatusCode, form: &CardForm<'_>) -> Response {
        let Ok(html) = self.pages.write(language, form) else {
            return crate::http::layer::internal_error().into_response();
        };
        let images = form.proof.map_or(&[][..], |proof| proof.sides);
        let cache = PageCache::NoStore;
        RenderedPage { status, html, language, cache, images }.respond(self.scheme)
    }
}

/// The key of the text for a warning. The form itself says why there is no price.
fn shown(warning: &CardWarning) -> Option<&'static str> {
    match (warning.code, warning.field) {
        (WarningCode::TextTooLong, "message") => Some("warning_message_fit"),
        (WarningCode::TextTooLong, _) => Some("warning_line_fit"),
        (WarningCode::AddressIncomplete, _) => Some("warning_address_incomplete"),
        (WarningCode::UnprintableCharacters, _) => Some("warning_characters"),
        (WarningCode::PictureTooSmall, _) => Some("warning_picture_small"),
        (WarningCode::PriceAboveMaximum | WarningCode::NoQuote, _) => None,
    }
}

/// The key of the text for a refusal. Texts for orders that may be paid say nothing about money
/// that has not moved.
fn notice_text(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::PaymentInPlay(_)
        | Refusal::PaymentUnconfirmed(_)
        | Refusal::InProgress(_)
        | Refusal::SubmissionUnresolved(_) => "notice_in_play",
        Refusal::PriceAboveCeiling(_) => "quote_too_expensive",
        Refusal::QuoteExpired(_) | Refusal::QuoteExceeded { .. } | Refusal::QuoteInvalid => {
            "quote_expired"
        }
        Refusal::ProviderUnreachable | Refusal::ProviderUnavailable => "preview_failed_provider",
        Refusal::ProviderUnusable => "preview_failed_refused",
        Refusal::PaymentUnavailable => "pay_unavailable",
        Refusal::AboutOrder(_, cause) => notice_text(cause),
        Refusal::CardInvalid(_)
        | Refusal::IdentifierInvalid
        | Refusal::DifferentRequest
        | Refusal::PaymentIdentifierUsed(_)
        | Refusal::OperationLapsed(_)
        | Refusal::CredentialInvalid { .. }
        | Refusal::AllowanceRequired(_)
        | Refusal::PaymentDeclined { .. }
        | Refusal::PaymentBoundElsewhere
        | Refusal::SellerAddressChanged(_)
        | Refusal::QuoteLimit(_)
        | Refusal::SellerNotEnabled
        | Refusal::SellerUnresolved
        | Refusal::NameServiceFailed
        | Refusal::StoreBusy
        | Refusal::Internal => "notice_failed",
    }
}

#[cfg(test)]
mod tests;
