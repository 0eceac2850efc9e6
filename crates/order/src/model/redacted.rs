//! `Debug` for values that must not be read in a log: the name of the type, and nothing else.

/// Such a value may get into a log line by accident; its content must not.
macro_rules! redacted_debug {
    ($($noun:ident $(<$lifetime:lifetime>)?),+) => {
        $(
            impl std::fmt::Debug for $noun $(<$lifetime>)? {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.debug_struct(stringify!($noun)).finish_non_exhaustive()
                }
            }
        )+
    };
}
pub(crate) use redacted_debug;
