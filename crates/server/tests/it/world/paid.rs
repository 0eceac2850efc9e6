//! The real desk and the real adapters before the sandbox's provider, with money that is counted.
//!
//! The desk is asked directly rather than through a door, with promises of the small world,
//! and what it refuses goes through the one table from refusals to statuses.

mod at_quote;
mod at_submit;

use std::future::Future;
use std::sync::Arc;

use adapters::http::{Address, Client, Reach};
use adapters::provider::lob::{self, Lob, Prices};
use adapters::provider::thanks_io::{self, ThanksIo};
use adapters::provider::{AccountMode, PreviewPlaces, Sender};
use order::checkout::{Desk, Fulfilment, Outcome, Request};
use order::lifecycle::Stored;
use order::model::ids::OrderId;
use order::model::money::Cents;
use order::model::payment::{Credential, TenderKind};
use order::ports::Provider;
use order::refusal::Refusal;
use order::testing::fakes::cards::card;
use order::testing::fakes::chain::{PROMISE_SECONDS, Promise};
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::{DAWN, World};
use pay::envelope::verdict;
use sandbox::provider::PostOffice;
use sandbox::provider::fault::kind::Kind;
use sandbox::provider::fault::operation::Operation;
use sandbox::provider::fault::rule::Rule;
use sandbox::provider::settings::Settings;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use zeroize::Zeroizing;

/// Walks that keep a processor busy, side by side.
const WALKS: usize = 4;
/// Longer than any walk, so that each look of the reconciler is due.
const BETWEEN_LOOKS: u64 = 130;
/// Twenty-six minutes: past every grace period, and inside the review's hour.
const LOOKS: usize = 12;
const HOUR: u64 = 60 * 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    ThanksIo,
    Lob,
}

const DIALECTS: [Dialect; 2] = [Dialect::ThanksIo, Dialect::Lob];
const PRICES: Prices = Prices { domestic: Cents(87), international: Cents(185) };

/// One seller, one provider, one payer, and a clock that all of them keep.
struct Shop {
    office: PostOffice,
    world: Arc<World>,
    still: Still,
    desk: Desk,
    about: String,
}

impl Shop {
    async fn open(dialect: Dialect, about: &str) -> Self {
        Self::with_prices(dialect, PRICES, about).await
    }

    async fn with_prices(dialect: Dialect, prices: Prices, about: &str) -> Self {
        let office = PostOffice::open(Settings::default()).await.unwrap();
        let still = Still::default();
        still.advance(office.now().0 - DAWN);
        let (fates, pace) = (Box::new(EveryFate::default()), Box::new(still.clone()));
        // The world's own press stands idle: the desk speaks to the office.
        let world = World::new(fates, pace, thanks_io::PROMISES);
        // As patient as the service itself: a busy machine must not look like a fault.
        let client = Client::new(Reach::Configured).unwrap();
        let address = |path: &str| Address::parse(&format!("{}{path}", office.base_url())).unwrap();
        let previews = PreviewPlaces::new(vec![address("")]);
        let token = Zeroizing::new(office.token());
        let provider: Arc<dyn Provider> = match dialect {
            Dialect::ThanksIo => {
                let (base, sender) = (address("/api/v2"), Sender::default());
                let mode = AccountMode::Live;
                let settings = thanks_io::Settings { base, token, sender, previews, mode };
                Arc::new(ThanksIo::new(settings, client, world.clone()))
            }
            Dialect::Lob => {
                let (base, sender) = (address("/v1"), None);
                let (key, cancel_seconds) = (token, HOUR);
                let settings =
                    lob::Settings { base, key, sender, previews, prices, cancel_seconds };
                Arc::new(Lob::new(settings, client, world.clone()))
            }
        };
        let desk = Desk { provider, ..world.desk() };
        Self { office, world, still, desk, about: format!("{dialect:?}, {about}") }
    }

    /// The provider hangs up; somebody else stands in its place, unasked.
    async fn shut(&mut self) -> u16 {
        let port = self.office.address().port();
        let placeholder = PostOffice::open(Settings::default()).await.unwrap();
        std::mem::replace(&mut self.office, placeholder).close().await.unwrap();
        port
    }

    async fn reopen(&mut self, port: u16) {
        self.office = PostOffice::open(Settings { port, ..Settings::default() }).await.unwrap();
    }

    fn arm(&self, kind: Kind, operation: Operation) {
        self.office.add_fault(Rule::new(kind).on(operation));
    }

