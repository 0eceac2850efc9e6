//! How MPP says no: problem documents (RFC 9457) of its own types, with our fault inside.

use http::StatusCode;
use order::model::ids::OrderId;
use order::tender::Rejection;
use serde_json::{Map, Value, json};

use crate::fault::short;
use crate::mode::Mode;

const TYPES: &str = "https://paymentauth.org/problems/";
/// The type of problems that the status alone explains.
const NO_TYPE: &str = "about:blank";
const BETWEEN: &str = ": ";

/// What is wrong with a credential. The draft of the method knows no other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It does not read.
    Malformed,
    /// It answers no challenge of ours, or not one for this request.
    Challenge,
    /// Its challenge has run out.
    Expired,
    /// It does not pay what was asked for.
    Unverified,
}

impl Flaw {
    const ALL: [Self; 4] = [Self::Malformed, Self::Challenge, Self::Expired, Self::Unverified];

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed-credential",
            Self::Challenge => "invalid-challenge",
            Self::Expired => "payment-expired",
            Self::Unverified => "verification-failed",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Malformed => "Malformed Credential",
            Self::Challenge => "Invalid Challenge",
            Self::Expired => "Payment Expired",
            Self::Unverified => "Verification Failed",
        }
    }

    /// The flaw with its reason, on its way through the desk, which knows no protocol.
    pub(super) fn because(self, reason: &str) -> Rejection {
        Rejection::Invalid(format!("{}{BETWEEN}{reason}", self.code()))
    }

    /// What came through the desk. Words without a flaw before them are a chain's: it
    /// would not do what the credential promises.
    pub(super) fn read(told: &str) -> (Self, &str) {
        let named = told.split_once(BETWEEN).and_then(|(code, reason)| {
            let flaw = Self::ALL.into_iter().find(|flaw| flaw.code() == code)?;
            Some((flaw, reason))
        });
        named.unwrap_or((Self::Unverified, told))
    }
}

/// A problem document that is not finished: what it is about can be added.
pub(super) struct Problem(Map<String, Value>);

impl Problem {
    fn new(kind: &str, title: &str, status: StatusCode, detail: &str) -> Self {
        let kind = if kind.is_empty() { NO_TYPE.to_owned() } else { format!("{TYPES}{kind}") };
        Self(Map::from_iter([
            ("type".to_owned(), kind.into()),
            ("title".to_owned(), title.into()),
            ("status".to_owned(), status.as_u16().into()),
            ("detail".to_owned(), detail.into()),
        ]))
    }

    pub(super) fn unpaid(status: StatusCode, detail: &str) -> Self {
        Self::new("payment-required", "Payment Required", status, detail)
    }

    pub(super) fn flawed(flaw: Flaw, status: StatusCode, reason: &str) -> Self {
        Self::new(flaw.code(), flaw.title(), status, &short(reason))
    }

    /// Everything else, as far as the protocol has a word for it.
    pub(super) fn of(status: StatusCode, detail: &str) -> Self {
        match status {
            StatusCode::BAD_REQUEST => Self::new("bad-request", "Bad Request", status, detail),
            StatusCode::INTERNAL_SERVER_ERROR => {
                Self::new("internal-payment-error", "Internal Payment Error", status, detail)
            }
            other => Self::new("", other.canonical_reason().unwrap_or_default(), other, detail),
        }
    }

    pub(super) fn about(mut self, order: OrderId) -> Self {
        self.0.insert("public_order_id".to_owned(), order.to_string().into());
        self.0.insert("order_url".to_owned(), format!("/api/x402/orders/{order}").into());
        self
    }

    /// Says whether real money is asked for.
    pub(super) fn in_mode(mut self, mode: Mode) -> Self {
        self.0.insert("mode".to_owned(), mode.word().into());
        self
    }

    pub(super) fn challenged(mut self, id: &str) -> Self {
        self.0.insert("challengeId".to_owned(), id.into());
        self
    }

    /// Puts our own words for it inside, in the shape of all our faults.
    pub(super) fn with(mut self, fault: &Value) -> Self {
        self.0.insert("error".to_owned(), fault["error"].clone());
        self
    }

    pub(super) fn json(self) -> Value {
        json!(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_and_its_reason_come_through_the_desk_as_they_went() {
        for flaw in Flaw::ALL {
            let Rejection::Invalid(told) = flaw.because("one: two") else { panic!("{flaw:?}") };
            assert_eq!(Flaw::read(&told), (flaw, "one: two"));
        }
        let chain = "FiatTokenV2: authorization is used or canceled";
        assert_eq!(Flaw::read(chain), (Flaw::Unverified, chain));
    }

    #[test]
    fn what_the_protocol_has_no_word_for_has_no_type() {
        let gone = Problem::of(StatusCode::GONE, "It is over.").json();
        assert_eq!(
            gone,
            json!({"type": "about:blank", "title": "Gone", "status": 410, "detail": "It is over."})
        );
        let broken = Problem::of(StatusCode::INTERNAL_SERVER_ERROR, "Ours.").json();
        assert_eq!(broken["type"], "https://paymentauth.org/problems/internal-payment-error");
    }
}
