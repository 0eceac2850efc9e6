//! Which MPP credentials the tender accepts, and which calls it makes to the settler.

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

use super::challenge_id::{ChallengeSecrets, Realm};
use super::fixture::{
    BODY, EARLIER_SECRET, FakeSettler, NOW, Nonce, Payer, SECRET, SELLER, TRANSACTION,
    authorization, decoded, mpp, offer, one_header, payment_signature, secret, terms, unpacked,
};
use super::problem::CredentialProblem;
use super::settler::{AuthorizationUse, PreparedTransfer};
use super::tender::Mpp;
use super::{headers, x402_exact};
use crate::http_binding::{AnswerContext, ClientKind};
use crate::transfer::TransferStatus;

mod both_protocols;
mod payment_flow;
mod settlement;
mod tampering;

const CONTEXT: AnswerContext<'static> =
    AnswerContext { client: ClientKind::Program, body: BODY, now: NOW };

/// What a correct client sends after our challenge.
fn correct(nonce: Nonce) -> Value {
    let (mpp, _) = mpp(FakeSettler::good());
    Payer::new().answer(&asked(&mpp), nonce)
}

/// The value of `WWW-Authenticate`.
fn asked(mpp: &Mpp) -> String {
    let (_, challenge) = mpp.challenge(&offer(), &CONTEXT).unwrap();
    challenge.header.to_str().unwrap().to_owned()
}

/// The same from an x402 client.
fn by_x402() -> Value {
    let (mpp, _) = mpp(FakeSettler::good());
    let required =
        x402_exact::required(CEILING, SELLER, &mpp.resource, mpp.mode, "Payment required");
    Payer::new().exact(&decoded(required), 5)
}

fn sent(credential: &Value) -> Credential {
    let (name, value) = if credential["x402Version"].is_null() {
        ("authorization", authorization(credential))
    } else {
        ("payment-signature", payment_signature(credential))
    };
    headers::credential(&one_header(name, &value), BODY).unwrap().unwrap()
}

fn verify(
    settler: FakeSettler,
    credential: Credential,
    terms: &Terms,
) -> (Result<Authorization, Rejection>, Arc<FakeSettler>) {
    let (mpp, settler) = mpp(settler);
    let verified = |checked: CheckedCredential<'_>| {
        poll_once(checked.session.verify()).unwrap().map(|()| checked.authorization)
    };
    let verified = mpp.read(credential).check(terms).and_then(verified);
    (verified, settler)
}

fn accepted(credential: &Value) -> (Authorization, Arc<FakeSettler>) {
    let (result, settler) = verify(FakeSettler::good(), sent(credential), &terms());
    (result.unwrap(), settler)
}

/// The problem for which a credential is rejected without a call to the settler.
fn refused(credential: &Value, terms: &Terms) -> CredentialProblem {
    problem_with(sent(credential), terms)
}

