//! What one silence must not do to everybody else; [`walk`](crate::checkout) breaks all the rest.

mod recovery;
mod reminders;
mod switch;
mod unchanged;
mod unrest;

use std::future::pending;
use std::sync::Arc;

use async_trait::async_trait;

use crate::checkout::{Desk, Outcome, Request};
use crate::lifecycle::Stored;
use crate::lifecycle::schedule::WALK_SECONDS;
use crate::model::ids::OrderId;
use crate::model::mail::Promises;
use crate::model::money::{Price, Usdc};
use crate::model::payment::{
    Authorization, Credential, CredentialDigest, CredentialKeys, Payment, Preparation, Settlement,
    TenderKind, Terms, Trace,
};
use crate::ports::Failure;
use crate::tender::{Rejection, Tender, Tenders, Unsettled};
use crate::testing::fakes::cards::card;
use crate::testing::fakes::chain::{PROMISE_SECONDS, Promise, Till};
use crate::testing::fakes::fates::EveryFate;
use crate::testing::fakes::still::{Still, drive};
use crate::testing::fakes::world::World;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };

/// Does not say what became of one payment.
struct Silent {
    till: Till,
    about: CredentialDigest,
    manner: Manner,
}

#[derive(Clone, Copy)]
enum Manner {
    NeverAnswers,
    Fails,
}

#[async_trait]
impl Tender for Silent {
    fn kind(&self) -> TenderKind {
        self.till.kind()
    }

    fn price(&self) -> Price {
        self.till.price()
    }

    fn keys(&self, credential: &Credential) -> CredentialKeys {
        self.till.keys(credential)
    }

    fn read(&self, credential: Credential, terms: &Terms) -> Result<Authorization, Rejection> {
        self.till.read(credential, terms)
    }

    async fn verify(&self, authorization: &Authorization) -> Result<(), Rejection> {
        self.till.verify(authorization).await
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.till.prepare(authorization, charge, earlier).await
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        self.till.settle(payment).await
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        match self.manner {
            _ if payment.authorization.digest != self.about => self.till.trace(payment, told).await,
            Manner::NeverAnswers => pending().await,
            Manner::Fails => Err(Failure::Lost("no answer".into())),
        }
    }
}

/// Buys a card, and says its order and the digest of what paid for it.
fn buy(world: &Arc<World>, desk: &Desk, nonce: u64) -> (OrderId, CredentialDigest) {
    let deadline = world.time().0 + PROMISE_SECONDS;
    let signed = Promise { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let digest = signed.digest();
    let card = card(&format!("card {nonce}"));
    let request = Request { seller: None, operation_id: None, card, credential: Some(signed) };
    match drive(desk.send(&world.till(TenderKind::X402), request)).unwrap().unwrap() {
        Outcome::Paid { order, .. } => (order, digest),
        Outcome::Due(offer) => panic!("{offer:?}"),
    }
}

fn looks(world: &World, order: OrderId) -> u32 {
    match world.shelf.get(order) {
        Some(Stored::Mailed(order)) => order.attention.looks,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_node_that_never_answers_about_one_payment_keeps_nobody_else_waiting() {
    for stuck in 0..4 {
        let still = Still::default();
        let world = World::new(Box::new(EveryFate::default()), Box::new(still.clone()), PROMISES);
        let desk = world.desk();
        let bought: Vec<_> = (1..=4).map(|nonce| buy(&world, &desk, nonce)).collect();
        still.advance(WALK_SECONDS);
        let (till, about) = (world.till(TenderKind::X402), bought[stuck].1);
        let manner = Manner::NeverAnswers;
        let tenders = Tenders(vec![Arc::new(Silent { till, about, manner })]);
        assert_eq!(drive(desk.reconcile(&tenders, &|_| ())), None, "one of them still waits");
        let looked: Vec<u32> = bought.iter().map(|(order, _)| looks(&world, *order)).collect();
        let expected: Vec<u32> = (0..4).map(|number| u32::from(number != stuck)).collect();
        assert_eq!(looked, expected);
    }
}
