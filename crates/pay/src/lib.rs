//! Ways of paying: headers in, meaning out; meaning in, headers out.
//!
//! One folder for each protocol stands here, with the same files in each.
//! What they share is [`envelope`]: the one table from the desk's words to
//! HTTP's.

pub mod envelope;
pub mod x402;
