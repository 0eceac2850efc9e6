//! Faults while a paid card is submitted: the payer gets 200, and in the end there is one card.

use order::lifecycle::Stored;
use order::outcome::Fulfilment;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::fault::rule::ProviderFaultRule;

use super::fixture::{
    CheckoutFixture, DIALECTS, Dialect, RECONCILE_RUNS, RECONCILE_SECONDS, for_every_fault,
    fulfilment,
};

/// The outcome of a card that is submitted while the provider has this fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Submitted, and reported as such.
    Submitted,
    /// Accepted without a valid response: the reconciler finds it.
    Found,
    /// Certainly not accepted: the reconciler submits it again.
    SubmittedAgain,
    /// Not accepted, but that is not known. It is submitted again only to a provider with
    /// idempotent submission; otherwise an operator decides.
    InDoubt,
}

fn expected(kind: ProviderFault) -> Fate {
    match kind {
        ProviderFault::TimeoutBefore | ProviderFault::StatusBefore | ProviderFault::ResetBefore => {
            Fate::InDoubt
        }
        ProviderFault::TimeoutAfter
        | ProviderFault::StatusAfter
        | ProviderFault::ResetAfter
        | ProviderFault::HtmlAfter
        | ProviderFault::Malformed
        | ProviderFault::Truncated
        | ProviderFault::Empty
        | ProviderFault::Html
        | ProviderFault::Array
        | ProviderFault::Deep
        | ProviderFault::Huge
        | ProviderFault::Gzip
        | ProviderFault::DupContentLength
        | ProviderFault::SlowLoris
        | ProviderFault::SlowHeaders => Fate::Found,
        ProviderFault::Unauthorized
        | ProviderFault::PaymentDisabled
        | ProviderFault::RateLimited => Fate::SubmittedAgain,
        // The fault does not affect submission, or the price differs from the quote, at the
        // seller's cost.
        ProviderFault::MissingPreviews
        | ProviderFault::EmptyPreviews
        | ProviderFault::NotListPreviews
        | ProviderFault::HttpPreviews
        | ProviderFault::PrivatePreviews
        | ProviderFault::MissingTotal
        | ProviderFault::StringTotal
        | ProviderFault::FloatTotal
        | ProviderFault::NegativeTotal
        | ProviderFault::ZeroTotal
        | ProviderFault::OverflowTotal
        | ProviderFault::HugeTotal
        | ProviderFault::TotalDrift
        | ProviderFault::DuplicateAccept
        | ProviderFault::ListLag
        | ProviderFault::ListEmpty => Fate::Submitted,
    }
}

