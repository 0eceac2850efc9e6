//! Credentials before the tender: which hold, which do not, and who is asked.

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
use order::tender::{Rejection, Tender, Unsettled};
use order::testing::fakes::still::drive;
use serde_json::{Value, json};

use super::X402;
use super::facilitator::{Signer, Sponsoring};
use super::samples::{
    EARLIER_CARRIER, NOW, Payer, Porter, SELLER, TRANSACTION, credential, decoded, offer, terms,
    x402,
};
use crate::movement::Movement;

mod journey;
mod tampering;

/// What an honest payer sends after our challenge.
fn honest(network: Network) -> Value {
    let (x402, _) = x402(Porter::good());
    let challenge = x402.challenge(&offer(), "Payment required").unwrap();
    Payer::new().pay(&decoded(challenge.header), network, NOW)
}

/// The same from a payer who has not let Permit2 move anything yet.
fn sponsored(network: Network) -> Value {
    let mut payload = honest(network);
    Payer::new().permit(&mut payload, network, NOW.0 + 600);
    payload
}

fn verify(
    porter: Porter,
    credential: Credential,
    terms: &Terms,
) -> (Result<Authorization, Rejection>, Arc<Porter>) {
    let (x402, porter) = x402(porter);
    let verified = |authorization: Authorization| {
        drive(x402.verify(&authorization)).unwrap().map(|()| authorization)
    };
    (x402.read(credential, terms).and_then(verified), porter)
}

fn accepted(payload: &Value) -> (Authorization, Arc<Porter>) {
    let (said, porter) = verify(Porter::good(), credential(payload), &terms());
    (said.unwrap(), porter)
}

