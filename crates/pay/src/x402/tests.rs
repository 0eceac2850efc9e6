//! Which x402 credentials the tender accepts, and which calls it makes to the settler.

use std::sync::Arc;

use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Usdc};
use order::model::payment::{
    Authorization, Credential, Instrument, Payment, PaymentKey, Preparation, TenderKind, Terms,
    Trace,
};
use order::model::seller::Payees;
use order::ports::Failure;
use order::tender::{CheckedCredential, Rejection, Tender, Unsettled};
use order::testing::fakes::manual_time::poll_once;
use serde_json::{Value, json};

use super::fixture::{
    EARLIER_FACILITATOR, FakeSettler, NOW, Payer, SELLER, TRANSACTION, credential, decoded, offer,
    terms, x402,
};
use super::settler::{GasSponsoring, SignatureKind};
use super::tender::X402;
use crate::eip712::RECOVERIES;
use crate::transfer::TransferStatus;

mod payment_flow;
mod smart_wallets;
mod tampering;

/// What a correct client sends after our challenge.
fn correct(network: Network) -> Value {
    let (x402, _) = x402(FakeSettler::good());
    let challenge = x402.challenge(&offer(), "Payment required").unwrap();
    Payer::new().pay(&decoded(challenge.header), network, NOW)
}

/// The same from a payer without a Permit2 allowance.
fn sponsored(network: Network) -> Value {
    let mut payload = correct(network);
    Payer::new().permit(&mut payload, network, NOW.0 + 600);
    payload
}

fn verify(
    settler: FakeSettler,
    credential: Credential,
    terms: &Terms,
) -> (Result<Authorization, Rejection>, Arc<FakeSettler>) {
    let (x402, settler) = x402(settler);
    let verified = |checked: CheckedCredential<'_>| {
        poll_once(checked.session.verify()).unwrap().map(|()| checked.authorization)
    };
    let verified = x402.read(credential).check(terms).and_then(verified);
    (verified, settler)
}

fn accepted(payload: &Value) -> (Authorization, Arc<FakeSettler>) {
    let (result, settler) = verify(FakeSettler::good(), credential(payload), &terms());
    (result.unwrap(), settler)
}

