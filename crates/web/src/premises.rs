//! What every public document is made from.

use std::collections::BTreeSet;

use content::catalog::Catalog;
use order::chain::EvmAddress;
use pay::mode::Mode;

/// The service's own public facts.
#[derive(Clone, Debug)]
pub struct Premises {
    /// The public address of the site, without a slash at its end.
    pub base_url: String,
    pub catalog: Catalog,
    /// Who is named as payee in the shop's quotes, which capture nothing.
    pub payee: EvmAddress,
    /// The seller of a card whose buyer names none.
    pub default_seller: String,
    /// The ENS name under which sellers are looked up.
    pub seller_parent: String,
    pub profile: Profile,
    /// Whether payments here are of real money.
    pub mode: Mode,
    pub open: BTreeSet<Service>,
}

/// What a configuration may switch off. Documents offer only what is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    Preview,
    X402,
    Mpp,
    Registration,
}

impl Service {
    pub const ALL: [Self; 4] = [Self::Preview, Self::X402, Self::Mpp, Self::Registration];

    /// As templates and texts ask for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::X402 => "x402",
            Self::Mpp => "mpp",
            Self::Registration => "registration",
        }
    }
}

/// Which of the two runtimes that the contract knows the MCP server is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// With templates and completion, and strict about headers.
    Node,
    /// Without either, and with an answer to notifications.
    Worker,
}

/// From where connections come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From this machine alone: browsers and proxies on it.
    Loopback,
    Network,
}

/// The date of the public discovery contract, which OpenAPI carries as its version.
pub const CONTRACT_DATE: &str = "2026-08-29";

/// The version of this software, for cards that must name one.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Premises {
    pub fn opens(&self, service: Service) -> bool {
        self.open.contains(&service)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}
