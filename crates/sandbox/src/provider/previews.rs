//! Cards that somebody wanted to see and has not sent: kept for an hour.

use std::collections::VecDeque;

use order::model::ids::Timestamp;

use super::card::Sheet;

const KEPT_SECONDS: u64 = 3_600;

#[derive(Default)]
pub(crate) struct Previews {
    kept: VecDeque<Preview>,
    drawn: u64,
}

#[derive(Clone)]
pub(crate) struct Preview {
    token: String,
    pub(crate) sheet: Sheet,
    pub(crate) at: Timestamp,
}

impl Previews {
    pub(crate) fn next_number(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    pub(crate) fn keep(&mut self, token: String, sheet: Sheet, at: Timestamp, most: usize) {
        self.sweep(at);
        self.kept.push_back(Preview { token, sheet, at });
        while self.kept.len() > most {
            self.kept.pop_front();
        }
    }

    pub(crate) fn find(&mut self, token: &str, now: Timestamp) -> Option<&Preview> {
        self.sweep(now);
        self.kept.iter().find(|preview| preview.token == token)
    }

    fn sweep(&mut self, now: Timestamp) {
        self.kept.retain(|preview| now.since(preview.at).is_none_or(|age| age < KEPT_SECONDS));
    }
}
