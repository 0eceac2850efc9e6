//! Reads the sections one by one; every fault is noted before any is returned.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::http::Address;
use adapters::keys::Keyring;
use content::render::Money;

use crate::config::fault::Wrong;
use crate::config::gas;
use crate::config::logging::{LogFilter, LogFormat};
use crate::config::naming::{self, Naming};
use crate::config::paying::{self, Paying};
use crate::config::posting::{self, Posting};
use crate::config::reader::{Noted, Reader};
use crate::config::secret::Secret;
use crate::config::settings;
use crate::config::store_place::StorePlace;
use crate::config::values::{self, Answer, BaseUrl, Mode, Name, Shown};
use crate::config::{
    Agents, Config, Content, Keys, Limits, Log, Mcp, Sandbox, Sellers, Server, Shop,
};

pub(super) fn read(reader: &mut Reader) -> Result<Config, Noted> {
    // The mode comes first: it decides which defaults are allowed.
    let mode = reader.take(&settings::MODE, Mode::parse);
    if let Ok(mode) = mode {
        reader.demand(mode);
    }
    let listen = reader.take(&settings::LISTEN, values::listen);
    let base_url = reader.take_if_told(&settings::BASE_URL, BaseUrl::parse);
    let data = reader.take(&settings::DATA, values::folder_to_be);
    let store = store(reader, data.as_deref().ok());
    let keys = keys(reader, mode, data.as_deref().ok());
    let limits = limits(reader);
    let sellers = sellers(reader);
    let names = naming::read(reader);
    let posting = posting::read(reader);
    let paying = paying::read(reader);
    let base_url = private_base_url(reader, base_url, mode, &paying);
    let names = with_nodes_elsewhere(reader, names, &paying);
    let realm = paying::realm(reader);
    let gas = gas::read(reader);
    let sandbox = sandbox(reader, &names, &posting, &paying);
    let shop = shop(reader);
    let anonymous = reader.take(&settings::AGENTS_ANONYMOUS, values::yes_or_no);
    let profile = reader.take(&settings::MCP_PROFILE, values::profile);
    let log = log(reader);
    let folder = reader.take_if_told(&settings::CONTENT_FOLDER, values::existing_folder);
    Ok(Config {
        server: Server {
            listen: listen?,
            base_url: base_url?,
            data: data?,
            mode: mode?,
            store: store?,
        },
        keys: keys?,
        limits: limits?,
        sellers: sellers?,
        names: names?,
        posting: posting?,
        paying: paying?,
        realm: realm?,
        gas: gas?,
        sandbox: sandbox?,
        shop: shop?,
        agents: Agents { anonymous: anonymous? },
        mcp: Mcp { profile: profile? },
        log: log?,
        content: Content { folder: folder? },
    })
}

/// Whether an account is plain on another network can only be seen there.
fn with_nodes_elsewhere(
    reader: &mut Reader,
    names: Result<Naming, Noted>,
    paying: &Result<Paying, Noted>,
) -> Result<Naming, Noted> {
    match (names?, paying) {
        (Naming::Ens(ens), Ok(paying)) if ens.mainnet_eoa == Answer::Yes => {
            if paying.nodes().is_some() {
                return Ok(Naming::Ens(ens));
            }
            let wrong = Wrong::new(
                "is `yes`, and no node can say what a plain account is on other networks",
                "Write payments.kind = \"settler\" or \"facilitator\" and name nodes in payments.rpc.",
            );
            Err(reader.object(&settings::NAMES_MAINNET_EOA, wrong))
        }
        (names @ (Naming::Ens(_) | Naming::Sandbox), Ok(_) | Err(Noted)) => Ok(names),
    }
}

/// A real part beside one of the sandbox is almost always a mistake: money that
/// buys a card which nobody mails, or a card that nobody paid for.
fn sandbox(
    reader: &mut Reader,
    names: &Result<Naming, Noted>,
    posting: &Result<Posting, Noted>,
    paying: &Result<Paying, Noted>,
) -> Result<Sandbox, Noted> {
    let port = reader.take(&settings::SANDBOX_PORT, |text| values::number::<u16>(text, 0..=65_535));
    let office = reader.take_if_told(&settings::SANDBOX_OFFICE, office);
    let speed = speed(reader, posting);
    let mixed = reader.take(&settings::SANDBOX_MIXED, values::yes_or_no)?;
    let apart = match (names, posting, paying) {
        (Ok(names), Ok(posting), Ok(paying)) => apart(names, posting, paying),
        (Err(Noted), _, _) | (_, Err(Noted), _) | (_, _, Err(Noted)) => None,
    };
    match (apart, mixed) {
        (Some(apart), Answer::No) => {
            let wrong = Wrong::new(
                format!("{apart}; such a mixture is not started by accident"),
                "Choose both real or both of the sandbox, or write sandbox.mixed = \"yes\" for a trial.",
            );
            Err(reader.object(&settings::SANDBOX_MIXED, wrong))
        }
        (Some(_) | None, Answer::Yes) | (None, Answer::No) => {
            Ok(Sandbox { port: port?, office: office?, speed: speed? })
        }
    }
}

