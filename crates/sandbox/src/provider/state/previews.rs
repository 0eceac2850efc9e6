//! Previews, kept for an hour.

use std::collections::VecDeque;

use order::model::ids::Timestamp;

use crate::provider::state::card::PostcardContent;

const KEPT_SECONDS: u64 = 3_600;

#[derive(Default)]
pub(crate) struct PreviewStore {
    kept: VecDeque<StoredPreview>,
    drawn: u64,
}

#[derive(Clone)]
pub(crate) struct StoredPreview {
    token: String,
    pub(crate) content: PostcardContent,
    pub(crate) at: Timestamp,
}

impl PreviewStore {
    pub(crate) fn next_number(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    pub(crate) fn keep(
        &mut self,
        token: String,
        content: PostcardContent,
        at: Timestamp,
        most: usize,
    ) {
        self.sweep(at);
        self.kept.push_back(StoredPreview { token, content, at });
        while self.kept.len() > most {
            self.kept.pop_front();
        }
    }

    pub(crate) fn find(&mut self, token: &str, now: Timestamp) -> Option<&StoredPreview> {
        self.sweep(now);
        self.kept.iter().find(|preview| preview.token == token)
    }

    fn sweep(&mut self, now: Timestamp) {
        self.kept.retain(|preview| now.since(preview.at).is_none_or(|age| age < KEPT_SECONDS));
    }
}
