//! Reads the configuration: one TOML file, and the environment over it.

use std::path::{Path, PathBuf};

use crate::config::fault::{self, ConfigFault};
use crate::config::reader::{SettingRow, SettingsReader};
use crate::config::settings::SETTINGS;
use crate::config::settings::definition::Setting;
use crate::config::sources::SettingSources;
use crate::config::sources::environment::{self, Environment};
use crate::config::{Config, sections};

/// A configuration, and where each of its values came from.
pub(crate) struct ConfigReport {
    pub outcome: Result<Config, InvalidConfig>,
    /// One row for each setting, in the sequence of the list.
    pub rows: Vec<SettingRow>,
    pub file: Option<PathBuf>,
}

impl ConfigReport {
    /// One setting as the report shows it, also if others are invalid: a command that only
    /// reaches the service needs none of its secrets.
    pub(crate) fn value(&self, setting: &Setting) -> Result<&str, String> {
        let faults = self.outcome.as_ref().err().map(|invalid| invalid.faults.as_slice());
        let concerns =
            |fault: &&ConfigFault| [setting.key, "--config"].contains(&fault.key.as_str());
        if let Some(fault) = faults.unwrap_or_default().iter().find(concerns) {
            return Err(format!("{}\n", fault::list(std::slice::from_ref(fault))));
        }
        let row = self.rows.iter().find(|row| row.key == setting.key);
        row.map(|row| row.value.as_str()).ok_or_else(|| format!("{} is not known.\n", setting.key))
    }
}

/// The name under which this person is logged in, also behind `sudo`.
pub(crate) fn login_name() -> Option<String> {
    environment::login_name()
}

/// Every fault of a configuration.
#[derive(Debug)]
pub(crate) struct InvalidConfig {
    pub faults: Vec<ConfigFault>,
}

impl InvalidConfig {
    /// What a command prints that cannot run with this configuration.
    pub(crate) fn message(&self) -> String {
        format!(
            "The configuration is invalid.\n\n{}\n`pennyblack check` shows every setting.\n",
            fault::list(&self.faults)
        )
    }
}

/// Reads the configuration of this process.
pub(crate) fn read(file: Option<&Path>) -> ConfigReport {
    read_from(file, &Environment::of_process())
}

/// Reads the configuration with these variables and no others.
#[cfg(test)]
#[cfg(feature = "sandbox")]
pub(crate) fn read_with(file: Option<&Path>, variables: &[(&str, &str)]) -> ConfigReport {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).into());
    read_from(file, &Environment::new(variables.iter().map(text)))
}

pub(super) fn read_from(file: Option<&Path>, environment: &Environment) -> ConfigReport {
    let sources = SettingSources::gather(file, environment);
    let file = sources.file.clone();
    let mut reader = SettingsReader::new(sources);
    let config = sections::read(&mut reader);
    let SettingsReader { mut rows, faults, .. } = reader;
    rows.sort_by_key(|row| SETTINGS.iter().position(|setting| setting.key == row.key));
    let outcome = match config {
        Ok(config) if faults.is_empty() => Ok(config),
        Ok(_) | Err(_) => Err(InvalidConfig { faults }),
    };
    ConfigReport { outcome, rows, file }
}
