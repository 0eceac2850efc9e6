//! Answers of a postcard provider: a card is accepted, refused, found or priced only if an answer
//! says so. The same for both providers.

use order::model::mail::{Cancellation, Mailpiece};
use order::ports::{Failure, Provider};
use order::testing::contract::samples;
use serde_json::Value;

use super::answers::{AnswerServer, Form, lenient_json, split};

/// Statuses that prove that nothing was accepted.
const REFUSALS: [u16; 8] = [400, 401, 402, 404, 413, 415, 422, 429];
/// Where both providers store pictures of cards.
const PICTURES: [&str; 5] = [
    "https://s3.amazonaws.com/cdn.thanks.io/",
    "https://s3.amazonaws.com/content.thanks.io/",
    "https://cdn.thanks.io/",
    "https://lob-assets.com/",
    "https://assets.lob.com/",
];

pub(crate) struct Exchange<'a> {
    pub(crate) server: &'a AnswerServer,
    pub(crate) provider: &'a dyn Provider,
    pub(crate) data: &'a [u8],
}

/// Every answer of a run, with its status; none if the second reader cannot read it.
struct Sent(Vec<(u16, Option<Value>)>);

impl Sent {
    /// Whether an answer with a good status has an object for which this holds, or may have it.
    fn may_have(&self, holds: impl Fn(&Value) -> bool + Copy) -> bool {
        let read = |said: &Option<Value>| said.as_ref().is_none_or(|said| any(said, holds));
        self.0.iter().any(|(status, said)| (200..300).contains(status) && read(said))
    }

    /// Whether it certainly has one.
    fn has(&self, holds: impl Fn(&Value) -> bool + Copy) -> bool {
        let read = |said: &Option<Value>| said.as_ref().is_some_and(|said| any(said, holds));
        self.0.iter().any(|(status, said)| (200..300).contains(status) && read(said))
    }
}

/// Whether this holds for a value or for one inside it.
fn any(value: &Value, holds: impl Fn(&Value) -> bool + Copy) -> bool {
    holds(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| any(item, holds)),
            Value::Object(members) => members.values().any(|member| any(member, holds)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
}

/// An identifier, which one provider writes as a number.
fn is_id(value: &Value, id: &str) -> bool {
    value.as_str() == Some(id) || value.as_u64().is_some_and(|number| number.to_string() == id)
}

impl Exchange<'_> {
    pub(crate) fn run(&self, choice: u8) {
        match choice % 7 {
            0 => self.quote(),
            1 => self.preview(),
            2 => self.submit(),
            3 => self.find(),
            4 => self.track(),
            5 => self.cancel(),
            _ => self.accepted(),
        }
    }

    fn answering<T>(&self, calls: impl Future<Output = T>) -> (T, Sent) {
        let parts = split(self.data).map(<[u8]>::to_vec);
        let (result, sent) = self.server.answering(Form::Http, parts, calls);
        let read = |(status, body): (u16, Vec<u8>)| (status, lenient_json(&body));
        (result, Sent(sent.into_iter().map(read).collect()))
    }

    fn quote(&self) {
        let card = samples::card_of(1);
        let (quote, sent) = self.answering(self.provider.quote(&card));
        let Ok(quote) = quote else { return };
        assert!(quote.total().0 > 0);
        let prices = |said: &Value| said["data"]["total_cost_in_cents"] == quote.total().0;
        assert!(sent.0.is_empty() || sent.may_have(prices), "a price that is in no answer");
        let testing = |said: &Value| said["data"]["test_mode"] == true;
        assert!(!sent.has(testing), "the price of an account that mails nothing");
    }

    fn preview(&self) {
        let card = samples::card_of(1);
        let (preview, _) = self.answering(self.provider.preview(&card));
        let urls = preview.map(|preview| preview.urls).unwrap_or_default();
        for url in urls {
            assert!(PICTURES.iter().any(|place| url.starts_with(place)), "{url}");
        }
    }

    fn submit(&self) {
        let order = samples::paid(1);
        let (outcome, sent) = self.answering(self.provider.submit(&order));
        match outcome {
            Ok(Mailpiece(id)) => {
                assert!(
                    sent.may_have(|said| is_id(&said["id"], &id)),
                    "a card that is in no answer"
                );
                let id = order.id.to_string();
                let other = |said: &Value| {
                    said["metadata"]["public_order_id"].as_str().is_some_and(|other| other != id)
                };
                assert!(
                    !sent.0.last().is_some_and(|(_, said)| said.as_ref().is_some_and(other)),
                    "the card of another order"
                );
            }
            Err(Failure::Refused(why)) => {
                let status = sent.0.last().map(|(status, _)| *status);
                assert!(
                    status.is_some_and(|status| REFUSALS.contains(&status)),
                    "{why} after {status:?}"
                );
            }
            Err(Failure::Lost(_)) => {}
        }
    }

    fn find(&self) {
        let order = samples::paid(1);
        let (found, sent) = self.answering(self.provider.find(order.id, samples::NOW));
        let id = order.id.to_string();
        for Mailpiece(card) in found.unwrap_or_default() {
            let ours = |said: &Value| {
                is_id(&said["id"], &card) && said["metadata"]["public_order_id"] == id
            };
            assert!(sent.may_have(ours), "{card:?} was not listed as ours");
        }
    }

    fn track(&self) {
        let (found, sent) = self.answering(self.provider.track(&Mailpiece("7".to_owned())));
        if let Ok(None) = found {
            assert_eq!(
                sent.0.last().map(|(status, _)| *status),
                Some(404),
                "a card that is unknown"
            );
        }
    }

    fn cancel(&self) {
        let (outcome, sent) = self.answering(self.provider.cancel(&Mailpiece("7".to_owned())));
        if outcome == Ok(Cancellation::Cancelled) {
            assert!(sent.may_have(Value::is_object), "cancelled, though no answer says so");
        }
    }

    fn accepted(&self) {
        let (from, until) = (samples::NOW, samples::NOW.plus(86_400));
        let (found, sent) = self.answering(self.provider.accepted(from, until));
        for card in found.unwrap_or_default() {
            assert!(from <= card.at && card.at < until);
            assert!(
                sent.has(|said| is_id(&said["id"], &card.mailpiece.0)),
                "a card that is in no answer"
            );
        }
    }
}
