//! Keeping the queue moving, for all who wait in it.

use super::ready::Unready;
use super::{Errand, Lane};
use crate::settler::queue::{NOBODY, Place, Repair};

/// A slow node takes seconds for each.
const PATIENCE_SECONDS: u64 = 5;

/// What frees the queue may pay more for gas than what moves in it: it uses the least
/// there is, and it has to outbid one that may have been signed at the cap.
const FILL_CAP_TIMES: u128 = 2;

impl Lane {
    /// Sends again what the pool lost, and fills the numbers that nobody used. All
    /// of it can fail: those who wait come by again.
    pub(super) async fn mend(&self) {
        let (Ok(counts), Ok(quote)) = tokio::join!(self.counts(), self.quote()) else { return };
        let begun = self.clock.uptime();
        for repair in self.queue.repairs(counts, quote.base, begun) {
            // Whoever mends waits for a receipt of their own, and a payer for them.
            if self.clock.uptime().saturating_sub(begun) >= PATIENCE_SECONDS {
                return;
            }
            match repair {
                Repair::SendAgain(raw) => {
                    let _ = self.node.send(&raw).await;
                }
                Repair::Fill(place) => {
                    if let Err(Unready::TooDear) = self.fill(place).await {
                        tracing::warn!(
                            network = self.network.caip2(),
                            count = place.nonce,
                            "Payments wait behind a number that is too dear to fill now"
                        );
                    }
                }
            }
        }
    }

    /// A transaction to ourselves that moves nothing but the queue.
    async fn fill(&self, place: Place) -> Result<(), Unready> {
        let own = self.address();
        let errand = Errand { id: NOBODY, to: own, data: Vec::new() };
        let (gas, quote) =
            tokio::try_join!(self.node.estimate(own, own, &errand.data), self.quote())?;
        let gas = self.with_margin(gas)?;
        let cap = self.limits.fee_cap.saturating_mul(FILL_CAP_TIMES);
        let fees = quote.offer(cap, place.replaces).ok_or(Unready::TooDear)?;
        let signed = self.sign(&errand, place.nonce, fees, gas);
        tracing::info!(
            network = self.network.caip2(),
            count = place.nonce,
            "A number of the settler's account was left unused and is filled"
        );
        if self.node.send(&signed.raw).await.is_ok() {
            self.queue.occupy(&signed, self.clock.uptime());
        }
        Ok(())
    }
}
