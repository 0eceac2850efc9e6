//! A payment that belongs to one order, brought for another.

use std::sync::Mutex;

use super::*;
use crate::model::money::Price;
use crate::model::payment::{Authorization, CredentialKeys, Preparation, Trace};
use crate::tender::{Rejection, Unsettled};
use crate::testing::fakes::chain::Till;

const RAILS: [TenderKind; 2] = [TenderKind::X402, TenderKind::Mpp];

#[test]
fn one_authorization_pays_for_one_card_and_for_another_nobody_is_asked() {
    for rail in RAILS {
        let (world, _) = good_world();
        let (desk, till) = (world.desk(), world.till(rail));
        let signed = promise(&world, 1).credential();
        let paid = drive(desk.send(&till, request("hello", Some(signed.clone())))).unwrap();
        assert!(matches!(paid, Ok(Outcome::Paid { .. })), "{paid:?}");
        // Whatever the provider would say of the other card, it is not asked.
        world.press.lock().unwrap().total = Cents(0);
        let again = drive(desk.send(&till, request("goodbye", Some(signed)))).unwrap();
        assert_eq!(again, Err(Refusal::PaymentBoundElsewhere), "{rail:?}");
        assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
        // The other card is still to be had, with a payment of its own.
        world.press.lock().unwrap().total = Cents(200);
        let fresh = promise(&world, 2).credential();
        let paid = drive(desk.send(&till, request("goodbye", Some(fresh)))).unwrap();
        assert!(matches!(paid, Ok(Outcome::Paid { .. })), "{paid:?}");
    }
}

#[test]
fn a_payment_that_came_to_nothing_stays_with_its_order() {
    let (world, _) = good_world();
    let desk = world.desk();
    let signed = promise(&world, 1).credential();
    let refusing = Spender { refuses: Step::Settle, ..Spender::new(&world, TenderKind::X402) };
    let declined = drive(desk.send(&refusing, request("hello", Some(signed.clone())))).unwrap();
    assert!(matches!(declined, Err(Refusal::PaymentDeclined { .. })), "{declined:?}");
    let other = send(&world, &desk, request("goodbye", Some(signed.clone())));
    assert_eq!(other, Err(Refusal::PaymentBoundElsewhere));
    let own = send(&world, &desk, request("hello", Some(signed)));
    assert!(matches!(own, Ok(Outcome::Paid { .. })), "{own:?}");
}

#[test]
fn a_payment_that_is_spent_elsewhere_while_it_is_checked_is_no_invitation() {
    for (rail, refuses) in
        RAILS.into_iter().flat_map(|rail| [Step::Verify, Step::Prepare].map(|step| (rail, step)))
    {
        let (world, _) = good_world();
        let signed = promise(&world, 1).credential();
        let elsewhere = Some((world.desk(), request("hello", Some(signed.clone()))));
        let spender =
            Spender { refuses, elsewhere: elsewhere.into(), ..Spender::new(&world, rail) };
        let said = drive(world.desk().send(&spender, request("goodbye", Some(signed)))).unwrap();
        assert_eq!(said, Err(Refusal::PaymentBoundElsewhere), "{rail:?} {refuses:?}");
        assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Verify,
    Prepare,
    Settle,
}

/// A till that says no at one step, or lets it pass, after another process has spent the
/// promise.
pub(super) struct Spender {
    till: Till,
    refuses: Step,
    /// What is said at that step.
    word: Result<(), &'static str>,
    elsewhere: Mutex<Option<(Desk, Request)>>,
}

impl Spender {
    fn new(world: &Arc<World>, rail: TenderKind) -> Self {
        let (refuses, word) = (Step::Verify, Err("the nonce is used"));
        Self { till: world.till(rail), refuses, word, elsewhere: Mutex::default() }
    }

    /// Lets everything pass, and another process pay while this one asks for the money.
    pub(super) fn interrupted(world: &Arc<World>, elsewhere: (Desk, Request)) -> Self {
        let spender = Self::new(world, TenderKind::X402);
        Self { refuses: Step::Prepare, word: Ok(()), elsewhere: Some(elsewhere).into(), ..spender }
    }

    async fn allows(&self, step: Step) -> Result<(), String> {
        if self.refuses != step {
            return Ok(());
        }
        let elsewhere = self.elsewhere.lock().unwrap().take();
        if let Some((desk, request)) = elsewhere {
            desk.send(&self.till, request).await.unwrap();
        }
        self.word.map_err(str::to_owned)
    }
}

#[async_trait]
impl Tender for Spender {
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
        self.allows(Step::Verify).await.map_err(Rejection::Invalid)?;
        self.till.verify(authorization).await
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.allows(Step::Prepare).await.map_err(Rejection::Invalid)?;
        self.till.prepare(authorization, charge, earlier).await
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        self.allows(Step::Settle).await.map_err(Unsettled::Refused)?;
        self.till.settle(payment).await
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        self.till.trace(payment, told).await
    }
}
