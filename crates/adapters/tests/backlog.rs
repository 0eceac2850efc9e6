//! A backlog of paid cards at thanks.io, cleared in simulated time within its rate limit.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

use std::sync::Arc;

use adapters::http::{Address, Client, Reach};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountMode, Sender};
use async_trait::async_trait;
use order::checkout::{Desk, Outcome, Request};
use order::lifecycle::Stored;
use order::model::ids::Timestamp;
use order::model::payment::TenderKind;
use order::ports::{Clock, Provider};
use order::refusal::Refusal;
use order::testing::contract::samples;
use order::testing::fakes::cards::card;
use order::testing::fakes::chain::{PROMISE_SECONDS, Promise};
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::{DAWN, Pace, World};
use sandbox::provider::PostOffice;
use sandbox::provider::fault::kind::Kind;
use sandbox::provider::fault::operation::Operation;
use sandbox::provider::fault::rule::Rule;
use sandbox::provider::settings::Settings;
use zeroize::Zeroizing;

/// Between two rounds of the reconciler.
const PAUSE_SECONDS: u64 = 5;
/// Between two purchases.
const BUY_SECONDS: u64 = 2;

/// The time of all sides: a wait makes it pass.
struct Simulated {
    still: Still,
    office: Arc<PostOffice>,
}

impl Simulated {
    fn pass(&self, seconds: u64) {
        self.still.advance(seconds);
        self.office.advance(seconds);
    }
}

#[async_trait]
impl Clock for Simulated {
    fn now(&self) -> Timestamp {
        Timestamp(DAWN + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.still.elapsed() / 1_000
    }

    async fn wait(&self, seconds: u64) {
        tokio::task::yield_now().await;
        self.pass(seconds);
    }
}

/// A shop at thanks.io, with a desk for buyers and one for the reconciler.
struct Shop {
    office: Arc<PostOffice>,
    clock: Arc<Simulated>,
    world: Arc<World>,
    buyers: Desk,
    reconciler: Desk,
}

impl Shop {
    async fn open() -> Self {
        let settings = Settings { kept_cards: 10_000, ..Settings::default() };
        let office = Arc::new(PostOffice::open(settings).await.unwrap());
        let still = Still::default();
        still.advance(office.now().0 - DAWN);
        let clock = Arc::new(Simulated { still: still.clone(), office: office.clone() });
        let fates = Box::new(EveryFate::default());
        let world = World::new(fates, Box::new(still), thanks_io::PROMISES);
        let provider = account(&office, clock.clone());
        let desk = |provider: ThanksIo| Desk {
            provider: Arc::new(provider),
            clock: clock.clone(),
            ..world.desk()
        };
        let (buyers, reconciler) = (desk(provider.clone()), desk(provider.for_reconciler()));
        Self { office, clock, world, buyers, reconciler }
    }

    /// Orders of the same account that are not ours.
    async fn list_others(&self, count: u64) {
        let many = u16::MAX.try_into().unwrap();
        let others = account(&self.office, self.clock.clone()).calling(many);
        for seed in 0..count {
            others.submit(&samples::paid(1_000_000 + seed)).await.unwrap();
        }
    }

    /// Pays for so many cards while the provider has a fault at submissions.
    async fn buy_during(&self, fault: Kind, count: u64) {
        self.office.add_fault(Rule::new(fault).on(Operation::Send));
        for nonce in 1..=count {
            while self.buy(nonce).await == Err(Refusal::ProviderUnavailable) {
                self.clock.pass(BUY_SECONDS);
            }
            self.clock.pass(BUY_SECONDS);
            if nonce % 3 == 0 {
                self.round().await;
            }
        }
        assert_eq!(
            self.world.chain.lock().unwrap().transfers.len(),
            usize::try_from(count).unwrap()
        );
    }

