//! What scans of the account's list have shown, kept for later lookups.
//!
//! The list has no filter, so one scan serves every order. A finished scan is not repeated: the
//! next one starts at the newest page and ends where the earlier one is certainly complete. Only
//! order ids and mailpiece ids are kept.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Mailpiece;

use super::wire::{ListPage, ListedOrder};
use crate::provider::time::ProviderTime;

/// One lookup's part of a scan. The next lookup continues where this one stopped.
pub(super) const SEARCH_DEADLINE: Duration = Duration::from_secs(60);
/// How late the list may show an order. thanks.io documents no bound; this one is ours.
pub(super) const LIST_LAG_SECONDS: u64 = 120;
/// A scan that has answered is used for this long, with its newest pages read again.
pub(super) const SCAN_SECONDS: u64 = 120;
/// Allowed difference between the provider's clock and the chain's.
pub(super) const SKEW_SECONDS: u64 = 60 * 60;
/// A scan that was not continued for this long is discarded. Longer than any order's back-off.
const PAUSE_SECONDS_MAX: u64 = 30 * 60;
/// After this time the whole list is scanned again, whatever is known: it finds a card that the
/// provider listed later than LIST_LAG_SECONDS.
pub(super) const FULL_SCAN_SECONDS: u64 = 60 * 60;
/// The most orders that are kept, at about 100 bytes each. Above it the next scan is a full one.
const ORDERS_MAX: usize = 50_000;

/// The scan of the account's list, shared by all handles of this process.
#[derive(Default)]
pub(super) struct Scan {
    /// Held while pages are read, so that one lookup reads and the others find the result.
    pub(super) reading: tokio::sync::Mutex<()>,
    progress: Mutex<Progress>,
}

/// A mailpiece that was listed as not cancelled.
#[derive(Clone)]
pub(super) struct LiveCard {
    pub(super) mailpiece: Mailpiece,
    /// When this was last read, by the process's uptime.
    seen_at: u64,
}

impl LiveCard {
    /// Whether it may have been cancelled since, by another process or by the operator.
    pub(super) const fn is_stale(&self, uptime: u64) -> bool {
        uptime.saturating_sub(self.seen_at) > SCAN_SECONDS
    }
}

/// What the pages have shown so far.
#[derive(Default)]
struct Progress {
    cards: HashMap<OrderId, Vec<LiveCard>>,
    pages: u64,
    /// The time of the oldest order seen.
    oldest: Option<Timestamp>,
    ended: bool,
    /// How far back the scan has to go for all lookups.
    wanted: Option<Timestamp>,
    /// Whether a lookup was answered since the last page was read.
    answered: bool,
    /// When the last page was read, by the process's uptime. Reading the newest pages again
    /// does not count.
    read_at: u64,
    /// The orders of the first page, each of which is below all orders that came later.
    newest: Vec<u64>,
    /// When that page was requested.
    newest_at: u64,
    /// Every order created before this time, by the provider's clock, was visible when the scan
    /// began.
    visible_before: Option<Timestamp>,
    /// When the whole list was last scanned from its first page.
    full_scan_at: u64,
    /// The scan before this one, until this one has met it.
    earlier: Option<EarlierScan>,
    /// The first pages, while they are read again.
    rereading: Option<Rereading>,
}

/// A finished scan whose result is kept.
struct EarlierScan {
    oldest: Option<Timestamp>,
    ended: bool,
    newest: Vec<u64>,
    visible_before: Timestamp,
    /// Whether the new scan has shown an order of its first page.
    is_met: bool,
}

/// The first pages that were read again and do not yet reach a known order.
struct Rereading {
    pages: u64,
    newest: Vec<u64>,
    newest_at: u64,
}

/// What comes next in a lookup.
pub(super) enum Step {
    /// Read the page of this number, which this scan has not read yet.
    Continue(u64),
    /// Read the page of this number again: it is older than the lookup.
    ReadAgain(u64),
    Answer(Vec<LiveCard>),
}

impl Scan {
    /// A cancelled card is not found any more, whatever the pages showed.
    pub(super) fn forget(&self, mailpiece: &Mailpiece) {
        let of_another = |card: &LiveCard| card.mailpiece != *mailpiece;
        self.progress().cards.values_mut().for_each(|cards| cards.retain(of_another));
    }

    /// The provider has just said that a card is not cancelled.
    pub(super) fn confirm(&self, mailpiece: &Mailpiece, uptime: u64) {
        let mut progress = self.progress();
        for card in progress.cards.values_mut().flatten() {
            if card.mailpiece == *mailpiece {
                card.seen_at = uptime;
            }
        }
    }

    /// Discards everything; the next lookup scans the whole list.
    pub(super) fn discard(&self, uptime: u64) {
        *self.progress() = Progress::full_scan(uptime);
    }

    /// Continues the current scan, or begins the next one if it is too old.
    pub(super) fn resume(&self, since: Timestamp, uptime: u64) {
        let mut progress = self.progress();
        if progress.is_over(uptime) {
            *progress = mem::take(&mut *progress).successor(uptime);
        }
        progress.want(since);
    }

