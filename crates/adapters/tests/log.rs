//! Marked words of a card go through the real desk and the real store, and no log line has them.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use adapters::keys::Keyring;
use adapters::store::sqlite::SqliteStore;
use order::checkout::{Desk, Fulfilment, Outcome, Request};
use order::model::card::{Draft, Postcard};
use order::model::mail::Promises;
use order::model::payment::TenderKind;
use order::ports::{Store, StoreError};
use order::testing::fakes::chain::{PROMISE_SECONDS, Promise};
use order::testing::fakes::fates::{Fate, Fates};
use order::testing::fakes::still::Still;
use order::testing::fakes::world::World;
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

impl Fates for RefusedCard {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        if options.contains(&Fate::Refused) {
            self.deeds += 1;
            if self.deeds == 2 {
                return Fate::Refused;
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

async fn pay(world: &Arc<World>, desk: &Desk, nonce: u64) -> Outcome {
    let deadline = world.time().0 + PROMISE_SECONDS;
    let signed = Promise { nonce, most: 3_500_000, deadline, payee: 0xa1 }.credential();
    let card = marked_card();
    let request = Request { seller: None, operation_id: None, card, credential: Some(signed) };
    desk.send(&world.till(TenderKind::X402), request).await.unwrap()
}

#[tokio::test]
async fn no_marked_word_of_a_card_is_in_any_log_line() {
    let paper = Paper::default();
    let writer = paper.clone();
    // Everything that anybody says, down to the last detail of any library.
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
    let still = Still::default();
    let world = World::new(Box::new(RefusedCard::default()), Box::new(still.clone()), promises);
    let desk = Desk { store: store.clone(), ..world.desk() };

    let said = pay(&world, &desk, 1).await;
    let Outcome::Paid { order, fulfilment, .. } = said else { panic!("{said:?}") };
    assert_eq!(fulfilment, Fulfilment::NeedsReconciliation);
    // A row that cannot be read is worth a line, and the line must not tell more.
    let damage = Connection::open(&path).unwrap();
    damage.execute("UPDATE orders SET doubt = 'markcity'", []).unwrap();
    assert_eq!(store.find(order).await, Err(StoreError::Corrupt));
    damage.execute("UPDATE orders SET doubt = 'none'", []).unwrap();
    still.advance(60);
    desk.reconcile(&world.tenders(), &|_| ()).await.unwrap();
    assert!(matches!(pay(&world, &desk, 2).await, Outcome::Paid { .. }));
    store.close().await.unwrap();

    let log = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("cannot be read"), "nothing was logged, so nothing was shown: {log}");
    for mark in MARKS {
        assert!(!log.contains(mark), "{mark} in {log}");
    }
}
