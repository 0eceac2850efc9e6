//! What became of a promise that may have been sent to the chain.

use pay::movement::Movement;
use pay::x402::facilitator::Due;

use super::{key, shows};
use crate::nonce::Doubt;
use crate::permit2::{self, Hints, Sought};
use crate::settlement::chain::Seen;
use crate::settlement::network::NetworkSettler;
use crate::settlement::preparation::PreparedCall;

/// Only the account that the promise names can send it, and only until its deadline. Both
/// facts are the chain's, and so is the time: our own clock has no say. What was kept with
/// the order may be of a facilitator; then there is no transaction of ours to look for.
pub(in crate::settlement) async fn trace(
    network: &NetworkSettler,
    due: Due<'_>,
    told: Option<&str>,
) -> Result<Movement, Doubt> {
    let sent = network.sent(key(due.promise)).await?;
    let paid = |receipt: &_| shows(receipt, due.promise, due.charge);
    match network.chain.look(&sent, &paid).await? {
        Seen::Paid(moved) => return Ok(Movement::Moved(moved)),
        // A missing receipt is what a node that is behind would say too.
        Seen::Nothing | Seen::Failed(_) => {}
    }
    let told = told.and_then(|hash| hash.parse().ok());
    let since = PreparedCall::read(due.preparation).map(|prepared| prepared.since);
    let horizon = network.chain.horizon().await?;
    permit2::judge(&network.chain.node, &Sought::of(due), &horizon, Hints { since, told }).await
}
