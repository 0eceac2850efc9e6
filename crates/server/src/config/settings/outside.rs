//! The settings of the world outside: names, the provider, and the sandbox in their place.

use super::{Fallback, InLiveMode, Kind, Setting, Source, Visibility};

pub(crate) static NAMES_KIND: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "names.kind",
        Fallback::Value("sandbox"),
        "How usernames become addresses: `sandbox` in a world of its own, `ens` on Ethereum.",
    )
};

pub(crate) static NAMES_RPC: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_NAMES_RPC"),
    kind: Kind::List,
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "names.rpc",
        Fallback::Otherwise { words: "none; `ens` needs one", sample: "https://rpc.example/key" },
        "One Ethereum node, or two that have to agree. Only their hosts are shown.",
    )
};

pub(crate) static NAMES_GATEWAYS: Setting = Setting {
    kind: Kind::List,
    ..Setting::usual(
        "names.gateways",
        Fallback::Otherwise { words: "any server on the open internet", sample: "gateway.example" },
        "The servers that a name's resolver may send us to (CCIP-Read). Write `proof:` in front \
         of one whose answers are proved on chain and not merely signed.",
    )
};

pub(crate) static NAMES_UNIVERSAL_RESOLVER: Setting = Setting {
    ..Setting::usual(
        "names.universal_resolver",
        Fallback::Value(adapters::ens::UNIVERSAL_RESOLVER),
        "The contract that is asked; the default is that of ENS.",
    )
};

pub(crate) static NAMES_BLOCK_TAG: Setting = Setting {
    ..Setting::usual(
        "names.block_tag",
        Fallback::Value("safe"),
        "How settled a block is that we read from: `latest`, `safe` or `finalized`.",
    )
};

pub(crate) static NAMES_MAINNET_EOA: Setting = Setting {
    ..Setting::usual(
        "names.allow_mainnet_eoa",
        Fallback::Value("no"),
        "`yes` pays a seller who has set no address for a network at the mainnet one, if nodes \
         of both networks say that it is a plain account; `no` does not offer that network.",
    )
};

pub(crate) static PROVIDER_KIND: Setting = Setting {
    in_live_mode: InLiveMode::MustBeTold,
    ..Setting::usual(
        "provider.kind",
        Fallback::Value("sandbox"),
        "Who prints and mails the cards: `sandbox` (nobody), `thanks_io`, `lob`, or `none`, \
         which closes previews and sending.",
    )
};

pub(crate) static PROVIDER_TOKEN: Setting = Setting {
    source: Source::Environment("PENNYBLACK_PROVIDER_TOKEN"),
    visibility: Visibility::Hidden,
    ..Setting::usual(
        "provider.token",
        Fallback::Otherwise { words: "none; `thanks_io` and `lob` need one", sample: "" },
        "The key of your account with the provider.",
    )
};

pub(crate) static PROVIDER_ACCOUNT: Setting = Setting {
    ..Setting::usual(
        "provider.account",
        Fallback::Otherwise { words: "a digest of the key", sample: "main" },
        "What orders call your account with the provider. Set it before you replace the key of \
         the same account: a card whose answer was lost is looked for under this name only.",
    )
};

pub(crate) static PROVIDER_SENDER: Setting = Setting {
    ..Setting::usual(
        "provider.sender",
        Fallback::Otherwise {
            words: "none",
            sample: "Penny Black / 1 Queen Street / Springfield / IL / 62701",
        },
        "The return address on the cards: name / street / city / state / postal code.",
    )
};

pub(crate) static PROVIDER_DOMESTIC_CENTS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "provider.domestic_cents",
        Fallback::Otherwise { words: "none; `lob` needs it", sample: "87" },
        "What a card within the United States costs you at Lob, in cents; Lob cannot be asked.",
    )
};

pub(crate) static PROVIDER_INTERNATIONAL_CENTS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "provider.international_cents",
        Fallback::Otherwise { words: "none; `lob` needs it", sample: "185" },
        "The same for every other country.",
    )
};

pub(crate) static PROVIDER_CANCEL_SECONDS: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "provider.cancel_seconds",
        Fallback::Value("0"),
        "How long Lob keeps a card before it is printed, if your contract has that.",
    )
};

pub(crate) static PROVIDER_RATE_TIMES: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "provider.rate_times",
        Fallback::Value("1"),
        "How many times the calls that the provider allows everybody (thanks.io 60 a minute, Lob \
         150 in five seconds) it allows your account. A paid card takes one or two.",
    )
};

pub(crate) static SANDBOX_PORT: Setting = Setting {
    source: Source::FileOrEnvironment("PENNYBLACK_SANDBOX_PORT"),
    kind: Kind::Number,
    ..Setting::usual(
        "sandbox.port",
        Fallback::Value("0"),
        "The port of the sandbox's mailbox on this machine; 0 takes any free one.",
    )
};

pub(crate) static SANDBOX_OFFICE: Setting = Setting {
    ..Setting::usual(
        "sandbox.office",
        Fallback::Otherwise {
            words: "one of our own, which ends with us",
            sample: "http://127.0.0.1:8403",
        },
        "A post office of the sandbox that runs already and keeps its cards when we end.",
    )
};

pub(crate) static SANDBOX_SPEED: Setting = Setting {
    kind: Kind::Number,
    ..Setting::usual(
        "sandbox.speed",
        Fallback::Value("1"),
        "How many seconds pass on our clock in one of the wall's, for rehearsals: what waits for \
         minutes then waits for seconds. Not where real cards are mailed.",
    )
};

pub(crate) static SANDBOX_DIALECT: Setting = Setting {
    ..Setting::usual(
        "sandbox.dialect",
        Fallback::Value("thanks_io"),
        "How we speak to the sandbox's provider: as to `thanks_io` or as to `lob`.",
    )
};

pub(crate) static SANDBOX_MIXED: Setting = Setting {
    ..Setting::usual(
        "sandbox.mixed",
        Fallback::Value("no"),
        "`yes` lets real parts run beside parts of the sandbox, for a trial; `no` refuses to start.",
    )
};
