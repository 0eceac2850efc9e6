//! How many credentials one core takes out of their headers and verifies in a second.
//!
//! One thread, and a chain that agrees at once: what is left is our own work.

mod mpp;
mod x402;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::HeaderMap;
use order::model::payment::Terms;
use pay::envelope::Envelope;

const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 5;

/// A request with money, and whom it is for.
struct Sample<T> {
    tender: T,
    headers: HeaderMap,
    body: &'static [u8],
    terms: Terms,
}

fn main() {
    measure("x402", &x402::sample());
    measure("MPP", &mpp::sample());
}

#[expect(clippy::print_stdout, reason = "this is what a benchmark is run for")]
fn measure(name: &str, sample: &Sample<impl Envelope>) {
    let mut rates: Vec<u64> = (0..ROUNDS).map(|_| round(sample)).collect();
    rates.sort_unstable();
    println!("{name} credentials verified a second and core, lowest, median and highest round:");
    println!("{} {} {}", rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn round(sample: &Sample<impl Envelope>) -> u64 {
    let Sample { tender, headers, body, terms } = sample;
    let begun = now();
    let mut verified = 0;
    while begun.elapsed() < ROUND {
        let opened = tender.open(headers, body).expect("one header");
        let credential = opened.credential.expect("a credential");
        let read = tender.read(credential, terms).expect("an honest credential");
        assert_eq!(at_once(tender.verify(&read)), Ok(()));
        verified += 1;
    }
    verified
}

/// Nothing here waits, so one poll is all.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nobody is waited for"),
    }
}
