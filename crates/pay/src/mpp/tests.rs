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

use super::facilitator::{Found, Prepared};
use super::problem::Flaw;
use super::samples::{
    BODY, EARLIER_SECRET, NOW, Nonce, Payer, Porter, SECRET, SELLER, TRANSACTION, authorization,
    decoded, mpp, offer, one_header, payment_signature, secret, terms, unpacked,
};
use super::{Mpp, Realm, Secrets, exact, headers};
use crate::envelope::{Brought, Context, Reader};
use crate::movement::Movement;

mod journey;
mod rails;
mod tampering;

const CONTEXT: Context<'static> =
    Context { reader: Reader::Program, brought: Brought::Nothing, body: BODY, now: NOW };

/// What an honest payer sends after our challenge.
fn honest(nonce: Nonce) -> Value {
    let (mpp, _) = mpp(Porter::good());
    Payer::new().answer(&asked(&mpp), nonce)
}

/// What this house asks for, as it stands in the header.
fn asked(mpp: &Mpp) -> String {
    let (_, challenge) = mpp.challenge(&offer(), &CONTEXT).unwrap();
    challenge.header.to_str().unwrap().to_owned()
}

/// The same from a client of x402.
fn by_x402() -> Value {
    let (mpp, _) = mpp(Porter::good());
    let required = exact::required(CEILING, SELLER, &mpp.resource, mpp.mode, "Payment required");
    Payer::new().exact(&decoded(required), 5)
}

fn sealed(credential: &Value) -> Credential {
    let (name, value) = if credential["x402Version"].is_null() {
        ("authorization", authorization(credential))
    } else {
        ("payment-signature", payment_signature(credential))
    };
    headers::take(&one_header(name, &value), BODY).unwrap().unwrap()
}

fn verify(
    porter: Porter,
    credential: Credential,
    terms: &Terms,
) -> (Result<Authorization, Rejection>, Arc<Porter>) {
    let (mpp, porter) = mpp(porter);
    let verified = |authorization: Authorization| {
        drive(mpp.verify(&authorization)).unwrap().map(|()| authorization)
    };
    (mpp.read(credential, terms).and_then(verified), porter)
}

fn accepted(credential: &Value) -> (Authorization, Arc<Porter>) {
    let (said, porter) = verify(Porter::good(), sealed(credential), &terms());
    (said.unwrap(), porter)
}

/// Why a credential is refused without anybody being asked.
fn refused(credential: &Value, terms: &Terms) -> Flaw {
    refused_sealed(sealed(credential), terms)
}

