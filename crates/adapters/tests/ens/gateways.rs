//! CCIP-Read: which gateways are called, and which are not.

use axum::http::StatusCode;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Found, Trust};

use crate::chain::{Chain, Entry, Manner};
use crate::fixture::{EnsFixture, full, payee, settings};
use crate::servers::{Conduct, Gateway};

const ACCOUNT: [u8; 20] = [0xcc; 20];

/// A wildcard name: its resolver is that of the parent.
fn outside(manner: Manner) -> Entry {
    Entry { offset: 6, manner, ..Entry::default() }
}

#[tokio::test]
async fn a_wildcard_name_is_found_over_a_gateway_in_every_way_of_asking() {
    let chain = Chain::start().await;
    let gateway = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    let (by_path, by_body) = (vec![gateway.by_path()], vec![gateway.url.clone()]);
    chain.set(&full("a"), outside(Manner::Bundled(by_path.clone())));
    chain.set(&full("b"), outside(Manner::Bundled(by_body.clone())));
    chain.set(&full("c"), outside(Manner::Plainly(by_path)));
    chain.set(&full("d"), outside(Manner::Plainly(by_body)));
    let fixture = EnsFixture::new(settings(&chain, None, &[&gateway.url]));
    for name in ["a", "b", "c", "d"] {
        let found = fixture.ask(name).await.unwrap().unwrap();
        assert_eq!(payee(&found, Network::Base), Some(EvmAddress::from_bytes(ACCOUNT)), "{name}");
        assert_eq!(found.evidence.found, Found::ByWildcard);
        let used = found.evidence.gateway.as_ref().unwrap();
        assert_eq!((used.host.as_str(), used.trust), ("127.0.0.1", Trust::Signature));
    }
    let proofs = format!("proof:{}", gateway.url);
    let fixture = EnsFixture::new(settings(&chain, None, &[&proofs]));
    let found = fixture.ask("a").await.unwrap().unwrap();
    assert_eq!(found.evidence.gateway.as_ref().unwrap().trust, Trust::Proof);
}

#[tokio::test]
async fn what_the_chain_does_not_accept_is_not_believed() {
    let chain = Chain::start().await;
    let gateway = Gateway::start(Conduct::Forging(ACCOUNT)).await;
    chain.set(&full("alice"), outside(Manner::Bundled(vec![gateway.by_path()])));
    let fixture = EnsFixture::new(settings(&chain, None, &[&gateway.url]));
    assert!(fixture.ask("alice").await.is_err());
    assert!(gateway.asked() > 0);
}

#[tokio::test]
async fn no_resolver_can_name_a_private_host() {
    let chain = Chain::start().await;
    let inside = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    let port = inside.url.rsplit(':').next().unwrap();
    let other = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    // With a list, and without one.
    for list in [vec![other.url.as_str()], Vec::new()] {
        let fixture = EnsFixture::new(settings(&chain, None, &list));
        let places = [
            inside.by_path(),
            format!("https://127.0.0.1:{port}/{{data}}"),
            format!("http://localhost:{port}/{{data}}"),
            format!("http://[::1]:{port}/{{data}}"),
            format!("http://2130706433:{port}/{{data}}"),
            "http://169.254.169.254/latest/meta-data/{data}".to_owned(),
            "https://169.254.169.254/{data}".to_owned(),
            "https://10.0.0.1/{data}".to_owned(),
            "https://[fd00::1]/{data}".to_owned(),
            "https://metadata.google.internal/{data}".to_owned(),
            "file:///etc/passwd".to_owned(),
            "x-batch-gateway:true".to_owned(),
            String::new(),
        ];
        for (number, place) in places.into_iter().enumerate() {
            for (kind, manner) in [
                ("b", Manner::Bundled(vec![place.clone()])),
                ("p", Manner::Plainly(vec![place.clone()])),
            ] {
                let name = format!("{kind}{number}");
                chain.set(&full(&name), outside(manner));
                assert!(fixture.ask(&name).await.is_err(), "{place}");
            }
        }
    }
    assert_eq!((inside.asked(), other.asked()), (0, 0));
}

#[tokio::test]
async fn a_gateway_that_misbehaves_is_a_failure_and_leads_nowhere_else() {
    let chain = Chain::start().await;
    let inside = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    for conduct in [
        Conduct::Redirecting(inside.by_path()),
        Conduct::Wordy(ACCOUNT),
        Conduct::Slow(ACCOUNT),
        Conduct::Babbling,
        Conduct::Refusing(StatusCode::NOT_FOUND),
        Conduct::Refusing(StatusCode::BAD_GATEWAY),
    ] {
        let gateway = Gateway::start(conduct).await;
        chain.set(&full("alice"), outside(Manner::Bundled(vec![gateway.by_path()])));
        let fixture = EnsFixture::new(settings(&chain, None, &[&gateway.url]));
        assert!(fixture.ask("alice").await.is_err());
        assert!(gateway.asked() > 0);
    }
    assert_eq!(inside.asked(), 0);
}

#[tokio::test]
async fn the_next_server_is_asked_when_one_is_down_and_not_when_it_refuses() {
    let chain = Chain::start().await;
    let good = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    for (status, outcome) in [(StatusCode::BAD_GATEWAY, true), (StatusCode::FORBIDDEN, false)] {
        let bad = Gateway::start(Conduct::Refusing(status)).await;
        let urls = vec![bad.by_path(), good.by_path()];
        chain.set(&full("alice"), outside(Manner::Bundled(urls)));
        let fixture = EnsFixture::new(settings(&chain, None, &[&bad.url, &good.url]));
        assert_eq!(fixture.ask("alice").await.is_ok(), outcome, "{status}");
    }
}

#[tokio::test]
async fn a_resolver_cannot_send_us_on_for_ever_nor_in_anothers_name() {
    let chain = Chain::start().await;
    let gateway = Gateway::start(Conduct::Honest(ACCOUNT)).await;
    let urls = vec![gateway.by_path()];
    chain.set(&full("circle"), outside(Manner::Forever(urls.clone())));
    chain.set(&full("other"), outside(Manner::Impostor(urls)));
    let fixture = EnsFixture::new(settings(&chain, None, &[&gateway.url]));
    assert!(fixture.ask("other").await.is_err());
    assert_eq!(gateway.asked(), 0);
    assert!(fixture.ask("circle").await.is_err());
    // Three networks, each at most twice and the first to fail ends the rest.
    assert!((2..=6).contains(&gateway.asked()), "{}", gateway.asked());
}
