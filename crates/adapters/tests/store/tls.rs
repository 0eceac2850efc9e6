//! The store over TLS: the contract, notifications, and servers that must not be trusted.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use adapters::settlement::outbox::{MinedNotice, SenderAccount, SettlementQueue};
use adapters::store::OpenError;
use adapters::store::postgres::PostgresStore;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::chain::{EvmAddress, Network};
use order::model::payment::PaymentKey;
use order::testing::contract::StoreUnderTest;

use crate::postgres::put_to_url;
use crate::postgres_server::Schema;
use crate::test_store::{keyring, runtime, told, worker};

/// An authority of other tests, which has not signed the server's certificate.
const OTHER_AUTHORITY: &[u8] = include_bytes!("../../src/http/tests/authority.der");

fn authority() -> String {
    told("DATABASE_AUTHORITY").expect(
        "DATABASE_AUTHORITY is not set: run the tests with scripts/test, or name the PEM file of \
         the authority that signed the certificate of the server in DATABASE_URL",
    )
}

fn over_tls(schema: &Schema) -> String {
    trusting(&schema.url, Path::new(&authority()))
}

fn trusting(url: &str, authority: &Path) -> String {
    format!("{url}&sslmode=verify-full&sslrootcert={}", authority.display())
}

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(StoreUnderTest) -> C) {
    put_to_url(over_tls, check);
}

order::store_contract!(put_to);

/// The connections of a role of its own are those of the stores in this test.
#[test]
fn every_connection_is_encrypted_and_notices_arrive() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let role = format!("{}_tls", schema.name);
        let create = format!("CREATE ROLE {role} LOGIN SUPERUSER PASSWORD 'sesame'");
        schema.client.batch_execute(&create).await.unwrap();
        let url = over_tls(&schema);
        let (scheme, rest) = url.split_once("://").unwrap();
        let url = format!("{scheme}://{role}:sesame@{}", rest.split_once('@').unwrap().1);
        let connect = |number| {
            let url = url.clone();
            async move { PostgresStore::connect(&url, &keyring(), worker(number)).await.unwrap() }
        };
        let (teller, listener) = (connect(1).await, connect(2).await);

        let mut notices = listener.notices();
        let account =
            SenderAccount { network: Network::Base, address: EvmAddress::from_bytes([7; 20]) };
        let (key, transaction) = (PaymentKey([1; 32]), [2; 32].into());
        let mined = [MinedNotice { key, transaction, mined: None }];
        teller.announce(account, &mined).await;
        assert_eq!(notices.mined().await.as_deref(), Some(&mined[..]));

        let encrypted = "SELECT count(*), count(*) FILTER (WHERE ssl) \
                         FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = $1";
        let row = schema.client.query_one(encrypted, &[&role]).await.unwrap();
        let (all, encrypted): (i64, i64) = (row.get(0), row.get(1));
        assert!(all >= 4, "two pools and two connections beside them, not {all}");
        assert_eq!(encrypted, all);

        assert!(PostgresStore::open_orders_at(&url).await.is_ok());
        teller.close().await.unwrap();
        listener.close().await.unwrap();
        let gone = format!("REASSIGN OWNED BY {role} TO CURRENT_USER; DROP ROLE {role}");
        schema.client.batch_execute(&gone).await.unwrap();
        schema.drop().await;
    });
}

async fn refusal(url: &str) -> String {
    let refused = PostgresStore::connect(url, &keyring(), worker(1)).await.err().unwrap();
    assert!(matches!(refused, OpenError::Postgres { .. }), "{refused}");
    let read = PostgresStore::open_orders_at(url).await.err().unwrap();
    assert!(matches!(read, OpenError::Postgres { .. }), "{read}");
    refused.to_string()
}

#[test]
fn a_server_of_another_authority_is_refused() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.pem");
        let body = STANDARD.encode(OTHER_AUTHORITY);
        let pem = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
        std::fs::write(&other, pem).unwrap();
        let refused = refusal(&trusting(&schema.url, &other)).await;
        assert!(refused.contains("UnknownIssuer"), "{refused}");
        let public = refusal(&format!("{}&sslmode=verify-full", schema.url)).await;
        assert!(public.contains("UnknownIssuer"), "{public}");
        schema.drop().await;
    });
}

#[test]
fn a_server_with_another_name_is_refused() {
    runtime().block_on(async {
        let schema = Schema::create().await;
        let url = over_tls(&schema).replacen("localhost", "127.0.0.1", 1);
        let refused = refusal(&url).await;
        assert!(refused.contains("not valid for name"), "{refused}");
        schema.drop().await;
    });
}

#[test]
fn a_server_without_tls_is_refused_and_is_told_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        [(); 2].map(|()| {
            let (mut socket, _) = listener.accept().unwrap();
            let mut wish = [0; 8];
            socket.read_exact(&mut wish).unwrap();
            // What PostgreSQL answers to an SSLRequest if it has no certificate.
            socket.write_all(b"N").unwrap();
            let mut told = [0; 64];
            let length = socket.read(&mut told).unwrap();
            told[..length].to_vec()
        })
    });
    let url = format!("postgres://ida:hunter2@127.0.0.1:{port}/orders?options=-cgeqo%3Doff");
    let refused = runtime().block_on(refusal(&trusting(&url, Path::new(&authority()))));
    assert!(refused.contains("does not support TLS"), "{refused}");
    assert_eq!(serving.join().unwrap(), [Vec::<u8>::new(), Vec::new()]);
}
