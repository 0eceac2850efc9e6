//! What each fault does: the one table from a kind to its damage.

use super::kind::Kind;
use super::operation::Operation;

/// Deeper than any sane parser goes.
const DEEP_BRACKETS: usize = 20_000;
/// More than any sane client reads.
const HUGE_BYTES: usize = 8 * 1024 * 1024;
/// No card of this service may cost so much.
const HUGE_CENTS: u64 = 29_000;
const DRIFT_CENTS: u64 = 7;

/// Whether the ledger is asked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    Before,
    After,
}

pub(crate) enum Damage {
    Silence,
    Reset,
    Status(u16),
    /// The status that the rule names.
    RuledStatus,
    ComeBackLater,
    Page(u16),
    Body(fn(&[u8]) -> Vec<u8>),
    Gzip,
    Truncation,
    TwoLengths,
    SlowBody,
    SlowHeaders,
    /// What stands in place of the pictures, as JSON; nothing for no field.
    Previews(Option<&'static str>),
    /// What stands in place of a total in cents, as JSON; nothing for no field.
    Total(fn(u64) -> Option<String>),
    Twist(Twist),
}

/// What the ledger does differently under a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twist {
    None,
    AcceptTwice,
    HideForLonger,
    ShowNothing,
}

impl Kind {
    pub(crate) fn damage(self) -> Damage {
        match self {
            Self::TimeoutBefore | Self::TimeoutAfter => Damage::Silence,
            Self::ResetBefore | Self::ResetAfter => Damage::Reset,
            Self::StatusBefore | Self::StatusAfter => Damage::RuledStatus,
            Self::Unauthorized => Damage::Status(401),
            Self::PaymentDisabled => Damage::Status(402),
            Self::RateLimited => Damage::ComeBackLater,
            Self::HtmlAfter => Damage::Page(502),
            Self::Html => Damage::Page(200),
            Self::Malformed => {
                Damage::Body(|good| [&good[..good.len().saturating_sub(1)], b",,]"].concat())
            }
            Self::Empty => Damage::Body(|_| Vec::new()),
            Self::Array => Damage::Body(|good| [b"[", good, b"]"].concat()),
            Self::Deep => Damage::Body(|_| {
                ["[".repeat(DEEP_BRACKETS), "]".repeat(DEEP_BRACKETS)].concat().into_bytes()
            }),
            // Still valid JSON: only its size is wrong.
            Self::Huge => Damage::Body(|good| [good, &vec![b' '; HUGE_BYTES]].concat()),
            Self::Gzip => Damage::Gzip,
            Self::Truncated => Damage::Truncation,
            Self::DupContentLength => Damage::TwoLengths,
            Self::SlowLoris => Damage::SlowBody,
            Self::SlowHeaders => Damage::SlowHeaders,
            Self::MissingPreviews => Damage::Previews(None),
            Self::EmptyPreviews => Damage::Previews(Some("[]")),
            Self::NotListPreviews => {
                Damage::Previews(Some(r#"{"front":"https://pictures.example/front.png"}"#))
            }
            Self::HttpPreviews => Damage::Previews(Some(
                r#"["http://pictures.example/front.png","http://pictures.example/back.png"]"#,
            )),
            Self::PrivatePreviews => Damage::Previews(Some(
                r#"["https://10.0.0.7/front.png","https://[fd00::7]/back.png"]"#,
            )),
            Self::MissingTotal => Damage::Total(|_| None),
            Self::StringTotal => Damage::Total(|cents| Some(format!("\"{cents}\""))),
            Self::FloatTotal => Damage::Total(|cents| Some(format!("{cents}.5"))),
            Self::NegativeTotal => Damage::Total(|cents| Some(format!("-{cents}"))),
            Self::ZeroTotal => Damage::Total(|_| Some("0".into())),
            // One more than 64 bits hold.
            Self::OverflowTotal => Damage::Total(|_| Some("18446744073709551616".into())),
            Self::HugeTotal => Damage::Total(|_| Some(HUGE_CENTS.to_string())),
            Self::TotalDrift => Damage::Total(|cents| Some((cents + DRIFT_CENTS).to_string())),
            Self::DuplicateAccept => Damage::Twist(Twist::AcceptTwice),
            Self::ListLag => Damage::Twist(Twist::HideForLonger),
            Self::ListEmpty => Damage::Twist(Twist::ShowNothing),
        }
    }

    /// An account that is refused, or asked to wait, has had nothing done for it.
    pub(crate) const fn timing(self) -> Timing {
        if matches!(
            self,
            Self::TimeoutBefore
                | Self::StatusBefore
                | Self::ResetBefore
                | Self::Unauthorized
                | Self::PaymentDisabled
                | Self::RateLimited
        ) {
            Timing::Before
        } else {
            Timing::After
        }
    }

    /// Whether this fault has any meaning for the operation.
    pub(crate) fn concerns(self, operation: Operation) -> bool {
        match self.damage() {
            Damage::Previews(_) => operation == Operation::Preview,
            Damage::Total(_) => matches!(operation, Operation::Estimate | Operation::Send),
            Damage::Twist(Twist::AcceptTwice | Twist::HideForLonger) => {
                operation == Operation::Send
            }
            Damage::Twist(Twist::ShowNothing) => operation == Operation::List,
            Damage::Twist(Twist::None)
            | Damage::Silence
            | Damage::Reset
            | Damage::Status(_)
            | Damage::RuledStatus
            | Damage::ComeBackLater
            | Damage::Page(_)
            | Damage::Body(_)
            | Damage::Gzip
            | Damage::Truncation
            | Damage::TwoLengths
            | Damage::SlowBody
            | Damage::SlowHeaders => true,
        }
    }

    /// What the ledger is asked to do differently.
    pub(crate) fn twist(self) -> Twist {
        if let Damage::Twist(twist) = self.damage() { twist } else { Twist::None }
    }

    /// Whether a caller can still read which card was accepted.
    pub(crate) fn leaves_the_card_named(self) -> bool {
        matches!(self.damage(), Damage::Total(_) | Damage::Twist(_))
    }
}
