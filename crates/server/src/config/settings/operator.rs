//! The settings of `operator` and `report`.

use super::definition::{Setting, SettingDefault, SettingSource};

pub(crate) static OPERATOR_LISTEN: Setting = Setting {
    source: SettingSource::FileOrEnvironment("PENNYBLACK_OPERATOR_LISTEN"),
    ..Setting::plain(
        "operator.listen",
        SettingDefault::Described {
            description: "127.0.0.1:8404 in sandbox mode, or a free port if it is in use; off in \
                          live mode",
            sample: "127.0.0.1:8404",
        },
        "The loopback address of the operator's console, API and metrics, or `off`. Requests need \
         the token in operator.token in the data folder. The socket operator.sock in that folder is \
         always served.",
    )
};

pub(crate) static REPORT_VAT_PERCENT: Setting = Setting {
    ..Setting::plain(
        "report.vat_percent",
        SettingDefault::Value("0"),
        "The VAT that a charge includes, in percent with up to two decimals, as `pennyblack report` \
         prints it.",
    )
};
