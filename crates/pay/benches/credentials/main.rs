//! How many credentials one core extracts from headers and verifies per second.
//!
//! One thread, and a settler that accepts everything at once, so that only our code is measured.

mod mpp;
mod x402;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::HeaderMap;
use order::model::payment::Terms;
use pay::http_binding::HttpBinding;

const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 5;

/// A request with a credential, and the tender that verifies it.
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
fn measure(name: &str, sample: &Sample<impl HttpBinding>) {
    let mut rates: Vec<u64> = (0..ROUNDS).map(|_| round(sample)).collect();
    rates.sort_unstable();
    println!("{name} credentials verified a second and core, lowest, median and highest round:");
    println!("{} {} {}", rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn round(sample: &Sample<impl HttpBinding>) -> u64 {
    let Sample { tender, headers, body, terms } = sample;
    let begun = now();
    let mut verified = 0;
    while begun.elapsed() < ROUND {
        let payment = tender.payment_headers(headers, body).expect("one header");
        let credential = payment.credential.expect("a credential");
        let checked = tender.read(credential).check(terms).expect("an honest credential");
        assert_eq!(at_once(checked.session.verify()), Ok(()));
        verified += 1;
    }
    verified
}

/// No future waits here, so one poll is enough.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("no future waits here"),
    }
}
