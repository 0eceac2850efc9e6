//! A backlog of paid cards at thanks.io, cleared in simulated time within its rate limit.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

use std::sync::Arc;

use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountHandle, AccountMode, ReturnAddress};
use async_trait::async_trait;
use order::checkout::Request;
use order::lifecycle::Stored;
use order::model::ids::Timestamp;
use order::model::payment::TenderKind;
use order::outcome::Outcome;
use order::ports::{Clock, Provider};
use order::refusal::Refusal;
use order::testing::contract::samples;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::{FakeWorld, START_SECONDS, SimulatedTime};
use order::writer::OrderWriter;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::fault::rule::ProviderFaultRule;
use sandbox::provider::state::settings::ProviderSettings;
use zeroize::Zeroizing;

/// Between two rounds of the reconciler.
const PAUSE_SECONDS: u64 = 5;
/// Between two purchases.
const BUY_SECONDS: u64 = 2;

/// Between two orders that are not ours. The account's rate allows one a second.
const OTHERS_SECONDS: u64 = 1;

/// The time of all sides: a wait makes it pass.
struct SimulatedClock {
    still: ManualTime,
    provider_emulator: Arc<ProviderEmulator>,
}

impl SimulatedClock {
    fn pass(&self, seconds: u64) {
        self.still.advance(seconds);
        self.provider_emulator.advance(seconds);
    }
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp(START_SECONDS + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.still.elapsed() / 1_000
    }

    async fn wait(&self, seconds: u64) {
        tokio::task::yield_now().await;
        self.pass(seconds);
    }
}

/// A fixture at thanks.io, with a desk for buyers and one for the reconciler.
struct BacklogFixture {
    provider_emulator: Arc<ProviderEmulator>,
    clock: Arc<SimulatedClock>,
    world: Arc<FakeWorld>,
    buyers: FakeProcess,
    reconciler: FakeProcess,
}

impl BacklogFixture {
    async fn open() -> Self {
        let settings = ProviderSettings { kept_cards: 10_000, ..ProviderSettings::default() };
        let provider_emulator = Arc::new(ProviderEmulator::open(settings).await.unwrap());
        let still = ManualTime::default();
        still.advance(provider_emulator.now().0 - START_SECONDS);
        let clock = Arc::new(SimulatedClock {
            still: still.clone(),
            provider_emulator: provider_emulator.clone(),
        });
        let fates = Box::new(ExhaustiveFaults::default());
        let world = FakeWorld::new(fates, Box::new(still), thanks_io::PROMISES);
        let provider = account(&provider_emulator, clock.clone());
        let process = |provider: ThanksIo| {
            let writer = world.process().writer().clone();
            let provider = Arc::new(provider);
            let writer = OrderWriter { provider, clock: clock.clone(), ..writer };
            FakeProcess::over(&world, writer)
        };
        let (buyers, reconciler) = (process(provider.clone()), process(provider.for_reconciler()));
        Self { provider_emulator, clock, world, buyers, reconciler }
    }

    /// Orders of the same account that are not ours.
    async fn list_others(&self, count: u64) {
        let many = u16::MAX.try_into().unwrap();
        let others = account(&self.provider_emulator, self.clock.clone()).calling(many);
        for seed in 0..count {
            others.submit(&samples::paid(1_000_000 + seed)).await.unwrap();
            self.clock.pass(OTHERS_SECONDS);
        }
    }

