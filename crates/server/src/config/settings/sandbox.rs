//! The settings of `sandbox`.

use super::definition::{Setting, SettingDefault, SettingSource, ValueType};

pub(crate) static SANDBOX_PORT: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_SANDBOX_PORT"),
    value_type: ValueType::Number,
    ..Setting::plain(
        "sandbox.port",
        SettingDefault::Value("0"),
        "The port of the emulated provider on this machine. 0 takes any free port.",
    )
};

pub(crate) static SANDBOX_PROVIDER: Setting = Setting {
    ..Setting::plain(
        "sandbox.provider",
        SettingDefault::Described {
            description: "an emulator inside this process",
            sample: "http://127.0.0.1:8403",
        },
        "The URL of a provider emulator that already runs, and keeps its cards when this process \
         ends.",
    )
};

pub(crate) static SANDBOX_SPEED: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "sandbox.speed",
        SettingDefault::Value("1"),
        "Clock speed multiplier for rehearsals. It must be 1 if real cards are mailed.",
    )
};

pub(crate) static SANDBOX_DIALECT: Setting = Setting {
    ..Setting::plain(
        "sandbox.dialect",
        SettingDefault::Value("thanks_io"),
        "The API by which the emulated provider is called: `thanks_io` or `lob`.",
    )
};

pub(crate) static SANDBOX_MIXED: Setting = Setting {
    ..Setting::plain(
        "sandbox.mixed",
        SettingDefault::Value("no"),
        "Whether real services may be combined with emulated ones, for a trial: `yes`, or `no`, \
         which refuses to start.",
    )
};
