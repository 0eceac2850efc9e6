//! What every public document is made from.

use std::collections::BTreeSet;

use content::agents::Skill;
use content::catalog::Catalog;
use order::model::chain::{EvmAddress, Network};
use pay::mode::Mode;

use crate::surface::{Endpoint, SURFACE};

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
    /// Where a payment by x402 can be settled.
    pub networks: Vec<Network>,
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

    /// Whether it takes money for a card.
    pub const fn is_paid(self) -> bool {
        match self {
            Self::X402 | Self::Mpp => true,
            Self::Preview | Self::Registration => false,
        }
    }

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

    /// Whether an endpoint does what it says. Closed ones answer 503 and are not offered.
    pub fn offers(&self, endpoint: &Endpoint) -> bool {
        endpoint.needs.is_none_or(|service| self.opens(service))
    }

    /// Every endpoint that is offered.
    pub fn surface(&self) -> impl Iterator<Item = &'static Endpoint> + '_ {
        SURFACE.iter().filter(|endpoint| self.offers(endpoint))
    }

    /// Every skill that an agent can follow to its end: of the ways of paying that its text
    /// names, one is open.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> + '_ {
        self.catalog.agents.skills.iter().filter(|skill| {
            let paid = |endpoint: &&Endpoint| endpoint.needs.is_some_and(Service::is_paid);
            let mut paid = SURFACE.iter().filter(paid).filter(|paid| names(skill, paid)).peekable();
            paid.peek().is_none() || paid.any(|paid| self.offers(paid))
        })
    }

    /// The networks by their CAIP-2 names.
    pub fn caip2_networks(&self) -> Vec<&'static str> {
        self.networks.iter().map(|network| network.caip2()).collect()
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

/// Whether a skill tells its reader to call this endpoint, and not only one below it.
fn names(skill: &Skill, endpoint: &Endpoint) -> bool {
    let mut after = skill.text.split(endpoint.path).skip(1);
    after.any(|rest| !rest.starts_with(|next: char| next == '/' || next.is_alphanumeric()))
}
