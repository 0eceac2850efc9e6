//! Every card that was accepted, oldest first, and never more than a set number.

use std::collections::{HashMap, VecDeque};

use order::model::ids::Timestamp;

use super::card::{Card, Fate, Knowledge, Sheet, Stage, Surface, Timetable};
use super::secret::Secret;
use super::settings::{Account, Settings};

/// Ids begin here, so that nobody takes one for a count.
const FIRST_ID: u64 = 42_001;
/// For so long a repeated key answers with the card that it made.
const KEY_SECONDS: u64 = 24 * 3_600;

#[derive(Default)]
pub(crate) struct Ledger {
    cards: VecDeque<Card>,
    accepted: u64,
    forgotten: u64,
    keys: HashMap<String, (u64, Timestamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotCancelled {
    Unknown,
    TooLate,
}

/// One wish to have a card mailed.
pub(crate) struct Acceptance<'a> {
    pub(crate) surface: Surface,
    pub(crate) sheet: Sheet,
    pub(crate) now: Timestamp,
    /// The caller's own date, if later than the end of the review.
    pub(crate) print_not_before: Option<Timestamp>,
    pub(crate) extra_lag_seconds: u64,
    pub(crate) settings: &'a Settings,
    pub(crate) secret: &'a Secret,
}

impl Ledger {
    pub(crate) fn accept(&mut self, wish: Acceptance<'_>) -> u64 {
        let Acceptance { surface, sheet, now, settings, .. } = wish;
        let id = FIRST_ID + self.accepted;
        let reviewed_at = now.plus(settings.review_seconds);
        let printed_at = wish.print_not_before.map_or(reviewed_at, |date| date.max(reviewed_at));
        let in_transit_at = printed_at.plus(settings.transit_seconds);
        let timetable = Timetable {
            visible_at: now.plus(settings.list_lag_seconds).plus(wish.extra_lag_seconds),
            printed_at,
            in_transit_at,
            delivered_at: in_transit_at.plus(settings.delivery_seconds),
        };
        let cancelled_at = match settings.account {
            Account::Production => None,
            Account::Testing => Some(now),
        };
        self.accepted += 1;
        self.cards.push_back(Card {
            id,
            token: wish.secret.token("card", id),
            surface,
            reference: reference(&sheet, &settings.reference_key),
            key: None,
            total: settings.price(sheet.recipient.country),
            sheet,
            accepted_at: now,
            timetable,
            cancelled_at,
            fate: Fate::Arrives,
            knowledge: Knowledge::Untold,
        });
        self.forget_beyond(settings.kept_cards);
        id
    }

    /// Newest first, hidden ones too.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter().rev()
    }

    /// Newest first, as a list shows them.
    pub(crate) fn visible(&self, now: Timestamp) -> impl Iterator<Item = &Card> {
        self.all().filter(move |card| card.timetable.visible_at <= now)
    }

    pub(crate) fn find(&self, id: u64) -> Option<&Card> {
        self.cards.iter().rev().find(|card| card.id == id)
    }

    pub(crate) fn find_token(&self, token: &str) -> Option<&Card> {
        self.all().find(|card| card.token == token)
    }

    pub(crate) fn find_mut(&mut self, id: u64) -> Option<&mut Card> {
        self.cards.iter_mut().rev().find(|card| card.id == id)
    }

    pub(crate) fn cancel(&mut self, id: u64, now: Timestamp) -> Result<&Card, NotCancelled> {
        let card = self.find_mut(id).ok_or(NotCancelled::Unknown)?;
        match card.stage(now) {
            Stage::Reviewing => card.cancelled_at = Some(now),
            Stage::Printed
            | Stage::InTransit
            | Stage::Delivered
            | Stage::Cancelled
            | Stage::Failed
            | Stage::Returned => return Err(NotCancelled::TooLate),
        }
        Ok(card)
    }

    /// The caller has read an answer that names these cards.
    pub(crate) fn told(&mut self, ids: &[u64]) {
        for card in self.cards.iter_mut().filter(|card| ids.contains(&card.id)) {
            card.knowledge = Knowledge::Told;
        }
    }

    /// The card that this key made, if it did so within a day.
    pub(crate) fn made_by(&self, key: &str, now: Timestamp) -> Option<u64> {
        let (id, at) = self.keys.get(key)?;
        now.since(*at).is_none_or(|age| age < KEY_SECONDS).then_some(*id)
    }

    pub(crate) fn remember_key(&mut self, key: String, id: u64, now: Timestamp) {
        if let Some(card) = self.find_mut(id) {
            card.key = Some(key.clone());
            self.keys.insert(key, (id, now));
        }
    }

    pub(crate) const fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Ids go on from where they were: a caller may remember one.
    pub(crate) fn clear(&mut self) {
        self.forget_beyond(0);
    }

    fn forget_beyond(&mut self, kept: usize) {
        while self.cards.len() > kept {
            let forgotten = self.cards.pop_front();
            self.forgotten += 1;
            // The key may have made a younger card since.
            if let Some((card, key)) = forgotten.and_then(|card| Some((card.id, card.key?)))
                && self.keys.get(&key).is_some_and(|(id, _)| *id == card)
            {
                self.keys.remove(&key);
            }
        }
    }
}

fn reference(sheet: &Sheet, key: &str) -> Option<String> {
    sheet.metadata.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
