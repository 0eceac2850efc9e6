//! The settings of `sellers`, `shop`, `agents`, `mcp`, `log` and `content`.

use super::definition::{InLiveMode, Setting, SettingDefault, SettingSource, ValueType};
use crate::config::values::SANDBOX_PAYEE;

pub(crate) static SELLER_DEFAULT: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "sellers.default",
        SettingDefault::Value("demo"),
        "The seller of a request that names none. It must be in sellers.enabled. A repeated request without a seller belongs to the seller of its time: after a change it is a new operation, so change this while no order is open.",
    )
};

pub(crate) static SELLERS_ENABLED: Setting = Setting {
    value_type: ValueType::List,
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "sellers.enabled",
        SettingDefault::Value("demo"),
        "The usernames that may sell cards here.",
    )
};

pub(crate) static SELLER_PARENT: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "sellers.parent",
        SettingDefault::Value("pennyblack.eth"),
        "The ENS name below which usernames are looked up.",
    )
};

pub(crate) static SHOP_PAYEE: Setting = Setting {
    in_live_mode: InLiveMode::Required,
    ..Setting::plain(
        "shop.payee",
        SettingDefault::Described {
            description: "in sandbox mode a burn address (no known key)",
            sample: SANDBOX_PAYEE,
        },
        "The EVM address in the shop's price quotes. Those quotes are not settled.",
    )
};

pub(crate) static AGENTS_ANONYMOUS: Setting = Setting {
    ..Setting::plain(
        "agents.anonymous",
        SettingDefault::Value("yes"),
        "Whether agents can register for a read-only token: `yes` or `no`.",
    )
};

pub(crate) static MCP_PROFILE: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_MCP_PROFILE"),
    ..Setting::plain(
        "mcp.profile",
        SettingDefault::Value("node"),
        "The profile of the MCP server: `node`, or `worker`, which responds to notifications, has \
         no resource templates and no completion, and does not check media types.",
    )
};

pub(crate) static LOG_FORMAT: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_LOG_FORMAT"),
    ..Setting::plain(
        "log.format",
        SettingDefault::Value("text"),
        "The format of the log on stderr: `text` or `json`.",
    )
};

pub(crate) static LOG_FILTER: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_LOG"),
    ..Setting::plain(
        "log.filter",
        SettingDefault::Value("info"),
        "The log level, as in `info` or `info,request=warn`. The target `request` logs one line \
         for each request.",
    )
};

pub(crate) static CONTENT_FOLDER: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_CONTENT"),
    ..Setting::plain(
        "content.folder",
        SettingDefault::Described {
            description: "the pages built into the binary",
            sample: "./content",
        },
        "A folder of pages, products and support answers that replaces the built-in content.",
    )
};