    /// A promise that is good for five minutes from now.
    fn signed(&self) -> Credential {
        let payee = *self.world.seller_address.lock().unwrap();
        let deadline = self.world.time().0 + PROMISE_SECONDS;
        Promise { nonce: 1, most: 3_500_000, deadline, payee }.credential()
    }

    async fn pay(&self, credential: &Credential) -> Result<Outcome, Refusal> {
        let credential = Some(credential.clone());
        let request = Request { seller: None, operation_id: None, card: card("hello"), credential };
        self.desk.send(&self.world.till(TenderKind::X402), request).await
    }

    fn pass(&self, seconds: u64) {
        self.still.advance(seconds);
        self.office.advance(seconds);
    }

    /// The reconciler looks, again and again.
    async fn reconcile(&self, looks: usize) {
        for _ in 0..looks {
            self.pass(BETWEEN_LOOKS);
            self.desk.reconcile(&self.world.tenders(), &|_| ()).await.unwrap();
        }
    }

    /// The order of the card that is not paid for.
    async fn order_id(&self) -> OrderId {
        let card = card("hello");
        let request = Request { seller: None, operation_id: None, card, credential: None };
        match self.desk.send(&self.world.till(TenderKind::X402), request).await {
            Ok(Outcome::Due(offer)) => offer.order,
            other => panic!("{other:?}"),
        }
    }

    fn order(&self) -> Stored {
        let mut orders = self.world.shelf.orders();
        assert_eq!(orders.len(), 1, "{}", self.about);
        orders.remove(0)
    }

    fn times_handed_in(&self) -> usize {
        let calls = self.office.journal();
        calls.iter().filter(|call| call.operation == Some(Operation::Send)).count()
    }

    /// How often money was asked for, and how often it moved.
    fn money(&self) -> (u64, usize) {
        let chain = self.world.chain.lock().unwrap();
        (chain.settle_calls, chain.transfers.len())
    }

    fn nothing_moved(&self) {
        let about = &self.about;
        assert_eq!(self.money(), (0, 0), "{about}");
        assert!(self.world.shelf.orders().is_empty(), "{about}: nothing is left of the request");
        assert_eq!(self.office.report().accepted, 0, "{about}");
    }

    /// One payment, one card, known to both sides; and so it stays.
    async fn one_card_for_one_payment(&self, credential: &Credential) {
        let about = &self.about;
        let order = self.order();
        assert!(matches!(order, Stored::Mailed(_)), "{about}: {order:?}");
        let said = self.pay(credential).await;
        assert_eq!(fulfilment(&said), Some((order.id(), Fulfilment::Submitted)), "{about}");
        assert_eq!(self.money(), (1, 1), "{about}");
        // Past the hour in which a card could still be stopped.
        self.pass(2 * HOUR);
        let report = self.office.report_on(&[order.id().to_string()]);
        assert_eq!(report.live, 1, "{about}: {report:?}");
        assert!(report.double_mailings.is_empty(), "{about}: {report:?}");
        assert!(report.orphans.is_empty() && report.lost.is_empty(), "{about}: {report:?}");
        assert!(report.missing.is_empty(), "{about}: {report:?}");
    }
}

fn fulfilment(said: &Result<Outcome, Refusal>) -> Option<(OrderId, Fulfilment)> {
    match said {
        Ok(Outcome::Paid { order, fulfilment, .. }) => Some((*order, *fulfilment)),
        Ok(Outcome::Due(_)) | Err(_) => None,
    }
}

fn status(said: &Result<Outcome, Refusal>) -> u16 {
    match said {
        Ok(Outcome::Paid { .. }) => 200,
        Ok(Outcome::Due(_)) => 402,
        Err(refusal) => verdict(refusal).status.as_u16(),
    }
}

/// Whether an answer with this fault never comes, or never ends.
fn is_endless(kind: Kind) -> bool {
    [Kind::TimeoutBefore, Kind::TimeoutAfter, Kind::SlowLoris, Kind::SlowHeaders].contains(&kind)
}

/// Those that last as long as our patience all at once, and beside them a few at a time.
async fn every_kind<W>(walk: impl Fn(Kind) -> W)
where
    W: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(WALKS));
    let mut walks = JoinSet::new();
    for kind in Kind::ALL {
        let (walk, places) = (walk(*kind), places.clone());
        let waits_for_a_place = !is_endless(*kind);
        walks.spawn(async move {
            let place = if waits_for_a_place { Some(places.acquire().await) } else { None };
            walk.await;
            drop(place);
        });
    }
    assert_eq!(walks.join_all().await.len(), 37);
}
