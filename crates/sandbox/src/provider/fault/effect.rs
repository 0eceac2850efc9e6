//! What each fault does.

use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;

/// Deeper than any sane parser goes.
const DEEP_BRACKETS: usize = 20_000;
/// More than any sane client reads.
const HUGE_BYTES: usize = 8 * 1024 * 1024;
/// No card of this service may cost so much.
const HUGE_CENTS: u64 = 29_000;
const DRIFT_CENTS: u64 = 7;

/// Whether the fault applies before or after the ledger is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultTiming {
    Before,
    After,
}

pub(crate) enum FaultEffect {
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
    PreviewStore(Option<&'static str>),
    /// The JSON that replaces a total in cents; None removes the field.
    Total(fn(u64) -> Option<String>),
    LedgerFault(LedgerFault),
}

/// How a fault changes the behaviour of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LedgerFault {
    None,
    AcceptTwice,
    HideForLonger,
    ShowNothing,
}

impl ProviderFault {
    pub(crate) fn effect(self) -> FaultEffect {
        match self {
            Self::TimeoutBefore | Self::TimeoutAfter => FaultEffect::Silence,
            Self::ResetBefore | Self::ResetAfter => FaultEffect::Reset,
            Self::StatusBefore | Self::StatusAfter => FaultEffect::RuledStatus,
            Self::Unauthorized => FaultEffect::Status(401),
            Self::PaymentDisabled => FaultEffect::Status(402),
            Self::RateLimited => FaultEffect::ComeBackLater,
            Self::HtmlAfter => FaultEffect::Page(502),
            Self::Html => FaultEffect::Page(200),
            Self::Malformed => {
                FaultEffect::Body(|good| [&good[..good.len().saturating_sub(1)], b",,]"].concat())
            }
            Self::Empty => FaultEffect::Body(|_| Vec::new()),
            Self::Array => FaultEffect::Body(|good| [b"[", good, b"]"].concat()),
            Self::Deep => FaultEffect::Body(|_| {
                ["[".repeat(DEEP_BRACKETS), "]".repeat(DEEP_BRACKETS)].concat().into_bytes()
            }),
            // Valid JSON, but too large.
            Self::Huge => FaultEffect::Body(|good| [good, &vec![b' '; HUGE_BYTES]].concat()),
            Self::Gzip => FaultEffect::Gzip,
            Self::Truncated => FaultEffect::Truncation,
            Self::DupContentLength => FaultEffect::TwoLengths,
            Self::SlowLoris => FaultEffect::SlowBody,
            Self::SlowHeaders => FaultEffect::SlowHeaders,
            Self::MissingPreviews => FaultEffect::PreviewStore(None),
            Self::EmptyPreviews => FaultEffect::PreviewStore(Some("[]")),
            Self::NotListPreviews => {
                FaultEffect::PreviewStore(Some(r#"{"front":"https://pictures.example/front.png"}"#))
            }
            Self::HttpPreviews => FaultEffect::PreviewStore(Some(
                r#"["http://pictures.example/front.png","http://pictures.example/back.png"]"#,
            )),
            Self::PrivatePreviews => FaultEffect::PreviewStore(Some(
                r#"["https://10.0.0.7/front.png","https://[fd00::7]/back.png"]"#,
            )),
            Self::MissingTotal => FaultEffect::Total(|_| None),
            Self::StringTotal => FaultEffect::Total(|cents| Some(format!("\"{cents}\""))),
            Self::FloatTotal => FaultEffect::Total(|cents| Some(format!("{cents}.5"))),
            Self::NegativeTotal => FaultEffect::Total(|cents| Some(format!("-{cents}"))),
            Self::ZeroTotal => FaultEffect::Total(|_| Some("0".into())),
            // One more than the maximum of 64 bits.
            Self::OverflowTotal => FaultEffect::Total(|_| Some("18446744073709551616".into())),
            Self::HugeTotal => FaultEffect::Total(|_| Some(HUGE_CENTS.to_string())),
            Self::TotalDrift => FaultEffect::Total(|cents| Some((cents + DRIFT_CENTS).to_string())),
            Self::DuplicateAccept => FaultEffect::LedgerFault(LedgerFault::AcceptTwice),
            Self::ListLag => FaultEffect::LedgerFault(LedgerFault::HideForLonger),
            Self::ListEmpty => FaultEffect::LedgerFault(LedgerFault::ShowNothing),
        }
    }

    /// A call that is refused or rate limited has no effect.
    pub(crate) const fn timing(self) -> FaultTiming {
        if matches!(
            self,
            Self::TimeoutBefore
                | Self::StatusBefore
                | Self::ResetBefore
                | Self::Unauthorized
                | Self::PaymentDisabled
                | Self::RateLimited
        ) {
            FaultTiming::Before
        } else {
            FaultTiming::After
        }
    }

    /// Whether this fault applies to the operation.
    pub(crate) fn concerns(self, operation: ProviderOperation) -> bool {
        match self.effect() {
            FaultEffect::PreviewStore(_) => operation == ProviderOperation::Preview,
            FaultEffect::Total(_) => {
                matches!(operation, ProviderOperation::Estimate | ProviderOperation::Send)
            }
            FaultEffect::LedgerFault(LedgerFault::AcceptTwice | LedgerFault::HideForLonger) => {
                operation == ProviderOperation::Send
            }
            FaultEffect::LedgerFault(LedgerFault::ShowNothing) => {
                operation == ProviderOperation::List
            }
            FaultEffect::LedgerFault(LedgerFault::None)
            | FaultEffect::Silence
            | FaultEffect::Reset
            | FaultEffect::Status(_)
            | FaultEffect::RuledStatus
            | FaultEffect::ComeBackLater
            | FaultEffect::Page(_)
            | FaultEffect::Body(_)
            | FaultEffect::Gzip
            | FaultEffect::Truncation
            | FaultEffect::TwoLengths
            | FaultEffect::SlowBody
            | FaultEffect::SlowHeaders => true,
        }
    }

    /// The ledger's part of the fault.
    pub(crate) fn fault(self) -> LedgerFault {
        if let FaultEffect::LedgerFault(fault) = self.effect() { fault } else { LedgerFault::None }
    }

    /// Whether the response still names the accepted card.
    pub(crate) fn names_the_card(self) -> bool {
        matches!(self.effect(), FaultEffect::Total(_) | FaultEffect::LedgerFault(_))
    }
}
