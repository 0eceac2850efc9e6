//! All cards of a period, from the account's list.
//!
//! The scan for lookups keeps ids only and ends at the oldest order that is looked for, so a
//! period is read apart from it.

use std::collections::BTreeMap;

use order::model::ids::Timestamp;
use order::model::mail::AcceptedCard;

use super::ThanksIo;
use super::scan::{self, SKEW_SECONDS};
use super::wire::ListPage;
use crate::http::{CallError, CallErrorKind};
use crate::provider::time::ProviderTime;

/// A million orders. A list that has more does not end.
const PAGES_MAX: u64 = 10_000;

impl ThanksIo {
    /// Reads the list, newest first, back to the beginning of the period.
    pub(super) async fn list_accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, CallError> {
        let mut cards = BTreeMap::new();
        for number in 1..=PAGES_MAX {
            let page: ListPage = self.account_client.read_when_free(self.page_call(number)).await?;
            for listed in &page.data {
                let at = scan::read_time(listed).map(ProviderTime::written);
                let at = at.ok_or(CallError::Lost(CallErrorKind::Unreadable))?;
                // A new order moves the others down, some onto the next page.
                if listed.is_cancelled() {
                    cards.remove(&listed.id);
                } else if from <= at && at < until {
                    let (mailpiece, order, total) =
                        (listed.mailpiece(), listed.order(), listed.total());
                    cards.insert(listed.id, AcceptedCard { mailpiece, order, at, total });
                }
            }
            let oldest = page.data.iter().filter_map(scan::created).min();
            let is_past = oldest.is_some_and(|oldest| oldest.plus(SKEW_SECONDS) < from);
            if is_past || !page.may_continue(number) {
                return Ok(cards.into_values().collect());
            }
        }
        Err(CallError::Lost(CallErrorKind::TooLarge))
    }
}
