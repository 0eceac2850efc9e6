//! The faults of the emulated provider.

/// Defines an enum with a unique name per variant, for reading and writing.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$note])* $variant,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn written(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn read(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.written() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// `…Before` leaves the ledger unchanged. Faults of the response apply after the card
    /// was accepted.
    ProviderFault {
        TimeoutBefore => "timeout_before",
        TimeoutAfter => "timeout_after",
        StatusBefore => "status_before",
        StatusAfter => "status_after",
        ResetBefore => "reset_before",
        ResetAfter => "reset_after",
        /// A gateway's error page, after the call took effect.
        HtmlAfter => "html_after",
        Malformed => "malformed",
        /// Half of the body that was announced, then the end.
        Truncated => "truncated",
        Empty => "empty",
        /// A page with status 200 where JSON should be.
        Html => "html",
        Array => "array",
        Deep => "deep",
        Huge => "huge",
        /// Compressed, although the client did not accept it.
        Gzip => "gzip",
        /// Two lengths that differ.
        DupContentLength => "dup_content_length",
        MissingPreviews => "missing_previews",
        EmptyPreviews => "empty_previews",
        NotListPreviews => "not_list_previews",
        HttpPreviews => "http_previews",
        PrivatePreviews => "private_previews",
        MissingTotal => "missing_total",
        StringTotal => "string_total",
        FloatTotal => "float_total",
        NegativeTotal => "negative_total",
        ZeroTotal => "zero_total",
        /// A number beyond 64 bits.
        OverflowTotal => "overflow_total",
        /// More than the service may charge for.
        HugeTotal => "huge_total",
        /// A few cents more than the list says.
        TotalDrift => "total_drift",
        Unauthorized => "unauthorized",
        PaymentDisabled => "payment_disabled",
        RateLimited => "rate_limited",
        /// One request, two cards.
        DuplicateAccept => "duplicate_accept",
        SlowLoris => "slow_loris",
        SlowHeaders => "slow_headers",
        /// The card is absent from lists for longer.
        ListLag => "list_lag",
        ListEmpty => "list_empty",
    }
}
