//! What became of a promise that may have been carried to the chain.

use order::ports::Failure;
use pay::movement::Movement;
use pay::x402::facilitator::Due;

use super::shows;
use crate::nonce::Doubt;
use crate::permit2::{self, Sought};
use crate::settler::bundle::{Bundle, UNREADABLE};
use crate::settler::lane::{Lane, Seen};

/// Only we can carry the promise, since it names us, and only until its deadline.
/// Both facts are the chain's, and so is the time: our own clock has no say.
pub(in crate::settler) async fn trace(lane: &Lane, due: Due<'_>) -> Result<Movement, Failure> {
    let bundle = Bundle::read(due.preparation).ok_or_else(|| Failure::Lost(UNREADABLE.into()))?;
    let paid = |receipt: &_| shows(receipt, due.promise, due.charge);
    match lane.look(&bundle.hashes(), &paid).await.map_err(Doubt::from)? {
        Seen::Paid(moved) => return Ok(Movement::Moved(moved)),
        // A missing receipt is what a node that is behind would say too.
        Seen::Nothing | Seen::Failed(_) => {}
    }
    let horizon = lane.horizon().await.map_err(Doubt::from)?;
    let since = Some(bundle.since);
    Ok(permit2::judge(&lane.node, &Sought::of(due), &horizon, since).await?)
}
