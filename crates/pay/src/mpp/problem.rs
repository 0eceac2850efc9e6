//! The problem documents (RFC 9457) of MPP, with the error of the refusal table inside.

use http::StatusCode;
use order::model::ids::OrderId;
use order::tender::Rejection;
use serde_json::{Map, Value, json};

use crate::mode::PaymentMode;
use crate::reason::shortened;

const TYPES: &str = "https://paymentauth.org/problems/";
/// The type of a problem that its status explains.
const NO_TYPE: &str = "about:blank";
const SEPARATOR: &str = ": ";

/// Why a credential is rejected. The draft of the method defines no other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CredentialProblem {
    /// It cannot be parsed.
    Malformed,
    /// Its challenge is not ours, or was made for another request.
    InvalidChallenge,
    /// Its challenge has expired.
    PaymentExpired,
    /// It does not pay what the challenge asks for.
    VerificationFailed,
}

impl CredentialProblem {
    const ALL: [Self; 4] =
        [Self::Malformed, Self::InvalidChallenge, Self::PaymentExpired, Self::VerificationFailed];

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed-credential",
            Self::InvalidChallenge => "invalid-challenge",
            Self::PaymentExpired => "payment-expired",
            Self::VerificationFailed => "verification-failed",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Malformed => "Malformed Credential",
            Self::InvalidChallenge => "Invalid Challenge",
            Self::PaymentExpired => "Payment Expired",
            Self::VerificationFailed => "Verification Failed",
        }
    }

    /// A rejection that carries this problem type through the checkout, which knows no protocol.
    pub(super) fn rejection(self, reason: &str) -> Rejection {
        Rejection::Invalid(format!("{}{SEPARATOR}{reason}", self.code()))
    }

    /// Splits what [`rejection`](Self::rejection) made. A reason without a problem type comes
    /// from the chain.
    pub(super) fn split(rejection: &str) -> (Self, &str) {
        let typed = rejection.split_once(SEPARATOR).and_then(|(code, reason)| {
            let problem = Self::ALL.into_iter().find(|problem| problem.code() == code)?;
            Some((problem, reason))
        });
        typed.unwrap_or((Self::VerificationFailed, rejection))
    }
}

/// A problem document, to which members can be added.
pub(super) struct ProblemDocument(Map<String, Value>);

impl ProblemDocument {
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

    pub(super) fn credential(problem: CredentialProblem, status: StatusCode, reason: &str) -> Self {
        Self::new(problem.code(), problem.title(), status, &shortened(reason))
    }

    /// The problem of any other error, with a type if the protocol defines one.
    pub(super) fn for_status(status: StatusCode, detail: &str) -> Self {
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

    /// Adds whether real money is asked for.
    pub(super) fn in_mode(mut self, mode: PaymentMode) -> Self {
        self.0.insert("mode".to_owned(), mode.as_str().into());
        self
    }

    pub(super) fn with_challenge(mut self, id: &str) -> Self {
        self.0.insert("challengeId".to_owned(), id.into());
        self
    }

    /// Adds the error, in the format of all our errors.
    pub(super) fn with_error(mut self, body: &Value) -> Self {
        self.0.insert("error".to_owned(), body["error"].clone());
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
    fn a_problem_type_and_its_reason_can_be_split_again() {
        for problem in CredentialProblem::ALL {
            let Rejection::Invalid(rejection) = problem.rejection("one: two") else {
                panic!("{problem:?}")
            };
            assert_eq!(CredentialProblem::split(&rejection), (problem, "one: two"));
        }
        let chain = "FiatTokenV2: authorization is used or canceled";
        assert_eq!(CredentialProblem::split(chain), (CredentialProblem::VerificationFailed, chain));
    }

    #[test]
    fn a_status_without_a_problem_type_has_the_type_about_blank() {
        let gone = ProblemDocument::for_status(StatusCode::GONE, "It is over.").json();
        assert_eq!(
            gone,
            json!({"type": "about:blank", "title": "Gone", "status": 410, "detail": "It is over."})
        );
        let broken = ProblemDocument::for_status(StatusCode::INTERNAL_SERVER_ERROR, "Ours.").json();
        assert_eq!(broken["type"], "https://paymentauth.org/problems/internal-payment-error");
    }
}
