//! Shared by the tests of both providers: paid orders, and every fault of a server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use order::lifecycle::{Order, Submitting};
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::{AcceptedCard, Cancellation, Mailpiece};
use order::ports::{Failure, Provider, StoreError, Unanswered};
use order::testing::contract::samples;
use order::testing::manual_clock::ManualClock;
use sandbox::provider::ProviderEmulator;
use sandbox::provider::state::settings::ProviderSettings;

use super::budget::{BudgetExhausted, CallRate, LedgerEntry, SharedBudget};
use crate::http::test_server::{Reply, Server, listen};
use crate::http::{HostPolicy, HttpClient, HttpUrl};

/// A shared budget without free calls.
pub(super) struct ExhaustedBudget;

#[async_trait]
impl SharedBudget for ExhaustedBudget {
    async fn apply(
        &self,
        _: LedgerEntry,
        _: CallRate,
    ) -> Result<Result<(), BudgetExhausted>, StoreError> {
        Ok(Err(BudgetExhausted))
    }
}

/// For a server that answers on a busy machine.
pub(super) fn client() -> HttpClient {
    HttpClient::new(HostPolicy::Configured).unwrap().answering_within(Duration::from_secs(60))
}

/// For a server that never completes a response.
fn hurried() -> HttpClient {
    client().answering_within(Duration::from_millis(400))
}

/// A paid order, ready to be mailed, for [`samples::quote`]'s 175 cents.
pub(super) fn paid() -> Order<Submitting> {
    samples::paid(1)
}

/// An account at the emulated provider.
pub(super) struct EmulatedAccount<P> {
    pub(super) emulator: ProviderEmulator,
    pub(super) provider: P,
    pub(super) clock: Arc<ManualClock>,
    /// Passes before each card, so that there is a call for it.
    pause_seconds: u64,
}

/// The cards of a period, with others before, in and after it.
pub(super) struct CardPeriod {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    pub(super) early: Mailpiece,
    pub(super) late: Mailpiece,
    /// Those that were not cancelled, with their orders.
    pub(super) cards: Vec<(Mailpiece, Option<OrderId>)>,
}

impl<P: Provider> EmulatedAccount<P> {
    pub(super) async fn open(
        pause_seconds: u64,
        make: impl FnOnce(&ProviderEmulator, Arc<ManualClock>) -> P,
    ) -> Self {
        let settings = ProviderSettings { list_lag_seconds: 0, ..ProviderSettings::default() };
        let emulator = ProviderEmulator::open(settings).await.unwrap();
        let clock = Arc::new(ManualClock::default());
        let provider = make(&emulator, clock.clone());
        Self { emulator, provider, clock, pause_seconds }
    }

    /// Submits the card of an order.
    pub(super) async fn submit(&self, seed: u64) -> Mailpiece {
        self.clock.advance(self.pause_seconds);
        self.provider.submit(&samples::paid(seed)).await.unwrap()
    }

    /// Submits so many cards in a period, and the given one, which has no reference.
    pub(super) async fn fill_period(
        &self,
        count: u64,
        without_reference: impl Future<Output = Mailpiece>,
    ) -> CardPeriod {
        let early = self.submit(1).await;
        self.emulator.advance(10);
        let from = self.emulator.now();
        let mut cards = Vec::new();
        for seed in 2..2 + count {
            cards.push((self.submit(seed).await, Some(samples::paid(seed).id)));
        }
        cards.push((without_reference.await, None));
        let cancelled = self.submit(200).await;
        assert_eq!(self.provider.cancel(&cancelled).await, Ok(Cancellation::Cancelled));
        self.emulator.advance(10);
        let until = self.emulator.now();
        let late = self.submit(201).await;
        CardPeriod { from, until, early, late, cards }
    }

    pub(super) async fn accepted(&self, from: Timestamp, until: Timestamp) -> Vec<AcceptedCard> {
        self.provider.accepted(from, until).await.unwrap()
    }
}

