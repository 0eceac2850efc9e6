//! What a payer is asked for, to the last parameter and byte.

use order::model::chain::Network;
use order::model::seller::Payees;

use super::super::samples::{
    BODY, NOW, Porter, SECRET, SELLER, counting, mpp, offer, parameters, resource, secrets,
    unpacked,
};
use super::super::{Mpp, Realm, Secrets};
use super::*;
use crate::envelope::{Brought, Context, Reader};

/// What every client must cope with.
const HEADER_BYTES_MAX: usize = 4 * 1_000;

fn context(body: &[u8]) -> Context<'_> {
    Context { reader: Reader::Program, brought: Brought::Nothing, body, now: NOW }
}

fn asked(mpp: &Mpp, offer: &Offer) -> Option<Challenge> {
    mpp.challenge(offer, &context(BODY)).map(|(_, challenge)| challenge)
}

fn written(challenge: &Challenge) -> &str {
    challenge.header.to_str().unwrap()
}

fn sold<'a>(realm: &'a Realm, resource: &'a Resource) -> Sold<'a> {
    Sold { realm, resource, mode: Mode::Live }
}

#[test]
fn a_challenge_has_its_parameters_and_no_other() {
    let (mpp, porter) = mpp(Porter::good());
    let challenge = asked(&mpp, &offer()).unwrap();
    assert!(porter.calls().is_empty(), "a challenge is made of memory");
    let parameters = parameters(written(&challenge));
    let names: Vec<_> = parameters.keys().map(String::as_str).collect();
    let expected = [
        "description",
        "digest",
        "expires",
        "id",
        "intent",
        "method",
        "opaque",
        "realm",
        "request",
    ];
    assert_eq!(names, expected);
    assert_eq!(parameters["id"], challenge.id);
    assert_eq!(parameters["realm"], "cards.example");
    assert_eq!((&*parameters["method"], &*parameters["intent"]), ("evm", "charge"));
    assert_eq!(parameters["description"], "One 4x6 postcard");
    // Ten minutes after 2026-09-21T14:13:20Z.
    assert_eq!(parameters["expires"], "2026-09-21T14:23:20Z");
    assert!(challenge.header.len() < HEADER_BYTES_MAX, "{}", challenge.header.len());
    assert!(written(&challenge).bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
}

#[test]
fn the_terms_are_canonical_to_the_last_byte() {
    let request = request(Usdc::from_atomic(3_500_000), SELLER);
    let json = String::from_utf8(URL_SAFE_NO_PAD.decode(&request).unwrap()).unwrap();
    let expected = format!(
        "{{\"amount\":\"3500000\",\"currency\":\"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\",\
         \"methodDetails\":{{\"chainId\":8453,\"credentialTypes\":[\"authorization\"],\
         \"decimals\":6}},\"recipient\":\"{SELLER}\"}}"
    );
    assert_eq!(json, expected);
    // The very request of the official merchant, for its payee.
    let payee = "0x90F79bf6EB2c4f870365E785982E1f101E93b906".parse().unwrap();
    assert_eq!(
        super::request(Usdc::from_atomic(3_500_000), payee),
        "eyJhbW91bnQiOiIzNTAwMDAwIiwiY3VycmVuY3kiOiIweDgzMzU4OWZDRDZlRGI2RTA4ZjRjN0MzMkQ0ZjcxYjU0\
         YmRBMDI5MTMiLCJtZXRob2REZXRhaWxzIjp7ImNoYWluSWQiOjg0NTMsImNyZWRlbnRpYWxUeXBlcyI6WyJhdXRo\
         b3JpemF0aW9uIl0sImRlY2ltYWxzIjo2fSwicmVjaXBpZW50IjoiMHg5MEY3OWJmNkVCMmM0Zjg3MDM2NUU3ODU5\
         ODJFMWYxMDFFOTNiOTA2In0"
    );
}

#[test]
fn two_challenges_for_one_body_are_never_the_same() {
    let (mpp, _) = mpp(Porter::good());
    let (one, two) = (asked(&mpp, &offer()).unwrap(), asked(&mpp, &offer()).unwrap());
    assert_ne!(one.id, two.id);
    let (one, two) = (parameters(written(&one)), parameters(written(&two)));
    assert_eq!((&one["request"], &one["expires"]), (&two["request"], &two["expires"]));
    assert_ne!(one["opaque"], two["opaque"]);
    let nonce = unpacked(&one["opaque"])["nonce"].as_str().unwrap().to_owned();
    assert_eq!(nonce.len(), 22);
}

#[test]
fn a_body_is_bound_by_its_digest() {
    // The examples of RFC 9530, and nothing at all.
    assert_eq!(
        digest(br#"{"hello": "world"}"#),
        "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
    );
    assert_eq!(digest(b""), "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    let (mpp, _) = mpp(Porter::good());
    let (_, challenge) = mpp.challenge(&offer(), &context(b"{}")).unwrap();
    assert_eq!(parameters(written(&challenge))["digest"], digest(b"{}"));
}

#[test]
fn a_realm_stands_in_its_challenges_as_it_is_whatever_it_looks_like() {
    for name in ["{id}", "/id /digest", "<expires>", "opaque='' digest=''"] {
        let realm = Realm::parse(name).unwrap();
        let odd = Mpp { realm, ..mpp(Porter::good()).0 };
        let (_, challenge) = odd.challenge(&offer(), &context(b"{}")).unwrap();
        let parameters = parameters(written(&challenge));
        assert_eq!(parameters["realm"], name);
        assert_eq!((parameters["id"].as_str(), parameters.len()), (challenge.id.as_str(), 9));
    }
}

#[test]
fn nobody_is_asked_for_what_nobody_would_carry() {
    let good = || mpp(Porter::good()).0;
    assert!(asked(&good(), &offer()).is_some());
    let (closed, _) = mpp(Porter { service: Service::NotOffered, ..Porter::good() });
    assert_eq!(asked(&closed, &offer()), None);
    let elsewhere = Payees::new(vec![(Network::Polygon, SELLER)]).unwrap();
    assert_eq!(asked(&good(), &Offer { payees: elsewhere, ..offer() }), None);
    let dry = Mpp { randomness: Arc::new(|| None), ..good() };
    assert_eq!(asked(&dry, &offer()), None);
}

#[test]
fn an_earlier_secret_makes_no_challenges() {
    let realm = Realm::parse("cards.example").unwrap();
    let secrets = [secrets(), Secrets::new([9; 32], &[SECRET.as_bytes().try_into().unwrap()])];
    let porter = Porter::good();
    let ids = secrets.map(|secrets| {
        let fixed = || counting().map(|_| [1; 16]);
        let press =
            Press { facilitator: &porter, realm: &realm, secrets: &secrets, randomness: &fixed };
        let money = Usual::default().money(&offer(), sold(&realm, &resource())).unwrap();
        press.challenge(&money, BODY, NOW).unwrap().id
    });
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn the_money_is_written_once_and_anew_for_another_seller() {
    let usual = Usual::default();
    let realm = Realm::parse("cards.example").unwrap();
    let made = |offer: &Offer| usual.money(offer, sold(&realm, &resource())).unwrap();
    let first = made(&offer());
    assert!(Arc::ptr_eq(&first, &made(&offer())));
    let other = EvmAddress::from_bytes([9; 20]);
    let payees = Payees::new(vec![(Network::Base, other)]).unwrap();
    let second = made(&Offer { payees, ..offer() });
    assert_ne!(first.request, second.request);
    assert_ne!(first.required, second.required);
    assert_eq!(made(&offer()).request, first.request);
}