fn refused_sealed(credential: Credential, terms: &Terms) -> Flaw {
    let (said, porter) = verify(Porter::good(), credential, terms);
    assert_eq!(porter.calls(), Vec::<&str>::new());
    match said {
        Err(Rejection::Invalid(told)) => {
            let (flaw, reason) = Flaw::read(&told);
            assert!(told.starts_with(flaw.code()) && reason.ends_with('.'), "{told}");
            flaw
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_honest_payment_holds_with_either_nonce() {
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let credential = honest(nonce);
        let (authorization, porter) = accepted(&credential);
        assert_eq!(porter.calls(), ["verify"]);
        let payer = Payer::new().address();
        assert_eq!(authorization.tender, TenderKind::Mpp);
        assert_eq!((authorization.network, authorization.payer), (Network::Base, payer));
        assert_eq!((authorization.pay_to, authorization.most), (SELLER, CEILING));
        assert_eq!(authorization.deadline, Timestamp(NOW.0 + 600));
        assert_eq!(authorization.digest, sealed(&credential).digest());
        let word = crate::digits::word(credential["payload"]["nonce"].as_str().unwrap()).unwrap();
        let nonce =
            PaymentKey::of_nonce(Instrument::TransferAuthorization, Network::Base, payer, word);
        let id = credential["challenge"]["id"].as_str().unwrap();
        assert_eq!(authorization.keys, [PaymentKey::of_challenge(id.as_bytes()), nonce]);
    }
}

#[test]
fn a_payload_of_x402_holds_and_is_bound_by_its_own_nonce() {
    let (authorization, porter) = accepted(&by_x402());
    assert_eq!(porter.calls(), ["verify"]);
    let payer = Payer::new().address();
    assert_eq!((authorization.tender, authorization.payer), (TenderKind::Mpp, payer));
    let nonce =
        PaymentKey::of_nonce(Instrument::TransferAuthorization, Network::Base, payer, [5; 32]);
    assert_eq!(authorization.keys, [nonce]);
}

#[test]
fn what_clients_may_do_differently_does_no_harm() {
    let with = |change: fn(&mut Value)| {
        let mut credential = honest(Nonce::Packed);
        change(&mut credential);
        accepted(&credential);
    };
    with(|credential| drop(credential.as_object_mut().unwrap().remove("source")));
    with(|credential| drop(credential["challenge"].as_object_mut().unwrap().remove("description")));
    with(|credential| credential["more"] = json!([1, 2, 3]));
    with(|credential| credential["challenge"]["header"] = Value::Null);
    with(|credential| {
        let source = credential["source"].as_str().unwrap().to_lowercase();
        credential["source"] = source.into();
    });
    with(|credential| {
        let to = credential["payload"]["to"].as_str().unwrap().to_lowercase();
        credential["payload"]["to"] = to.into();
    });
    with(|credential| {
        // Some signers write the parity as 0 or 1.
        let signature = credential["payload"]["signature"].as_str().unwrap();
        let signature = match signature.strip_suffix("1b") {
            Some(start) => format!("{start}00"),
            None => format!("{}01", signature.strip_suffix("1c").unwrap()),
        };
        credential["payload"]["signature"] = signature.into();
    });
    with(|credential| {
        credential["payload"]["validAfter"] = (NOW.0 - 1).to_string().into();
        Payer::new().sign_transfer(credential);
    });
}

#[test]
fn a_transfer_leaves_time_to_carry_it_and_an_end_to_doubt() {
    let valid = |after: u64, before: u64| {
        let mut credential = honest(Nonce::Framed);
        credential["payload"]["validAfter"] = after.to_string().into();
        credential["payload"]["validBefore"] = before.to_string().into();
        Payer::new().sign_transfer(&mut credential);
        credential
    };
    accepted(&valid(0, NOW.0 + 61));
    accepted(&valid(0, NOW.0 + 3_600));
    for (after, before) in [
        (0, NOW.0 + 60),
        (0, NOW.0),
        (0, 0),
        (0, NOW.0 + 3_601),
        (0, u64::MAX),
        (NOW.0, NOW.0 + 600),
        (NOW.0 + 1, NOW.0 + 600),
    ] {
        assert_eq!(refused(&valid(after, before), &terms()), Flaw::Unverified, "{after} {before}");
    }
}

#[test]
fn a_challenge_is_open_until_the_second_in_which_it_ends() {
    let credential = honest(Nonce::Packed);
    // Its transfer ends with it, so that it cannot be carried in the last minute.
    let at = |seconds| Terms { now: NOW.plus(seconds), ..terms() };
    assert!(verify(Porter::good(), sealed(&credential), &at(539)).0.is_ok());
    assert_eq!(refused(&credential, &at(540)), Flaw::Unverified);
    assert_eq!(refused(&credential, &at(599)), Flaw::Unverified);
    assert_eq!(refused(&credential, &at(600)), Flaw::Expired);
    assert_eq!(refused(&credential, &at(100_000)), Flaw::Expired);
}

#[test]
fn a_challenge_is_good_for_the_body_that_it_was_made_for() {
    let value = authorization(&honest(Nonce::Packed));
    let take =
        |body: &[u8]| headers::take(&one_header("authorization", &value), body).unwrap().unwrap();
    assert!(verify(Porter::good(), take(BODY), &terms()).0.is_ok());
    let spaced = [BODY, b" "].concat();
    for other in [&b""[..], b"{}", &spaced] {
        assert_eq!(refused_sealed(take(other), &terms()), Flaw::Challenge);
    }
}

#[test]
fn a_challenge_that_was_right_once_is_held_against_the_terms_of_now() {
    let payees = |payees: &[(Network, EvmAddress)]| Payees::new(payees.to_vec()).unwrap();
    let other_seller = payees(&[(Network::Base, EvmAddress::from_bytes([0xb2; 20]))]);
    let elsewhere = payees(&[(Network::Polygon, SELLER)]);
    for credential in [honest(Nonce::Packed), by_x402()] {
        for payees in [&other_seller, &elsewhere] {
            let moved = Terms { payees: payees.clone(), ..terms() };
            let (said, porter) = verify(Porter::good(), sealed(&credential), &moved);
            assert_eq!((said.unwrap_err(), porter.calls().len()), (Rejection::PayeeChanged, 0));
        }
        for other in [
            Terms { ceiling: Usdc::from_atomic(3_500_001), ..terms() },
            Terms { ceiling: Usdc::from_atomic(3_499_999), ..terms() },
        ] {
            assert_eq!(refused(&credential, &other), Flaw::Challenge);
        }
    }
}

/// The answer of a house like ours in all but one thing.
fn elsewhere(change: impl FnOnce(&mut Mpp)) -> Value {
    let (mut other, _) = mpp(Porter::good());
    change(&mut other);
    Payer::new().answer(&asked(&other), Nonce::Packed)
}

#[test]
fn a_challenge_of_another_house_is_none_of_ours() {
    let stranger = elsewhere(|mpp| mpp.secrets = Secrets::new([1; 32], &[]));
    assert_eq!(refused(&stranger, &terms()), Flaw::Challenge);
    let neighbour = elsewhere(|mpp| mpp.realm = Realm::parse("other.example").unwrap());
    assert_eq!(refused(&neighbour, &terms()), Flaw::Challenge);
}

#[test]
fn an_earlier_secret_answers_for_its_challenges_as_long_as_it_is_kept() {
    let old = elsewhere(|mpp| mpp.secrets = Secrets::new(secret(EARLIER_SECRET), &[]));
    let (mut rotated, _) = mpp(Porter::good());
    rotated.secrets = Secrets::new(secret(SECRET), &[secret(EARLIER_SECRET)]);
    assert!(rotated.read(sealed(&old), &terms()).is_ok());
    assert!(rotated.read(sealed(&honest(Nonce::Packed)), &terms()).is_ok());
    assert_eq!(refused(&old, &terms()), Flaw::Challenge);
}

#[test]
fn what_the_chain_says_of_a_transfer_is_passed_on() {
    for (why, told) in [
        (Rejection::Invalid("no balance".into()), Rejection::Invalid("no balance".into())),
        (Rejection::Unavailable, Rejection::Unavailable),
        // Nobody can be asked for an allowance here.
        (Rejection::AllowanceMissing, Rejection::Unavailable),
    ] {
        let porter = Porter { verified: Err(why), ..Porter::good() };
        let (said, _) = verify(porter, sealed(&honest(Nonce::Packed)), &terms());
        assert_eq!(said.unwrap_err(), told);
    }
}

#[test]
fn a_transfer_that_was_made_before_pays_for_its_own_challenge_only() {
    let carried = || Porter { verified: Ok(Found::Carried), ..Porter::good() };
    for nonce in [Nonce::Packed, Nonce::Framed] {
        assert!(verify(carried(), sealed(&honest(nonce)), &terms()).0.is_ok());
    }
    let Err(Rejection::Invalid(told)) = verify(carried(), sealed(&by_x402()), &terms()).0 else {
        panic!("it may have bought something else")
    };
    assert_eq!(Flaw::read(&told).0, Flaw::Unverified);
}

#[test]
fn a_transfer_that_was_made_while_the_price_was_asked_for_pays_for_its_own_challenge_only() {
    let prepared = |credential: &Value, earlier: Option<&Preparation>| {
        let carried = Prepared { preparation: Preparation(Vec::new()), found: Found::Carried };
        let (mpp, _) = mpp(Porter { prepared: Ok(carried), ..Porter::good() });
        drive(mpp.prepare(&payment(credential).authorization, CEILING, earlier)).unwrap()
    };
    assert!(prepared(&honest(Nonce::Packed), None).is_ok());
    let Err(Rejection::Invalid(told)) = prepared(&by_x402(), None) else {
        panic!("it may have bought something else")
    };
    assert_eq!(Flaw::read(&told).0, Flaw::Unverified);
    // Once we have asked for it, whoever carries it may have it from us.
    assert!(prepared(&by_x402(), Some(&Preparation(b"signed".to_vec()))).is_ok());
}

fn payment(credential: &Value) -> Payment {
    let (authorization, _) = accepted(credential);
    Payment { authorization, charge: CEILING, preparation: Preparation(b"signed".to_vec()) }
}

#[test]
fn a_settlement_carries_the_receipt_in_the_bytes_that_are_sent() {
    let (mpp, _) = mpp(Porter::good());
    let credential = honest(Nonce::Packed);
    let settled = drive(mpp.settle(&payment(&credential))).unwrap().unwrap();
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
    let traced = drive(mpp.trace(&payment(&credential), None)).unwrap().unwrap();
    assert_eq!(traced, Trace::Moved(settled));

    let settled = drive(mpp.settle(&payment(&by_x402()))).unwrap().unwrap();
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
fn refused_and_lost_stay_what_they_are() {
    let payment = payment(&honest(Nonce::Packed));
    for why in [Failure::Refused("no".into()), Failure::Lost("cut".into())] {
        let porter =
            Porter { settled: Err(why.clone().into()), traced: Err(why.clone()), ..Porter::good() };
        let (mpp, _) = mpp(porter);
        assert_eq!(drive(mpp.settle(&payment)).unwrap(), Err(why.clone().into()));
        assert_eq!(drive(mpp.trace(&payment, None)).unwrap(), Err(why));
    }
    for (movement, trace) in [(Movement::Open, Trace::Open), (Movement::Void, Trace::Void)] {
        let (mpp, _) = mpp(Porter { traced: Ok(movement), ..Porter::good() });
        assert_eq!(drive(mpp.trace(&payment, None)).unwrap(), Ok(trace));
    }
}

#[test]
fn a_credential_that_reads_no_more_is_in_doubt_and_never_refused() {
    let (mpp, porter) = mpp(Porter::good());
    let mut payment = payment(&honest(Nonce::Packed));
    payment.authorization.credential = Credential(Vec::new());
    assert!(matches!(drive(mpp.settle(&payment)).unwrap(), Err(Unsettled::Lost(_))));
    assert!(matches!(drive(mpp.trace(&payment, None)).unwrap(), Err(Failure::Lost(_))));
    let prepared = drive(mpp.prepare(&payment.authorization, CEILING, None)).unwrap();
    assert_eq!(prepared, Err(Rejection::Unavailable));
    assert!(porter.calls().is_empty());
}

#[test]
fn all_of_a_transfer_is_prepared_and_no_other_amount() {
    let (mpp, porter) = mpp(Porter::good());
    let payment = payment(&honest(Nonce::Packed));
    let prepare = |units| {
        let charge = Usdc::from_atomic(units);
        drive(mpp.prepare(&payment.authorization, charge, None)).unwrap()
    };
    for units in [0, 1, 3_499_999, 3_500_001, u64::MAX] {
        assert!(matches!(prepare(units), Err(Rejection::Invalid(_))), "{units}");
    }
    assert!(porter.calls().is_empty());
    assert!(prepare(3_500_000).is_ok());
}
