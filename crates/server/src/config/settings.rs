//! The one list of settings, from which the reader, the help and the example file are made.

mod outside;
mod payments;

pub(crate) use outside::{
    NAMES_BLOCK_TAG, NAMES_GATEWAYS, NAMES_KIND, NAMES_MAINNET_EOA, NAMES_RPC,
    NAMES_UNIVERSAL_RESOLVER, PROVIDER_ACCOUNT, PROVIDER_CANCEL_SECONDS, PROVIDER_DOMESTIC_CENTS,
    PROVIDER_INTERNATIONAL_CENTS, PROVIDER_KIND, PROVIDER_RATE_TIMES, PROVIDER_SENDER,
    PROVIDER_TOKEN, SANDBOX_DIALECT, SANDBOX_MIXED, SANDBOX_OFFICE, SANDBOX_PORT, SANDBOX_SPEED,
};
pub(crate) use payments::{
    PAYMENTS_CONTRACT_WALLETS, PAYMENTS_FACILITATOR, PAYMENTS_FACILITATOR_KEY,
    PAYMENTS_FACILITATOR_SECRET, PAYMENTS_GAS_BUDGET, PAYMENTS_KIND, PAYMENTS_MAX_FEE,
    PAYMENTS_MAX_GAS, PAYMENTS_REALM, PAYMENTS_RPC, PAYMENTS_SETTLER_KEY,
};

/// The variable that names the configuration file, and where we look without it.
pub(crate) const CONFIG_FILE_VARIABLE: &str = "PENNYBLACK_CONFIG";
pub(crate) const CONFIG_FILE: &str = "pennyblack.toml";

pub(crate) struct Setting {
    /// Section and name, as in `server.listen`.
    pub key: &'static str,
    pub source: Source,
    pub kind: Kind,
    pub fallback: Fallback,
    pub in_live_mode: InLiveMode,
    pub visibility: Visibility,
    pub meaning: &'static str,
}

/// Where a setting may be told. The environment wins over the file.
pub(crate) enum Source {
    File,
    FileOrEnvironment(&'static str),
    /// Secrets stay out of the file, which people commit and send around.
    Environment(&'static str),
}

/// How a setting is written in the file; in the environment all is text, and a
/// list has commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    List,
}

/// What holds when nobody says anything.
pub(crate) enum Fallback {
    Value(&'static str),
    /// A value that follows from others, or none: in words, and a sample for
    /// the example file.
    Otherwise {
        words: &'static str,
        sample: &'static str,
    },
}

/// Whether real money may rest on a default that nobody looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLiveMode {
    MayBeDefault,
    MustBeTold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    /// May hold a secret, so it is not repeated even when it is wrong.
    Hidden,
}

impl Setting {
    pub(crate) fn variable(&self) -> Option<&'static str> {
        match self.source {
            Source::File => None,
            Source::FileOrEnvironment(name) | Source::Environment(name) => Some(name),
        }
    }

    /// The section and the name within it.
    pub(crate) fn place(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').expect("every key in the list has a section")
    }

    /// A setting as most are; the list below names only what is special.
    const fn usual(key: &'static str, fallback: Fallback, meaning: &'static str) -> Setting {
        Setting {
            key,
            source: Source::File,
            kind: Kind::Text,
            fallback,
            in_live_mode: InLiveMode::MayBeDefault,
            visibility: Visibility::Shown,
            meaning,
        }
    }
}

pub(crate) static SETTINGS: [&Setting; 52] = [
    &LISTEN,
    &BASE_URL,
    &DATA,
    &MODE,
    &STORE,
    &STORE_PASSWORD_FILE,
    &KEYS_FILE,
    &KEYS_SECRET,
    &DISCOVERY_QUOTA,
    &REQUEST_SECONDS,
    &PAID_REQUEST_SECONDS,
    &BODY_BYTES,
    &CONNECTIONS,
    &SELLER_DEFAULT,
    &SELLERS_ENABLED,
    &SELLER_PARENT,
    &NAMES_KIND,
    &NAMES_RPC,
    &NAMES_GATEWAYS,
    &NAMES_UNIVERSAL_RESOLVER,
    &NAMES_BLOCK_TAG,
    &NAMES_MAINNET_EOA,
    &PROVIDER_KIND,
    &PROVIDER_TOKEN,
    &PROVIDER_ACCOUNT,
    &PROVIDER_SENDER,
    &PROVIDER_DOMESTIC_CENTS,
    &PROVIDER_INTERNATIONAL_CENTS,
    &PROVIDER_CANCEL_SECONDS,
    &PROVIDER_RATE_TIMES,
    &PAYMENTS_KIND,
    &PAYMENTS_SETTLER_KEY,
    &PAYMENTS_RPC,
    &PAYMENTS_REALM,
    &PAYMENTS_MAX_FEE,
    &PAYMENTS_MAX_GAS,
    &PAYMENTS_GAS_BUDGET,
    &PAYMENTS_CONTRACT_WALLETS,
    &PAYMENTS_FACILITATOR,
    &PAYMENTS_FACILITATOR_KEY,
    &PAYMENTS_FACILITATOR_SECRET,
    &SANDBOX_PORT,
    &SANDBOX_OFFICE,
    &SANDBOX_DIALECT,
    &SANDBOX_SPEED,
    &SANDBOX_MIXED,
    &SHOP_PAYEE,
    &AGENTS_ANONYMOUS,
    &MCP_PROFILE,
    &LOG_FORMAT,
    &LOG_FILTER,
    &CONTENT_FOLDER,
];

