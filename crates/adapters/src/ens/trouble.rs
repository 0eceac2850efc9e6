//! Why a name could not be looked up. The words are for the log.

use std::fmt;

use order::ports::Failure;

use crate::http::Silence;
use crate::rpc::NoAnswer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Node(NoAnswer),
    /// Two nodes say different things about the same block.
    Disagreement,
    /// A contract's answer that does not fit the question.
    Unusable,
    /// A contract said no in a way that we do not know.
    Reverted,
    /// The resolver sends us on and on.
    TooManyLookups,
    /// The resolver sends us to a server that we do not ask.
    GatewayNotAllowed,
    GatewayRefused,
    /// The gateway answered, and the contract did not accept it: forged, or too old.
    GatewayNotBelieved,
    Gateway(Silence),
    TimedOut,
    /// More strangers' names are being looked up than we have room for.
    Busy,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node(why) => return write!(f, "node: {why}"),
            Self::Gateway(why) => return write!(f, "gateway: {why}"),
            Self::Disagreement => "the nodes disagree",
            Self::Unusable => "the contract's answer is unusable",
            Self::Reverted => "the contract reverted",
            Self::TooManyLookups => "too many lookups outside of the chain",
            Self::GatewayNotAllowed => "the gateway is not allowed",
            Self::GatewayRefused => "the gateway refused",
            Self::GatewayNotBelieved => "the chain does not believe the gateway",
            Self::TimedOut => "no answer in time",
            Self::Busy => "too many names at once",
        })
    }
}

impl From<NoAnswer> for Trouble {
    fn from(why: NoAnswer) -> Self {
        Self::Node(why)
    }
}

/// A lookup has no effect, yet nothing can be concluded from its failure. One that was not
/// begun is refused.
impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        let words = trouble.to_string();
        if trouble == Trouble::Busy { Self::Refused(words) } else { Self::Lost(words) }
    }
}
