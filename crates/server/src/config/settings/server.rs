//! The settings of `server`, `keys` and `limits`.

use super::definition::{
    InLiveMode, Setting, SettingDefault, SettingSource, ValueType, Visibility,
};

pub(crate) static LISTEN: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_LISTEN"),
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "server.listen",
        SettingDefault::Value("127.0.0.1:8402"),
        "The IP address and port to listen on. Port 0 takes any free port.",
    )
};

pub(crate) static BASE_URL: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_BASE_URL"),
    visibility: Visibility::Hidden,
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "server.base_url",
        SettingDefault::Described {
            description: "http:// and the listening address",
            sample: "http://127.0.0.1:8402",
        },
        "The URL that callers use, as every document names it: http or https, without a path. \
         Live mode requires https, unless the host is this machine.",
    )
};

pub(crate) static DATA: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_DATA"),
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "server.data",
        SettingDefault::Value("./data"),
        "The folder for persistent data.",
    )
};

pub(crate) static MODE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_MODE"),
    ..Setting::plain(
        "server.mode",
        SettingDefault::Value("sandbox"),
        "`sandbox` uses emulated services and moves no money, unless another section configures \
         a real service. `live` moves real money, and important settings have no default.",
    )
};

pub(crate) static STORE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_STORE"),
    visibility: Visibility::Hidden,
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "server.store",
        SettingDefault::Described {
            description: "pennyblack.sqlite3 in the data folder",
            sample: "./data/pennyblack.sqlite3",
        },
        "Where orders are stored: the path of an SQLite file, or a postgres:// URL. \
         Add ?sslmode=verify-full to the URL of a server on another machine.",
    )
};

pub(crate) static STORE_PASSWORD_FILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_STORE_PASSWORD_FILE"),
    ..Setting::plain(
        "server.store_password_file",
        SettingDefault::Described {
            description: "no password, or the one in the URL",
            sample: "/run/secrets/store_password",
        },
        "A file that contains the password of the PostgreSQL store, to keep it out of the URL.",
    )
};

pub(crate) static KEYS_FILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_KEYS_FILE"),
    ..Setting::plain(
        "keys.file",
        SettingDefault::Described {
            description: "pennyblack.key in the data folder",
            sample: "./data/pennyblack.key",
        },
        "The file that contains the key that encrypts personal data.",
    )
};

pub(crate) static KEYS_SECRET: Setting = Setting {
    source: SettingSource::Environment("PENNYBLACK_KEYS"),
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "keys.secret",
        SettingDefault::Described { description: "the keys in keys.file", sample: "" },
        "The keys, instead of a file: 64 hexadecimal digits per line, as `openssl rand -hex 32` \
         prints them.",
    )
};

pub(crate) static DISCOVERY_QUOTA: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_DISCOVERY_QUOTA"),
    value_type: ValueType::Number,
    ..Setting::plain(
        "limits.discovery_quota",
        SettingDefault::Value("600"),
        "Discovery requests per 60 seconds, over all callers.",
    )
};

pub(crate) static REQUEST_SECONDS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "limits.request_seconds",
        SettingDefault::Value("30"),
        "The timeout of a request.",
    )
};

pub(crate) static PAID_REQUEST_SECONDS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "limits.paid_request_seconds",
        SettingDefault::Value("60"),
        "The timeout of a paid request, and of the shutdown.",
    )
};

pub(crate) static BODY_BYTES: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "limits.body_bytes",
        SettingDefault::Value("65536"),
        "The largest request body that is accepted.",
    )
};

pub(crate) static CONNECTIONS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "limits.connections",
        SettingDefault::Value("10000"),
        "The number of concurrent connections. Further ones wait in the backlog of the operating \
         system.",
    )
};
