//! What a caller can ask of the post office, whichever surface it uses.

use super::kind::words;

words! {
    /// One kind of call. On the Lob surface a proof is a preview, a retrieval
    /// is tracking, a deletion is a cancellation.
    Operation {
        Preview => "preview",
        Estimate => "estimate",
        Send => "send",
        List => "list",
        Track => "track",
        Items => "items",
        Cancel => "cancel",
    }
}
