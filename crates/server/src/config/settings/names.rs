//! The settings of `names`.

use super::definition::{
    InLiveMode, Setting, SettingDefault, SettingSource, ValueType, Visibility,
};

pub(crate) static NAMES_KIND: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "names.kind",
        SettingDefault::Value("sandbox"),
        "How usernames are resolved: `sandbox` (emulated chain) or `ens` (Ethereum).",
    )
};

pub(crate) static NAMES_RPC: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_NAMES_RPC"),
    value_type: ValueType::List,
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "names.rpc",
        SettingDefault::Described {
            description: "none; `ens` requires one",
            sample: "https://rpc.example/key",
        },
        "The RPC URLs of one Ethereum node, or of two that must agree. Only hosts are shown.",
    )
};

pub(crate) static NAMES_GATEWAYS: Setting = Setting {
    value_type: ValueType::List,
    ..Setting::plain(
        "names.gateways",
        SettingDefault::Described { description: "any public server", sample: "gateway.example" },
        "The gateways to which a resolver may refer (CCIP-Read). Prefix a gateway with `proof:` \
         if its responses are proved on chain and not only signed.",
    )
};

pub(crate) static NAMES_UNIVERSAL_RESOLVER: Setting = Setting {
    ..Setting::plain(
        "names.universal_resolver",
        SettingDefault::Value(adapters::ens::UNIVERSAL_RESOLVER),
        "The Universal Resolver contract. The default is that of ENS.",
    )
};

pub(crate) static NAMES_BLOCK_TAG: Setting = Setting {
    ..Setting::plain(
        "names.block_tag",
        SettingDefault::Value("safe"),
        "The block at which names are read: `latest`, `safe` or `finalized`.",
    )
};

pub(crate) static NAMES_MAINNET_EOA: Setting = Setting {
    ..Setting::plain(
        "names.allow_mainnet_eoa",
        SettingDefault::Value("no"),
        "`yes` pays a seller without an address for a network at its mainnet address, if that is \
         an account without code on both networks. `no` does not offer that network.",
    )
};
