//! Every discovery document and every error body, compared with the files in `snapshots/`.
//!
//! After an intended change: `UPDATE_SNAPSHOTS=1 cargo test -p server --test it snapshots`, then
//! read the difference in git. How both payment protocols answer each refusal of the order core
//! is recorded in the crate `pay`.

mod diff;
mod documents;
mod errors;
mod folder;
mod mcp_errors;
mod postcard_errors;
mod recording;
mod service;
mod variable_values;

use std::collections::BTreeMap;
use std::path::Path;

/// Snapshots by their path below `snapshots/`.
type Snapshots = BTreeMap<String, String>;

/// One test, so that a file that belongs to nothing is found.
#[test]
fn every_document_and_every_error_body_is_as_recorded() {
    let mut snapshots = Snapshots::new();
    documents::record(&mut snapshots);
    errors::record(&mut snapshots);
    mcp_errors::record(&mut snapshots);
    postcard_errors::record(&mut snapshots);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots/recorded");
    folder::compare(&folder, &snapshots, folder::mode());
}
