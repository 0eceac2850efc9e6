//! The search for a card in a list that has no filter.

use std::time::Duration;

use order::ids::{OrderId, Timestamp};
use order::mail::Mailpiece;

use super::wire::{Listed, Page};
use super::{PEER, ThanksIo};
use crate::http::{Call, Silence, Why};
use crate::provider::moment::Moment;

const ORDERS_A_PAGE: &str = "100";
/// A page of orders carries their recipients and pictures.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A thousand orders since this one was paid: then a person has to look.
const PAGES_MAX: u64 = 10;
/// All pages together; longer than this, and the order's turn is over.
pub(super) const SEARCH_DEADLINE: Duration = Duration::from_secs(60);
/// Between the provider's clock and the chain's.
const SKEW_SECONDS: u64 = 60 * 60;

impl ThanksIo {
    /// Reads the list, newest first, back to when the card can have been handed
    /// in. A search that had to stop earlier and found nothing has no answer: not
    /// having looked is no proof.
    pub(super) async fn search(
        &self,
        order: OrderId,
        since: Timestamp,
    ) -> Result<Vec<Mailpiece>, Silence> {
        let mut found: Vec<Mailpiece> = Vec::new();
        for number in 1..=PAGES_MAX {
            let page = self.page(number).await?;
            for listed in page.data.iter().filter(|listed| listed.is_live_card_of(order)) {
                let mailpiece = Mailpiece(listed.id.to_string());
                // A new order moves the others down, some onto the next page.
                if !found.contains(&mailpiece) {
                    found.push(mailpiece);
                }
            }
            if !page.may_continue(number) || page.data.iter().any(|listed| is_before(listed, since))
            {
                return Ok(found);
            }
        }
        if found.is_empty() { Err(Silence::Lost(Why::TooLarge)) } else { Ok(found) }
    }

    async fn page(&self, number: u64) -> Result<Page, Silence> {
        let at = self
            .at(&["orders", "list"])
            .asking("items_per_page", ORDERS_A_PAGE)
            .asking("page", &number.to_string());
        self.read(Call::get(PEER, at).at_most(PAGE_BYTES_MAX)).await
    }
}

/// Whether an order is certainly older than this moment. One whose time we
/// cannot read is not, so the search goes on.
fn is_before(listed: &Listed, since: Timestamp) -> bool {
    let created = listed.created_at.read().and_then(|text| Moment::parse(text));
    created.is_some_and(|created| created.latest().plus(SKEW_SECONDS) < since)
}