    /// Pays for so many cards while the provider has a fault at submissions.
    async fn buy_during(&self, fault: ProviderFault, count: u64) {
        self.provider_emulator.add_fault(ProviderFaultRule::new(fault).on(ProviderOperation::Send));
        for nonce in 1..=count {
            while is_unavailable(&self.buy(nonce).await) {
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
        let till = self.world.tender(TenderKind::X402);
        let deadline = self.world.time().0 + CREDENTIAL_SECONDS;
        let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let (card, credential) = (card(&format!("card {nonce}")), Some(signed));
        let request = Request { seller: None, operation_id: None, card, quote: None, credential };
        self.buyers.send(&till, request).await
    }

    async fn round(&self) {
        self.reconciler.reconcile(&self.world.tenders(), &|_| ()).await.unwrap();
    }

    /// Rounds until every card is known to be mailed, for at most so long; says how long.
    async fn clear(&self, seconds_max: u64) -> Option<u64> {
        let begun = self.clock.uptime();
        while self.clock.uptime() - begun <= seconds_max {
            if self.mailed() == self.world.store.orders().len() {
                return Some(self.clock.uptime() - begun);
            }
            self.clock.pass(PAUSE_SECONDS);
            self.round().await;
        }
        None
    }

    fn mailed(&self) -> usize {
        let orders = self.world.store.orders();
        orders.iter().filter(|order| matches!(order, Stored::Mailed(_))).count()
    }

    fn calls(&self, operation: ProviderOperation) -> usize {
        let calls = self.provider_emulator.journal();
        calls.iter().filter(|call| call.operation == Some(operation)).count()
    }
}

/// No call is left for a quote, or for the card.
fn is_unavailable(outcome: &Result<Outcome, Refusal>) -> bool {
    match outcome {
        Err(Refusal::AboutOrder(_, why)) => **why == Refusal::ProviderUnavailable,
        outcome => *outcome == Err(Refusal::ProviderUnavailable),
    }
}

fn account(provider_emulator: &ProviderEmulator, clock: Arc<SimulatedClock>) -> ThanksIo {
    let settings = thanks_io::ThanksIoSettings {
        base: HttpUrl::parse(&format!("{}/api/v2", provider_emulator.base_url())).unwrap(),
        token: Zeroizing::new(provider_emulator.token()),
        sender: ReturnAddress::default(),
        previews: thanks_io::ThanksIoSettings::known_previews(),
        mode: AccountMode::Live,
    };
    ThanksIo::new(settings, HttpClient::new(HostPolicy::Configured).unwrap(), clock)
}

#[tokio::test]
async fn a_hundred_refused_cards_are_cleared_in_the_time_that_the_rate_limit_needs() {
    let fixture = BacklogFixture::open().await;
    fixture.list_others(2_000).await;
    fixture.buy_during(ProviderFault::RateLimited, 100).await;
    fixture.provider_emulator.clear_faults();
    fixture.provider_emulator.clear_journal();
    let cleared = fixture.clear(3 * 60 * 60).await;
    let (lists, sends) =
        (fixture.calls(ProviderOperation::List), fixture.calls(ProviderOperation::Send));
    println!(
        "cleared {} of 100 after {cleared:?} s of simulated time: {sends} submissions, \
         {lists} list calls",
        fixture.mailed()
    );
    // The reconciler has 30 calls a minute beside idle buyers: 100 submissions and 21 pages.
    let needed = (100 + 21) * 60 / 30;
    assert!(cleared.is_some_and(|seconds| seconds <= needed + 60), "{cleared:?}");
    assert_eq!(sends, 100);
    assert!(lists <= 21, "{lists} list calls");
    // Each card is looked at three times in its first hour, by a few scans for all.
    for _ in 0..60 * 60 / PAUSE_SECONDS {
        fixture.clock.pass(PAUSE_SECONDS);
        fixture.round().await;
    }
    println!("after another hour: {} list calls", fixture.calls(ProviderOperation::List));
    assert_eq!((fixture.mailed(), fixture.calls(ProviderOperation::Send)), (100, 100));
    let report = fixture.provider_emulator.report();
    assert!(report.double_mailings.is_empty(), "{report:?}");
}

#[tokio::test]
async fn lost_cards_behind_two_thousand_others_are_found_by_one_scan() {
    let fixture = BacklogFixture::open().await;
    fixture.buy_during(ProviderFault::ResetAfter, 10).await;
    fixture.provider_emulator.clear_faults();
    fixture.list_others(2_000).await;
    fixture.provider_emulator.clear_journal();
    let cleared = fixture.clear(60 * 60).await;
    let lists = fixture.calls(ProviderOperation::List);
    println!("found 10 of 10 after {cleared:?} s of simulated time: {lists} list calls");
    assert!(cleared.is_some_and(|seconds| seconds <= 15 * 60), "{cleared:?}");
    // One scan of 21 pages finds all ten cards. What it has shown is kept, so the lookups that the
    // back-off spreads over the next minutes read only the newest pages: back to orders that were
    // certainly visible when the scan began. Lookups at the same time share these pages.
    assert!(lists <= 21 + 10, "{lists} list calls");
    assert_eq!(fixture.calls(ProviderOperation::Send), 0, "none is submitted again");
}
