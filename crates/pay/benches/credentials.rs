//! How many credentials one core takes out of their headers and verifies in a second.

fn main() {
    rounds::run();
}

mod rounds {
    //! One thread, and a chain that agrees at once: what is left is our own work.

    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    use async_trait::async_trait;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use http::{HeaderMap, HeaderValue};
    use order::chain::{EvmAddress, Network};
    use order::ids::{OrderId, Timestamp};
    use order::money::{CEILING, Usdc};
    use order::payment::{Preparation, Terms};
    use order::ports::Failure;
    use order::seller::Payees;
    use order::tender::{Rejection, Tender};
    use pay::envelope::Envelope;
    use pay::movement::{Moved, Movement};
    use pay::x402::credential::Promise;
    use pay::x402::facilitator::{Carrier, Due, Facilitator, Service, Signer, Sponsoring};
    use pay::x402::{Resource, X402};
    use serde_json::Value;

    /// What the official client signed; see the tests beside it.
    const VECTORS: &str = include_str!("../src/x402/vectors.json");
    const ROUND: Duration = Duration::from_secs(1);
    const ROUNDS: usize = 5;

    #[expect(clippy::print_stdout, reason = "this is what a benchmark is run for")]
    pub(crate) fn run() {
        let (x402, headers, terms) = sample();
        let mut rates: Vec<u64> = (0..ROUNDS).map(|_| round(&x402, &headers, &terms)).collect();
        rates.sort_unstable();
        println!("x402 credentials verified a second and core, lowest, median and highest round:");
        println!("{} {} {}", rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    fn now() -> Instant {
        Instant::now()
    }

    fn round(x402: &X402, headers: &HeaderMap, terms: &Terms) -> u64 {
        let begun = now();
        let mut verified = 0;
        while begun.elapsed() < ROUND {
            let opened = x402.open(headers, b"").expect("one header");
            let credential = opened.credential.expect("a credential");
            let read = x402.read(credential, terms).expect("an honest credential");
            assert_eq!(at_once(x402.verify(&read)), Ok(()));
            verified += 1;
        }
        verified
    }

    /// The payload of the first vector, with the one unsigned number in which our
    /// offers differ from those of its merchant.
    fn sample() -> (X402, HeaderMap, Terms) {
        let file: Value = serde_json::from_str(VECTORS).expect("JSON");
        let mut payload = file["vectors"][0]["paymentPayload"].clone();
        payload["accepted"]["maxTimeoutSeconds"] = 600.into();
        let signed = payload["payload"]["permit2Authorization"].clone();
        let address = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let carrier: EvmAddress = address(&signed["witness"]["facilitator"]).expect("a carrier");
        let payee: EvmAddress = address(&signed["witness"]["to"]).expect("a payee");
        let deadline = signed["deadline"].as_str().and_then(|text| text.parse::<u64>().ok());
        let url = payload["resource"]["url"].as_str().expect("an address");
        let said = payload["resource"]["description"].as_str().expect("words");
        let resource = Resource::parse(url, said, "Pennyblack", &[]).expect("a resource");
        let terms = Terms {
            order: OrderId::from_bytes([7; 16]),
            payees: Payees::new(vec![(Network::Base, payee)]).expect("a payee"),
            ceiling: CEILING,
            now: Timestamp(deadline.expect("a deadline") - 300),
        };
        let header = STANDARD.encode(payload.to_string());
        let header = HeaderValue::try_from(header).expect("base64");
        let headers =
            HeaderMap::from_iter([(http::HeaderName::from_static("payment-signature"), header)]);
        (X402::new(Arc::new(Agreeing(carrier)), resource), headers, terms)
    }

    /// Nothing here waits, so one poll is all.
    fn at_once<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("nobody is waited for"),
        }
    }

    /// A chain that takes every promise that names this carrier.
    struct Agreeing(EvmAddress);

    #[async_trait]
    impl Facilitator for Agreeing {
        fn service(&self, _network: Network) -> Option<Service> {
            Some(Service { carrier: self.0, sponsoring: Sponsoring::NotOffered })
        }

        fn carrier(&self, _network: Network, named: EvmAddress) -> Carrier {
            if named == self.0 { Carrier::Ours } else { Carrier::Unknown }
        }

        async fn verify(&self, _promise: &Promise, _signer: Signer) -> Result<(), Rejection> {
            Ok(())
        }

        async fn prepare(
            &self,
            _promise: &Promise,
            _charge: Usdc,
            _earlier: Option<&Preparation>,
        ) -> Result<Preparation, Rejection> {
            Err(Rejection::Unavailable)
        }

        async fn settle(&self, _due: Due<'_>) -> Result<Moved, Failure> {
            Err(Failure::Refused("nothing is settled here".into()))
        }

        async fn trace(&self, _due: Due<'_>) -> Result<Movement, Failure> {
            Ok(Movement::Open)
        }
    }
}
