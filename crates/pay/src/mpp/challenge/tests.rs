//! The challenge of MPP, byte for byte.

use order::model::chain::Network;
use order::model::seller::Payees;

use super::super::challenge_id::{ChallengeSecrets, Realm};
use super::super::fixture::{
    BODY, FakeSettler, NOW, SECRET, SELLER, counting, mpp, offer, parameters, resource, secrets,
    unpacked,
};
use super::super::tender::Mpp;
use super::*;
use crate::http_binding::{AnswerContext, ClientKind};

/// The longest header that every client accepts.
const HEADER_BYTES_MAX: usize = 4 * 1_000;

fn context(body: &[u8]) -> AnswerContext<'_> {
    AnswerContext { client: ClientKind::Program, body, now: NOW }
}

fn asked(mpp: &Mpp, offer: &Offer) -> Option<Challenge> {
    mpp.challenge(offer, &context(BODY)).map(|(_, challenge)| challenge)
}

fn written(challenge: &Challenge) -> &str {
    challenge.header.to_str().unwrap()
}

fn endpoint<'a>(realm: &'a Realm, resource: &'a Resource) -> EndpointDescription<'a> {
    EndpointDescription { realm, resource, mode: PaymentMode::Live }
}

#[test]
fn a_challenge_has_exactly_its_parameters() {
    let (mpp, settler) = mpp(FakeSettler::good());
    let challenge = asked(&mpp, &offer()).unwrap();
    assert!(settler.calls().is_empty(), "a challenge is made of memory");
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
fn the_request_parameter_is_canonical_json() {
    let request = request(Usdc::from_atomic(3_500_000), SELLER);
    let json = String::from_utf8(URL_SAFE_NO_PAD.decode(&request).unwrap()).unwrap();
    let expected = format!(
        "{{\"amount\":\"3500000\",\"currency\":\"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\",\
         \"methodDetails\":{{\"chainId\":8453,\"credentialTypes\":[\"authorization\"],\
         \"decimals\":6}},\"recipient\":\"{SELLER}\"}}"
    );
    assert_eq!(json, expected);
    // The request of the official merchant, for its payee.
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
fn two_challenges_for_the_same_body_differ() {
    let (mpp, _) = mpp(FakeSettler::good());
    let (one, two) = (asked(&mpp, &offer()).unwrap(), asked(&mpp, &offer()).unwrap());
    assert_ne!(one.id, two.id);
    let (one, two) = (parameters(written(&one)), parameters(written(&two)));
    assert_eq!((&one["request"], &one["expires"]), (&two["request"], &two["expires"]));
    assert_ne!(one["opaque"], two["opaque"]);
    let nonce = unpacked(&one["opaque"])["nonce"].as_str().unwrap().to_owned();
    assert_eq!(nonce.len(), 22);
}

#[test]
fn a_challenge_has_the_digest_of_its_body() {
    // The examples of RFC 9530, and an empty body.
    assert_eq!(
        digest(br#"{"hello": "world"}"#),
        "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
    );
    assert_eq!(digest(b""), "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    let (mpp, _) = mpp(FakeSettler::good());
    let (_, challenge) = mpp.challenge(&offer(), &context(b"{}")).unwrap();
    assert_eq!(parameters(written(&challenge))["digest"], digest(b"{}"));
}

#[test]
fn a_realm_appears_in_the_challenge_unchanged() {
    for name in ["{id}", "/id /digest", "<expires>", "opaque='' digest=''"] {
        let realm = Realm::parse(name).unwrap();
        let odd = Mpp { realm, ..mpp(FakeSettler::good()).0 };
        let (_, challenge) = odd.challenge(&offer(), &context(b"{}")).unwrap();
        let parameters = parameters(written(&challenge));
        assert_eq!(parameters["realm"], name);
        assert_eq!((parameters["id"].as_str(), parameters.len()), (challenge.id.as_str(), 9));
    }
}

#[test]
fn there_is_no_challenge_if_the_network_is_not_supported() {
    let good = || mpp(FakeSettler::good()).0;
    assert!(asked(&good(), &offer()).is_some());
    let (closed, _) =
        mpp(FakeSettler { service: TransferSupport::NotOffered, ..FakeSettler::good() });
    assert_eq!(asked(&closed, &offer()), None);
    let elsewhere = Payees::new(vec![(Network::Polygon, SELLER)]).unwrap();
    assert_eq!(asked(&good(), &Offer { payees: elsewhere, ..offer() }), None);
    let dry = Mpp { randomness: Arc::new(|| None), ..good() };
    assert_eq!(asked(&dry, &offer()), None);
}

#[test]
fn new_challenges_use_the_newest_secret() {
    let realm = Realm::parse("cards.example").unwrap();
    let secrets =
        [secrets(), ChallengeSecrets::new([9; 32], &[SECRET.as_bytes().try_into().unwrap()])];
    let settler = FakeSettler::good();
    let ids = secrets.map(|secrets| {
        let fixed = || counting().map(|_| [1; 16]);
        let issuer = ChallengeIssuer {
            facilitator: &settler,
            realm: &realm,
            secrets: &secrets,
            randomness: &fixed,
        };
        let money =
            ChallengeCache::default().template(&offer(), endpoint(&realm, &resource())).unwrap();
        issuer.challenge(&money, BODY, NOW).unwrap().id
    });
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_cached_template_is_replaced_for_another_seller() {
    let challenge_cache = ChallengeCache::default();
    let realm = Realm::parse("cards.example").unwrap();
    let made =
        |offer: &Offer| challenge_cache.template(offer, endpoint(&realm, &resource())).unwrap();
    let first = made(&offer());
    assert!(Arc::ptr_eq(&first, &made(&offer())));
    let other = EvmAddress::from_bytes([9; 20]);
    let payees = Payees::new(vec![(Network::Base, other)]).unwrap();
    let second = made(&Offer { payees, ..offer() });
    assert_ne!(first.request, second.request);
    assert_ne!(first.payment_required, second.payment_required);
    assert_eq!(made(&offer()).request, first.request);
}
