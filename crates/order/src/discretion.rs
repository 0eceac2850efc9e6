//! How a value that must not be read by everybody prints itself: by its name alone.

/// It may end up in a log line by accident; what it holds may not.
macro_rules! prints_only_its_name {
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
pub(crate) use prints_only_its_name;