fn office(text: &str) -> Result<Address, Wrong> {
    Address::parse(text)
        .map_err(|fault| Wrong::new("is an address that is not taken", fault.to_string()))
}

/// After a lost answer a card is looked for by this clock before it is handed in
/// again, so where cards are real it goes as fast as the printer's.
fn speed(reader: &mut Reader, posting: &Result<Posting, Noted>) -> Result<NonZero<u32>, Noted> {
    let speed = reader.take(&settings::SANDBOX_SPEED, values::speed)?;
    match posting {
        Ok(Posting::ThanksIo(_) | Posting::Lob(_)) if speed > NonZero::<u32>::MIN => {
            let wrong = Wrong::new(
                "hurries the clock, and provider.kind mails real cards",
                "Leave it at 1, or write provider.kind = \"sandbox\".",
            );
            Err(reader.object(&settings::SANDBOX_SPEED, wrong))
        }
        Ok(Posting::ThanksIo(_) | Posting::Lob(_) | Posting::Sandbox(_) | Posting::Nobody)
        | Err(Noted) => Ok(speed),
    }
}

/// Which two parts live in different worlds, if any do.
fn apart(names: &Naming, posting: &Posting, paying: &Paying) -> Option<&'static str> {
    match (names, posting, paying) {
        // Nothing is sold, so nobody is paid.
        (_, Posting::Nobody, _) => None,
        (Naming::Sandbox, Posting::ThanksIo(_) | Posting::Lob(_), _) => {
            Some("names are of the sandbox, and provider.kind mails real cards")
        }
        (Naming::Ens(_), Posting::Sandbox(_), _) => {
            Some("names are real, and the sandbox's provider mails nothing")
        }
        (Naming::Sandbox, Posting::Sandbox(_), Paying::Settler(_) | Paying::Facilitator(_)) => {
            Some("names are of the sandbox, and payments.kind moves real money")
        }
        (Naming::Ens(_), Posting::ThanksIo(_) | Posting::Lob(_), Paying::Sandbox) => {
            Some("names and cards are real, and the sandbox's money is none")
        }
        (Naming::Sandbox, Posting::Sandbox(_), Paying::Sandbox | Paying::Nobody)
        | (
            Naming::Ens(_),
            Posting::ThanksIo(_) | Posting::Lob(_),
            Paying::Settler(_) | Paying::Facilitator(_) | Paying::Nobody,
        ) => None,
    }
}

/// Where real money can move, whatever the mode is called, payments go over https.
fn private_base_url(
    reader: &mut Reader,
    base_url: Result<Option<BaseUrl>, Noted>,
    mode: Result<Mode, Noted>,
    paying: &Result<Paying, Noted>,
) -> Result<Option<BaseUrl>, Noted> {
    let base_url = base_url?;
    let money = paying.as_ref().map_or(Money::Play, Paying::money);
    let is_real = money == Money::Real || mode.is_ok_and(|mode| mode == Mode::Live);
    match &base_url {
        Some(url) if is_real && url.is_open_to_eavesdroppers() => {
            let wrong = Wrong::new(
                format!("`{url}` is open to eavesdroppers, and payments go there"),
                "Use https, or server.mode = \"sandbox\" with payments.kind = \"sandbox\".",
            );
            Err(reader.object(&settings::BASE_URL, wrong))
        }
        Some(_) | None => Ok(base_url),
    }
}

fn store(reader: &mut Reader, data: Option<&Path>) -> Result<StorePlace, Noted> {
    let password = reader.take_if_told(&settings::STORE_PASSWORD_FILE, password_file);
    let words = password.as_ref().ok().and_then(Option::as_ref).map(|file| &file.password);
    let default = in_folder(data, "pennyblack.sqlite3");
    let store = reader.take_or(&settings::STORE, &default, |text| StorePlace::parse(text, words));
    password.and(store)
}

fn keys(
    reader: &mut Reader,
    mode: Result<Mode, Noted>,
    data: Option<&Path>,
) -> Result<Keys, Noted> {
    let secret = reader.take_if_told(&settings::KEYS_SECRET, keys_in_words);
    let default = in_folder(data, "pennyblack.key");
    let file = reader.take_or(&settings::KEYS_FILE, &default, |text| Ok(PathBuf::from(text)))?;
    let wrong = match (secret?, mode?) {
        (Some(_), _) if reader.is_told(&settings::KEYS_FILE) => Wrong::new(
            "names a key, and PENNYBLACK_KEYS holds another",
            "Keep one of the two, so that nobody has to guess which one sealed what.",
        ),
        (Some(secret), _) => return Ok(Keys::Given(secret)),
        (None, Mode::Sandbox) => return Ok(Keys::File(file)),
        (None, Mode::Live) if !reader.is_told(&settings::KEYS_FILE) => Wrong::new(
            "is not set, and live mode makes no key of its own",
            "Name the file that holds it, or set PENNYBLACK_KEYS.",
        ),
        (None, Mode::Live) if file.is_file() => return Ok(Keys::File(file)),
        (None, Mode::Live) => Wrong::new(
            format!("there is no file `{}`", file.display()),
            "Make one with `openssl rand -hex 32`, readable by this service alone.",
        ),
    };
    Err(reader.object(&settings::KEYS_FILE, wrong))
}

