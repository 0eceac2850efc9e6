//! The validated configuration. Code that holds a `Config` does not check it again.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use adapters::http::HttpUrl;
use content::render::Money;
use order::model::chain::EvmAddress;
use order::model::seller::Username;
use pay::mpp::challenge_id::Realm;
use web::site_facts::McpProfile;

use crate::config::logging::{LogFormat, LogLevels};
use crate::config::names::NamesConfig;
use crate::config::payments::PaymentsConfig;
use crate::config::payments::gas::GasConfig;
use crate::config::provider::ProviderConfig;
use crate::config::store_location::StoreLocation;
use crate::config::values::secret::Secret;
use crate::config::values::{BaseUrl, ParentName, ServerMode};

pub(crate) mod example;
pub(crate) mod fault;
pub(crate) mod load;
pub(crate) mod logging;
pub(crate) mod names;
pub(crate) mod payments;
pub(crate) mod provider;
pub(crate) mod reader;
mod secret_file;
mod sections;
pub(crate) mod settings;
mod sources;
pub(crate) mod store_location;
pub(crate) mod values;

#[derive(Debug)]
pub(crate) struct Config {
    pub server: ServerConfig,
    pub operator: OperatorConfig,
    pub keys: KeysConfig,
    pub limits: LimitsConfig,
    pub sellers: SellersConfig,
    pub names: NamesConfig,
    pub provider: ProviderConfig,
    pub payments: PaymentsConfig,
    /// The realm of MPP challenges; `None` means the host of the base URL.
    pub realm: Option<Realm>,
    /// What our own settler may spend on gas.
    pub gas: GasConfig,
    pub sandbox: SandboxConfig,
    pub shop: ShopConfig,
    pub agents: AgentsConfig,
    pub mcp: McpConfig,
    pub log: LogConfig,
    pub content: ContentConfig,
}

impl Config {
    /// Whether real money can move, or live mode is set: then every safeguard applies.
    pub(crate) fn guards_real_money(&self) -> bool {
        self.payments.money() == Money::Real || self.server.mode == ServerMode::Live
    }
}

#[derive(Debug)]
pub(crate) struct ServerConfig {
    pub listen: SocketAddr,
    /// `None` means the address of the listener.
    pub base_url: Option<BaseUrl>,
    pub data: PathBuf,
    pub mode: ServerMode,
    pub store: StoreLocation,
}

impl ServerConfig {
    /// The URL that callers use, once the listener's address is known.
    pub(crate) fn base_url(&self, bound: SocketAddr) -> BaseUrl {
        self.base_url.clone().unwrap_or_else(|| BaseUrl::of_listener(bound))
    }
}

#[derive(Debug)]
pub(crate) struct OperatorConfig {
    /// `None` means that only the Unix socket is served.
    pub listen: Option<OperatorListen>,
}

/// Where the operator's loopback listener is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorListen {
    /// If its port is taken, any free one is used.
    Default(SocketAddr),
    Configured(SocketAddr),
}

impl OperatorListen {
    pub(crate) const fn address(self) -> SocketAddr {
        match self {
            Self::Default(address) | Self::Configured(address) => address,
        }
    }
}

/// Where the key that encrypts personal data comes from.
#[derive(Debug)]
pub(crate) enum KeysConfig {
    File(PathBuf),
    Environment(Secret),
}

#[derive(Debug)]
pub(crate) struct LimitsConfig {
    pub discovery_quota: u32,
    pub request: Duration,
    pub paid_request: Duration,
    pub body_bytes: usize,
    pub connections: u32,
    /// Multiplier of the provider's standard rate limit for our account.
    pub provider_calls: NonZero<u16>,
}

#[derive(Debug)]
pub(crate) struct ShopConfig {
    pub payee: EvmAddress,
}

#[derive(Debug)]
pub(crate) struct AgentsConfig {
    /// Whether anonymous registration is enabled.
    pub anonymous: bool,
}

#[derive(Debug)]
pub(crate) struct McpConfig {
    pub profile: McpProfile,
}

#[derive(Debug)]
pub(crate) struct SellersConfig {
    pub default: Username,
    pub enabled: Vec<Username>,
    pub parent: ParentName,
}

/// Settings of the emulated provider and clock.
#[derive(Debug)]
#[cfg_attr(not(feature = "sandbox"), expect(dead_code, reason = "only the sandbox reads all"))]
pub(crate) struct SandboxConfig {
    pub port: u16,
    /// A provider emulator that already runs; `None` starts one in this process.
    pub provider: Option<HttpUrl>,
    /// Clock speed multiplier.
    pub speed: NonZero<u32>,
}

#[derive(Debug)]
pub(crate) struct LogConfig {
    pub format: LogFormat,
    pub filter: LogLevels,
}

#[derive(Debug)]
pub(crate) struct ContentConfig {
    /// `None` means the pages built into the binary.
    pub folder: Option<PathBuf>,
}

#[cfg(test)]
#[cfg(feature = "sandbox")]
mod tests;
