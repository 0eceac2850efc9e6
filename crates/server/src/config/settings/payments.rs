//! The settings of `payments`.

use super::definition::{
    InLiveMode, Setting, SettingDefault, SettingSource, ValueType, Visibility,
};

pub(crate) static PAYMENTS_KIND: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "payments.kind",
        SettingDefault::Value("sandbox"),
        "How payments are settled: `sandbox` (emulated chains, no real money), `settler` (this \
         service sends the transactions), `facilitator` (an x402 facilitator sends them), or \
         `none`, which disables sending.",
    )
};

pub(crate) static PAYMENTS_SETTLER_KEY: Setting = Setting {
    source: SettingSource::Environment("PENNYBLACK_SETTLER_KEY"),
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "payments.settler_key",
        SettingDefault::Described {
            description: "none; `settler` and MPP require one",
            sample: "",
        },
        "The private key of the account that pays gas, as 64 hexadecimal digits. The account \
         never holds USDC. With `facilitator`, which settles x402 only, this key enables MPP.",
    )
};

pub(crate) static PAYMENTS_SETTLER_KEY_FILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_SETTLER_KEY_FILE"),
    ..Setting::plain(
        "payments.settler_key_file",
        SettingDefault::Described {
            description: "the key in PENNYBLACK_SETTLER_KEY",
            sample: "/run/secrets/settler_key",
        },
        "A file that contains that private key.",
    )
};

pub(crate) static PAYMENTS_RPC: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_PAYMENTS_RPC"),
    value_type: ValueType::List,
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "payments.rpc",
        SettingDefault::Described {
            description: "none; `settler` and `facilitator` require at least one",
            sample: "base=https://rpc.example/key",
        },
        "An RPC URL for each of the networks base, polygon and arbitrum on which the settler \
         accepts payments, or a facilitator's reports are checked. Only hosts are shown.",
    )
};

pub(crate) static PAYMENTS_REALM: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_PAYMENTS_REALM"),
    ..Setting::plain(
        "payments.realm",
        SettingDefault::Described {
            description: "the host name in server.base_url",
            sample: "cards.example",
        },
        "The realm of MPP challenges. Payers see it, and their clients sign it. After a change, \
         challenges with the previous realm can no longer be paid.",
    )
};

pub(crate) static PAYMENTS_MAX_FEE: Setting = Setting {
    value_type: ValueType::List,
    ..Setting::plain(
        "payments.max_fee_gwei",
        SettingDefault::Described {
            description: "base=5, polygon=1000, arbitrum=5",
            sample: "base=5",
        },
        "The maximum gas price of the settler for each network, in gwei. Above it, payments on \
         that network get 503, and nothing is signed.",
    )
};

pub(crate) static PAYMENTS_MAX_GAS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "payments.max_gas",
        SettingDefault::Value("1000000"),
        "The maximum gas of one settlement.",
    )
};

pub(crate) static PAYMENTS_GAS_BUDGET: Setting = Setting {
    value_type: ValueType::List,
    ..Setting::plain(
        "payments.gas_budget_gwei",
        SettingDefault::Described {
            description: "base=200000000, polygon=1000000000000, arbitrum=200000000",
            sample: "base=200000000",
        },
        "The maximum cost of gas per hour for each network, in gwei. When it is spent, payments \
         on that network get 503 until it refills, and an alert is logged.",
    )
};

pub(crate) static PAYMENTS_CONTRACT_WALLETS: Setting = Setting {
    ..Setting::plain(
        "payments.contract_wallets",
        SettingDefault::Value("yes"),
        "Whether accounts with code may pay: `yes` or `no`. Such an account can pass the \
         simulation and fail on chain, at your cost. It is then refused for an hour.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR: Setting = Setting {
    ..Setting::plain(
        "payments.facilitator",
        SettingDefault::Described {
            description: "none; `facilitator` requires one",
            sample: "https://facilitator.example",
        },
        "The URL of the x402 facilitator, without a trailing slash.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR_KEY: Setting = Setting {
    ..Setting::plain(
        "payments.facilitator_key",
        SettingDefault::Described { description: "none", sample: "organizations/1/apiKeys/2" },
        "The name of your API key at a facilitator that requires signed tokens, such as CDP.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR_SECRET: Setting = Setting {
    source: SettingSource::Environment("PENNYBLACK_FACILITATOR_SECRET"),
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "payments.facilitator_secret",
        SettingDefault::Described {
            description: "none; payments.facilitator_key requires it",
            sample: "",
        },
        "The secret of that key, in base64.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR_SECRET_FILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_FACILITATOR_SECRET_FILE"),
    ..Setting::plain(
        "payments.facilitator_secret_file",
        SettingDefault::Described {
            description: "the secret in PENNYBLACK_FACILITATOR_SECRET",
            sample: "/run/secrets/facilitator_secret",
        },
        "A file that contains that secret.",
    )
};