    /// What a lookup that began at this time has to do next.
    pub(super) fn next_step(&self, order: OrderId, since: Timestamp, began: u64) -> Step {
        self.progress().next_step(order, since, began)
    }

    /// Takes the page that follows those already read.
    pub(super) fn take(&self, page: &ListPage, requested_at: u64) {
        self.progress().take(page, requested_at);
    }

    /// Takes one of the first pages, read again.
    pub(super) fn take_again(&self, page: &ListPage, requested_at: u64) {
        self.progress().take_again(page, requested_at);
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn full_scan(uptime: u64) -> Self {
        Self { read_at: uptime, full_scan_at: uptime, ..Self::default() }
    }

    /// The scan after this one. It keeps what this one has shown if this one was finished.
    fn successor(self, uptime: u64) -> Self {
        let is_finished = self.wanted.is_none_or(|wanted| self.reaches(wanted));
        let is_recent = uptime.saturating_sub(self.full_scan_at) <= FULL_SCAN_SECONDS;
        match self.visible_before {
            Some(visible_before) if is_finished && is_recent && self.cards.len() <= ORDERS_MAX => {
                let Self { oldest, ended, newest, full_scan_at, cards, .. } = self;
                let is_met = false;
                let earlier = EarlierScan { oldest, ended, newest, visible_before, is_met };
                let (earlier, read_at) = (Some(earlier), uptime);
                Self { cards, earlier, read_at, full_scan_at, ..Self::default() }
            }
            Some(_) | None => Self::full_scan(uptime),
        }
    }

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

    fn take(&mut self, page: &ListPage, requested_at: u64) {
        if self.pages == 0 {
            self.newest = page.ids();
            self.newest_at = requested_at;
            self.visible_before = visible_before(page);
        }
        self.pages += 1;
        self.answered = false;
        self.read_at = requested_at;
        self.ended = !page.may_continue(self.pages);
        self.take_cards(page, requested_at);
        self.oldest = self.oldest.into_iter().chain(page.data.iter().filter_map(created)).min();
        self.join_earlier(page);
    }

    fn take_cards(&mut self, page: &ListPage, requested_at: u64) {
        for listed in &page.data {
            let (Some(order), mailpiece) = (listed.order(), listed.mailpiece()) else { continue };
            if listed.is_cancelled() {
                if let Some(cards) = self.cards.get_mut(&order) {
                    cards.retain(|card| card.mailpiece != mailpiece);
                }
                continue;
            }
            let cards = self.cards.entry(order).or_default();
            // A new order moves the others down, some onto the next page.
            match cards.iter_mut().find(|card| card.mailpiece == mailpiece) {
                Some(card) => card.seen_at = requested_at,
                None => cards.push(LiveCard { mailpiece, seen_at: requested_at }),
            }
        }
    }

    /// Below an order that was created before `visible_before`, the earlier scan has seen every
    /// order: each was visible when that scan began. An order listed late is above it.
    fn join_earlier(&mut self, page: &ListPage) {
        let Some(earlier) = &mut self.earlier else { return };
        earlier.is_met |= page.data.iter().any(|listed| earlier.newest.contains(&listed.id));
        let last = page.data.last().and_then(created);
        if earlier.is_met && last.is_some_and(|last| last < earlier.visible_before) {
            self.oldest = self.oldest.into_iter().chain(earlier.oldest).min();
            self.ended |= earlier.ended;
            self.earlier = None;
        }
    }

    /// Takes the next of the first pages, which end with an order that was known.
    fn take_again(&mut self, page: &ListPage, requested_at: u64) {
        self.take_cards(page, requested_at);
        let known = page.data.iter().any(|listed| self.newest.contains(&listed.id));
        let (pages, newest, newest_at) = match self.rereading.take() {
            Some(Rereading { pages, newest, newest_at }) => (pages + 1, newest, newest_at),
            None => (1, page.ids(), requested_at),
        };
        if known || !page.may_continue(pages) {
            (self.newest, self.newest_at) = (newest, newest_at);
        } else {
            self.rereading = Some(Rereading { pages, newest, newest_at });
        }
    }
}

/// The latest time at which an order can have been created. None for a time that cannot be read,
/// so the scan continues.
pub(super) fn created(listed: &ListedOrder) -> Option<Timestamp> {
    read_time(listed).map(ProviderTime::latest)
}

/// The provider's clock shows at least the time of the newest order on the first page, so orders
/// that are older by the lag were visible when that page was read. None without an exact time.
fn visible_before(first_page: &ListPage) -> Option<Timestamp> {
    let newest =
        first_page.data.iter().filter_map(read_time).filter_map(ProviderTime::exact).max()?;
    Some(Timestamp(newest.0.saturating_sub(LIST_LAG_SECONDS + SCAN_SECONDS)))
}

pub(super) fn read_time(listed: &ListedOrder) -> Option<ProviderTime> {
    listed.created_at.read().and_then(|text| ProviderTime::parse(text))
}
