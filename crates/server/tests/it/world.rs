//! The outside world and what we answer when it misbehaves, over real HTTP on both sides.

mod doors;
mod facilitator;
mod matrix;
mod paid;
mod personal_data;
mod pictures;
mod preview;
mod rehearsal;
mod shutdown;

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::house::House;
use crate::public::{Reply, ask};

const PREVIEW: &str = "/api/x402/postcards/preview";
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The two ways in which the sandbox's provider is spoken to.
const DIALECTS: [&str; 2] = ["thanks_io", "lob"];

fn speaking(dialect: &str) -> String {
    format!("[sandbox]\ndialect = \"{dialect}\"\n")
}

/// A card that nothing is wrong with.
pub(crate) fn card() -> Value {
    json!({
        "front_image_url": "https://images.example.org/sea.jpg",
        "message": "The sea says hello.",
        "recipient": {
            "name": "Ada Lovelace", "address": "12 St James's Square", "city": "London",
            "province": "London", "postal_code": "SW1Y 4JH", "country": "GB",
        },
    })
}

fn preview(house: &House, card: &Value) -> Reply {
    house.request(&format!("POST {PREVIEW}"), &[JSON], &card.to_string())
}

/// The code of a refusal, or nothing.
fn code(reply: &Reply) -> String {
    reply.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// The back door of the post office that a house has opened.
struct Mailbox(SocketAddr);

impl Mailbox {
    fn of(house: &House) -> Self {
        let row = house.banner.lines().find_map(|line| line.trim().strip_prefix("mailbox"));
        let (_, after) = row.expect("a row about the mailbox").split_once("http://").unwrap();
        let (address, _) = after.split_once('/').unwrap();
        Self(address.parse().unwrap())
    }

    fn control(&self, method: &str, what: &str, body: &Value) -> Value {
        let line = format!("{method} /__sandbox/{what}");
        let reply = ask(self.0, &line, &[JSON], &body.to_string());
        assert_eq!(reply.status, 200, "{line}: {}", reply.text());
        reply.json()
    }

    fn arm(&self, rules: &Value) {
        self.control("POST", "faults", rules);
    }

    /// Ends all faults, and says how many calls each of them broke.
    fn disarm(&self) -> Vec<u64> {
        let armed = self.control("GET", "faults", &Value::Null);
        self.control("DELETE", "faults", &Value::Null);
        let faults = armed["faults"].as_array().unwrap();
        faults.iter().map(|fault| fault["broken_calls"].as_u64().expect("a count")).collect()
    }

    fn cards_accepted(&self) -> u64 {
        self.control("GET", "report", &Value::Null)["accepted"].as_u64().unwrap()
    }

    /// How many calls the provider has heard.
    fn calls(&self) -> usize {
        self.control("GET", "journal", &Value::Null)["journal"].as_array().unwrap().len()
    }
}
