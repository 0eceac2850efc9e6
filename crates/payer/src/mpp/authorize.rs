//! From MPP challenges to a signed payment.

use super::challenge::{ChallengeExpectations, MppOffers, NETWORK};
use super::credential;
use crate::outcome::PaymentOutcome;
use crate::payer_key::PayerKey;
use crate::pending::PendingPayment;
use crate::session::{PaymentSession, nothing_signed};

impl PaymentSession<'_> {
    /// Chooses a challenge, asks for consent and signs.
    pub(crate) async fn authorize_mpp(
        &self,
        offers: &MppOffers,
    ) -> Result<(PendingPayment, PayerKey), PaymentOutcome> {
        let expected = ChallengeExpectations {
            most: self.options.max,
            network: self.options.network,
            body: self.card.bytes(),
            now: self.io.now(),
        };
        let chosen = offers.choose(&expected).map_err(|objections| nothing_signed(&objections))?;
        let payer_key = self.open_key().await?;
        self.obtain_consent(&payer_key, chosen.amount, NETWORK)?;
        let seconds = chosen.expires.saturating_sub(expected.now);
        let amount = format!("{} USDC", chosen.amount);
        self.announce(&payer_key, NETWORK, &amount, chosen.recipient, seconds);
        let header = credential::sign(&chosen, &payer_key.key);
        let order = offers.order.clone();
        let payment = self.pending_payment(order, NETWORK, chosen.amount, &payer_key, header);
        Ok((payment, payer_key))
    }
}
