//! The settings of `provider`.

use super::definition::{
    InLiveMode, Setting, SettingDefault, SettingSource, ValueType, Visibility,
};

pub(crate) static PROVIDER_KIND: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "provider.kind",
        SettingDefault::Value("sandbox"),
        "The provider that prints and mails cards: `sandbox` (emulated, mails nothing), \
         `thanks_io`, `lob`, or `none`, which disables previews and sending.",
    )
};

pub(crate) static PROVIDER_TOKEN: Setting = Setting {
    source: SettingSource::Environment("PENNYBLACK_PROVIDER_TOKEN"),
    visibility: Visibility::Hidden,
    ..Setting::plain(
        "provider.token",
        SettingDefault::Described {
            description: "none; `thanks_io` and `lob` require one",
            sample: "",
        },
        "The API key of your provider account.",
    )
};

pub(crate) static PROVIDER_TOKEN_FILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_PROVIDER_TOKEN_FILE"),
    ..Setting::plain(
        "provider.token_file",
        SettingDefault::Described {
            description: "the key in PENNYBLACK_PROVIDER_TOKEN",
            sample: "/run/secrets/provider_token",
        },
        "A file that contains the API key.",
    )
};

pub(crate) static PROVIDER_ACCOUNT: Setting = Setting {
    ..Setting::plain(
        "provider.account",
        SettingDefault::Described { description: "a digest of the API key", sample: "main" },
        "The name of your provider account in stored orders. Set it before you replace the API \
         key of the same account: a card whose response was lost is searched for under this \
         name only.",
    )
};

pub(crate) static PROVIDER_SENDER: Setting = Setting {
    ..Setting::plain(
        "provider.sender",
        SettingDefault::Described {
            description: "none",
            sample: "Penny Black / 1 Queen Street / Springfield / IL / 62701",
        },
        "The return address on cards: name / street / city / state / postal code.",
    )
};

pub(crate) static PROVIDER_DOMESTIC_CENTS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "provider.domestic_cents",
        SettingDefault::Described { description: "none; `lob` requires it", sample: "87" },
        "Your price for a card within the United States at Lob, in cents. Lob has no API for it.",
    )
};

pub(crate) static PROVIDER_INTERNATIONAL_CENTS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "provider.international_cents",
        SettingDefault::Described { description: "none; `lob` requires it", sample: "185" },
        "Your price for a card to any other country at Lob, in cents.",
    )
};

pub(crate) static PROVIDER_CANCEL_SECONDS: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "provider.cancel_seconds",
        SettingDefault::Value("0"),
        "How long a card can be canceled at Lob, if your contract has a cancellation window.",
    )
};

pub(crate) static PROVIDER_RATE_TIMES: Setting = Setting {
    value_type: ValueType::Number,
    ..Setting::plain(
        "provider.rate_times",
        SettingDefault::Value("1"),
        "The rate limit of your account, as a multiple of the provider's standard limit \
         (thanks.io 60 calls per minute, Lob 150 per 5 seconds). A paid card takes one or two \
         calls.",
    )
};
