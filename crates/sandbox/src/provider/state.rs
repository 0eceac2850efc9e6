//! The state of the emulated provider, behind one lock.

pub mod card;
mod clock;
pub mod journal;
pub(crate) mod ledger;
mod previews;
pub mod price;
pub mod report;
pub(crate) mod secret;
pub mod settings;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::model::ids::Timestamp;

use crate::fault_rules::FaultRules;
use crate::provider::fault::effect::LedgerFault;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::state::card::{PostcardContent, ProviderApi};
use crate::provider::state::clock::ProviderClock;
use crate::provider::state::journal::ProviderJournal;
use crate::provider::state::ledger::{CardLedger, NewCard};
use crate::provider::state::previews::{PreviewStore, StoredPreview};
use crate::provider::state::secret::TokenSecret;
use crate::provider::state::settings::ProviderSettings;

pub(crate) struct SharedState(Mutex<ProviderState>);

pub(crate) struct ProviderState {
    pub(crate) settings: ProviderSettings,
    pub(crate) clock: ProviderClock,
    pub(crate) ledger: CardLedger,
    pub(crate) previews: PreviewStore,
    pub(crate) journal: ProviderJournal,
    pub(crate) rules: FaultRules<ProviderFaultRule>,
    pub(crate) secret: TokenSecret,
    /// The public base URL of this server.
    pub(crate) base: String,
}

/// How a fault changes the behaviour of the ledger.
#[derive(Clone, Copy)]
pub(crate) struct LedgerFaultRule {
    pub(crate) fault: LedgerFault,
    pub(crate) seconds: u64,
}

impl SharedState {
    pub(crate) fn new(settings: ProviderSettings, bound: String) -> io::Result<Self> {
        let base = settings.public_base.clone().unwrap_or(bound);
        Ok(Self(Mutex::new(ProviderState {
            settings,
            clock: ProviderClock::default(),
            ledger: CardLedger::default(),
            previews: PreviewStore::default(),
            journal: ProviderJournal::default(),
            rules: FaultRules::default(),
            secret: TokenSecret::new()?,
            base: base.trim_end_matches('/').to_owned(),
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ProviderState> {
        // Each change is complete in itself, so the state is valid after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProviderState {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Accepts the card, under a fault twice. The first is the one told of.
    pub(crate) fn accept(
        &mut self,
        api: ProviderApi,
        content: &PostcardContent,
        print_not_before: Option<Timestamp>,
        ledger_fault: LedgerFaultRule,
    ) -> u64 {
        let now = self.now();
        let extra_lag_seconds = match ledger_fault.fault {
            LedgerFault::HideForLonger => ledger_fault.seconds,
            LedgerFault::None | LedgerFault::AcceptTwice | LedgerFault::ShowNothing => 0,
        };
        let mut accept = || {
            self.ledger.accept(NewCard {
                api,
                content: content.clone(),
                now,
                print_not_before,
                extra_lag_seconds,
                settings: &self.settings,
                secret: &self.secret,
            })
        };
        let id = accept();
        match ledger_fault.fault {
            LedgerFault::AcceptTwice => {
                accept();
            }
            LedgerFault::None | LedgerFault::HideForLonger | LedgerFault::ShowNothing => {}
        }
        id
    }

    pub(crate) fn find_preview(&mut self, token: &str) -> Option<StoredPreview> {
        let now = self.now();
        self.previews.find(token, now).cloned()
    }

    /// Keeps the sheet for an hour; the addresses of its two pictures.
    pub(crate) fn preview(&mut self, content: PostcardContent) -> [String; 2] {
        let token = self.secret.token("preview", self.previews.next_number());
        let now = self.now();
        let sides =
            ["front", "back"].map(|side| format!("{}/previews/{token}/{side}.svg", self.base));
        self.previews.keep(token, content, now, self.settings.kept_previews);
        sides
    }
}