pub(crate) static LISTEN: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_LISTEN"),
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "server.listen",
        Fallback::Value("127.0.0.1:8402"),
        "The IP address and port to listen on; port 0 takes any free one.",
    )
};

pub(crate) static BASE_URL: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_BASE_URL"),
    visibility: Visibility::Hidden,
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "server.base_url",
        Fallback::Otherwise {
            words: "http:// and the address it listens on",
            sample: "http://127.0.0.1:8402",
        },
        "The address that callers use, written into every document: http or https, without a \
         path. In live mode it is https, unless the host is this machine.",
    )
};

pub(crate) static DATA: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_DATA"),
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "server.data",
        Fallback::Value("./data"),
        "The folder for everything that must outlive the process.",
    )
};

pub(crate) static MODE: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_MODE"),
    ..Setting::usual(
        "server.mode",
        Fallback::Value("sandbox"),
        "`sandbox` runs against a world of its own and moves no money, unless another section \
         points elsewhere; `live` moves real money and demands that nothing important is left to \
         a default.",
    )
};

pub(crate) static STORE: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_STORE"),
    visibility: Visibility::Hidden,
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "server.store",
        Fallback::Otherwise {
            words: "pennyblack.sqlite3 in the data folder",
            sample: "./data/pennyblack.sqlite3",
        },
        "Where orders are kept: the path of an SQLite file, or a postgres:// address.",
    )
};

pub(crate) static STORE_PASSWORD_FILE: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_STORE_PASSWORD_FILE"),
    ..Setting::usual(
        "server.store_password_file",
        Fallback::Otherwise {
            words: "no password, or the one in the address",
            sample: "/run/secrets/store_password",
        },
        "A file that holds the password of the PostgreSQL store, so that it need not be in the \
         address.",
    )
};

pub(crate) static KEYS_FILE: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_KEYS_FILE"),
    ..Setting::usual(
        "keys.file",
        Fallback::Otherwise {
            words: "pennyblack.key in the data folder",
            sample: "./data/pennyblack.key",
        },
        "The file that holds the secret under which personal data is sealed.",
    )
};

pub(crate) static KEYS_SECRET: Setting = Setting {
    source: Source::Environment("PENNYBLACK_KEYS"),
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "keys.secret",
        Fallback::Otherwise { words: "the one in keys.file", sample: "" },
        "The keys themselves instead of a file: 64 hexadecimal digits a line, as `openssl rand \
         -hex 32` prints them.",
    )
};

pub(crate) static DISCOVERY_QUOTA: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_DISCOVERY_QUOTA"),
    kind: Kind::Number,
    ..Setting::usual(
        "limits.discovery_quota",
        Fallback::Value("600"),
        "Discovery requests that are answered in 60 seconds, over all callers.",
    )
};

pub(crate) static REQUEST_SECONDS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "limits.request_seconds",
        Fallback::Value("30"),
        "How long a request may take before it is given up.",
    )
};

pub(crate) static PAID_REQUEST_SECONDS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "limits.paid_request_seconds",
        Fallback::Value("60"),
        "The same for a paid request; at shutdown, also how long we wait for those under way.",
    )
};

pub(crate) static BODY_BYTES: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "limits.body_bytes",
        Fallback::Value("65536"),
        "The largest request body that is read.",
    )
};

pub(crate) static CONNECTIONS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "limits.connections",
        Fallback::Value("10000"),
        "How many connections are served at once; more wait in the queue of the system.",
    )
};

pub(crate) static SELLER_DEFAULT: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "sellers.default",
        Fallback::Value("demo"),
        "The seller of a card whose buyer names none; one of the enabled ones.",
    )
};

pub(crate) static SELLERS_ENABLED: Setting = Setting {
    kind: Kind::List,
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "sellers.enabled",
        Fallback::Value("demo"),
        "The usernames whose cards we mail.",
    )
};

pub(crate) static SELLER_PARENT: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "sellers.parent",
        Fallback::Value("pennyblack.eth"),
        "The ENS name under which usernames are looked up.",
    )
};

pub(crate) static SHOP_PAYEE: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "shop.payee",
        Fallback::Otherwise {
            words: "in sandbox mode an address whose key nobody holds",
            sample: "0x06c05fB3449193F815E3dd1Fb1a3fB148F8AD6c4",
        },
        "The address named in the shop's price tags, which capture no funds.",
    )
};

pub(crate) static AGENTS_ANONYMOUS: Setting = Setting {
    ..Setting::usual(
        "agents.anonymous",
        Fallback::Value("yes"),
        "`yes` lets agents register for a read-only token, `no` does not.",
    )
};

pub(crate) static MCP_PROFILE: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_MCP_PROFILE"),
    ..Setting::usual(
        "mcp.profile",
        Fallback::Value("node"),
        "Which runtime of the contract the MCP server is like: `node`, or `worker`, which answers \
         notifications, has no templates and no completion, and does not judge media types.",
    )
};

pub(crate) static LOG_FORMAT: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_LOG_FORMAT"),
    ..Setting::usual(
        "log.format",
        Fallback::Value("text"),
        "`text` for people, `json` for machines; both go to stderr.",
    )
};

pub(crate) static LOG_FILTER: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_LOG"),
    ..Setting::usual(
        "log.filter",
        Fallback::Value("info"),
        "What is logged, as in `info` or `info,request=warn`; `request` is the line that each \
         request leaves.",
    )
};

pub(crate) static CONTENT_FOLDER: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_CONTENT"),
    ..Setting::usual(
        "content.folder",
        Fallback::Otherwise { words: "the pages built into the binary", sample: "./content" },
        "A folder of pages, products and answers that replaces the built-in one.",
    )
};
