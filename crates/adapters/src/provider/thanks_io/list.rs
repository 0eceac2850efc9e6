//! The search for cards in a list that has no filter: one scan serves every order.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Mailpiece;

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
/// A scan that has answered is used for so long, with its newest pages read again.
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
    /// Whether a search was answered since the last page was read.
    answered: bool,
    /// When the last page was read, by the process's uptime. Reading the newest pages again
    /// does not count.
    read_at: u64,
    /// The orders of the first page, each of which is below all orders that came later.
    newest: Vec<u64>,
    /// When that page was asked for.
    newest_at: u64,
    /// The first pages, while they are read again.
    rereading: Option<Rereading>,
}

/// The first pages that were read again, and do not yet go down to what was known.
struct Rereading {
    pages: u64,
    newest: Vec<u64>,
    newest_at: u64,
}

impl Shown {
    /// Whether the pages go back to before this moment.
    fn reaches(&self, since: Timestamp) -> bool {
        self.ended || self.oldest.is_some_and(|oldest| oldest.plus(SKEW_SECONDS) < since)
    }

    fn is_over(&self, uptime: u64) -> bool {
        let done = self.answered && self.wanted.is_none_or(|wanted| self.reaches(wanted));
        let kept = if done { SCAN_SECONDS } else { PAUSE_SECONDS_MAX };
        uptime.saturating_sub(self.read_at) > kept
    }

    fn want(&mut self, since: Timestamp) {
        self.wanted = Some(self.wanted.map_or(since, |wanted| wanted.min(since)));
    }

    /// What a search that began at this time has to do next.
    fn next_step(&mut self, order: OrderId, since: Timestamp, began: u64) -> Step {
        if !self.reaches(since) {
            return Step::Continue(self.pages + 1);
        }
        if self.newest_at < began {
            let pages = self.rereading.as_ref().map_or(0, |rereading| rereading.pages);
            return Step::ReadAgain(pages + 1);
        }
        self.answered = true;
        Step::Answer(self.cards.get(&order).cloned().unwrap_or_default())
    }

    /// Takes the page that follows those already read.
    fn take(&mut self, page: &Page, asked_at: u64) {
        if self.pages == 0 {
            self.newest = page.ids();
            self.newest_at = asked_at;
        }
        self.pages += 1;
        self.answered = false;
        self.read_at = asked_at;
        self.ended = !page.may_continue(self.pages);
        self.take_cards(page);
        self.oldest = self.oldest.into_iter().chain(page.data.iter().filter_map(created)).min();
    }

    fn take_cards(&mut self, page: &Page) {
        for listed in &page.data {
            if let Some(order) = listed.live_card_of() {
                let (cards, mailpiece) = (self.cards.entry(order).or_default(), listed.mailpiece());
                // A new order moves the others down, some onto the next page.
                if !cards.contains(&mailpiece) {
                    cards.push(mailpiece);
                }
            }
        }
    }

    /// Takes the next of the first pages, which end with an order that was known.
    fn take_again(&mut self, page: &Page, asked_at: u64) {
        self.take_cards(page);
        let known = page.data.iter().any(|listed| self.newest.contains(&listed.id));
        let (pages, newest, newest_at) = match self.rereading.take() {
            Some(Rereading { pages, newest, newest_at }) => (pages + 1, newest, newest_at),
            None => (1, page.ids(), asked_at),
        };
        if known || !page.may_continue(pages) {
            (self.newest, self.newest_at) = (newest, newest_at);
        } else {
            self.rereading = Some(Rereading { pages, newest, newest_at });
        }
    }
}

/// What comes next in a search.
enum Step {
    /// The page of this number, which no search has read yet.
    Continue(u64),
    /// The page of this number, which is older than the search.
    ReadAgain(u64),
    Answer(Vec<Mailpiece>),
}

impl Scan {
    /// A card that was cancelled is not found any more, whatever the pages showed.
    pub(super) fn forget(&self, mailpiece: &Mailpiece) {
        self.shown().cards.values_mut().for_each(|cards| cards.retain(|card| card != mailpiece));
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with the pages that were read, unless they are too old.
    fn resume(&self, since: Timestamp, uptime: u64) {
        let mut shown = self.shown();
        if shown.is_over(uptime) {
            *shown = Shown { read_at: uptime, ..Shown::default() };
        }
        shown.want(since);
    }
}

impl ThanksIo {
    /// Reads the list, newest first, back to when the card can have been handed in. A scan
    /// that has to stop earlier, for want of calls or of time, has no answer yet, and the
    /// next search goes on with it: not having looked is no proof. Before a search is
    /// answered, the newest pages are read again if they are older than the search; all
    /// that wait are answered by one such reading.
    pub(super) async fn search(
        &self,
        order: OrderId,
        since: Timestamp,
    ) -> Result<Vec<Mailpiece>, Silence> {
        let began = self.clock.uptime();
        let _reading = self.scan.reading.lock().await;
        self.scan.resume(since, self.clock.uptime());
        loop {
            let step = self.scan.shown().next_step(order, since, began);
            let asked_at = self.clock.uptime();
            match step {
                Step::Continue(number) => {
                    let page = self.page(number).await?;
                    self.scan.shown().take(&page, asked_at);
                }
                Step::ReadAgain(number) => {
                    let page = self.page(number).await?;
                    self.scan.shown().take_again(&page, asked_at);
                }
                Step::Answer(cards) => return Ok(cards),
            }
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
