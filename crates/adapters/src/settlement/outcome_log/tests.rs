//! What is logged about settlements and traces.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::model::payment::Finality;
use pay::mpp::credential::TransferAuthorization;

use super::*;

const HASH: &str = "0xabababababababababababababababababababababababababababababababab";

#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn moved(transaction: &str) -> ConfirmedTransfer {
    let (at, finality) = (Timestamp(1), Finality::Final);
    ConfirmedTransfer { transaction: transaction.to_owned(), at, finality }
}

fn authorization(network: Network) -> TransferAuthorization {
    TransferAuthorization {
        network,
        token: network.usdc(),
        from: EvmAddress::from_bytes([1; 20]),
        to: EvmAddress::from_bytes([2; 20]),
        value: Usdc::from_atomic(1),
        valid_after: 0,
        valid_before: 1,
        nonce: [3; 32],
        signature: [4; 65],
    }
}

/// The log of settlements and traces that end so.
fn log_of(
    settled: Result<ConfirmedTransfer, Unsettled>,
    told: Option<&str>,
    traced: Result<TransferStatus, ProofError>,
) -> String {
    let (buffer, network) = (LogBuffer::default(), Network::Base);
    let writer = buffer.clone();
    let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
    let payment = MeasuredPayment::mpp(&authorization(network));
    tracing::subscriber::with_default(log.finish(), || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let settlement = async { settled.clone() };
        let reported = runtime.block_on(report_settlement(network, payment, settlement));
        assert_eq!(reported, settled);
        let _ = report_trace(network, payment, told, traced);
    });
    String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn a_payment_that_is_settled_or_found_is_logged_with_its_transaction() {
    let log = log_of(Ok(moved(HASH)), None, Ok(TransferStatus::Moved(moved(HASH))));
    assert!(
        log.contains(&format!("A payment is settled network=eip155:8453 transaction={HASH}")),
        "{log}"
    );
    let found = format!("A payment was found on the chain network=eip155:8453 transaction={HASH}");
    assert!(log.contains(&found), "{log}");
}

#[test]
fn a_known_transaction_is_logged_if_its_state_is_unknown() {
    let lost = Err(Unsettled::Lost("no receipt in time".to_owned()));
    let log = log_of(lost, Some(HASH), Err(ProofError::Contradiction));
    let unknown =
        format!("The state of a payment is unknown network=eip155:8453 transaction={HASH} kind=");
    assert!(log.contains(&unknown) && log.lines().count() == 1, "{log}");
}

#[test]
fn what_is_not_a_hash_is_not_logged() {
    let log = log_of(Ok(moved("Ada Lovelace")), Some("Ada"), Err(ProofError::Contradiction));
    assert!(!log.contains("Ada") && !log.contains("transaction="), "{log}");
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn a_payment_that_still_stands_is_not_logged_again() {
    let log = log_of(
        Err(Unsettled::Refused(String::new())),
        Some(HASH),
        Ok(TransferStatus::Moved(moved(HASH))),
    );
    assert_eq!(log, "");
}
