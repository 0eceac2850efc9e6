//! No marked word of a card is in any log line of a provider call, with any fault.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::provider::{AccountMode, PreviewLocations, ReturnAddress, lob, thanks_io};
use order::lifecycle::{Order, Submitting};
use order::model::card::{Draft, Postcard};
use order::model::mail::Mailpiece;
use order::model::money::Cents;
use order::model::payment::Finality;
use order::ports::Provider;
use order::testing::contract::samples;
use tracing_subscriber::fmt;

const MARKS: [&str; 9] = [
    "markfront",
    "markmessage",
    "markname",
    "markaddress",
    "markcity",
    "markprovince",
    "MARKCODE",
    "marktoken",
    "markanswer",
];

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

/// Answers one request a connection, each in another mood, and repeats in its
/// answer what it was told, as servers do that explain themselves.
fn faulty_server() -> HttpUrl {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/markanswer", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let moods = ["200 OK", "401 No", "402 No", "422 No", "429 No", "500 No", "302 No", ""];
        for mood in moods.iter().cycle() {
            let (mut socket, _) = listener.accept().unwrap();
            let mut heard = vec![0; 65_536];
            let length = socket.read(&mut heard).unwrap();
            let echo = String::from_utf8_lossy(&heard[..length]);
            let body = format!("{{\"markanswer\": {echo:?}}}");
            if !mood.is_empty() {
                let head = "connection: close\r\nlocation: https://markanswer.example/";
                let _ = write!(socket, "HTTP/1.1 {mood}\r\n{head}\r\n\r\n{body}");
            }
        }
    });
    HttpUrl::parse(&address).unwrap()
}

fn marked_order() -> Order<Submitting> {
    let card = Postcard::parse(&Draft {
        front_image_url: Some("https://images.example.org/markfront.jpg"),
        message: Some("markmessage"),
        name: Some("markname"),
        address: Some("markaddress"),
        city: Some("markcity"),
        province: Some("markprovince"),
        postal_code: Some("MARKCODE"),
        country: Some("DE"),
    });
    let offer = samples::offer(1);
    let payment = samples::payment(1);
    let begun = offer.begin_settlement(card.unwrap(), samples::quote(), payment, samples::NOW);
    begun.settled(samples::settlement(Finality::Provisional), samples::NOW)
}

async fn ask_everything(provider: &dyn Provider) {
    let (order, mailpiece) = (marked_order(), Mailpiece("7".into()));
    for _ in 0..8 {
        let _ = provider.preview(&order.state.card).await;
        let _ = provider.quote(&order.state.card).await;
        let _ = provider.submit(&order).await;
        let _ = provider.find(order.id, samples::NOW).await;
        let _ = provider.track(&mailpiece).await;
        let _ = provider.cancel(&mailpiece).await;
    }
}

#[tokio::test]
async fn no_marked_word_of_a_card_a_key_or_an_answer_is_in_any_log_line() {
    let paper = Paper::default();
    let writer = paper.clone();
    // Every log line of every crate, at the most detailed level.
    let everything = fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(everything).unwrap();

    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    let client = client.answering_within(Duration::from_secs(2));
    let (base, clock) = (faulty_server(), Arc::new(SystemClock::start()));
    let thanks = thanks_io::ThanksIoSettings {
        base: base.clone(),
        token: String::from("marktoken").into(),
        sender: ReturnAddress::default(),
        previews: PreviewLocations::new(vec![base.clone()]),
        mode: AccountMode::Live,
    };
    ask_everything(&thanks_io::ThanksIo::new(thanks, client.clone(), clock.clone())).await;
    let settings = lob::LobSettings {
        base: base.clone(),
        key: String::from("marktoken").into(),
        sender: None,
        previews: PreviewLocations::new(vec![base]),
        prices: lob::LobPrices { domestic: Cents(90), international: Cents(160) },
        cancel_seconds: 0,
    };
    ask_everything(&lob::Lob::new(settings, client, clock)).await;

    let log = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    for word in ["refuses our account", "status 302", "answer cut off"] {
        assert!(log.contains(word), "{word} was not logged, so nothing was shown: {log}");
    }
    for mark in MARKS {
        assert!(!log.contains(mark), "{mark} in {log}");
    }
}
