//! Faults while a paid card is handed in: the payer hears 200, and in the end there is one card.

use super::*;

/// What becomes of a card that is handed in while the provider has this fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Handed in, and said so.
    Submitted,
    /// Accepted without a word that we could read: the reconciler finds it.
    Found,
    /// Certainly not accepted: the reconciler hands it in again.
    HandedInAgain,
    /// Not accepted, but we cannot know. Only a provider who promises to mail
    /// the same order once is asked again; otherwise a person decides.
    InDoubt,
}

fn expected(kind: Kind) -> Fate {
    match kind {
        Kind::TimeoutBefore | Kind::StatusBefore | Kind::ResetBefore => Fate::InDoubt,
        Kind::TimeoutAfter
        | Kind::StatusAfter
        | Kind::ResetAfter
        | Kind::HtmlAfter
        | Kind::Malformed
        | Kind::Truncated
        | Kind::Empty
        | Kind::Html
        | Kind::Array
        | Kind::Deep
        | Kind::Huge
        | Kind::Gzip
        | Kind::DupContentLength
        | Kind::SlowLoris
        | Kind::SlowHeaders => Fate::Found,
        Kind::Unauthorized | Kind::PaymentDisabled | Kind::RateLimited => Fate::HandedInAgain,
        // No meaning here, or another amount than was quoted: the seller bears it.
        Kind::MissingPreviews
        | Kind::EmptyPreviews
        | Kind::NotListPreviews
        | Kind::HttpPreviews
        | Kind::PrivatePreviews
        | Kind::MissingTotal
        | Kind::StringTotal
        | Kind::FloatTotal
        | Kind::NegativeTotal
        | Kind::ZeroTotal
        | Kind::OverflowTotal
        | Kind::HugeTotal
        | Kind::TotalDrift
        | Kind::DuplicateAccept
        | Kind::ListLag
        | Kind::ListEmpty => Fate::Submitted,
    }
}

async fn one_walk(dialect: Dialect, kind: Kind) {
    let shop = Shop::open(dialect, kind.written()).await;
    let (credential, about) = (shop.signed(), &shop.about);
    shop.arm(kind, Operation::Send);
    let said = shop.pay(&credential).await;
    let (_, told) = fulfilment(&said).unwrap_or_else(|| panic!("{about}: {said:?}"));
    let fate = expected(kind);
    let submitted = fate == Fate::Submitted;
    assert_eq!(told == Fulfilment::Submitted, submitted, "{about}: {told:?}");
    assert_eq!(shop.money(), (1, 1), "{about}");
    // Whoever asks again meanwhile hears the same and is not charged.
    assert_eq!(fulfilment(&shop.pay(&credential).await).map(|(_, told)| told), Some(told));
    assert_eq!(shop.money(), (1, 1), "{about}");
    shop.office.clear_faults();
    shop.reconcile(LOOKS).await;
    if (dialect, fate) == (Dialect::ThanksIo, Fate::InDoubt) {
        let order = shop.order();
        assert!(matches!(order, Stored::Unfulfilled(_)), "{about}: {order:?}");
        assert_eq!(shop.office.report().accepted, 0, "{about}: a person decides");
        assert_eq!(shop.money(), (1, 1), "{about}");
        return;
    }
    let report = shop.office.report();
    if kind == Kind::DuplicateAccept {
        assert_eq!((report.accepted, report.cancelled), (2, 1), "{about}: the spare is gone");
    } else {
        assert!(report.duplicates.is_empty(), "{about}: {report:?}");
    }
    shop.one_card_for_one_payment(&credential).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_thanks_io_after_payment_ends_in_one_card_or_with_a_person() {
    every_kind(|kind| one_walk(Dialect::ThanksIo, kind)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_lob_after_payment_ends_in_one_card() {
    every_kind(|kind| one_walk(Dialect::Lob, kind)).await;
}

/// An answer is lost, and then the list does not show the card yet.
#[tokio::test]
async fn a_list_that_is_late_or_empty_brings_no_second_card() {
    for dialect in DIALECTS {
        for late in [Kind::ListLag, Kind::ListEmpty] {
            let shop = Shop::open(dialect, late.written()).await;
            let credential = shop.signed();
            if late == Kind::ListLag {
                shop.office.change(|settings| settings.list_lag_seconds = BETWEEN_LOOKS + 60);
            } else {
                shop.office.add_fault(Rule::new(late).times(2));
            }
            shop.office.add_fault(Rule::new(Kind::ResetAfter).on(Operation::Send).once());
            let said = shop.pay(&credential).await;
            let told = fulfilment(&said).map(|(_, told)| told);
            assert_eq!(told, Some(Fulfilment::NeedsReconciliation), "{}", shop.about);
            shop.reconcile(1).await;
            let report = shop.office.report();
            assert_eq!((report.accepted, report.lost.len()), (1, 1), "{}", shop.about);
            shop.reconcile(LOOKS).await;
            // Not even where a second one would have been the same card.
            assert_eq!(shop.times_handed_in(), 1, "{}", shop.about);
            assert_eq!(shop.office.report().accepted, 1, "{}", shop.about);
            shop.one_card_for_one_payment(&credential).await;
        }
    }
}

/// The provider forgets that it has the card for longer than our patience; the
/// second card is then the same card, by its key.
#[tokio::test]
async fn lob_is_asked_again_in_the_end_and_its_key_keeps_it_to_one_card() {
    let shop = Shop::open(Dialect::Lob, "a list that stays empty").await;
    let credential = shop.signed();
    shop.office.add_fault(Rule::new(Kind::ListEmpty));
    shop.office.add_fault(Rule::new(Kind::TimeoutAfter).on(Operation::Send).once());
    shop.pay(&credential).await.unwrap();
    shop.reconcile(LOOKS).await;
    assert_eq!(shop.times_handed_in(), 2);
    assert_eq!(shop.office.report().accepted, 1);
    shop.one_card_for_one_payment(&credential).await;
}

/// Lob's price is ours, so that somebody can pay while Lob is not there at all.
#[tokio::test]
async fn a_provider_who_was_not_there_is_handed_the_card_once_it_is() {
    let mut shop = Shop::open(Dialect::Lob, "connection refused").await;
    let credential = shop.signed();
    let port = shop.shut().await;
    let said = shop.pay(&credential).await;
    let told = fulfilment(&said).map(|(_, told)| told);
    assert_eq!(told, Some(Fulfilment::NeedsReconciliation), "{said:?}");
    shop.reopen(port).await;
    shop.reconcile(LOOKS).await;
    shop.one_card_for_one_payment(&credential).await;
}
