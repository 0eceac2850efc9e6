//! No marked word of a card is in any log line of the checkout and the store.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use adapters::keys::Keyring;
use adapters::store::sqlite::SqliteStore;
use order::checkout::Request;
use order::model::card::{Draft, Postcard};
use order::model::mail::Promises;
use order::model::payment::TenderKind;
use order::outcome::{Fulfilment, Outcome};
use order::ports::{Store, StoreError};
use order::testing::fakes::fault_schedule::{FaultSchedule, SimulatedFault};
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
use order::testing::fakes::world::FakeWorld;
use rusqlite::Connection;
use tracing_subscriber::fmt;

const MARKS: [&str; 7] =
    ["markfront", "markmessage", "markname", "markaddress", "markcity", "markprovince", "MARKCODE"];

/// What the log is written on.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The second deed fails: the money moves, and the provider refuses the card.
#[derive(Default)]
struct RefusedCard {
    deeds: u32,
}

impl FaultSchedule for RefusedCard {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options.contains(&SimulatedFault::Refused) {
            self.deeds += 1;
            if self.deeds == 2 {
                return SimulatedFault::Refused;
            }
        }
        options[0]
    }
}

fn marked_card() -> Postcard {
    Postcard::parse(&Draft {
        front_image_url: Some("https://images.example.org/markfront.jpg"),
        message: Some("markmessage"),
        name: Some("markname"),
        address: Some("markaddress"),
        city: Some("markcity"),
        province: Some("markprovince"),
        postal_code: Some("MARKCODE"),
        country: Some("DE"),
    })
    .unwrap()
}

async fn pay(world: &Arc<FakeWorld>, process: &FakeProcess, nonce: u64) -> Outcome {
    let deadline = world.time().0 + CREDENTIAL_SECONDS;
    let signed = FakeCredential { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let card = marked_card();
    let request =
        Request { seller: None, operation_id: None, card, quote: None, credential: Some(signed) };
    process.send(&world.tender(TenderKind::X402), request).await.unwrap()
}

#[tokio::test]
async fn no_marked_word_of_a_card_is_in_any_log_line() {
    let paper = Paper::default();
    let writer = paper.clone();
    // Every log line of every crate, at the most detailed level.
    let everything = fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(everything).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    let keyring = Keyring::from_text(&"42".repeat(32)).unwrap();
    let store = Arc::new(SqliteStore::open(&path, &keyring).unwrap());
    let promises =
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 };
    let still = ManualTime::default();
    let world = FakeWorld::new(Box::new(RefusedCard::default()), Box::new(still.clone()), promises);
    let process = FakeProcess::with_store(&world, store.clone());

    let said = pay(&world, &process, 1).await;
    let Outcome::Paid { order, fulfilment, .. } = said else { panic!("{said:?}") };
    assert_eq!(fulfilment, Fulfilment::NeedsReconciliation);
    // A row that cannot be read is worth a line, and the line must not tell more.
    let damage = Connection::open(&path).unwrap();
    damage.execute("UPDATE orders SET doubt = 'markcity'", []).unwrap();
    assert_eq!(store.find(order).await, Err(StoreError::Corrupt));
    damage.execute("UPDATE orders SET doubt = 'none'", []).unwrap();
    still.advance(60);
    process.reconcile(&world.tenders(), &|_| ()).await.unwrap();
    assert!(matches!(pay(&world, &process, 2).await, Outcome::Paid { .. }));
    store.close().await.unwrap();

    let log = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("cannot be read"), "nothing was logged, so nothing was shown: {log}");
    for mark in MARKS {
        assert!(!log.contains(mark), "{mark} in {log}");
    }
}
