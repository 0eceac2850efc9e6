//! How long results are cached, and how many lookups concurrent callers cause.

use std::sync::Arc;

use order::model::chain::{EvmAddress, Network};
use order::model::evidence::Age;
use order::model::seller::Username;
use order::ports::{NameService, Purpose};
use serde_json::json;

use crate::chain::Chain;
use crate::fixture::{EnsFixture, everywhere, full, payee, settings};

fn base(byte: u8) -> Option<EvmAddress> {
    Some(EvmAddress::from_bytes([byte; 20]))
}

#[tokio::test]
async fn a_change_is_seen_after_a_minute_and_not_before() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let first = fixture.ask("alice").await.unwrap().unwrap();
    chain.set(&full("alice"), everywhere(2));
    fixture.clock.advance(59);
    let kept = fixture.ask("alice").await.unwrap().unwrap();
    assert_eq!((payee(&kept, Network::Base), kept.evidence.age), (base(1), Age::Cached));
    assert_eq!(kept.evidence.valid_until, first.evidence.valid_until);
    fixture.clock.advance(1);
    let fresh = fixture.ask("alice").await.unwrap().unwrap();
    assert_eq!((payee(&fresh, Network::Base), fresh.evidence.age), (base(2), Age::Fresh));
}

#[tokio::test]
async fn an_absence_is_remembered_for_half_a_minute() {
    let chain = Chain::start().await;
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    assert_eq!(fixture.ask("alice").await, Ok(None));
    chain.set(&full("alice"), everywhere(1));
    fixture.clock.advance(29);
    assert_eq!(fixture.ask("alice").await, Ok(None));
    fixture.clock.advance(1);
    assert!(fixture.ask("alice").await.unwrap().is_some());
}

#[tokio::test]
async fn while_no_node_answers_an_old_address_serves_an_offer_for_ten_minutes_and_no_payment() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let alice = Username::kept("alice".into());
    let ask = |purpose| fixture.ens.resolve(&alice, purpose);
    ask(Purpose::Payment).await.unwrap().unwrap();
    chain.rewrite(|script| script.broken = Some(json!({})));
    fixture.clock.advance(60);
    assert!(ask(Purpose::Payment).await.is_err());
    let stale = ask(Purpose::Offer).await.unwrap().unwrap();
    assert_eq!((payee(&stale, Network::Base), stale.evidence.age), (base(1), Age::Cached));
    fixture.clock.advance(539);
    assert!(ask(Purpose::Offer).await.is_ok());
    fixture.clock.advance(1);
    assert!(ask(Purpose::Offer).await.is_err());
    // A failure is not remembered.
    chain.rewrite(|script| script.broken = None);
    assert!(ask(Purpose::Payment).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_callers_cause_one_lookup() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(1));
    let fixture = Arc::new(EnsFixture::new(settings(&chain, None, &[])));
    let crowd: Vec<_> = (0..100)
        .map(|_| {
            let fixture = fixture.clone();
            tokio::spawn(async move { fixture.ask("alice").await.unwrap().unwrap() })
        })
        .collect();
    for caller in crowd {
        assert_eq!(payee(&caller.await.unwrap(), Network::Base), base(1));
    }
    assert_eq!(chain.questions("eth_getBlockByNumber"), 1);
}

#[tokio::test]
async fn a_caller_who_hangs_up_does_not_strand_the_next() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    {
        let mut hasty = Box::pin(fixture.ask("alice"));
        let once = std::future::poll_fn(|context| {
            std::task::Poll::Ready(hasty.as_mut().poll(context).is_pending())
        });
        assert!(once.await);
    }
    assert!(fixture.ask("alice").await.unwrap().is_some());
}