/// The reason why a payload is rejected without a call to the settler.
fn refused(payload: &Value, terms: &Terms) -> String {
    let (result, settler) = verify(FakeSettler::good(), credential(payload), terms);
    assert_eq!(settler.calls(), Vec::<&str>::new(), "{payload}");
    match result {
        Err(Rejection::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_correct_payment_is_accepted_on_every_network() {
    for network in Network::ALL {
        for payload in [correct(network), sponsored(network)] {
            let (authorization, settler) = accepted(&payload);
            assert_eq!(settler.calls(), ["verify"]);
            assert_eq!(*settler.signers.lock().unwrap(), [SignatureKind::Key]);
            let payer = Payer::new().address();
            assert_eq!(authorization.tender, TenderKind::X402);
            assert_eq!((authorization.network, authorization.payer), (network, payer));
            assert_eq!((authorization.pay_to, authorization.most), (SELLER, CEILING));
            assert_eq!(authorization.deadline, Timestamp(NOW.0 + 600));
            assert_eq!(authorization.digest, credential(&payload).digest());
            let nonce = payload["payload"]["permit2Authorization"]["nonce"].as_str().unwrap();
            let nonce = crate::parse::word(nonce).unwrap();
            let key = PaymentKey::of_nonce(Instrument::Permit2, network, payer, nonce);
            assert_eq!(authorization.keys, [key]);
        }
    }
}

#[test]
fn permitted_differences_between_clients_are_accepted() {
    let payer = Payer::new();
    let with = |change: fn(&mut Value)| {
        let mut payload = correct(Network::Base);
        change(&mut payload);
        payer.sign(&mut payload);
        accepted(&payload)
    };
    with(|payload| drop(payload.as_object_mut().unwrap().remove("extensions")));
    with(|payload| drop(payload.as_object_mut().unwrap().remove("resource")));
    with(|payload| payload["accepted"]["extra"]["theirs"] = json!("more"));
    with(|payload| payload["more"] = json!([1, 2, 3]));
    with(|payload| {
        let asset = payload["accepted"]["asset"].as_str().unwrap().to_uppercase();
        payload["accepted"]["asset"] = asset.replace("0X", "0x").into();
    });
    with(|payload| {
        let recent = (NOW.0 - 1).to_string();
        payload["payload"]["permit2Authorization"]["witness"]["validAfter"] = recent.into();
    });
    with(|payload| {
        payload["accepted"]["extra"]["facilitatorAddress"] = EARLIER_FACILITATOR.to_string().into();
        payload["payload"]["permit2Authorization"]["witness"]["facilitator"] =
            EARLIER_FACILITATOR.to_string().into();
    });
}

#[test]
fn an_unknown_facilitator_is_not_a_mismatch_while_the_list_is_unknown() {
    let stranger = EvmAddress::from_bytes([0x5a; 20]).to_string();
    let mut payload = correct(Network::Base);
    payload["accepted"]["extra"]["facilitatorAddress"] = stranger.clone().into();
    payload["payload"]["permit2Authorization"]["witness"]["facilitator"] = stranger.into();
    Payer::new().sign(&mut payload);
    assert_eq!(refused(&payload, &terms()), "upto_facilitator_mismatch");
    let unasked = FakeSettler { networks: Vec::new(), ..FakeSettler::good() };
    let (result, settler) = verify(unasked, credential(&payload), &terms());
    assert_eq!(result, Err(Rejection::Unavailable));
    assert_eq!(settler.calls(), Vec::<&str>::new());
}

#[test]
fn a_deadline_is_between_a_minute_and_a_day_ahead() {
    let payer = Payer::new();
    let ending = |deadline: u64| {
        let mut payload = correct(Network::Base);
        let place = &mut payload["payload"]["permit2Authorization"]["deadline"];
        *place = deadline.to_string().into();
        payer.sign(&mut payload);
        payload
    };
    accepted(&ending(NOW.0 + 60));
    accepted(&ending(NOW.0 + 86_400));
    assert_eq!(refused(&ending(NOW.0 + 59), &terms()), "permit2_deadline_expired");
    assert_eq!(refused(&ending(0), &terms()), "permit2_deadline_expired");
    for far in [NOW.0 + 86_401, u64::MAX] {
        assert!(refused(&ending(far), &terms()).contains("more than a day ahead"));
    }
}

#[test]
fn a_credential_for_other_terms_is_rejected() {
    let payload = correct(Network::Base);
    let payees = |payees: &[(Network, EvmAddress)]| Payees::new(payees.to_vec()).unwrap();
    let elsewhere = payees(&[(Network::Polygon, SELLER)]);
    let other_seller = payees(&[(Network::Base, EvmAddress::from_bytes([0xb2; 20]))]);
    for payees in [other_seller, elsewhere] {
        let moved = Terms { payees, ..terms() };
        let (result, settler) = verify(FakeSettler::good(), credential(&payload), &moved);
        assert_eq!((result.unwrap_err(), settler.calls().len()), (Rejection::PayeeChanged, 0));
    }
    for other in [
        Terms { ceiling: Usdc::from_atomic(3_500_001), ..terms() },
        Terms { ceiling: Usdc::from_atomic(3_499_999), ..terms() },
    ] {
        assert_eq!(refused(&payload, &other), "No matching payment requirements");
    }
    let late = Terms { now: NOW.plus(541), ..terms() };
    assert_eq!(refused(&payload, &late), "permit2_deadline_expired");
}

#[test]
fn a_rejection_by_the_chain_is_passed_on() {
    for why in [
        Rejection::Invalid("permit2_insufficient_balance".into()),
        Rejection::AllowanceMissing,
        Rejection::Unavailable,
    ] {
        let settler = FakeSettler { verified: Err(why.clone()), ..FakeSettler::good() };
        let (result, _) = verify(settler, credential(&correct(Network::Base)), &terms());
        assert_eq!(result.unwrap_err(), why);
    }
    // An authorization for a network that is not supported now is left to the settler.
    let settler = FakeSettler {
        networks: Vec::new(),
        sponsoring: GasSponsoring::NotOffered,
        ..FakeSettler::good()
    };
    assert!(verify(settler, credential(&correct(Network::Base)), &terms()).0.is_ok());
}

fn payment(charge: u64) -> Payment {
    let (authorization, _) = accepted(&correct(Network::Arbitrum));
    let preparation = Preparation(b"signed".to_vec());
    Payment { authorization, charge: Usdc::from_atomic(charge), preparation }
}

fn tender(settler: FakeSettler) -> X402 {
    x402(settler).0
}

#[test]
fn a_settlement_has_the_receipt_of_the_charged_amount() {
    let (x402, payment) = (tender(FakeSettler::good()), payment(2_117_500));
    let settled = poll_once(x402.resume(&payment).unwrap().settle(&payment)).unwrap().unwrap();
    assert_eq!(settled.transaction, TRANSACTION);
    assert_eq!((settled.amount, settled.at), (Usdc::from_atomic(2_117_500), NOW.plus(3)));
    let receipt: Value = serde_json::from_slice(&settled.receipt.0).unwrap();
    assert_eq!(
        receipt,
        json!({
            "success": true,
            "payer": Payer::new().address().to_string(),
            "transaction": TRANSACTION,
            "network": "eip155:42161",
            "amount": "2117500",
        })
    );
    let traced = poll_once(x402.resume(&payment).unwrap().trace(&payment, None)).unwrap().unwrap();
    assert_eq!(traced, Trace::Moved(settled));
}

#[test]
fn a_stored_payment_is_traced_without_a_recovery_of_its_signer() {
    let ((x402, settler), payment) = (x402(FakeSettler::good()), payment(1));
    let before = RECOVERIES.get();
    let session = x402.resume(&payment).unwrap();
    poll_once(session.trace(&payment, None)).unwrap().unwrap();
    assert_eq!(RECOVERIES.get() - before, 0);
    // It is verified as a new one is.
    poll_once(session.verify()).unwrap().unwrap();
    assert_eq!(RECOVERIES.get() - before, 1);
    assert_eq!(*settler.signers.lock().unwrap(), [SignatureKind::Key]);
}

#[test]
fn a_new_payment_takes_one_recovery() {
    let before = RECOVERIES.get();
    accepted(&correct(Network::Base));
    assert_eq!(RECOVERIES.get() - before, 1);
}

#[test]
fn refused_and_lost_are_passed_on_unchanged() {
    let refusing = tender(FakeSettler {
        settled: Err(Unsettled::Refused("no".into())),
        ..FakeSettler::good()
    });
    let result = poll_once(refusing.resume(&payment(1)).unwrap().settle(&payment(1))).unwrap();
    let Err(Unsettled::Refused(receipt)) = result else { panic!("{result:?}") };
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!((&receipt["success"], &receipt["errorReason"]), (&json!(false), &json!("no")));

    let lost = Failure::Lost("cut".into());
    let losing = tender(FakeSettler {
        settled: Err(lost.clone().into()),
        traced: Err(lost.clone()),
        ..FakeSettler::good()
    });
    let result = poll_once(losing.resume(&payment(1)).unwrap().settle(&payment(1))).unwrap();
    assert_eq!(result, Err(lost.clone().into()));
    let result = poll_once(losing.resume(&payment(1)).unwrap().trace(&payment(1), None)).unwrap();
    assert_eq!(result, Err(lost));
    for (movement, trace) in
        [(TransferStatus::Open, Trace::Open), (TransferStatus::Void, Trace::Void)]
    {
        let tracing = tender(FakeSettler { traced: Ok(movement), ..FakeSettler::good() });
        let result =
            poll_once(tracing.resume(&payment(1)).unwrap().trace(&payment(1), None)).unwrap();
        assert_eq!(result, Ok(trace));
    }
}

#[test]
fn a_stored_credential_that_does_not_parse_has_no_session() {
    let (x402, settler) = x402(FakeSettler::good());
    let mut payment = payment(1);
    assert!(x402.resume(&payment).is_some());
    payment.authorization.credential = Credential(Vec::new());
    assert!(x402.resume(&payment).is_none());
    assert!(settler.calls().is_empty());
}

#[test]
fn a_charge_of_zero_or_above_the_authorized_amount_is_not_prepared() {
    let (x402, settler) = x402(FakeSettler::good());
    let payment = payment(1);
    let prepare = |units| {
        let charge = Usdc::from_atomic(units);
        poll_once(x402.resume(&payment).unwrap().prepare(charge, None)).unwrap()
    };
    for units in [0, 3_500_001, u64::MAX] {
        assert!(matches!(prepare(units), Err(Rejection::Invalid(_))), "{units}");
    }
    assert!(settler.calls().is_empty());
    assert!(prepare(3_500_000).is_ok() && prepare(1).is_ok());

    let failing =
        FakeSettler { prepared: Err(Rejection::Invalid("spent".into())), ..FakeSettler::good() };
    let failing = tender(failing);
    let session = failing.resume(&payment).unwrap();
    let result = poll_once(session.prepare(CEILING, None)).unwrap();
    let Err(Rejection::Invalid(receipt)) = result else { panic!("it fails") };
    assert!(receipt.contains("\"errorReason\":\"spent\""), "{receipt}");
}
