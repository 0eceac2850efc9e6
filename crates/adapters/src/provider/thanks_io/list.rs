//! The search for cards in a list that has no filter: one scan serves every order.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use order::ids::{OrderId, Timestamp};
use order::mail::Mailpiece;

use super::wire::{Listed, Page};
use super::{PEER, ThanksIo};
use crate::http::{Call, Silence};
use crate::provider::moment::Moment;

const ORDERS_A_PAGE: &str = "100";
/// A page of orders carries their recipients and pictures.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// One call's part of the scan. The next call goes on where this one stopped.
pub(super) const SEARCH_DEADLINE: Duration = Duration::from_secs(60);
/// Between the provider's clock and the chain's.
const SKEW_SECONDS: u64 = 60 * 60;
/// A scan that has shown all that was wanted answers for so long.
pub(super) const SCAN_SECONDS: u64 = 120;
/// A scan that was not continued for so long begins anew. Longer than any order's back-off.
const PAUSE_SECONDS_MAX: u64 = 30 * 60;

/// The scan of the account's list, shared by all handles of this process.
#[derive(Default)]
pub(super) struct Scan {
    /// Held while pages are read, so that one caller reads and the others find the result.
    reading: tokio::sync::Mutex<()>,
    shown: Mutex<Shown>,
}

/// What the pages have shown so far.
#[derive(Default)]
struct Shown {
    cards: HashMap<OrderId, Vec<Mailpiece>>,
    pages: u64,
    /// The time of the oldest order seen.
    oldest: Option<Timestamp>,
    ended: bool,
    /// How far back the scan has to go for all that have asked.
    wanted: Option<Timestamp>,
    /// When the last page was read, by the process's uptime.
    read_at: u64,
}

impl Shown {
    /// Whether the pages go back to before this moment.
    fn reaches(&self, since: Timestamp) -> bool {
        self.ended || self.oldest.is_some_and(|oldest| oldest.plus(SKEW_SECONDS) < since)
    }

    fn is_over(&self, uptime: u64) -> bool {
        let done = self.wanted.is_none_or(|wanted| self.reaches(wanted));
        let kept = if done { SCAN_SECONDS } else { PAUSE_SECONDS_MAX };
        uptime.saturating_sub(self.read_at) > kept
    }

    fn want(&mut self, since: Timestamp) {
        self.wanted = Some(self.wanted.map_or(since, |wanted| wanted.min(since)));
    }

    fn take(&mut self, page: &Page, uptime: u64) {
        self.pages += 1;
        self.read_at = uptime;
        self.ended = !page.may_continue(self.pages);
        for listed in &page.data {
            if let Some(order) = listed.live_card_of() {
                let (cards, mailpiece) = (self.cards.entry(order).or_default(), listed.mailpiece());
                // A new order moves the others down, some onto the next page.
                if !cards.contains(&mailpiece) {
                    cards.push(mailpiece);
                }
            }
            let created = created(listed);
            self.oldest = self.oldest.into_iter().chain(created).min();
        }
    }
}

impl Scan {
    /// A card that was cancelled is not found any more, whatever the pages showed.
    pub(super) fn forget(&self, mailpiece: &Mailpiece) {
        self.shown().cards.values_mut().for_each(|cards| cards.retain(|card| card != mailpiece));
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cards of an order, if the pages go back far enough.
    fn cards_of(&self, order: OrderId, since: Timestamp, uptime: u64) -> Option<Vec<Mailpiece>> {
        let mut shown = self.shown();
        if shown.is_over(uptime) {
            *shown = Shown { read_at: uptime, ..Shown::default() };
        }
        shown.want(since);
        shown.reaches(since).then(|| shown.cards.get(&order).cloned().unwrap_or_default())
    }
}

impl ThanksIo {
    /// Reads the list, newest first, back to when the card can have been handed in. A scan
    /// that has to stop earlier, for want of calls or of time, has no answer yet, and the
    /// next search goes on with it: not having looked is no proof.
    pub(super) async fn search(
        &self,
        order: OrderId,
        since: Timestamp,
    ) -> Result<Vec<Mailpiece>, Silence> {
        let _reading = self.scan.reading.lock().await;
        loop {
            if let Some(cards) = self.scan.cards_of(order, since, self.clock.uptime()) {
                return Ok(cards);
            }
            let number = self.scan.shown().pages + 1;
            let page = self.page(number).await?;
            self.scan.shown().take(&page, self.clock.uptime());
        }
    }

    async fn page(&self, number: u64) -> Result<Page, Silence> {
        let at = self
            .at(&["orders", "list"])
            .asking("items_per_page", ORDERS_A_PAGE)
            .asking("page", &number.to_string());
        self.read(Call::get(PEER, at).at_most(PAGE_BYTES_MAX)).await
    }
}

/// The latest moment at which an order can have been made. None for one whose time we cannot
/// read, so the search goes on.
fn created(listed: &Listed) -> Option<Timestamp> {
    listed.created_at.read().and_then(|text| Moment::parse(text)).map(|created| created.latest())
}
