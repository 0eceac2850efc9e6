//! All accepted cards, oldest first, up to a maximum number.

use std::collections::{HashMap, VecDeque};

use order::model::ids::Timestamp;

use crate::provider::state::card::{
    CallerKnowledge, CardSchedule, CardStage, DeliveryOutcome, EmulatedCard, PostcardContent,
    ProviderApi,
};
use crate::provider::state::secret::TokenSecret;
use crate::provider::state::settings::{ProviderSettings, REFERENCE_KEY, SandboxAccountMode};

/// The first id, so that ids are not mistaken for counts.
const FIRST_ID: u64 = 42_001;
/// How long an idempotency key returns the card that it created.
const KEY_SECONDS: u64 = 24 * 3_600;

#[derive(Default)]
pub(crate) struct CardLedger {
    cards: VecDeque<EmulatedCard>,
    accepted: u64,
    forgotten: u64,
    keys: HashMap<String, (u64, Timestamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotCancelled {
    Unknown,
    TooLate,
}

/// A card to accept.
pub(crate) struct NewCard<'a> {
    pub(crate) api: ProviderApi,
    pub(crate) content: PostcardContent,
    pub(crate) now: Timestamp,
    /// The caller's own date, if later than the end of the review.
    pub(crate) print_not_before: Option<Timestamp>,
    pub(crate) extra_lag_seconds: u64,
    pub(crate) settings: &'a ProviderSettings,
    pub(crate) secret: &'a TokenSecret,
}

impl CardLedger {
    pub(crate) fn accept(&mut self, request: NewCard<'_>) -> u64 {
        let NewCard { api, content, now, settings, .. } = request;
        let id = FIRST_ID + self.accepted;
        let reviewed_at = now.plus(settings.review_seconds);
        let printed_at = request.print_not_before.map_or(reviewed_at, |date| date.max(reviewed_at));
        let in_transit_at = printed_at.plus(settings.transit_seconds);
        let schedule = CardSchedule {
            visible_at: now.plus(settings.list_lag_seconds).plus(request.extra_lag_seconds),
            printed_at,
            in_transit_at,
            delivered_at: in_transit_at.plus(settings.delivery_seconds),
        };
        let cancelled_at = match settings.account {
            SandboxAccountMode::Production => None,
            SandboxAccountMode::Testing => Some(now),
        };
        self.accepted += 1;
        self.cards.push_back(EmulatedCard {
            id,
            token: request.secret.token("card", id),
            api,
            reference: reference(&content),
            key: None,
            total: settings.price(content.recipient.country),
            content,
            accepted_at: now,
            schedule,
            cancelled_at,
            outcome: DeliveryOutcome::Arrives,
            knowledge: CallerKnowledge::Uninformed,
        });
        self.forget_beyond(settings.kept_cards);
        id
    }

    /// Newest first, hidden ones too.
    pub(crate) fn all(&self) -> impl Iterator<Item = &EmulatedCard> {
        self.cards.iter().rev()
    }

    /// Newest first, as a list shows them.
    pub(crate) fn visible(&self, now: Timestamp) -> impl Iterator<Item = &EmulatedCard> {
        self.all().filter(move |card| card.schedule.visible_at <= now)
    }

    pub(crate) fn find(&self, id: u64) -> Option<&EmulatedCard> {
        self.cards.iter().rev().find(|card| card.id == id)
    }

    pub(crate) fn find_token(&self, token: &str) -> Option<&EmulatedCard> {
        self.all().find(|card| card.token == token)
    }

    pub(crate) fn find_mut(&mut self, id: u64) -> Option<&mut EmulatedCard> {
        self.cards.iter_mut().rev().find(|card| card.id == id)
    }

    pub(crate) fn cancel(
        &mut self,
        id: u64,
        now: Timestamp,
    ) -> Result<&EmulatedCard, NotCancelled> {
        let card = self.find_mut(id).ok_or(NotCancelled::Unknown)?;
        match card.stage(now) {
            CardStage::Reviewing => card.cancelled_at = Some(now),
            CardStage::Printed
            | CardStage::InTransit
            | CardStage::Delivered
            | CardStage::Cancelled
            | CardStage::Failed
            | CardStage::Returned => return Err(NotCancelled::TooLate),
        }
        Ok(card)
    }

    /// The caller has received a response that names these cards.
    pub(crate) fn mark_informed(&mut self, ids: &[u64]) {
        for card in self.cards.iter_mut().filter(|card| ids.contains(&card.id)) {
            card.knowledge = CallerKnowledge::Informed;
        }
    }

    /// The card that this idempotency key created within the last day.
    pub(crate) fn created_by_key(&self, key: &str, now: Timestamp) -> Option<u64> {
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

    /// Ids continue: a caller may remember one.
    pub(crate) fn clear(&mut self) {
        self.forget_beyond(0);
    }

    fn forget_beyond(&mut self, kept: usize) {
        while self.cards.len() > kept {
            let forgotten = self.cards.pop_front();
            self.forgotten += 1;
            // The key may have created a newer card since.
            if let Some((card, key)) = forgotten.and_then(|card| Some((card.id, card.key?)))
                && self.keys.get(&key).is_some_and(|(id, _)| *id == card)
            {
                self.keys.remove(&key);
            }
        }
    }
}

fn reference(content: &PostcardContent) -> Option<String> {
    content.metadata.get(REFERENCE_KEY)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
