//! Who prints and mails the cards, as the operator decides it.

use adapters::provider::Sender;
use adapters::provider::lob::Prices;
use order::model::money::Cents;

use crate::config::fault::Wrong;
use crate::config::reader::{Noted, Reader};
use crate::config::secret::Secret;
use crate::config::settings::{self, Setting};
use crate::config::values::{self, Shown, choose};

#[derive(Debug)]
pub(crate) enum Posting {
    Nobody,
    /// In the world that sandbox mode brings along.
    Sandbox(Dialect),
    ThanksIo(ThanksIo),
    Lob(Lob),
}

/// What becomes of a card that is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mail {
    Real,
    /// At most a picture of it.
    Play,
}

impl Posting {
    /// Whatever the mode is called.
    pub(crate) const fn mail(&self) -> Mail {
        match self {
            Self::Nobody | Self::Sandbox(_) => Mail::Play,
            Self::ThanksIo(_) | Self::Lob(_) => Mail::Real,
        }
    }
}

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    ThanksIo,
    Lob,
}

#[derive(Debug)]
pub(crate) struct ThanksIo {
    pub token: Secret,
    /// The operator's name for the account; without one, a digest of the token.
    pub account: Option<String>,
    pub sender: Option<Sender>,
}

#[derive(Debug)]
pub(crate) struct Lob {
    pub key: Secret,
    /// As with thanks.io.
    pub account: Option<String>,
    pub sender: Option<Sender>,
    pub prices: Prices,
    pub cancel_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nobody,
    Sandbox,
    ThanksIo,
    Lob,
}

const KINDS: [(&str, Kind); 4] = [
    ("sandbox", Kind::Sandbox),
    ("thanks_io", Kind::ThanksIo),
    ("lob", Kind::Lob),
    ("none", Kind::Nobody),
];
const DIALECTS: [(&str, Dialect); 2] = [("thanks_io", Dialect::ThanksIo), ("lob", Dialect::Lob)];

/// A thousand dollars for a card is a slip of the finger.
const CENTS_MAX: u64 = 100_000;
const DAY_SECONDS: u64 = 86_400;
const ACCOUNT_CHARACTERS_MAX: usize = 64;

/// Every setting is read whatever the kind, so that its faults are told.
pub(super) fn read(reader: &mut Reader) -> Result<Posting, Noted> {
    let kind = kind(reader);
    let token = reader.take_if_told(&settings::PROVIDER_TOKEN, token);
    let account = reader.take_if_told(&settings::PROVIDER_ACCOUNT, account);
    let sender = reader.take_if_told(&settings::PROVIDER_SENDER, sender);
    let domestic = reader.take_if_told(&settings::PROVIDER_DOMESTIC_CENTS, cents);
    let international = reader.take_if_told(&settings::PROVIDER_INTERNATIONAL_CENTS, cents);
    let cancel_seconds = reader.take(&settings::PROVIDER_CANCEL_SECONDS, |text| {
        values::number::<u64>(text, 0..=DAY_SECONDS)
    });
    let dialect = reader.take(&settings::SANDBOX_DIALECT, |text| choose(text, &DIALECTS));
    match kind? {
        Kind::Nobody => Ok(Posting::Nobody),
        Kind::Sandbox => Ok(Posting::Sandbox(dialect?)),
        Kind::ThanksIo => {
            let token = needed(reader, &settings::PROVIDER_TOKEN, token);
            let account = account?.map(|account| account.0);
            Ok(Posting::ThanksIo(ThanksIo { token: token?, account, sender: sender? }))
        }
        Kind::Lob => {
            let key = needed(reader, &settings::PROVIDER_TOKEN, token);
            let domestic = needed(reader, &settings::PROVIDER_DOMESTIC_CENTS, domestic);
            let setting = &settings::PROVIDER_INTERNATIONAL_CENTS;
            let international = needed(reader, setting, international);
            Ok(Posting::Lob(Lob {
                key: key?,
                account: account?.map(|account| account.0),
                sender: sender?,
                prices: Prices { domestic: domestic?, international: international? },
                cancel_seconds: cancel_seconds?,
            }))
        }
    }
}

fn kind(reader: &mut Reader) -> Result<Kind, Noted> {
    let kind = reader.take(&settings::PROVIDER_KIND, |text| choose(text, &KINDS))?;
    let wrong = Wrong::new(
        "the `sandbox` mails nothing, and live mode takes real money",
        "Write provider.kind = \"thanks_io\" or \"lob\", or \"none\".",
    );
    reader.keep_from_live(&settings::PROVIDER_KIND, kind, &Kind::Sandbox, wrong)
}

/// What this provider cannot do without.
fn needed<T>(
    reader: &mut Reader,
    setting: &'static Setting,
    told: Result<Option<T>, Noted>,
) -> Result<T, Noted> {
    told?.ok_or_else(|| {
        let remedy = match setting.variable() {
            Some(variable) => format!("Set {variable}, or provider.kind = \"sandbox\"."),
            None => "Set it in the file, or provider.kind = \"sandbox\".".to_owned(),
        };
        let wrong = Wrong::new("is not set, and the provider cannot do without it", remedy);
        reader.object(setting, wrong)
    })
}

fn token(text: &str) -> Result<Secret, Wrong> {
    if text.trim().is_empty() {
        return Err(Wrong::new("is empty", "Copy the key from your account with the provider."));
    }
    Ok(Secret::new(text.trim().to_owned()))
}

/// What the operator calls the account with the provider. No secret.
#[derive(Debug)]
struct AccountName(String);

/// It is kept with every order, as one word behind the provider's address.
fn account(text: &str) -> Result<AccountName, Wrong> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if text.is_empty() || text.len() > ACCOUNT_CHARACTERS_MAX || !text.bytes().all(letter) {
        return Err(Wrong::new(
            "is not the name of an account",
            "Write 1 to 64 letters, digits, dots, hyphens or underscores.",
        ));
    }
    Ok(AccountName(text.to_owned()))
}

fn sender(text: &str) -> Result<Sender, Wrong> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let &[name, address, city, state, postal_code] = parts.as_slice() else {
        return Err(Wrong::new(
            "is not an address in five parts",
            "Write name / street / city / state / postal code.",
        ));
    };
    Ok(Sender {
        name: name.to_owned(),
        address: address.to_owned(),
        city: city.to_owned(),
        state: state.to_owned(),
        postal_code: postal_code.to_owned(),
    })
}

fn cents(text: &str) -> Result<Cents, Wrong> {
    values::number::<u64>(text, 1..=CENTS_MAX).map(Cents)
}

impl Shown for Kind {
    fn shown(&self) -> String {
        KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl Shown for Dialect {
    fn shown(&self) -> String {
        let known = DIALECTS.iter().find(|(_, dialect)| dialect == self);
        known.map_or("", |(name, _)| name).to_owned()
    }
}

impl Shown for AccountName {
    fn shown(&self) -> String {
        self.0.clone()
    }
}

impl Shown for Sender {
    fn shown(&self) -> String {
        let Self { name, address, city, state, postal_code } = self;
        format!("{name} / {address} / {city} / {state} / {postal_code}")
    }
}

impl Shown for Cents {
    fn shown(&self) -> String {
        self.0.to_string()
    }
}