fn problem_with(credential: Credential, terms: &Terms) -> CredentialProblem {
    let (result, settler) = verify(FakeSettler::good(), credential, terms);
    assert_eq!(settler.calls(), Vec::<&str>::new());
    match result {
        Err(Rejection::Invalid(told)) => {
            let (problem, reason) = CredentialProblem::split(&told);
            assert!(told.starts_with(problem.code()) && reason.ends_with('.'), "{told}");
            problem
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_correct_payment_is_accepted_with_either_nonce() {
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let credential = correct(nonce);
        let (authorization, settler) = accepted(&credential);
        assert_eq!(settler.calls(), ["verify"]);
        let payer = Payer::new().address();
        assert_eq!(authorization.tender, TenderKind::Mpp);
        assert_eq!((authorization.network, authorization.payer), (Network::Base, payer));
        assert_eq!((authorization.pay_to, authorization.most), (SELLER, CEILING));
        assert_eq!(authorization.deadline, Timestamp(NOW.0 + 600));
        assert_eq!(authorization.digest, sent(&credential).digest());
        let word = crate::parse::word(credential["payload"]["nonce"].as_str().unwrap()).unwrap();
        let nonce =
            PaymentKey::of_nonce(Instrument::TransferAuthorization, Network::Base, payer, word);
        let id = credential["challenge"]["id"].as_str().unwrap();
        assert_eq!(authorization.keys, [PaymentKey::of_challenge(id.as_bytes()), nonce]);
    }
}

#[test]
fn an_x402_exact_payload_is_accepted_and_identified_by_its_nonce() {
    let (authorization, settler) = accepted(&by_x402());
    assert_eq!(settler.calls(), ["verify"]);
    let payer = Payer::new().address();
    assert_eq!((authorization.tender, authorization.payer), (TenderKind::Mpp, payer));
    let nonce =
        PaymentKey::of_nonce(Instrument::TransferAuthorization, Network::Base, payer, [5; 32]);
    assert_eq!(authorization.keys, [nonce]);
}

#[test]
fn permitted_differences_between_clients_are_accepted() {
    let with = |change: fn(&mut Value)| {
        let mut credential = correct(Nonce::Packed);
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
fn a_transfer_expires_between_a_minute_and_an_hour_ahead() {
    let valid = |after: u64, before: u64| {
        let mut credential = correct(Nonce::Framed);
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
        assert_eq!(
            refused(&valid(after, before), &terms()),
            CredentialProblem::VerificationFailed,
            "{after} {before}"
        );
    }
}

#[test]
fn a_challenge_is_valid_until_the_second_in_which_it_expires() {
    let credential = correct(Nonce::Packed);
    // Its transfer expires with it, so that it cannot be settled in the last minute.
    let at = |seconds| Terms { now: NOW.plus(seconds), ..terms() };
    assert!(verify(FakeSettler::good(), sent(&credential), &at(539)).0.is_ok());
    assert_eq!(refused(&credential, &at(540)), CredentialProblem::VerificationFailed);
    assert_eq!(refused(&credential, &at(599)), CredentialProblem::VerificationFailed);
    assert_eq!(refused(&credential, &at(600)), CredentialProblem::PaymentExpired);
    assert_eq!(refused(&credential, &at(100_000)), CredentialProblem::PaymentExpired);
}

#[test]
fn a_challenge_is_valid_only_for_its_body() {
    let value = authorization(&correct(Nonce::Packed));
    let take = |body: &[u8]| {
        headers::credential(&one_header("authorization", &value), body).unwrap().unwrap()
    };
    assert!(verify(FakeSettler::good(), take(BODY), &terms()).0.is_ok());
    let spaced = [BODY, b" "].concat();
    for other in [&b""[..], b"{}", &spaced] {
        assert_eq!(problem_with(take(other), &terms()), CredentialProblem::InvalidChallenge);
    }
}

#[test]
fn an_earlier_challenge_is_checked_against_the_current_terms() {
    let payees = |payees: &[(Network, EvmAddress)]| Payees::new(payees.to_vec()).unwrap();
    let other_seller = payees(&[(Network::Base, EvmAddress::from_bytes([0xb2; 20]))]);
    let elsewhere = payees(&[(Network::Polygon, SELLER)]);
    for credential in [correct(Nonce::Packed), by_x402()] {
        for payees in [&other_seller, &elsewhere] {
            let moved = Terms { payees: payees.clone(), ..terms() };
            let (result, settler) = verify(FakeSettler::good(), sent(&credential), &moved);
            assert_eq!((result.unwrap_err(), settler.calls().len()), (Rejection::PayeeChanged, 0));
        }
        for other in [
            Terms { ceiling: Usdc::from_atomic(3_500_001), ..terms() },
            Terms { ceiling: Usdc::from_atomic(3_499_999), ..terms() },
        ] {
            assert_eq!(refused(&credential, &other), CredentialProblem::InvalidChallenge);
        }
    }
}

/// A response to a server that differs from ours in one setting.
fn elsewhere(change: impl FnOnce(&mut Mpp)) -> Value {
    let (mut other, _) = mpp(FakeSettler::good());
    change(&mut other);
    Payer::new().answer(&asked(&other), Nonce::Packed)
}

#[test]
fn a_challenge_of_another_server_is_rejected() {
    let stranger = elsewhere(|mpp| mpp.secrets = ChallengeSecrets::new([1; 32], &[]));
    assert_eq!(refused(&stranger, &terms()), CredentialProblem::InvalidChallenge);
    let neighbour = elsewhere(|mpp| mpp.realm = Realm::parse("other.example").unwrap());
    assert_eq!(refused(&neighbour, &terms()), CredentialProblem::InvalidChallenge);
}

#[test]
fn a_challenge_of_an_earlier_secret_is_accepted_until_the_secret_is_removed() {
    let old = elsewhere(|mpp| mpp.secrets = ChallengeSecrets::new(secret(EARLIER_SECRET), &[]));
    let (mut rotated, _) = mpp(FakeSettler::good());
    rotated.secrets = ChallengeSecrets::new(secret(SECRET), &[secret(EARLIER_SECRET)]);
    assert!(rotated.read(sent(&old)).check(&terms()).is_ok());
    assert!(rotated.read(sent(&correct(Nonce::Packed))).check(&terms()).is_ok());
    assert_eq!(refused(&old, &terms()), CredentialProblem::InvalidChallenge);
}

#[test]
fn a_rejection_by_the_chain_is_passed_on() {
    for (why, told) in [
        (Rejection::Invalid("no balance".into()), Rejection::Invalid("no balance".into())),
        (Rejection::Unavailable, Rejection::Unavailable),
        // A transfer needs no allowance.
        (Rejection::AllowanceMissing, Rejection::Unavailable),
    ] {
        let settler = FakeSettler { verified: Err(why), ..FakeSettler::good() };
        let (result, _) = verify(settler, sent(&correct(Nonce::Packed)), &terms());
        assert_eq!(result.unwrap_err(), told);
    }
}

#[test]
fn a_transfer_made_before_pays_only_for_its_own_challenge() {
    let carried = || FakeSettler { verified: Ok(AuthorizationUse::Used), ..FakeSettler::good() };
    for nonce in [Nonce::Packed, Nonce::Framed] {
        assert!(verify(carried(), sent(&correct(nonce)), &terms()).0.is_ok());
    }
    let Err(Rejection::Invalid(told)) = verify(carried(), sent(&by_x402()), &terms()).0 else {
        panic!("it may have bought something else")
    };
    assert_eq!(CredentialProblem::split(&told).0, CredentialProblem::VerificationFailed);
}

#[test]
fn a_transfer_made_during_the_quote_pays_only_for_its_own_challenge() {
    let prepared = |credential: &Value, earlier: Option<&Preparation>| {
        let carried = PreparedTransfer {
            preparation: Preparation(Vec::new()),
            usage: AuthorizationUse::Used,
        };
        let (mpp, _) = mpp(FakeSettler { prepared: Ok(carried), ..FakeSettler::good() });
        poll_once(mpp.resume(&settlement::payment(credential)).unwrap().prepare(CEILING, earlier))
            .unwrap()
    };
    assert!(prepared(&correct(Nonce::Packed), None).is_ok());
    let Err(Rejection::Invalid(told)) = prepared(&by_x402(), None) else {
        panic!("it may have bought something else")
    };
    assert_eq!(CredentialProblem::split(&told).0, CredentialProblem::VerificationFailed);
    // After our broadcast, any account may have used it.
    assert!(prepared(&by_x402(), Some(&Preparation(b"signed".to_vec()))).is_ok());
}
