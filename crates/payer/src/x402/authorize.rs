//! From an x402 challenge to a signed payment.

use super::challenge::{PaymentRequired, SelectedOffer, SpendingLimits};
use super::credential::{self, CredentialInputs};
use crate::outcome::PaymentOutcome;
use crate::payer_key::PayerKey;
use crate::pending::PendingPayment;
use crate::session::{PaymentSession, nothing_signed};

impl PaymentSession<'_> {
    /// Chooses an offer, asks for consent and signs.
    pub(crate) async fn authorize_x402(
        &self,
        challenge: &PaymentRequired,
    ) -> Result<(PendingPayment, PayerKey), PaymentOutcome> {
        let limits = SpendingLimits { most: self.options.max, network: self.options.network };
        let offer = challenge.choose(&limits).map_err(|objections| nothing_signed(&objections))?;
        let payer_key = self.open_key().await?;
        self.obtain_consent(&payer_key, offer.most, offer.network)?;
        let inputs = self.credential_inputs(challenge, &offer, &payer_key).await?;
        let amount = format!("at most {} USDC", offer.most);
        self.announce(&payer_key, offer.network, &amount, offer.pay_to, offer.seconds);
        let header = credential::sign(challenge, &offer, &payer_key.key, &inputs);
        let order = challenge.order.clone();
        let payment = self.pending_payment(order, offer.network, offer.most, &payer_key, header);
        Ok((payment, payer_key))
    }

    async fn credential_inputs(
        &self,
        challenge: &PaymentRequired,
        offer: &SelectedOffer,
        payer_key: &PayerKey,
    ) -> Result<CredentialInputs, PaymentOutcome> {
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|error| {
            PaymentOutcome::Unusable(format!("No randomness, so nothing was signed: {error}.\n"))
        })?;
        Ok(CredentialInputs {
            nonce,
            deadline: self.io.now().saturating_add(offer.seconds),
            identifier: self.identifier(challenge),
            permit_nonce: self.permit_nonce(challenge, offer, payer_key).await?,
        })
    }

    /// An identifier belongs to one card for ever, so the payment has one only if the
    /// card has it too, or if the service insists; then it follows from the order and
    /// is the same at every attempt.
    fn identifier(&self, challenge: &PaymentRequired) -> Option<String> {
        let offered = challenge.extension(credential::IDENTIFIER)?;
        if let Some(own) = &self.card.operation_id {
            return Some(own.clone());
        }
        let order = challenge.order.as_ref().filter(|_| offered["info"]["required"] == true);
        order.map(|order| format!("pay_{order}"))
    }
}
