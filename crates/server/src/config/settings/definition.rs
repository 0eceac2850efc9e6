//! What a setting is: its key, where it may be set, its type and its default.

pub(crate) struct Setting {
    /// Section and name, as in `server.listen`.
    pub key: &'static str,
    pub source: SettingSource,
    pub value_type: ValueType,
    pub default: SettingDefault,
    pub in_live_mode: InLiveMode,
    pub visibility: Visibility,
    pub meaning: &'static str,
}

/// Where a setting may be set. The environment overrides the file.
pub(crate) enum SettingSource {
    File,
    FileOrEnvironment(&'static str),
    /// Secrets are not read from the file, because such files get committed and shared.
    Environment(&'static str),
}

/// The TOML type of a setting. In the environment every value is text, and a list is
/// separated by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Text,
    Number,
    List,
}

/// The default of a setting.
pub(crate) enum SettingDefault {
    Value(&'static str),
    /// A value that follows from other settings, or none: a description, and a sample for the
    /// example file.
    Described {
        description: &'static str,
        sample: &'static str,
    },
}

/// Whether live mode accepts the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLiveMode {
    Optional,
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    /// May hold a secret, so it is not repeated even if it is invalid.
    Hidden,
}

impl Setting {
    pub(crate) fn variable(&self) -> Option<&'static str> {
        match self.source {
            SettingSource::File => None,
            SettingSource::FileOrEnvironment(name) | SettingSource::Environment(name) => Some(name),
        }
    }

    pub(crate) fn section_and_name(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').expect("every key in the list has a section")
    }

    /// A text setting in the file that is optional and shown; callers override the rest.
    pub(super) const fn plain(
        key: &'static str,
        default: SettingDefault,
        meaning: &'static str,
    ) -> Setting {
        Setting {
            key,
            source: SettingSource::File,
            value_type: ValueType::Text,
            default,
            in_live_mode: InLiveMode::Optional,
            visibility: Visibility::Shown,
            meaning,
        }
    }
}

impl SettingDefault {
    /// The default as the report and the help print it.
    pub(crate) const fn text(&self) -> &'static str {
        match self {
            Self::Value(text) | Self::Described { description: text, .. } => text,
        }
    }

    /// What the example file assigns.
    pub(crate) const fn sample(&self) -> &'static str {
        match self {
            Self::Value(sample) | Self::Described { sample, .. } => sample,
        }
    }
}
