//! The state of an x402 payment that may have been sent.

use pay::transfer::TransferStatus;
use pay::x402::settler::Permit2Payment;

use super::{key, shows};
use crate::permit2::{self, Hints, SoughtPayment};
use crate::settlement::chain::PaymentReceipts;
use crate::settlement::network_settler::NetworkSettler;
use crate::settlement::preparation::PreparedCall;
use crate::settlement::proof::ProofError;

/// Only the named account can send it, and only until its deadline. The chain enforces both by
/// block time, so our clock is not used. The preparation may be of a remote facilitator; then
/// there is no transaction of ours.
pub(crate) async fn trace(
    network: &NetworkSettler,
    due: Permit2Payment<'_>,
    reported: Option<&str>,
) -> Result<TransferStatus, ProofError> {
    let sent = network.sent(key(due.authorization)).await?;
    let paid = |receipt: &_| shows(receipt, due.authorization, due.charge);
    match network.chain.look(&sent, &paid).await? {
        PaymentReceipts::Paid(moved) => return Ok(TransferStatus::Moved(moved)),
        // A node that is behind has no receipt either.
        PaymentReceipts::Nothing | PaymentReceipts::Failed(_) => {}
    }
    let reported = reported.and_then(|hash| hash.parse().ok());
    let since = PreparedCall::read(due.preparation).map(|prepared| prepared.since);
    let heads = network.chain.heads().await?;
    permit2::trace_at(
        &network.chain.node,
        &SoughtPayment::of(due),
        &heads,
        Hints { since, reported },
    )
    .await
}
