//! The `provider` section: which company prints and mails the cards.

use adapters::provider::ReturnAddress;
use adapters::provider::lob::LobPrices;
use order::model::money::Cents;

use crate::config::fault::SettingProblem;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::values::secret::Secret;
use crate::config::values::{self, ReportText, choose};
use crate::config::{secret_file, settings};

#[derive(Debug)]
pub(crate) enum ProviderConfig {
    Disabled,
    /// The emulated provider.
    Sandbox(SandboxDialect),
    ThanksIo(ThanksIoConfig),
    Lob(LobConfig),
}

/// Whether a paid card is mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mailing {
    Real,
    /// The emulator draws a picture at most.
    Emulated,
}

impl ProviderConfig {
    /// Independent of `server.mode`.
    pub(crate) const fn mailing(&self) -> Mailing {
        match self {
            Self::Disabled | Self::Sandbox(_) => Mailing::Emulated,
            Self::ThanksIo(_) | Self::Lob(_) => Mailing::Real,
        }
    }
}

/// Which provider's API the emulator is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SandboxDialect {
    ThanksIo,
    Lob,
}

#[derive(Debug)]
pub(crate) struct ThanksIoConfig {
    pub token: Secret,
    /// The operator's name for the account; without one, a digest of the token.
    pub account: Option<String>,
    pub sender: Option<ReturnAddress>,
}

#[derive(Debug)]
pub(crate) struct LobConfig {
    pub key: Secret,
    /// The operator's name for the account; without one, a digest of the key.
    pub account: Option<String>,
    pub sender: Option<ReturnAddress>,
    pub prices: LobPrices,
    pub cancel_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Disabled,
    Sandbox,
    ThanksIo,
    Lob,
}

const KINDS: [(&str, Kind); 4] = [
    ("sandbox", Kind::Sandbox),
    ("thanks_io", Kind::ThanksIo),
    ("lob", Kind::Lob),
    ("none", Kind::Disabled),
];
const DIALECTS: [(&str, SandboxDialect); 2] =
    [("thanks_io", SandboxDialect::ThanksIo), ("lob", SandboxDialect::Lob)];

/// A price of more than a thousand dollars is a typing error.
const CENTS_MAX: u64 = 100_000;
const DAY_SECONDS: u64 = 86_400;
const ACCOUNT_CHARACTERS_MAX: usize = 64;

/// Every setting is read whatever the kind is, so that all faults are reported.
pub(super) fn read(reader: &mut SettingsReader) -> Result<ProviderConfig, FaultRecorded> {
    let kind = kind(reader);
    let (variable, file) = (&settings::PROVIDER_TOKEN, &settings::PROVIDER_TOKEN_FILE);
    let token = secret_file::take(reader, variable, file, token);
    let account = reader.take_optional(&settings::PROVIDER_ACCOUNT, account);
    let sender = reader.take_optional(&settings::PROVIDER_SENDER, sender);
    let domestic = reader.take_optional(&settings::PROVIDER_DOMESTIC_CENTS, cents);
    let international = reader.take_optional(&settings::PROVIDER_INTERNATIONAL_CENTS, cents);
    let cancel_seconds = reader.take(&settings::PROVIDER_CANCEL_SECONDS, |text| {
        values::number::<u64>(text, 0..=DAY_SECONDS)
    });
    let dialect = reader.take(&settings::SANDBOX_DIALECT, |text| choose(text, &DIALECTS));
    match kind? {
        Kind::Disabled => Ok(ProviderConfig::Disabled),
        Kind::Sandbox => Ok(ProviderConfig::Sandbox(dialect?)),
        Kind::ThanksIo => {
            let token = reader.needed(&settings::PROVIDER_TOKEN, token);
            let account = account?.map(|account| account.0);
            Ok(ProviderConfig::ThanksIo(ThanksIoConfig { token: token?, account, sender: sender? }))
        }
        Kind::Lob => {
            let key = reader.needed(&settings::PROVIDER_TOKEN, token);
            let domestic = reader.needed(&settings::PROVIDER_DOMESTIC_CENTS, domestic);
            let setting = &settings::PROVIDER_INTERNATIONAL_CENTS;
            let international = reader.needed(setting, international);
            Ok(ProviderConfig::Lob(LobConfig {
                key: key?,
                account: account?.map(|account| account.0),
                sender: sender?,
                prices: LobPrices { domestic: domestic?, international: international? },
                cancel_seconds: cancel_seconds?,
            }))
        }
    }
}

fn kind(reader: &mut SettingsReader) -> Result<Kind, FaultRecorded> {
    let kind = reader.take(&settings::PROVIDER_KIND, |text| choose(text, &KINDS))?;
    let problem = SettingProblem::new(
        "`sandbox` mails nothing, and live mode accepts real payments",
        "Set provider.kind = \"thanks_io\" or \"lob\", or \"none\".",
    );
    reader.reject_in_live_mode(&settings::PROVIDER_KIND, kind, &Kind::Sandbox, problem)
}

fn token(text: &str) -> Result<Secret, SettingProblem> {
    if text.trim().is_empty() {
        return Err(SettingProblem::new("is empty", "Copy the key from your provider account."));
    }
    Ok(Secret::new(text.trim().to_owned()))
}

/// The operator's name for the provider account. Not a secret.
#[derive(Debug)]
struct AccountName(String);

/// It is stored with every order, after the provider's URL, so it has no spaces.
fn account(text: &str) -> Result<AccountName, SettingProblem> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if text.is_empty() || text.len() > ACCOUNT_CHARACTERS_MAX || !text.bytes().all(letter) {
        return Err(SettingProblem::new(
            "is not a valid account name",
            "Write 1 to 64 letters, digits, dots, hyphens or underscores.",
        ));
    }
    Ok(AccountName(text.to_owned()))
}

fn sender(text: &str) -> Result<ReturnAddress, SettingProblem> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let &[name, address, city, state, postal_code] = parts.as_slice() else {
        return Err(SettingProblem::new(
            "is not a postal address in five parts",
            "Write name / street / city / state / postal code.",
        ));
    };
    Ok(ReturnAddress {
        name: name.to_owned(),
        address: address.to_owned(),
        city: city.to_owned(),
        state: state.to_owned(),
        postal_code: postal_code.to_owned(),
    })
}

fn cents(text: &str) -> Result<Cents, SettingProblem> {
    values::number::<u64>(text, 1..=CENTS_MAX).map(Cents)
}

impl ReportText for Kind {
    fn report_text(&self) -> String {
        KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl ReportText for SandboxDialect {
    fn report_text(&self) -> String {
        let known = DIALECTS.iter().find(|(_, dialect)| dialect == self);
        known.map_or("", |(name, _)| name).to_owned()
    }
}

impl ReportText for AccountName {
    fn report_text(&self) -> String {
        self.0.clone()
    }
}

impl ReportText for ReturnAddress {
    fn report_text(&self) -> String {
        let Self { name, address, city, state, postal_code } = self;
        format!("{name} / {address} / {city} / {state} / {postal_code}")
    }
}

impl ReportText for Cents {
    fn report_text(&self) -> String {
        self.0.to_string()
    }
}
