//! No marked word of a card or credential is in any byte of a store.

use std::fs;
use std::path::Path;

use adapters::store::encryption::{ColumnCipher, EncryptedColumn};
use adapters::store::postgres::PostgresStore;
use adapters::store::sqlite::SqliteStore;
use order::lifecycle::event::Actor;
use order::lifecycle::{Setback, Stored};
use order::model::card::{Draft, Postcard};
use order::model::mail::Mailpiece;
use order::model::payment::{Credential, Finality, Preparation};
use order::ports::Store;
use order::testing::contract::samples::{NOW, offer, payment, quote, settlement};
use rusqlite::Connection;

use crate::postgres_server::Schema;
use crate::test_store::{find_word, keyring, runtime, worker};

const WORDS: [&str; 9] = [
    "Xanthippe",
    "Quetzalcoatl",
    "Zwiebelgasse",
    "Ypsilanti",
    "Wallachia",
    "XQ77ZZ",
    "picture-of-me",
    "permit-to-spend",
    "raw-transaction",
];

fn marked_card() -> Postcard {
    let draft = Draft {
        front_image_url: Some("https://images.example.org/picture-of-me.jpg"),
        message: Some("Quetzalcoatl says hello."),
        name: Some("Xanthippe"),
        address: Some("12 Zwiebelgasse"),
        city: Some("Ypsilanti"),
        province: Some("Wallachia"),
        postal_code: Some("XQ77ZZ"),
        country: Some("GB"),
    };
    Postcard::parse(&draft).unwrap()
}

/// One order through every state that holds a card, to the last that does not.
fn life(seed: u64) -> Vec<Stored> {
    let mut payment = payment(seed);
    payment.authorization.credential = Credential(b"permit-to-spend".to_vec());
    payment.preparation = Preparation(b"raw-transaction".to_vec());
    let offered = offer(seed);
    let settling = offered.clone().begin_settlement(marked_card(), quote(), payment, NOW);
    let lost = settling.clone().lost(NOW);
    let paid = settling.clone().settled(settlement(Finality::Provisional), NOW);
    let refused = paid.clone().failed(Setback::Refused, NOW);
    let in_doubt = paid.clone().failed(Setback::Lost, NOW);
    let mailed = paid.clone().accepted(Mailpiece("order-1".into()), NOW);
    let gone = mailed.clone().undelivered(NOW);
    let mut life: Vec<Stored> = vec![offered.into(), settling.into(), lost.into(), paid.into()];
    life.extend::<[Stored; 4]>([refused.into(), in_doubt.into(), mailed.into(), gone.into()]);
    for (version, order) in (0..).zip(&mut life) {
        order.set_version(version);
    }
    life
}

#[test]
fn no_marked_word_is_in_any_byte_of_the_sqlite_files_in_any_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        for order in life(1) {
            store.record(&order, &Actor::Checkout).await.unwrap();
            assert!(scan(folder.path()) >= 4, "database, log, index of the log, lock");
        }
        store.close().await.unwrap();
        scan(folder.path());
    });
}

/// Reads every file, and says how many there were.
fn scan(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files
        .map(|file| {
            let found = find_word(&fs::read(&file).unwrap(), &WORDS);
            assert_eq!(found, None, "in {}", file.display());
        })
        .count()
}

#[test]
fn no_marked_word_is_in_any_column_of_postgres_in_any_state() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let store = PostgresStore::connect(&schema.url, &keyring(), worker(1)).await.unwrap();
        let tables = "SELECT table_name::text FROM information_schema.tables \
             WHERE table_schema = current_schema()";
        let tables = schema.client.query(tables, &[]).await.unwrap();
        assert_eq!(tables.len(), 10);
        for order in life(1) {
            store.record(&order, &Actor::Checkout).await.unwrap();
            for table in &tables {
                let table: &str = table.get(0);
                let dump = format!("SELECT whole::text FROM {table} AS whole");
                for row in schema.client.query(&dump, &[]).await.unwrap() {
                    let found = find_word(row.get::<_, &str>(0).as_bytes(), &WORDS);
                    assert_eq!(found, None, "in {table}");
                }
            }
        }
        store.close().await.unwrap();
        schema.drop().await;
    });
}

#[test]
fn a_mailed_card_leaves_no_encrypted_bytes_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders");
    runtime().block_on(async {
        let store = SqliteStore::open(&path, &keyring()).unwrap();
        for order in (1..=40).flat_map(life) {
            store.record(&order, &Actor::Checkout).await.unwrap();
            if matches!(order, Stored::Settling(_)) {
                // Brings the card from the log into the file itself.
                let checkpoint = "PRAGMA wal_checkpoint(FULL)";
                Connection::open(&path).unwrap().query_row(checkpoint, [], |_| Ok(())).unwrap();
            }
        }
        store.close().await.unwrap();
        let database = Connection::open(&path).unwrap();
        let count = |what: &str| {
            let count = format!("SELECT {what} FROM orders");
            database.query_row(&count, [], |row| row.get::<_, u32>(0)).unwrap()
        };
        assert_eq!(count("count(sealed_card)"), 0);
        // Every seal begins with the name of its key.
        let seal =
            ColumnCipher::new(&keyring()).seal(b"", offer(1).id, EncryptedColumn::Card).unwrap();
        let bytes = fs::read(&path).unwrap();
        let cipher = bytes.windows(4).filter(|bytes| *bytes == &seal[..4]).count();
        let cipher = u32::try_from(cipher).unwrap();
        let kept = count("count(sealed_credential) + count(sealed_preparation)");
        assert_eq!(cipher, kept, "encrypted values in the file, and in its rows");
    });
}
