//! The real checkout and provider adapters, with the emulated provider and a fake chain.
//!
//! The checkout is called directly, not over HTTP, and its refusals are mapped to statuses by the
//! same table as in the service.

use std::future::Future;
use std::sync::Arc;

use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::provider::lob::{self, Lob, LobPrices};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountMode, PreviewLocations, ReturnAddress};
use order::checkout::Request;
use order::lifecycle::Stored;
use order::model::ids::OrderId;
use order::model::money::Cents;
use order::model::payment::{Credential, TenderKind};
use order::outcome::{Fulfilment, Outcome};
use order::ports::Provider;
use order::refusal::Refusal;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::{FakeWorld, START_SECONDS};
use pay::refusal_table::HttpError;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::fault::kind::ProviderFault;
use sandbox::provider::fault::operation::ProviderOperation;
use sandbox::provider::fault::rule::ProviderFaultRule;
use sandbox::provider::state::settings::ProviderSettings;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use zeroize::Zeroizing;

/// Orders that use the processor, at the same time.
pub(super) const CONCURRENT_ORDERS: usize = 4;
/// Longer than any order takes, so that each run of the reconciler is due.
pub(super) const RECONCILE_SECONDS: u64 = 130;
/// Twenty-six minutes: after every grace period, and within the hour of the review.
pub(super) const RECONCILE_RUNS: usize = 12;
pub(super) const HOUR: u64 = 60 * 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    ThanksIo,
    Lob,
}

pub(super) const DIALECTS: [Dialect; 2] = [Dialect::ThanksIo, Dialect::Lob];
pub(super) const PRICES: LobPrices = LobPrices { domestic: Cents(87), international: Cents(185) };

/// One seller, one provider, one payer, and a common clock.
pub(super) struct CheckoutFixture {
    pub(super) provider_emulator: ProviderEmulator,
    pub(super) world: Arc<FakeWorld>,
    pub(super) still: ManualTime,
    pub(super) process: FakeProcess,
    pub(super) about: String,
}

impl CheckoutFixture {
    pub(super) async fn open(dialect: Dialect, about: &str) -> Self {
        Self::with_prices(dialect, PRICES, about).await
    }

    pub(super) async fn with_prices(dialect: Dialect, prices: LobPrices, about: &str) -> Self {
        let provider_emulator = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
        let still = ManualTime::default();
        still.advance(provider_emulator.now().0 - START_SECONDS);
        let (fates, pace) = (Box::new(ExhaustiveFaults::default()), Box::new(still.clone()));
        // The fake provider of the world is not used: the checkout calls the emulator.
        let world = FakeWorld::new(fates, pace, thanks_io::PROMISES);
        // With the timeouts of the service: a busy machine must not look like a fault.
        let client = HttpClient::new(HostPolicy::Configured).unwrap();
        let address = |path: &str| {
            HttpUrl::parse(&format!("{}{path}", provider_emulator.base_url())).unwrap()
        };
        let previews = PreviewLocations::new(vec![address("")]);
        let token = Zeroizing::new(provider_emulator.token());
        let provider: Arc<dyn Provider> = match dialect {
            Dialect::ThanksIo => {
                let (base, sender) = (address("/api/v2"), ReturnAddress::default());
                let mode = AccountMode::Live;
                let settings = thanks_io::ThanksIoSettings { base, token, sender, previews, mode };
                Arc::new(ThanksIo::new(settings, client, world.clone()))
            }
            Dialect::Lob => {
                let (base, sender) = (address("/v1"), None);
                let (key, cancel_seconds) = (token, HOUR);
                let settings =
                    lob::LobSettings { base, key, sender, previews, prices, cancel_seconds };
                Arc::new(Lob::new(settings, client, world.clone()))
            }
        };
        let process = FakeProcess::with_provider(&world, provider);
        Self { provider_emulator, world, still, process, about: format!("{dialect:?}, {about}") }
    }

    /// Stops the provider, so that its port refuses connections. Returns the port.
    pub(super) async fn stop_provider(&mut self) -> u16 {
        let port = self.provider_emulator.address().port();
        let placeholder = ProviderEmulator::open(ProviderSettings::default()).await.unwrap();
        std::mem::replace(&mut self.provider_emulator, placeholder).close().await.unwrap();
        port
    }

    pub(super) async fn restart_provider(&mut self, port: u16) {
        self.provider_emulator =
            ProviderEmulator::open(ProviderSettings { port, ..ProviderSettings::default() })
                .await
                .unwrap();
    }

    pub(super) fn add_fault(&self, kind: ProviderFault, operation: ProviderOperation) {
        self.provider_emulator.add_fault(ProviderFaultRule::new(kind).on(operation));
    }

    /// A credential that is valid for five minutes.
    pub(super) fn credential(&self) -> Credential {
        let payee = *self.world.seller_address.lock().unwrap();
        let deadline = self.world.time().0 + CREDENTIAL_SECONDS;
        FakeCredential { nonce: 1, most: 3_500_000, deadline, payee }.credential()
    }

