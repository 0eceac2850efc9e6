//! A look at a card before anybody pays for it.

use std::sync::Arc;

use crate::checkout::{payees, unanswered};
use crate::model::card::Postcard;
use crate::model::mail::Preview;
use crate::model::seller::{Sellers, Username};
use crate::ports::{NameService, Provider, Purpose};
use crate::refusal::Refusal;

/// Shows cards. It has no store: whatever happens here, nothing is kept.
pub struct Previews {
    pub provider: Arc<dyn Provider>,
    pub names: Arc<dyn NameService>,
    pub sellers: Sellers,
}

impl Previews {
    /// Both sides as the provider would print them. Nothing is mailed, but the
    /// provider sees the card. The seller is held to the same rules as for a
    /// paid card, so that a good preview is not followed by a refusal.
    pub async fn show(
        &self,
        seller: Option<&Username>,
        card: &Postcard,
    ) -> Result<Preview, Refusal> {
        let seller = seller.unwrap_or(&self.sellers.default);
        payees(&self.sellers, self.names.as_ref(), seller, Purpose::Offer).await?;
        self.provider.preview(card).await.map_err(unanswered)
    }
}