/// The errors that one fault must cause.
pub(super) struct Expected {
    pub(super) asked: Unanswered,
    pub(super) submitted: SubmitFailure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubmitFailure {
    Refused,
    Lost,
}

pub(super) fn submit_failure(
    result: Result<Mailpiece, Failure>,
) -> Result<Mailpiece, SubmitFailure> {
    result.map_err(|failure| match failure {
        Failure::Refused(_) => SubmitFailure::Refused,
        Failure::Lost(_) => SubmitFailure::Lost,
    })
}

/// Responses that never start or never end.
fn endless() -> Vec<(String, Reply, Expected)> {
    let head = "HTTP/1.1 200 OK\r\n";
    [
        ("timeout", Reply::Nothing),
        ("slow body", Reply::Raw(format!("{head}content-length: 9\r\n\r\n{{"))),
        ("slow headers", Reply::Raw("HTTP/1.1 200".into())),
    ]
    .map(|(name, reply)| {
        let expected = Expected { asked: Unanswered::Unreachable, submitted: SubmitFailure::Lost };
        (name.to_owned(), reply, expected)
    })
    .into()
}

/// Everything that can be wrong with a response.
fn faults() -> Vec<(String, Reply, Expected)> {
    use SubmitFailure::{Lost, Refused};
    use Unanswered::{Unavailable, Unreachable, Unusable};
    let mut all = Vec::new();
    let mut add = |name: &str, reply: Reply, asked: Unanswered, submitted: SubmitFailure| {
        all.push((name.to_owned(), reply, Expected { asked, submitted }));
    };
    for (status, asked, submitted) in [
        (302, Unusable, Lost),
        (308, Unusable, Lost),
        (400, Unusable, Refused),
        (401, Unavailable, Refused),
        (402, Unavailable, Refused),
        (403, Unavailable, Lost),
        (404, Unusable, Refused),
        (408, Unusable, Lost),
        (409, Unusable, Lost),
        (413, Unusable, Refused),
        (415, Unusable, Refused),
        (422, Unusable, Refused),
        (429, Unavailable, Refused),
        (500, Unreachable, Lost),
        (502, Unreachable, Lost),
        (503, Unreachable, Lost),
    ] {
        let body = r#"{"message":"No.","id":1,"data":{}}"#;
        add(&format!("status {status}"), Reply::json(status, body), asked, submitted);
    }
    let head = "HTTP/1.1 200 OK\r\n";
    add("reset", Reply::Last(String::new()), Unreachable, Lost);
    add("truncated", Reply::Last(format!("{head}content-length: 9\r\n\r\n{{")), Unreachable, Lost);
    let twice = format!("{head}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}");
    add("two lengths", Reply::Last(twice), Unreachable, Lost);
    let gzip = format!("{head}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{{}}");
    add("gzip", Reply::Raw(gzip), Unusable, Lost);
    let huge = format!("{{\"id\":1,\"data\":\"{}\"}}", "x".repeat(300_000));
    add("huge", Reply::good(&huge), Unusable, Lost);
    let deep = format!("{{\"id\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
    for (name, body) in [
        ("empty", ""),
        ("malformed", "{\"id\":1,"),
        ("html", "<html>all good</html>"),
        ("array", "[{\"id\":1}]"),
        ("nothing", "null"),
        ("no fields", "{}"),
        ("deep", &deep),
        ("id as text", r#"{"id":"one","data":{}}"#),
        ("id negative", r#"{"id":-1,"data":{}}"#),
        ("id fractional", r#"{"id":1.5,"data":{}}"#),
    ] {
        add(name, Reply::good(body), Unusable, Lost);
    }
    all
}

/// Runs every fault against providers made by `make`.
pub(super) async fn every_fault<P: Provider>(
    make: impl Fn(HttpUrl, HttpClient) -> P,
    quote: QuoteSource,
) {
    for (client, faults) in [(client(), faults()), (hurried(), endless())] {
        for (name, reply, expected) in faults {
            let server = Server::start([reply]).await;
            let provider = make(server.address.clone(), client.clone());
            one_fault(&provider, quote, &name, &expected).await;
        }
    }
    let (listener, nowhere) = listen().await;
    drop(listener);
    let (provider, order) = (make(nowhere, client()), paid());
    let preview = provider.preview(&order.state.card).await.map(drop);
    assert_eq!(preview, Err(Unanswered::Unreachable));
    assert_eq!(submit_failure(provider.submit(&order).await), Err(SubmitFailure::Refused));
}

async fn one_fault(provider: &impl Provider, quote: QuoteSource, name: &str, expected: &Expected) {
    let (asked, order) = (Err(expected.asked), paid());
    assert_eq!(provider.preview(&order.state.card).await.map(drop), asked, "preview: {name}");
    if quote == QuoteSource::Provider {
        assert_eq!(provider.quote(&order.state.card).await.map(drop), asked, "quote: {name}");
    }
    let submitted = submit_failure(provider.submit(&order).await);
    assert_eq!(submitted, Err(expected.submitted), "submit: {name}");
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteSource {
    Provider,
    Contract,
}
