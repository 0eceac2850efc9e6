//! Statuses, retry advice and order ids of the table.

use super::*;

const ID: OrderId = OrderId::from_bytes([7; 16]);

fn error(refusal: &Refusal) -> HttpError {
    HttpError::from(refusal)
}

#[test]
fn a_paid_order_or_one_in_doubt_is_never_answered_402() {
    for refusal in [
        Refusal::PaymentUnconfirmed(ID),
        Refusal::PaymentInPlay(ID),
        Refusal::InProgress(ID),
        Refusal::SubmissionUnresolved(ID),
        Refusal::StoreBusy,
        Refusal::Internal,
    ] {
        let error = error(&refusal);
        assert_ne!(error.status, StatusCode::PAYMENT_REQUIRED, "{refusal:?}");
        assert_ne!(error.status, StatusCode::PRECONDITION_FAILED, "{refusal:?}");
        assert_eq!(error.retry, Same, "{refusal:?}");
    }
}

#[test]
fn the_statuses_are_those_of_the_contract() {
    let status = |refusal| error(&refusal).status.as_u16();
    assert_eq!(status(Refusal::CardInvalid(Vec::new())), 400);
    assert_eq!(status(Refusal::SellerNotEnabled), 403);
    assert_eq!(status(Refusal::SellerUnresolved), 404);
    assert_eq!(status(Refusal::PriceAboveCeiling(ID)), 409);
    assert_eq!(status(Refusal::OperationLapsed(ID)), 410);
    assert_eq!(status(Refusal::PaymentUnconfirmed(ID)), 502);
    assert_eq!(status(Refusal::ProviderUnusable), 502);
    assert_eq!(status(Refusal::StoreBusy), 503);
}

#[test]
fn the_message_of_an_outage_says_that_no_money_moved_and_what_to_do() {
    for refusal in [Refusal::PaymentUnavailable, Refusal::ProviderUnavailable] {
        let HttpError { status, retry, message, .. } = error(&refusal);
        assert_eq!((status.as_u16(), retry), (503, Same), "{refusal:?}");
        for words in ["at the moment", "moved", "the same request", "again"] {
            assert!(message.contains(words), "{words} is not in: {message}");
        }
    }
}

#[test]
fn retry_after_is_set_only_if_waiting_can_help() {
    let wait = |refusal| error(&refusal).retry_after_seconds;
    assert_eq!(wait(Refusal::StoreBusy), Some(2));
    assert_eq!(wait(Refusal::PaymentUnavailable), Some(5));
    assert_eq!(wait(Refusal::ProviderUnavailable), Some(60));
    assert_eq!(wait(Refusal::ProviderUnavailable.about(ID)), Some(60));
    assert_eq!(wait(Refusal::QuoteLimit(ID)), Some(60));
    assert_eq!(wait(Refusal::IdentifierInvalid), None);
}

#[test]
fn a_failure_of_an_existing_order_names_the_order() {
    for cause in [
        Refusal::ProviderUnreachable,
        Refusal::ProviderUnusable,
        Refusal::ProviderUnavailable,
        Refusal::PaymentUnavailable,
        Refusal::StoreBusy,
        Refusal::Internal,
    ] {
        let named = error(&cause.clone().about(ID));
        assert_eq!(named, HttpError { order: Some(ID), ..error(&cause) });
    }
    // A refusal that names its order already, or concerns none, is not changed.
    let priced = Refusal::PriceAboveCeiling(ID);
    assert_eq!(priced.clone().about(OrderId::from_bytes([8; 16])), priced);
    let bound = Refusal::PaymentBoundElsewhere;
    assert_eq!(bound.clone().about(ID), bound);
}

#[test]
fn the_order_of_another_caller_is_not_named() {
    assert_eq!(error(&Refusal::PaymentUnconfirmed(ID)).order, Some(ID));
    assert_eq!(error(&Refusal::PaymentBoundElsewhere).order, None);
}