    pub(super) async fn pay(&self, credential: &Credential) -> Result<Outcome, Refusal> {
        let credential = Some(credential.clone());
        let request = Request {
            seller: None,
            operation_id: None,
            card: card("hello"),
            quote: None,
            credential,
        };
        self.process.send(&self.world.tender(TenderKind::X402), request).await
    }

    pub(super) fn advance(&self, seconds: u64) {
        self.still.advance(seconds);
        self.provider_emulator.advance(seconds);
    }

    /// Runs the reconciler so many times.
    pub(super) async fn reconcile(&self, runs: usize) {
        for _ in 0..runs {
            self.advance(RECONCILE_SECONDS);
            self.process.reconcile(&self.world.tenders(), &|_| ()).await.unwrap();
        }
    }

    /// The order id of the unpaid card.
    pub(super) async fn order_id(&self) -> OrderId {
        let card = card("hello");
        let request =
            Request { seller: None, operation_id: None, card, quote: None, credential: None };
        match self.process.send(&self.world.tender(TenderKind::X402), request).await {
            Ok(Outcome::Due(offer)) => offer.order,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn order(&self) -> Stored {
        let mut orders = self.world.store.orders();
        assert_eq!(orders.len(), 1, "{}", self.about);
        orders.remove(0)
    }

    pub(super) fn times_submitted(&self) -> usize {
        let calls = self.provider_emulator.journal();
        calls.iter().filter(|call| call.operation == Some(ProviderOperation::Send)).count()
    }

    /// The number of settlement calls, and of transfers.
    pub(super) fn money(&self) -> (u64, usize) {
        let chain = self.world.chain.lock().unwrap();
        (chain.settle_calls, chain.transfers.len())
    }

    pub(super) fn assert_nothing_moved(&self) {
        let about = &self.about;
        assert_eq!(self.money(), (0, 0), "{about}");
        assert!(self.world.store.orders().is_empty(), "{about}: no order is stored");
        assert_eq!(self.provider_emulator.report().accepted, 0, "{about}");
    }

    /// One payment and one card, also after a repeated request and after the cancellation window.
    pub(super) async fn assert_one_card_for_one_payment(&self, credential: &Credential) {
        let about = &self.about;
        let order = self.order();
        assert!(matches!(order, Stored::Mailed(_)), "{about}: {order:?}");
        let outcome = self.pay(credential).await;
        assert_eq!(fulfilment(&outcome), Some((order.id(), Fulfilment::Submitted)), "{about}");
        assert_eq!(self.money(), (1, 1), "{about}");
        // After the hour in which a card could be canceled.
        self.advance(2 * HOUR);
        let report = self.provider_emulator.report_on(&[order.id().to_string()]);
        assert_eq!(report.live, 1, "{about}: {report:?}");
        assert!(report.double_mailings.is_empty(), "{about}: {report:?}");
        assert!(report.orphans.is_empty() && report.lost.is_empty(), "{about}: {report:?}");
        assert!(report.missing.is_empty(), "{about}: {report:?}");
    }
}

pub(super) fn fulfilment(outcome: &Result<Outcome, Refusal>) -> Option<(OrderId, Fulfilment)> {
    match outcome {
        Ok(Outcome::Paid { order, fulfilment, .. }) => Some((*order, *fulfilment)),
        Ok(Outcome::Due(_)) | Err(_) => None,
    }
}

pub(super) fn status(outcome: &Result<Outcome, Refusal>) -> u16 {
    match outcome {
        Ok(Outcome::Paid { .. }) => 200,
        Ok(Outcome::Due(_)) => 402,
        Err(refusal) => HttpError::from(refusal).status.as_u16(),
    }
}

/// Whether a response with this fault never arrives or never ends.
pub(super) fn never_ends(kind: ProviderFault) -> bool {
    [
        ProviderFault::TimeoutBefore,
        ProviderFault::TimeoutAfter,
        ProviderFault::SlowLoris,
        ProviderFault::SlowHeaders,
    ]
    .contains(&kind)
}

/// Runs the faults that last until our timeout all at once, and the others a few at a time.
#[expect(clippy::print_stdout, reason = "tests/provider_matrix/run adds up these lines")]
pub(super) async fn for_every_fault<W>(run_order: impl Fn(ProviderFault) -> W)
where
    W: Future<Output = ()> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(CONCURRENT_ORDERS));
    let mut orders = JoinSet::new();
    for kind in ProviderFault::ALL {
        let (run_order, permits) = (run_order(*kind), permits.clone());
        let needs_permit = !never_ends(*kind);
        orders.spawn(async move {
            let permit = if needs_permit { Some(permits.acquire().await) } else { None };
            run_order.await;
            drop(permit);
        });
    }
    let count = orders.join_all().await.len();
    assert_eq!(count, 37);
    println!("{count} faults of the provider");
}
