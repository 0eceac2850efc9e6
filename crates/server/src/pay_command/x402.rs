//! The rail x402: a promise of at most a price, by Permit2, on any of our networks.

use super::end::End;
use super::keep::Kept;
use super::purse::Purse;
use super::{Visit, consent, refusal};

mod allowance;
pub(super) mod challenge;
pub(super) mod credential;
pub(super) mod promise;
pub(super) mod reason;

use challenge::{Challenge, Limits, Terms};
use credential::Particulars;

impl Visit<'_> {
    /// From an x402 challenge to a signed payment.
    pub(super) async fn promise(&self, challenge: &Challenge) -> Result<(Kept, Purse), End> {
        let limits = Limits { most: self.arguments.max, network: self.arguments.network };
        let terms = challenge.choose(&limits).map_err(|objections| refusal(&objections))?;
        let purse = Purse::open(self.arguments, &self.place, &self.client).await?;
        consent::obtain(self.arguments, &purse, terms.most, terms.network)?;
        let particulars = self.particulars(challenge, &terms, &purse).await?;
        self.announce(&purse, terms.network, terms.most, terms.pay_to, terms.seconds);
        let header = credential::sign(challenge, &terms, &purse.wallet, &particulars);
        let order = challenge.order.clone();
        Ok((self.kept(order, terms.network, terms.most, &purse, header), purse))
    }

    async fn particulars(
        &self,
        challenge: &Challenge,
        terms: &Terms,
        purse: &Purse,
    ) -> Result<Particulars, End> {
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|error| {
            End::Unusable(format!("No randomness, so nothing was signed: {error}.\n"))
        })?;
        Ok(Particulars {
            nonce,
            deadline: self.clock.now().0.saturating_add(terms.seconds),
            identifier: self.identifier(challenge),
            permit_nonce: self.permit_nonce(challenge, terms, purse).await?,
        })
    }

    /// An identifier belongs to one card for ever, so the payment has one only if the
    /// card has it too, or if the service insists; then it follows from the order and
    /// is the same at every attempt.
    fn identifier(&self, challenge: &Challenge) -> Option<String> {
        let offered = challenge.extension(credential::IDENTIFIER)?;
        if let Some(own) = &self.card.operation_id {
            return Some(own.clone());
        }
        let order = challenge.order.as_ref().filter(|_| offered["info"]["required"] == true);
        order.map(|order| format!("pay_{order}"))
    }
}