/// Why a payload is refused without anybody being asked.
fn refused(payload: &Value, terms: &Terms) -> String {
    let (said, porter) = verify(Porter::good(), credential(payload), terms);
    assert_eq!(porter.calls(), Vec::<&str>::new(), "{payload}");
    match said {
        Err(Rejection::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_honest_payment_holds_on_every_network() {
    for network in Network::ALL {
        for payload in [honest(network), sponsored(network)] {
            let (authorization, porter) = accepted(&payload);
            assert_eq!(porter.calls(), ["verify"]);
            assert_eq!(*porter.signers.lock().unwrap(), [Signer::Key]);
            let payer = Payer::new().address();
            assert_eq!(authorization.tender, TenderKind::X402);
            assert_eq!((authorization.network, authorization.payer), (network, payer));
            assert_eq!((authorization.pay_to, authorization.most), (SELLER, CEILING));
            assert_eq!(authorization.deadline, Timestamp(NOW.0 + 600));
            assert_eq!(authorization.digest, credential(&payload).digest());
            let nonce = payload["payload"]["permit2Authorization"]["nonce"].as_str().unwrap();
            let nonce = crate::digits::word(nonce).unwrap();
            let key = PaymentKey::of_nonce(Instrument::Permit2, network, payer, nonce);
            assert_eq!(authorization.keys, [key]);
        }
    }
}

#[test]
fn what_clients_may_do_differently_does_no_harm() {
    let payer = Payer::new();
    let with = |change: fn(&mut Value)| {
        let mut payload = honest(Network::Base);
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
        payload["accepted"]["extra"]["facilitatorAddress"] = EARLIER_CARRIER.to_string().into();
        payload["payload"]["permit2Authorization"]["witness"]["facilitator"] =
            EARLIER_CARRIER.to_string().into();
    });
}

#[test]
fn while_nobody_has_said_who_carries_a_payment_is_not_called_wrong() {
    let stranger = EvmAddress::from_bytes([0x5a; 20]).to_string();
    let mut payload = honest(Network::Base);
    payload["accepted"]["extra"]["facilitatorAddress"] = stranger.clone().into();
    payload["payload"]["permit2Authorization"]["witness"]["facilitator"] = stranger.into();
    Payer::new().sign(&mut payload);
    assert_eq!(refused(&payload, &terms()), "upto_facilitator_mismatch");
    let unasked = Porter { networks: Vec::new(), ..Porter::good() };
    let (said, porter) = verify(unasked, credential(&payload), &terms());
    assert_eq!(said, Err(Rejection::Unavailable));
    assert_eq!(porter.calls(), Vec::<&str>::new());
}

#[test]
fn the_deadline_leaves_time_to_settle_and_an_end_to_doubt() {
    let payer = Payer::new();
    let ending = |deadline: u64| {
        let mut payload = honest(Network::Base);
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
fn other_terms_are_not_paid() {
    let payload = honest(Network::Base);
    let payees = |payees: &[(Network, EvmAddress)]| Payees::new(payees.to_vec()).unwrap();
    let elsewhere = payees(&[(Network::Polygon, SELLER)]);
    let other_seller = payees(&[(Network::Base, EvmAddress::from_bytes([0xb2; 20]))]);
    for payees in [other_seller, elsewhere] {
        let moved = Terms { payees, ..terms() };
        let (said, porter) = verify(Porter::good(), credential(&payload), &moved);
        assert_eq!((said.unwrap_err(), porter.calls().len()), (Rejection::PayeeChanged, 0));
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
fn a_contract_is_asked_and_a_key_is_not() {
    let signed = |bytes: usize| {
        let mut payload = honest(Network::Base);
        payload["payload"]["signature"] = format!("0x{}", "5a".repeat(bytes)).into();
        payload
    };
    for bytes in [0, 1, 63, 64, 65] {
        assert_eq!(refused(&signed(bytes), &terms()), "invalid_permit2_signature", "{bytes}");
    }
    for bytes in [66, 96, 320] {
        let (_, porter) = accepted(&signed(bytes));
        assert_eq!(*porter.signers.lock().unwrap(), [Signer::Undecided]);
    }
}

#[test]
fn what_the_chain_says_of_a_promise_is_passed_on() {
    for why in [
        Rejection::Invalid("permit2_insufficient_balance".into()),
        Rejection::AllowanceMissing,
        Rejection::Unavailable,
    ] {
        let porter = Porter { verified: Err(why.clone()), ..Porter::good() };
        let (said, _) = verify(porter, credential(&honest(Network::Base)), &terms());
        assert_eq!(said.unwrap_err(), why);
    }
    // Who is not served now may still be carried: the port knows.
    let porter =
        Porter { networks: Vec::new(), sponsoring: Sponsoring::NotOffered, ..Porter::good() };
    assert!(verify(porter, credential(&honest(Network::Base)), &terms()).0.is_ok());
}

fn payment(charge: u64) -> Payment {
    let (authorization, _) = accepted(&honest(Network::Arbitrum));
    let preparation = Preparation(b"signed".to_vec());
    Payment { authorization, charge: Usdc::from_atomic(charge), preparation }
}

fn tender(porter: Porter) -> X402 {
    x402(porter).0
}

#[test]
fn a_settlement_carries_the_receipt_of_what_was_taken() {
    let (x402, payment) = (tender(Porter::good()), payment(2_117_500));
    let settled = drive(x402.settle(&payment)).unwrap().unwrap();
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
    let traced = drive(x402.trace(&payment, None)).unwrap().unwrap();
    assert_eq!(traced, Trace::Moved(settled));
}

#[test]
fn refused_and_lost_stay_what_they_are() {
    let refusing =
        tender(Porter { settled: Err(Unsettled::Refused("no".into())), ..Porter::good() });
    let said = drive(refusing.settle(&payment(1))).unwrap();
    let Err(Unsettled::Refused(receipt)) = said else { panic!("{said:?}") };
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!((&receipt["success"], &receipt["errorReason"]), (&json!(false), &json!("no")));

    let lost = Failure::Lost("cut".into());
    let losing = tender(Porter {
        settled: Err(lost.clone().into()),
        traced: Err(lost.clone()),
        ..Porter::good()
    });
    let said = drive(losing.settle(&payment(1))).unwrap();
    assert_eq!(said, Err(lost.clone().into()));
    let said = drive(losing.trace(&payment(1), None)).unwrap();
    assert_eq!(said, Err(lost));
    for (movement, trace) in [(Movement::Open, Trace::Open), (Movement::Void, Trace::Void)] {
        let tracing = tender(Porter { traced: Ok(movement), ..Porter::good() });
        let said = drive(tracing.trace(&payment(1), None)).unwrap();
        assert_eq!(said, Ok(trace));
    }
}

#[test]
fn a_credential_that_reads_no_more_is_in_doubt_and_never_refused() {
    let (x402, porter) = x402(Porter::good());
    let mut payment = payment(1);
    payment.authorization.credential = Credential(Vec::new());
    let settled = drive(x402.settle(&payment)).unwrap();
    assert!(matches!(settled, Err(Unsettled::Lost(_))));
    let traced = drive(x402.trace(&payment, None)).unwrap();
    assert!(matches!(traced, Err(Failure::Lost(_))));
    assert!(porter.calls().is_empty());
}

#[test]
fn nothing_and_more_than_promised_are_not_prepared() {
    let (x402, porter) = x402(Porter::good());
    let payment = payment(1);
    let prepare = |units| {
        let charge = Usdc::from_atomic(units);
        drive(x402.prepare(&payment.authorization, charge, None)).unwrap()
    };
    for units in [0, 3_500_001, u64::MAX] {
        assert!(matches!(prepare(units), Err(Rejection::Invalid(_))), "{units}");
    }
    assert!(porter.calls().is_empty());
    assert!(prepare(3_500_000).is_ok() && prepare(1).is_ok());

    let failing = Porter { prepared: Err(Rejection::Invalid("spent".into())), ..Porter::good() };
    let failing = tender(failing);
    let said = failing.prepare(&payment.authorization, CEILING, None);
    let Err(Rejection::Invalid(receipt)) = drive(said).unwrap() else { panic!("it fails") };
    assert!(receipt.contains("\"errorReason\":\"spent\""), "{receipt}");
}
