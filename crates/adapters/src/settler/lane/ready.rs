//! Making a transaction ready: simulate it, price it, number it, sign it. Nothing is sent.

use std::sync::PoisonError;

use alloy_primitives::Bytes;

use super::purse::Level;
use super::{Errand, LATEST, Lane};
use crate::rpc::NoAnswer;
use crate::settler::bundle::Bundle;
use crate::settler::fees::Fees;
use crate::settler::queue::{Place, Standing};
use crate::settler::transaction::{Signed, Unsigned};

/// How many transactions are ever signed for one payment. What passes every trial and fails
/// in every block would cost us gas until it runs out; some contracts can tell the two apart.
const SIGNED_MOST: usize = 8;

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::settler) enum Unready {
    /// The contract would not do it.
    Reverted(Bytes),
    Node(NoAnswer),
    /// Above what the operator allows for gas.
    TooDear,
    /// The account cannot pay for it.
    NoFunds,
}

impl From<NoAnswer> for Unready {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Reverted(bytes) => Self::Reverted(bytes),
            NoAnswer::Silent(_)
            | NoAnswer::Refused(_)
            | NoAnswer::Unusable
            | NoAnswer::UnknownBlock
            | NoAnswer::OtherChain(_) => Self::Node(why),
        }
    }
}

impl Lane {
    /// What is to be kept before anything is sent: what was signed earlier while
    /// that can still go in, and otherwise a new transaction beside it.
    pub(in crate::settler) async fn ready(
        &self,
        errand: &Errand,
        earlier: Option<Bundle>,
    ) -> Result<Bundle, Unready> {
        let own = self.address();
        let (simulated, gas, quote, counts, balance) = tokio::join!(
            self.node.call_as(own, errand.to, &errand.data, LATEST),
            self.node.estimate(own, errand.to, &errand.data),
            self.quote(),
            self.counts(),
            self.node.balance(own),
        );
        simulated?;
        let gas = self.with_margin(gas?)?;
        let (quote, counts, balance) = (quote?, counts?, balance?);
        self.observe(balance);
        // Above the cap nobody is given a number.
        let now_asked = quote.offer(self.limits.fee_cap, None).ok_or(Unready::TooDear)?;
        afford(balance, gas, now_asked)?;

        if let Some(kept) = earlier.as_ref().filter(|kept| kept.hashes().len() >= SIGNED_MOST) {
            return Ok(kept.clone());
        }
        let now = self.clock.uptime();
        let newest = earlier.as_ref().and_then(Bundle::newest);
        let standing =
            newest.map(|signed| (signed, self.queue.standing(errand.id, signed, counts, now)));
        let place = match (standing, earlier.as_ref()) {
            (Some((signed, Standing::Good)), Some(kept)) if quote.takes(signed.fees) => {
                return Ok(kept.clone());
            }
            (Some((Signed { nonce, fees, .. }, Standing::Good)), _) => {
                Place { nonce: *nonce, replaces: Some(*fees) }
            }
            (Some((_, Standing::Lost)) | None, _) => self.queue.take(errand.id, counts, now),
        };
        let fees = quote.offer(self.limits.fee_cap, place.replaces).ok_or(Unready::TooDear)?;
        afford(balance, gas, fees)?;
        let signed = self.sign(errand, place.nonce, fees, gas);
        Ok(match earlier {
            Some(mut bundle) => {
                bundle.add(signed);
                bundle
            }
            None => Bundle::new(quote.head, own, signed),
        })
    }

    pub(super) fn sign(&self, errand: &Errand, nonce: u64, fees: Fees, gas: u64) -> Signed {
        let chain_id = self.network.chain_id();
        let (to, data) = (errand.to, errand.data.as_slice());
        self.signer.sign(&Unsigned { chain_id, nonce, fees, gas, to, data })
    }

    /// A quarter more than the estimate: until it goes in, others may have changed
    /// what it touches.
    pub(super) fn with_margin(&self, estimate: u64) -> Result<u64, Unready> {
        let gas = estimate.saturating_add(estimate / 4);
        if gas > self.limits.gas_max { Err(Unready::TooDear) } else { Ok(gas) }
    }

    fn observe(&self, balance: u128) {
        let level = if balance < self.limits.low_balance { Level::Low } else { Level::Enough };
        let mut purse = self.purse.lock().unwrap_or_else(PoisonError::into_inner);
        purse.observe(self.network, self.address(), level);
    }
}

/// Nodes want the account to hold what a transaction could cost at most.
fn afford(balance: u128, gas: u64, fees: Fees) -> Result<(), Unready> {
    if balance < fees.most.saturating_mul(gas.into()) { Err(Unready::NoFunds) } else { Ok(()) }
}
