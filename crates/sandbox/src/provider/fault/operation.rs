//! The operations of a provider, on either interface.

use crate::provider::fault::kind::words;

words! {
    /// One kind of call. On the Lob interface a proof is a preview, a retrieval is tracking,
    /// a deletion is a cancellation.
    ProviderOperation {
        Preview => "preview",
        Estimate => "estimate",
        Send => "send",
        List => "list",
        Track => "track",
        Items => "items",
        Cancel => "cancel",
    }
}
