//! The settings of money: who carries payments to the chain, and over which nodes.

use super::{Fallback, InLiveMode, Kind, Setting, Source, Visibility};

pub(crate) static PAYMENTS_KIND: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "payments.kind",
        Fallback::Value("sandbox"),
        "Who carries payments to the chain: `sandbox` (no real money), `settler` (we do, with a \
         key of our own), `facilitator` (somebody else), or `none`, which closes sending.",
    )
};

pub(crate) static PAYMENTS_SETTLER_KEY: Setting = Setting {
    source: Source::Environment("PENNYBLACK_SETTLER_KEY"),
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "payments.settler_key",
        Fallback::Otherwise { words: "none; `settler` and MPP need one", sample: "" },
        "The private key that pays the gas, as 64 hexadecimal digits. It never holds USDC. Beside \
         a facilitator, which carries x402 only, it opens MPP.",
    )
};

pub(crate) static PAYMENTS_RPC: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_PAYMENTS_RPC"),
    kind: Kind::List,
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "payments.rpc",
        Fallback::Otherwise {
            words: "none; `settler` and `facilitator` need at least one",
            sample: "base=https://rpc.example/key",
        },
        "A node for each network on which money is taken: base, polygon, arbitrum. Only their \
         hosts are shown.",
    )
};

pub(crate) static PAYMENTS_REALM: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_PAYMENTS_REALM"),
    ..Setting::usual(
        "payments.realm",
        Fallback::Otherwise { words: "the host name in server.base_url", sample: "cards.example" },
        "The realm of MPP challenges: payers see it, and their clients sign it. What was asked \
         for under another one cannot be paid any more.",
    )
};

pub(crate) static PAYMENTS_MAX_FEE: Setting = Setting {
    kind: Kind::List,
    ..Setting::usual(
        "payments.max_fee_gwei",
        Fallback::Otherwise { words: "base=5, polygon=1000, arbitrum=5", sample: "base=5" },
        "The most that our settler pays for a unit of gas, in gwei, for each network. Above it \
         payments there are answered 503, and nothing is signed.",
    )
};

pub(crate) static PAYMENTS_MAX_GAS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "payments.max_gas",
        Fallback::Value("1000000"),
        "The most gas that one settlement may use.",
    )
};

pub(crate) static PAYMENTS_GAS_BUDGET: Setting = Setting {
    kind: Kind::List,
    ..Setting::usual(
        "payments.gas_budget_gwei",
        Fallback::Otherwise {
            words: "base=200000000, polygon=1000000000000, arbitrum=200000000",
            sample: "base=200000000",
        },
        "The most that our settler spends on gas in an hour, in gwei, for each network. When it \
         is spent, payments there are answered 503 until it refills, and an alert is logged.",
    )
};

pub(crate) static PAYMENTS_CONTRACT_WALLETS: Setting = Setting {
    ..Setting::usual(
        "payments.contract_wallets",
        Fallback::Value("yes"),
        "Whether payers whose account has code may pay, yes or no. Such an account can pass our \
         simulation and fail on chain, at our cost: it is then refused for an hour.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR: Setting = Setting {
    ..Setting::usual(
        "payments.facilitator",
        Fallback::Otherwise {
            words: "none; `facilitator` needs one",
            sample: "https://facilitator.example",
        },
        "The address of the x402 facilitator, without the slash at the end.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR_KEY: Setting = Setting {
    ..Setting::usual(
        "payments.facilitator_key",
        Fallback::Otherwise { words: "none", sample: "organizations/1/apiKeys/2" },
        "The name of your key with a facilitator that wants signed tokens, as CDP does.",
    )
};

pub(crate) static PAYMENTS_FACILITATOR_SECRET: Setting = Setting {
    source: Source::Environment("PENNYBLACK_FACILITATOR_SECRET"),
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "payments.facilitator_secret",
        Fallback::Otherwise { words: "none; a facilitator's key needs it", sample: "" },
        "The secret of that key, in base64.",
    )
};
