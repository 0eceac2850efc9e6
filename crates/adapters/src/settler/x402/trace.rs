//! What became of a promise that may have been carried to the chain.

use pay::movement::Movement;
use pay::x402::facilitator::Due;

use super::shows;
use crate::nonce::Doubt;
use crate::permit2::{self, Hints, Sought};
use crate::settler::bundle::Bundle;
use crate::settler::lane::{Lane, Seen};

/// Only whom the promise names can carry it, and only until its deadline. Both facts are
/// the chain's, and so is the time: our own clock has no say. What was kept with the order
/// may be of a facilitator who carried before us; then there is nothing of ours to look for.
pub(in crate::settler) async fn trace(
    lane: &Lane,
    due: Due<'_>,
    told: Option<&str>,
) -> Result<Movement, Doubt> {
    let bundle = Bundle::read(due.preparation);
    let hashes = bundle.as_ref().map(Bundle::hashes).unwrap_or_default();
    let paid = |receipt: &_| shows(receipt, due.promise, due.charge);
    match lane.look(&hashes, &paid).await? {
        Seen::Paid(moved) => return Ok(Movement::Moved(moved)),
        // A missing receipt is what a node that is behind would say too.
        Seen::Nothing | Seen::Failed(_) => {}
    }
    let told = told.and_then(|hash| hash.parse().ok());
    let hints = Hints { since: bundle.map(|bundle| bundle.since), told };
    permit2::judge(&lane.node, &Sought::of(due), &lane.horizon().await?, hints).await
}
