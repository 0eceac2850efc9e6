//! Lookups of cards in the account's list.

use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Mailpiece;

use super::scan::{LiveCard, Step};
use super::wire::{self, ListPage};
use super::{PEER, ThanksIo};
use crate::http::{CallError, CallErrorKind, HttpCall};

const ORDERS_A_PAGE: &str = "100";
/// A page of orders carries their recipients and pictures.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;

impl ThanksIo {
    /// Reads the list, newest first, back to when the card can have been submitted. A scan that
    /// has to stop earlier, because no calls or no time are left, has no answer yet; the next
    /// lookup continues it. An unfinished scan proves nothing. Before a lookup is answered, the
    /// newest pages are read again if they are older than the lookup; one such reading answers
    /// all lookups that wait.
    pub(super) async fn search(
        &self,
        order: OrderId,
        since: Timestamp,
    ) -> Result<Vec<Mailpiece>, CallError> {
        let began = self.clock.uptime();
        let _reading = self.scan.reading.lock().await;
        self.scan.resume(since, self.clock.uptime());
        loop {
            let step = self.scan.next_step(order, since, began);
            let requested_at = self.clock.uptime();
            match step {
                Step::Continue(number) => {
                    self.scan.take(&self.page(number).await?, requested_at);
                }
                Step::ReadAgain(number) => {
                    self.scan.take_again(&self.page(number).await?, requested_at);
                }
                Step::Answer(cards) => return self.confirmed(cards).await,
            }
        }
    }

    /// The cards that are still not cancelled. One that was listed a while ago is asked for
    /// again: another process or the operator may have cancelled it since.
    async fn confirmed(&self, cards: Vec<LiveCard>) -> Result<Vec<Mailpiece>, CallError> {
        let mut confirmed = Vec::with_capacity(cards.len());
        for card in cards {
            if card.is_stale(self.clock.uptime()) && self.was_cancelled(&card.mailpiece).await? {
                continue;
            }
            confirmed.push(card.mailpiece);
        }
        Ok(confirmed)
    }

    async fn was_cancelled(&self, mailpiece: &Mailpiece) -> Result<bool, CallError> {
        let asked_at = self.clock.uptime();
        let status = match self.status(mailpiece).await {
            // The list decides again.
            Ok(None) | Err(CallError::Refused(CallErrorKind::Status(404))) => {
                self.scan.discard(asked_at);
                return Err(CallError::Lost(CallErrorKind::Unreadable));
            }
            Ok(Some(status)) => status,
            Err(error) => return Err(error),
        };
        let cancelled = wire::is_cancelled(&status);
        if cancelled {
            self.scan.forget(mailpiece);
        } else {
            self.scan.confirm(mailpiece, asked_at);
        }
        Ok(cancelled)
    }

    async fn page(&self, number: u64) -> Result<ListPage, CallError> {
        self.account_client.read(self.page_call(number)).await
    }

    pub(super) fn page_call(&self, number: u64) -> HttpCall {
        let at = self
            .account_client
            .url(&["orders", "list"])
            .asking("items_per_page", ORDERS_A_PAGE)
            .asking("page", &number.to_string());
        HttpCall::get(PEER, at).at_most(PAGE_BYTES_MAX)
    }
}
