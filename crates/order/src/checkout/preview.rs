//! The preview of a card, before payment.

use std::sync::Arc;

use crate::checkout::payees;
use crate::model::card::Postcard;
use crate::model::mail::Preview;
use crate::model::seller::{Sellers, Username};
use crate::ports::{NameService, Provider, Purpose};
use crate::refusal::Refusal;

/// Requests previews. It has no store, so nothing is stored.
pub struct Previews {
    pub provider: Arc<dyn Provider>,
    pub names: Arc<dyn NameService>,
    pub sellers: Sellers,
}

impl Previews {
    /// Both sides as the provider would print them. Nothing is mailed, but the provider
    /// receives the card. The rules for the seller are those of a paid card.
    pub async fn show(
        &self,
        seller: Option<&Username>,
        card: &Postcard,
    ) -> Result<Preview, Refusal> {
        let seller = seller.unwrap_or(&self.sellers.default);
        payees(&self.sellers, self.names.as_ref(), seller, Purpose::Offer).await?;
        Ok(self.provider.preview(card).await?)
    }
}
