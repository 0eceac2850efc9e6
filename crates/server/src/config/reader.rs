//! Takes one setting after another, and keeps account of where each came from.

use crate::config::fault::{Fault, Origin, Wrong};
use crate::config::settings::{Fallback, InLiveMode, Setting, Visibility};
use crate::config::sources::{Sources, Told};
use crate::config::values::{Mode, Shown};

const NOT_SHOWN: &str = "(not shown)";

/// A fault was written down; there is nothing to add but to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted;

/// One line of the report.
pub(crate) struct Row {
    pub key: &'static str,
    pub shown: String,
    pub origin: Origin,
}

pub(crate) struct Reader {
    sources: Sources,
    mode: Mode,
    pub rows: Vec<Row>,
    pub faults: Vec<Fault>,
}

impl Reader {
    pub(crate) fn new(mut sources: Sources) -> Self {
        let faults = std::mem::take(&mut sources.faults);
        Self { sources, mode: Mode::Sandbox, rows: Vec::new(), faults }
    }

    /// From here on, what live mode demands is demanded.
    pub(crate) fn demand(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// The value of a setting that always has one.
    pub(crate) fn take<T: Shown>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<T, Noted> {
        match (self.sources.told(setting).cloned(), &setting.fallback) {
            (Some(told), _) => self.hear(setting, told, parse),
            (None, Fallback::Value(default)) => self.take_or(setting, default, parse),
            (None, Fallback::Otherwise { .. }) => Err(self.miss(setting, "is not set")),
        }
    }

    /// The same, with a default that follows from other settings.
    pub(crate) fn take_or<T: Shown>(
        &mut self,
        setting: &'static Setting,
        default: &str,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<T, Noted> {
        match self.sources.told(setting).cloned() {
            Some(told) => self.hear(setting, told, parse),
            None => {
                self.check_demand(setting)?;
                self.judge(setting, Origin::Default, default, parse)
            }
        }
    }

    /// The value of a setting that may have none.
    pub(crate) fn take_if_told<T: Shown>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Noted> {
        if let Some(told) = self.sources.told(setting).cloned() {
            return self.hear(setting, told, parse).map(Some);
        }
        self.check_demand(setting)?;
        let shown = match setting.fallback {
            Fallback::Value(words) | Fallback::Otherwise { words, .. } => format!("({words})"),
        };
        self.rows.push(Row { key: setting.key, shown, origin: Origin::Default });
        Ok(None)
    }

    pub(crate) fn is_told(&self, setting: &Setting) -> bool {
        self.sources.told(setting).is_some()
    }

    /// Notes a fault that shows only when several values are seen together.
    pub(crate) fn object(&mut self, setting: &Setting, wrong: Wrong) -> Noted {
        let origin = self.sources.told(setting).map_or(Origin::Default, |told| told.origin);
        self.faults.push(Fault { key: setting.key.to_owned(), origin, wrong });
        Noted
    }

    /// Keeps a kind that is of the sandbox out of live mode.
    pub(crate) fn keep_from_live<T: PartialEq>(
        &mut self,
        setting: &Setting,
        kind: T,
        of_the_sandbox: &T,
        wrong: Wrong,
    ) -> Result<T, Noted> {
        match self.mode {
            Mode::Live if kind == *of_the_sandbox => Err(self.object(setting, wrong)),
            Mode::Live | Mode::Sandbox => Ok(kind),
        }
    }

    fn hear<T: Shown>(
        &mut self,
        setting: &'static Setting,
        told: Told,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<T, Noted> {
        match told.text {
            Ok(text) => self.judge(setting, told.origin, &text, parse),
            Err(wrong) => Err(self.refuse(setting, told.origin, NOT_SHOWN, wrong)),
        }
    }

    fn judge<T: Shown>(
        &mut self,
        setting: &'static Setting,
        origin: Origin,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, Wrong>,
    ) -> Result<T, Noted> {
        match (parse(text), setting.visibility) {
            (Ok(value), _) => {
                self.rows.push(Row { key: setting.key, shown: value.shown(), origin });
                Ok(value)
            }
            (Err(wrong), Visibility::Shown) => Err(self.refuse(setting, origin, text, wrong)),
            (Err(wrong), Visibility::Hidden) => Err(self.refuse(setting, origin, NOT_SHOWN, wrong)),
        }
    }

    fn check_demand(&mut self, setting: &'static Setting) -> Result<(), Noted> {
        match (self.mode, setting.in_live_mode) {
            (Mode::Sandbox, _) | (Mode::Live, InLiveMode::MayBeDefault) => Ok(()),
            (Mode::Live, InLiveMode::MustBeTold) => {
                Err(self.miss(setting, "is not set, and live mode takes no default for it"))
            }
        }
    }

    fn miss(&mut self, setting: &'static Setting, problem: &str) -> Noted {
        let remedy = match setting.variable() {
            Some(variable) => format!("Set it in the file or by {variable}."),
            None => "Set it in the file.".to_owned(),
        };
        self.refuse(setting, Origin::Default, "(missing)", Wrong::new(problem, remedy))
    }

    fn refuse(
        &mut self,
        setting: &'static Setting,
        origin: Origin,
        shown: &str,
        wrong: Wrong,
    ) -> Noted {
        self.rows.push(Row { key: setting.key, shown: shown.to_owned(), origin });
        self.object(setting, wrong)
    }
}