async fn one_order(dialect: Dialect, kind: ProviderFault) {
    let fixture = CheckoutFixture::open(dialect, kind.written()).await;
    let (credential, about) = (fixture.credential(), &fixture.about);
    fixture.add_fault(kind, ProviderOperation::Send);
    let outcome = fixture.pay(&credential).await;
    let (_, fulfilment_told) =
        fulfilment(&outcome).unwrap_or_else(|| panic!("{about}: {outcome:?}"));
    let fate = expected(kind);
    let submitted = fate == Fate::Submitted;
    assert_eq!(fulfilment_told == Fulfilment::Submitted, submitted, "{about}: {fulfilment_told:?}");
    assert_eq!(fixture.money(), (1, 1), "{about}");
    // A repeated request gets the same response and is not charged.
    assert_eq!(
        fulfilment(&fixture.pay(&credential).await).map(|(_, fulfilment_told)| fulfilment_told),
        Some(fulfilment_told)
    );
    assert_eq!(fixture.money(), (1, 1), "{about}");
    fixture.provider_emulator.clear_faults();
    fixture.reconcile(RECONCILE_RUNS).await;
    if (dialect, fate) == (Dialect::ThanksIo, Fate::InDoubt) {
        let order = fixture.order();
        assert!(matches!(order, Stored::Unfulfilled(_)), "{about}: {order:?}");
        assert_eq!(fixture.provider_emulator.report().accepted, 0, "{about}: an operator decides");
        assert_eq!(fixture.money(), (1, 1), "{about}");
        return;
    }
    let report = fixture.provider_emulator.report();
    if kind == ProviderFault::DuplicateAccept {
        assert_eq!(
            (report.accepted, report.cancelled),
            (2, 1),
            "{about}: the duplicate is canceled"
        );
    } else {
        assert!(report.duplicates.is_empty(), "{about}: {report:?}");
    }
    fixture.assert_one_card_for_one_payment(&credential).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_thanks_io_after_payment_ends_in_one_card_or_with_an_operator() {
    for_every_fault(|kind| one_order(Dialect::ThanksIo, kind)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_lob_after_payment_ends_in_one_card() {
    for_every_fault(|kind| one_order(Dialect::Lob, kind)).await;
}

/// The response is lost, and then the list does not show the card yet.
#[tokio::test]
async fn a_late_or_empty_list_causes_no_second_card() {
    for dialect in DIALECTS {
        for late in [ProviderFault::ListLag, ProviderFault::ListEmpty] {
            let fixture = CheckoutFixture::open(dialect, late.written()).await;
            let credential = fixture.credential();
            if late == ProviderFault::ListLag {
                fixture
                    .provider_emulator
                    .change(|settings| settings.list_lag_seconds = RECONCILE_SECONDS + 60);
            } else {
                fixture.provider_emulator.add_fault(ProviderFaultRule::new(late).times(2));
            }
            fixture.provider_emulator.add_fault(
                ProviderFaultRule::new(ProviderFault::ResetAfter)
                    .on(ProviderOperation::Send)
                    .once(),
            );
            let outcome = fixture.pay(&credential).await;
            let fulfilment_told = fulfilment(&outcome).map(|(_, fulfilment_told)| fulfilment_told);
            assert_eq!(fulfilment_told, Some(Fulfilment::NeedsReconciliation), "{}", fixture.about);
            fixture.reconcile(1).await;
            let report = fixture.provider_emulator.report();
            assert_eq!((report.accepted, report.lost.len()), (1, 1), "{}", fixture.about);
            fixture.reconcile(RECONCILE_RUNS).await;
            // Not even if submission is idempotent.
            assert_eq!(fixture.times_submitted(), 1, "{}", fixture.about);
            assert_eq!(fixture.provider_emulator.report().accepted, 1, "{}", fixture.about);
            fixture.assert_one_card_for_one_payment(&credential).await;
        }
    }
}

/// The list does not show the card until our timeout; the second submission then returns the same
/// card, by its idempotency key.
#[tokio::test]
async fn lob_gets_a_second_submission_whose_key_keeps_it_to_one_card() {
    let fixture = CheckoutFixture::open(Dialect::Lob, "a list that stays empty").await;
    let credential = fixture.credential();
    fixture.provider_emulator.add_fault(ProviderFaultRule::new(ProviderFault::ListEmpty));
    fixture.provider_emulator.add_fault(
        ProviderFaultRule::new(ProviderFault::TimeoutAfter).on(ProviderOperation::Send).once(),
    );
    fixture.pay(&credential).await.unwrap();
    fixture.reconcile(RECONCILE_RUNS).await;
    assert_eq!(fixture.times_submitted(), 2);
    assert_eq!(fixture.provider_emulator.report().accepted, 1);
    fixture.assert_one_card_for_one_payment(&credential).await;
}

/// Lob's price is configured, so that a card can be paid while Lob is unreachable.
#[tokio::test]
async fn an_unreachable_provider_gets_the_card_when_it_is_back() {
    let mut fixture = CheckoutFixture::open(Dialect::Lob, "connection refused").await;
    let credential = fixture.credential();
    let port = fixture.stop_provider().await;
    let outcome = fixture.pay(&credential).await;
    let fulfilment_told = fulfilment(&outcome).map(|(_, fulfilment_told)| fulfilment_told);
    assert_eq!(fulfilment_told, Some(Fulfilment::NeedsReconciliation), "{outcome:?}");
    fixture.restart_provider(port).await;
    fixture.reconcile(RECONCILE_RUNS).await;
    fixture.assert_one_card_for_one_payment(&credential).await;
}
