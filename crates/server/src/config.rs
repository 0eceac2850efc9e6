//! What the operator decided, checked and complete.
//!
//! One TOML file and the environment over it. Whoever holds a `Config` need not
//! check anything again.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::http::Address;
use content::render::Money;
use order::model::chain::EvmAddress;
use order::model::seller::Username;
use pay::mpp::Realm;
use web::premises::Profile;

use crate::config::environment::Environment;
use crate::config::fault::Fault;
use crate::config::gas::Gas;
use crate::config::logging::{LogFilter, LogFormat};
use crate::config::naming::Naming;
use crate::config::paying::Paying;
use crate::config::posting::Posting;
use crate::config::reader::{Reader, Row};
use crate::config::secret::Secret;
use crate::config::settings::SETTINGS;
use crate::config::sources::Sources;
use crate::config::store_place::StorePlace;
use crate::config::values::{Answer, BaseUrl, Mode, Name};

mod environment;
pub(crate) mod example;
pub(crate) mod fault;
pub(crate) mod gas;
pub(crate) mod logging;
pub(crate) mod naming;
mod nearest;
pub(crate) mod paying;
pub(crate) mod posting;
pub(crate) mod reader;
mod secret;
mod sections;
pub(crate) mod settings;
mod sources;
pub(crate) mod store_place;
pub(crate) mod values;

#[derive(Debug)]
pub(crate) struct Config {
    pub server: Server,
    pub keys: Keys,
    pub limits: Limits,
    pub sellers: Sellers,
    pub names: Naming,
    pub posting: Posting,
    pub paying: Paying,
    /// What MPP payers are told that they pay at; `None` means the host of the site.
    pub realm: Option<Realm>,
    /// What our own settler may spend.
    pub gas: Gas,
    pub sandbox: Sandbox,
    pub shop: Shop,
    pub agents: Agents,
    pub mcp: Mcp,
    pub log: Log,
    pub content: Content,
}

impl Config {
    /// Whether real money can move, or is said to: then every safeguard applies.
    pub(crate) fn guards_real_money(&self) -> bool {
        self.paying.money() == Money::Real || self.server.mode == Mode::Live
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    pub listen: SocketAddr,
    /// `None` means wherever we turn out to listen.
    pub base_url: Option<BaseUrl>,
    pub data: PathBuf,
    pub mode: Mode,
    pub store: StorePlace,
}

impl Server {
    /// The address that callers use, once we know where we listen.
    pub(crate) fn base_url(&self, bound: SocketAddr) -> BaseUrl {
        self.base_url.clone().unwrap_or_else(|| BaseUrl::of_listener(bound))
    }
}

/// Where the secret comes from that seals personal data.
#[derive(Debug)]
pub(crate) enum Keys {
    File(PathBuf),
    Given(Secret),
}

#[derive(Debug)]
pub(crate) struct Limits {
    pub discovery_quota: u32,
    pub request: Duration,
    pub paid_request: Duration,
    pub body_bytes: usize,
    pub connections: u32,
    /// How many times a provider's usual rate our account there has.
    pub provider_calls: NonZero<u16>,
}

#[derive(Debug)]
pub(crate) struct Shop {
    pub payee: EvmAddress,
}

#[derive(Debug)]
pub(crate) struct Agents {
    pub anonymous: Answer,
}

#[derive(Debug)]
pub(crate) struct Mcp {
    pub profile: Profile,
}

#[derive(Debug)]
pub(crate) struct Sellers {
    pub default: Username,
    pub enabled: Vec<Username>,
    pub parent: Name,
}

/// Where the world in miniature is found, if any part of it runs.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub port: u16,
    /// `None` means one of our own.
    pub office: Option<Address>,
    /// So many seconds of ours in one of the wall's.
    pub speed: NonZero<u32>,
}

#[derive(Debug)]
pub(crate) struct Log {
    pub format: LogFormat,
    pub filter: LogFilter,
}

#[derive(Debug)]
pub(crate) struct Content {
    /// `None` means the pages built into the binary.
    pub folder: Option<PathBuf>,
}

/// A configuration with the account of how it came to be.
pub(crate) struct Reading {
    pub outcome: Result<Config, Faulty>,
    /// One row for each setting, in the sequence of the list.
    pub rows: Vec<Row>,
    pub file: Option<PathBuf>,
}

/// Everything that is wrong, all at once.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub faults: Vec<Fault>,
}

/// Reads the configuration of this process.
pub(crate) fn read(file: Option<&Path>) -> Reading {
    read_from(file, &Environment::of_process())
}

/// The same with these variables and no others.
#[cfg(test)]
pub(crate) fn read_with(file: Option<&Path>, variables: &[(&str, &str)]) -> Reading {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).into());
    read_from(file, &Environment::new(variables.iter().map(text)))
}

fn read_from(file: Option<&Path>, environment: &Environment) -> Reading {
    let sources = Sources::gather(file, environment);
    let file = sources.file.clone();
    let mut reader = Reader::new(sources);
    let config = sections::read(&mut reader);
    let Reader { mut rows, faults, .. } = reader;
    rows.sort_by_key(|row| SETTINGS.iter().position(|setting| setting.key == row.key));
    let outcome = match config {
        Ok(config) if faults.is_empty() => Ok(config),
        Ok(_) | Err(_) => Err(Faulty { faults }),
    };
    Reading { outcome, rows, file }
}

#[cfg(test)]
mod tests;
