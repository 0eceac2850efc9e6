//! A secret in a file of its own, such as a credential of systemd or a container.

use std::path::PathBuf;

use crate::config::fault::SettingProblem;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::settings::definition::Setting;
use crate::config::values::ReportText;
use crate::config::values::secret::Secret;

pub(super) struct SecretFile {
    path: PathBuf,
    pub(super) secret: Secret,
}

impl SecretFile {
    /// Reads a file and parses its text without the line feed at its end. No error repeats it.
    pub(super) fn read(
        path: &str,
        parse: impl FnOnce(&str) -> Result<Secret, SettingProblem>,
    ) -> Result<Self, SettingProblem> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            SettingProblem::new(
                format!("cannot read `{path}`: {error}"),
                "Set the path of a readable file.",
            )
        })?;
        let text = Secret::new(text);
        let text = text.reveal().trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            let message = format!("`{path}` is empty");
            return Err(SettingProblem::new(message, "Write the secret into it."));
        }
        Ok(Self { path: PathBuf::from(path), secret: parse(text)? })
    }
}

impl ReportText for SecretFile {
    fn report_text(&self) -> String {
        self.path.report_text()
    }
}

/// A secret from its variable, or from the file that another setting names.
pub(super) fn take(
    reader: &mut SettingsReader,
    variable: &'static Setting,
    file: &'static Setting,
    parse: fn(&str) -> Result<Secret, SettingProblem>,
) -> Result<Option<Secret>, FaultRecorded> {
    let secret = reader.take_optional(variable, parse);
    let in_file = reader.take_optional(file, |path| SecretFile::read(path, parse));
    match (secret?, in_file?) {
        (Some(_), Some(_)) => {
            let problem =
                SettingProblem::new("is set, and the secret itself too", "Set only one of them.");
            Err(reader.record_fault(file, problem))
        }
        (secret, in_file) => Ok(secret.or(in_file.map(|file| file.secret))),
    }
}
