//! Parses settings one by one, and records the origin and the faults of each.

use crate::config::fault::{ConfigFault, SettingOrigin, SettingProblem};
use crate::config::settings::definition::{InLiveMode, Setting, SettingDefault, Visibility};
use crate::config::sources::{RawSetting, SettingSources};
use crate::config::values::{ReportText, ServerMode};

const NOT_SHOWN: &str = "(not shown)";

/// The setting is invalid, and its fault is already recorded in the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultRecorded;

/// One row of the report that `pennyblack check` prints.
pub(crate) struct SettingRow {
    pub key: &'static str,
    pub value: String,
    pub origin: SettingOrigin,
}

pub(crate) struct SettingsReader {
    sources: SettingSources,
    mode: ServerMode,
    pub rows: Vec<SettingRow>,
    pub faults: Vec<ConfigFault>,
}

impl SettingsReader {
    pub(crate) fn new(mut sources: SettingSources) -> Self {
        let faults = std::mem::take(&mut sources.faults);
        Self { sources, mode: ServerMode::Sandbox, rows: Vec::new(), faults }
    }

    /// From here on, settings that this mode requires must be set.
    pub(crate) fn set_mode(&mut self, mode: ServerMode) {
        self.mode = mode;
    }

    /// The value of a setting that has one value as its default.
    pub(crate) fn take<T: ReportText>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, SettingProblem>,
    ) -> Result<T, FaultRecorded> {
        match (self.sources.raw(setting).cloned(), &setting.default) {
            (Some(raw), _) => self.parse_raw(setting, raw, parse),
            (None, SettingDefault::Value(default)) => self.take_or(setting, default, parse),
            (None, SettingDefault::Described { .. }) => {
                Err(self.record_missing(setting, "is not set"))
            }
        }
    }

    /// The value of a setting whose default follows from other settings.
    pub(crate) fn take_or<T: ReportText>(
        &mut self,
        setting: &'static Setting,
        default: &str,
        parse: impl FnOnce(&str) -> Result<T, SettingProblem>,
    ) -> Result<T, FaultRecorded> {
        match self.sources.raw(setting).cloned() {
            Some(raw) => self.parse_raw(setting, raw, parse),
            None => {
                self.check_required(setting)?;
                self.parse_text(setting, SettingOrigin::Default, default, parse)
            }
        }
    }

    /// The value of a setting that may be absent.
    pub(crate) fn take_optional<T: ReportText>(
        &mut self,
        setting: &'static Setting,
        parse: impl FnOnce(&str) -> Result<T, SettingProblem>,
    ) -> Result<Option<T>, FaultRecorded> {
        if let Some(raw) = self.sources.raw(setting).cloned() {
            return self.parse_raw(setting, raw, parse).map(Some);
        }
        self.check_required(setting)?;
        let value = format!("({})", setting.default.text());
        self.rows.push(SettingRow { key: setting.key, value, origin: SettingOrigin::Default });
        Ok(None)
    }

    pub(crate) fn is_set(&self, setting: &Setting) -> bool {
        self.sources.raw(setting).is_some()
    }

    /// Records a fault, for example one that concerns several settings together.
    pub(crate) fn record_fault(
        &mut self,
        setting: &Setting,
        problem: SettingProblem,
    ) -> FaultRecorded {
        let origin = self.sources.raw(setting).map_or(SettingOrigin::Default, |raw| raw.origin);
        self.faults.push(ConfigFault { key: setting.key.to_owned(), origin, problem });
        FaultRecorded
    }

    /// Rejects the sandbox's kind of a service in live mode.
    pub(crate) fn reject_in_live_mode<T: PartialEq>(
        &mut self,
        setting: &Setting,
        kind: T,
        sandbox_kind: &T,
        problem: SettingProblem,
    ) -> Result<T, FaultRecorded> {
        match self.mode {
            ServerMode::Live if kind == *sandbox_kind => Err(self.record_fault(setting, problem)),
            ServerMode::Live | ServerMode::Sandbox => Ok(kind),
        }
    }

    /// A setting that the chosen kind of this section cannot work without.
    pub(crate) fn needed<T>(
        &mut self,
        setting: &'static Setting,
        value: Result<Option<T>, FaultRecorded>,
    ) -> Result<T, FaultRecorded> {
        let (section, _) = setting.section_and_name();
        value?.ok_or_else(|| {
            let remedy = match setting.variable() {
                Some(variable) => format!("Set {variable}, or {section}.kind = \"sandbox\"."),
                None => format!("Set it in the file, or {section}.kind = \"sandbox\"."),
            };
            let message = format!("is not set, and this {section}.kind requires it");
            self.record_fault(setting, SettingProblem::new(message, remedy))
        })
    }

    fn parse_raw<T: ReportText>(
        &mut self,
        setting: &'static Setting,
        raw: RawSetting,
        parse: impl FnOnce(&str) -> Result<T, SettingProblem>,
    ) -> Result<T, FaultRecorded> {
        match raw.text {
            Ok(text) => self.parse_text(setting, raw.origin, &text, parse),
            Err(problem) => Err(self.record_invalid(setting, raw.origin, NOT_SHOWN, problem)),
        }
    }

    fn parse_text<T: ReportText>(
        &mut self,
        setting: &'static Setting,
        origin: SettingOrigin,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, SettingProblem>,
    ) -> Result<T, FaultRecorded> {
        match (parse(text), setting.visibility) {
            (Ok(value), _) => {
                let row = SettingRow { key: setting.key, value: value.report_text(), origin };
                self.rows.push(row);
                Ok(value)
            }
            (Err(problem), Visibility::Shown) => {
                Err(self.record_invalid(setting, origin, text, problem))
            }
            (Err(problem), Visibility::Hidden) => {
                Err(self.record_invalid(setting, origin, NOT_SHOWN, problem))
            }
        }
    }

    fn check_required(&mut self, setting: &'static Setting) -> Result<(), FaultRecorded> {
        match (self.mode, setting.in_live_mode) {
            (ServerMode::Sandbox, _) | (ServerMode::Live, InLiveMode::Optional) => Ok(()),
            (ServerMode::Live, InLiveMode::Required) => {
                Err(self.record_missing(setting, "is not set; required in live mode"))
            }
        }
    }

    fn record_missing(&mut self, setting: &'static Setting, message: &str) -> FaultRecorded {
        let remedy = match setting.variable() {
            Some(variable) => format!("Set it in the file or by {variable}."),
            None => "Set it in the file.".to_owned(),
        };
        let problem = SettingProblem::new(message, remedy);
        self.record_invalid(setting, SettingOrigin::Default, "(missing)", problem)
    }

    fn record_invalid(
        &mut self,
        setting: &'static Setting,
        origin: SettingOrigin,
        value: &str,
        problem: SettingProblem,
    ) -> FaultRecorded {
        self.rows.push(SettingRow { key: setting.key, value: value.to_owned(), origin });
        self.record_fault(setting, problem)
    }
}