    async fn buy(&self, nonce: u64) -> Result<Outcome, Refusal> {
        let till = self.world.till(TenderKind::X402);
        let deadline = self.world.time().0 + PROMISE_SECONDS;
        let signed = Promise { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let (card, credential) = (card(&format!("card {nonce}")), Some(signed));
        let request = Request { seller: None, operation_id: None, card, credential };
        self.buyers.send(&till, request).await
    }

    async fn round(&self) {
        self.reconciler.reconcile(&self.world.tenders(), &|_| ()).await.unwrap();
    }

    /// Rounds until every card is known to be mailed, for at most so long; says how long.
    async fn clear(&self, seconds_max: u64) -> Option<u64> {
        let begun = self.clock.uptime();
        while self.clock.uptime() - begun <= seconds_max {
            if self.mailed() == self.world.shelf.orders().len() {
                return Some(self.clock.uptime() - begun);
            }
            self.clock.pass(PAUSE_SECONDS);
            self.round().await;
        }
        None
    }

    fn mailed(&self) -> usize {
        let orders = self.world.shelf.orders();
        orders.iter().filter(|order| matches!(order, Stored::Mailed(_))).count()
    }

    fn calls(&self, operation: Operation) -> usize {
        let calls = self.office.journal();
        calls.iter().filter(|call| call.operation == Some(operation)).count()
    }
}

fn account(office: &PostOffice, clock: Arc<Simulated>) -> ThanksIo {
    let settings = thanks_io::Settings {
        base: Address::parse(&format!("{}/api/v2", office.base_url())).unwrap(),
        token: Zeroizing::new(office.token()),
        sender: Sender::default(),
        previews: thanks_io::Settings::known_previews(),
        mode: AccountMode::Live,
    };
    ThanksIo::new(settings, Client::new(Reach::Configured).unwrap(), clock)
}

#[tokio::test]
async fn a_hundred_refused_cards_are_cleared_in_the_time_that_the_rate_limit_needs() {
    let shop = Shop::open().await;
    shop.list_others(2_000).await;
    shop.buy_during(Kind::RateLimited, 100).await;
    shop.office.clear_faults();
    shop.office.clear_journal();
    let cleared = shop.clear(3 * 60 * 60).await;
    let (lists, sends) = (shop.calls(Operation::List), shop.calls(Operation::Send));
    println!(
        "cleared {} of 100 after {cleared:?} s of simulated time: {sends} submissions, \
         {lists} list calls",
        shop.mailed()
    );
    // The reconciler has 30 calls a minute beside idle buyers: 100 submissions and 21 pages.
    let needed = (100 + 21) * 60 / 30;
    assert!(cleared.is_some_and(|seconds| seconds <= needed + 60), "{cleared:?}");
    assert_eq!(sends, 100);
    assert!(lists <= 21, "{lists} list calls");
    // Each card is looked at three times in its first hour, by a few scans for all.
    for _ in 0..60 * 60 / PAUSE_SECONDS {
        shop.clock.pass(PAUSE_SECONDS);
        shop.round().await;
    }
    println!("after another hour: {} list calls", shop.calls(Operation::List));
    assert_eq!((shop.mailed(), shop.calls(Operation::Send)), (100, 100));
    let report = shop.office.report();
    assert!(report.double_mailings.is_empty(), "{report:?}");
}

#[tokio::test]
async fn lost_cards_behind_two_thousand_others_are_found_by_one_scan() {
    let shop = Shop::open().await;
    shop.buy_during(Kind::ResetAfter, 10).await;
    shop.office.clear_faults();
    shop.list_others(2_000).await;
    shop.office.clear_journal();
    let cleared = shop.clear(60 * 60).await;
    let lists = shop.calls(Operation::List);
    println!("found 10 of 10 after {cleared:?} s of simulated time: {lists} list calls");
    assert!(cleared.is_some_and(|seconds| seconds <= 15 * 60), "{cleared:?}");
    // The back-off spreads the looks: at most two scans, and the newest page for each card.
    assert!(lists <= 2 * 21 + 10, "{lists} list calls");
    assert_eq!(shop.calls(Operation::Send), 0, "none is submitted again");
}
