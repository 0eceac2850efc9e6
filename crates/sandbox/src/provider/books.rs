//! Everything that the post office knows, behind one lock.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::model::ids::Timestamp;

use super::card::{Sheet, Surface};
use super::clock::Clock;
use super::fault::Rules;
use super::fault::damage::Twist;
use super::journal::Journal;
use super::ledger::{Acceptance, Ledger};
use super::previews::{Preview, Previews};
use super::secret::Secret;
use super::settings::Settings;

pub(crate) struct Office(Mutex<Books>);

pub(crate) struct Books {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) ledger: Ledger,
    pub(crate) previews: Previews,
    pub(crate) journal: Journal,
    pub(crate) rules: Rules,
    pub(crate) secret: Secret,
    /// How the outside writes this server's address.
    pub(crate) base: String,
}

/// What a fault asks the ledger to do differently.
#[derive(Clone, Copy)]
pub(crate) struct Twisted {
    pub(crate) twist: Twist,
    pub(crate) seconds: u64,
}

impl Office {
    pub(crate) fn new(settings: Settings, bound: String) -> io::Result<Self> {
        let base = settings.public_base.clone().unwrap_or(bound);
        Ok(Self(Mutex::new(Books {
            settings,
            clock: Clock::default(),
            ledger: Ledger::default(),
            previews: Previews::default(),
            journal: Journal::default(),
            rules: Rules::default(),
            secret: Secret::new()?,
            base: base.trim_end_matches('/').to_owned(),
        })))
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        // Each change to the books is whole in itself, so they are still good
        // after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Accepts the card, under a fault twice. The first is the one told of.
    pub(crate) fn accept(
        &mut self,
        surface: Surface,
        sheet: &Sheet,
        print_not_before: Option<Timestamp>,
        twisted: Twisted,
    ) -> u64 {
        let now = self.now();
        let extra_lag_seconds = match twisted.twist {
            Twist::HideForLonger => twisted.seconds,
            Twist::None | Twist::AcceptTwice | Twist::ShowNothing => 0,
        };
        let mut accept = || {
            self.ledger.accept(Acceptance {
                surface,
                sheet: sheet.clone(),
                now,
                print_not_before,
                extra_lag_seconds,
                settings: &self.settings,
                secret: &self.secret,
            })
        };
        let id = accept();
        match twisted.twist {
            Twist::AcceptTwice => {
                accept();
            }
            Twist::None | Twist::HideForLonger | Twist::ShowNothing => {}
        }
        id
    }

    pub(crate) fn find_preview(&mut self, token: &str) -> Option<Preview> {
        let now = self.now();
        self.previews.find(token, now).cloned()
    }

    /// Keeps the sheet for an hour; the addresses of its two pictures.
    pub(crate) fn preview(&mut self, sheet: Sheet) -> [String; 2] {
        let token = self.secret.token("preview", self.previews.next_number());
        let now = self.now();
        let sides =
            ["front", "back"].map(|side| format!("{}/previews/{token}/{side}.svg", self.base));
        self.previews.keep(token, sheet, now, self.settings.kept_previews);
        sides
    }
}
