//! Preparation, settlement and trace of a transfer.

use super::*;

pub(super) fn payment(credential: &Value) -> Payment {
    let (authorization, _) = accepted(credential);
    Payment { authorization, charge: CEILING, preparation: Preparation(b"signed".to_vec()) }
}

#[test]
fn a_settlement_stores_the_bytes_of_the_receipt_header() {
    let (mpp, _) = mpp(FakeSettler::good());
    let credential = correct(Nonce::Packed);
    let settled =
        poll_once(mpp.resume(&payment(&credential)).unwrap().settle(&payment(&credential)))
            .unwrap()
            .unwrap();
    assert_eq!((settled.transaction.as_str(), settled.amount), (TRANSACTION, CEILING));
    assert_eq!(settled.at, NOW.plus(3));
    let receipt = String::from_utf8(settled.receipt.0.clone()).unwrap();
    assert_eq!(
        unpacked(&receipt),
        json!({
            "status": "success",
            "method": "evm",
            "timestamp": "2026-09-21T14:13:23Z",
            "reference": TRANSACTION,
            "chainId": 8453,
            "challengeId": credential["challenge"]["id"],
        })
    );
    let traced =
        poll_once(mpp.resume(&payment(&credential)).unwrap().trace(&payment(&credential), None))
            .unwrap()
            .unwrap();
    assert_eq!(traced, Trace::Moved(settled));

    let settled = poll_once(mpp.resume(&payment(&by_x402())).unwrap().settle(&payment(&by_x402())))
        .unwrap()
        .unwrap();
    let kept = String::from_utf8(settled.receipt.0).unwrap();
    let (receipt, response) = kept.split_once('\n').unwrap();
    assert!(unpacked(receipt).get("challengeId").is_none());
    assert_eq!(
        decoded(response),
        json!({
            "success": true,
            "payer": Payer::new().address().to_string(),
            "transaction": TRANSACTION,
            "network": "eip155:8453",
            "amount": "3500000",
        })
    );
}

#[test]
fn refused_and_lost_are_passed_on_unchanged() {
    let payment = payment(&correct(Nonce::Packed));
    for why in [Failure::Refused("no".into()), Failure::Lost("cut".into())] {
        let settler = FakeSettler {
            settled: Err(why.clone().into()),
            traced: Err(why.clone()),
            ..FakeSettler::good()
        };
        let (mpp, _) = mpp(settler);
        assert_eq!(
            poll_once(mpp.resume(&payment).unwrap().settle(&payment)).unwrap(),
            Err(why.clone().into())
        );
        assert_eq!(
            poll_once(mpp.resume(&payment).unwrap().trace(&payment, None)).unwrap(),
            Err(why)
        );
    }
    for (movement, trace) in
        [(TransferStatus::Open, Trace::Open), (TransferStatus::Void, Trace::Void)]
    {
        let (mpp, _) = mpp(FakeSettler { traced: Ok(movement), ..FakeSettler::good() });
        assert_eq!(
            poll_once(mpp.resume(&payment).unwrap().trace(&payment, None)).unwrap(),
            Ok(trace)
        );
    }
}

#[test]
fn a_stored_credential_that_does_not_parse_has_no_session() {
    let (mpp, settler) = mpp(FakeSettler::good());
    let mut payment = payment(&correct(Nonce::Packed));
    assert!(mpp.resume(&payment).is_some());
    payment.authorization.credential = Credential(Vec::new());
    assert!(mpp.resume(&payment).is_none());
    assert!(settler.calls().is_empty());
}

#[test]
fn only_the_whole_value_of_a_transfer_is_prepared() {
    let (mpp, settler) = mpp(FakeSettler::good());
    let payment = payment(&correct(Nonce::Packed));
    let prepare = |units| {
        let charge = Usdc::from_atomic(units);
        poll_once(mpp.resume(&payment).unwrap().prepare(charge, None)).unwrap()
    };
    for units in [0, 1, 3_499_999, 3_500_001, u64::MAX] {
        assert!(matches!(prepare(units), Err(Rejection::Invalid(_))), "{units}");
    }
    assert!(settler.calls().is_empty());
    assert!(prepare(3_500_000).is_ok());
}