fn limits(reader: &mut Reader) -> Result<Limits, Noted> {
    let discovery_quota = reader
        .take(&settings::DISCOVERY_QUOTA, |text| values::number::<u32>(text, 1..=u32::MAX.into()));
    let request = reader.take(&settings::REQUEST_SECONDS, seconds);
    let mut paid_request = reader.take(&settings::PAID_REQUEST_SECONDS, seconds);
    if let (Ok(request), Ok(paid)) = (&request, &paid_request)
        && paid < request
    {
        let wrong = Wrong::new(
            format!("{paid} seconds are fewer than the {request} of an unpaid request"),
            "A paid request does more; give it at least as long.",
        );
        paid_request = Err(reader.object(&settings::PAID_REQUEST_SECONDS, wrong));
    }
    // A postcard with the longest message still fits in the smallest body.
    let body_bytes = reader
        .take(&settings::BODY_BYTES, |text| values::number::<usize>(text, 16_384..=1_048_576));
    let connections =
        reader.take(&settings::CONNECTIONS, |text| values::number::<u32>(text, 1..=1_000_000));
    let provider_calls = reader.take(&settings::PROVIDER_RATE_TIMES, values::times);
    Ok(Limits {
        discovery_quota: discovery_quota?,
        request: Duration::from_secs(request?),
        paid_request: Duration::from_secs(paid_request?),
        body_bytes: body_bytes?,
        connections: connections?,
        provider_calls: provider_calls?,
    })
}

fn sellers(reader: &mut Reader) -> Result<Sellers, Noted> {
    let mut default = reader.take(&settings::SELLER_DEFAULT, values::username);
    let enabled = reader.take(&settings::SELLERS_ENABLED, |text| {
        text.split(',').map(|name| values::username(name.trim())).collect::<Result<Vec<_>, _>>()
    });
    if let (Ok(name), Ok(names)) = (&default, &enabled)
        && !names.contains(name)
    {
        let wrong = Wrong::new(
            "is not among the enabled sellers",
            "Add it to sellers.enabled, or choose one that is there.",
        );
        default = Err(reader.object(&settings::SELLER_DEFAULT, wrong));
    }
    let parent = reader.take(&settings::SELLER_PARENT, Name::parent);
    Ok(Sellers { default: default?, enabled: enabled?, parent: parent? })
}

fn shop(reader: &mut Reader) -> Result<Shop, Noted> {
    let nobody = sandbox::payee::payee().to_string();
    let payee = reader.take_or(&settings::SHOP_PAYEE, &nobody, values::address)?;
    Ok(Shop { payee })
}

fn log(reader: &mut Reader) -> Result<Log, Noted> {
    let format = reader.take(&settings::LOG_FORMAT, LogFormat::parse);
    let filter = reader.take(&settings::LOG_FILTER, LogFilter::parse);
    Ok(Log { format: format?, filter: filter? })
}

fn seconds(text: &str) -> Result<u64, Wrong> {
    values::number(text, 1..=600)
}

/// As the store will read them, so that `check` finds what `serve` would stumble over.
fn keys_in_words(text: &str) -> Result<Secret, Wrong> {
    match Keyring::from_text(text) {
        Ok(_) => Ok(Secret::new(text.to_owned())),
        Err(fault) => Err(Wrong::new(fault.to_string(), "Make a key with `openssl rand -hex 32`.")),
    }
}

fn password_file(path: &str) -> Result<PasswordFile, Wrong> {
    let words = std::fs::read_to_string(path)
        .map_err(|error| Wrong::new(format!("cannot read `{path}`: {error}"), "Name the file."))?;
    let words = words.trim_end_matches(['\r', '\n']);
    if words.is_empty() {
        return Err(Wrong::new(format!("`{path}` is empty"), "Put the password into it."));
    }
    Ok(PasswordFile { path: PathBuf::from(path), password: Secret::new(words.to_owned()) })
}

struct PasswordFile {
    path: PathBuf,
    password: Secret,
}

impl Shown for PasswordFile {
    fn shown(&self) -> String {
        self.path.shown()
    }
}

/// A path in the data folder, or in none when its setting is faulty: then the
/// default is only there to go on looking for faults.
fn in_folder(data: Option<&Path>, name: &str) -> String {
    data.map_or_else(|| PathBuf::from(name), |data| data.join(name)).display().to_string()
}
