//! The rail MPP: one transfer of exactly the price, signed for Base USDC itself (EIP-3009).

use order::model::chain::Network;

use super::end::End;
use super::keep::Kept;
use super::purse::Purse;
use super::{Visit, consent, refusal};

pub(super) mod challenge;
mod credential;
mod moment;
mod parameters;
mod transfer;

use challenge::{Challenge, Expected};

/// The one network of this rail.
pub(super) const NETWORK: Network = Network::Base;

impl Visit<'_> {
    /// From an MPP challenge to a signed payment.
    pub(super) async fn transfer(&self, challenge: &Challenge) -> Result<(Kept, Purse), End> {
        let expected = Expected {
            most: self.arguments.max,
            network: self.arguments.network,
            body: self.card.bytes(),
            now: self.clock.now().0,
        };
        let terms = challenge.choose(&expected).map_err(|objections| refusal(&objections))?;
        let purse = Purse::open(self.arguments, &self.place, &self.client).await?;
        consent::obtain(self.arguments, &purse, terms.amount, NETWORK)?;
        let seconds = terms.expires.saturating_sub(expected.now);
        self.announce(&purse, NETWORK, terms.amount, terms.recipient, seconds);
        let header = credential::sign(&terms, &purse.wallet);
        let order = challenge.order.clone();
        Ok((self.kept(order, NETWORK, terms.amount, &purse, header), purse))
    }
}
