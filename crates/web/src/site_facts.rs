//! The input of all public documents.

use std::collections::BTreeSet;

use content::agents::Skill;
use content::catalog::Catalog;
use order::model::chain::{EvmAddress, Network};
use pay::mode::PaymentMode;

use crate::surface::{Endpoint, OptionalService, SURFACE};

/// The public facts of this installation.
#[derive(Clone, Debug)]
pub struct SiteFacts {
    /// The public URL of the site, without a trailing slash.
    pub base_url: String,
    pub catalog: Catalog,
    /// The payee in quotes of the shop, which capture nothing.
    pub payee: EvmAddress,
    /// The seller if a request names none.
    pub default_seller: String,
    /// The parent ENS name of sellers.
    pub seller_parent: String,
    pub profile: McpProfile,
    /// Whether payments are real.
    pub mode: PaymentMode,
    pub enabled: BTreeSet<OptionalService>,
    /// The networks on which x402 payments are settled.
    pub networks: Vec<Network>,
}

/// Which of the two runtimes of the contract the MCP server follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpProfile {
    /// With templates and completion, and strict about headers.
    Node,
    /// Without either; notifications get a JSON response.
    Worker,
}

/// The addresses from which connections come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenScope {
    /// This machine only: browsers and proxies on it.
    Loopback,
    Network,
}

/// The date of the discovery contract, which is the version of the OpenAPI document.
pub const CONTRACT_DATE: &str = "2026-08-29";

/// The site in examples.
const EXAMPLE_ORIGIN: &str = "https://pennyblack.example";

/// The version of this software, for server cards.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

impl SiteFacts {
    pub fn is_enabled(&self, service: OptionalService) -> bool {
        self.enabled.contains(&service)
    }

    /// Whether an endpoint is enabled. Others answer 503 and are not in documents.
    pub fn offers(&self, endpoint: &Endpoint) -> bool {
        endpoint.requires.is_none_or(|service| self.is_enabled(service))
    }

    /// All enabled endpoints.
    pub fn endpoints(&self) -> impl Iterator<Item = &'static Endpoint> + '_ {
        SURFACE.iter().filter(|endpoint| self.offers(endpoint))
    }

    /// The skills that an agent can complete: if the text of a skill names paid endpoints, one of
    /// them must be enabled.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> + '_ {
        self.catalog.agents.skills.iter().filter(|skill| {
            let paid =
                |endpoint: &&Endpoint| endpoint.requires.is_some_and(OptionalService::is_paid);
            let mut paid =
                SURFACE.iter().filter(paid).filter(|paid| mentions(skill, paid)).peekable();
            paid.peek().is_none() || paid.any(|paid| self.offers(paid))
        })
    }

    /// The CAIP-2 names of the networks.
    pub fn caip2_networks(&self) -> Vec<&'static str> {
        self.networks.iter().map(|network| network.caip2()).collect()
    }

    /// The origin at which the postcard provider fetches pictures of the gallery. A site without a
    /// public URL has an emulated provider, which fetches nothing.
    pub fn picture_origin(&self) -> &str {
        if self.base_url.starts_with("https://") { &self.base_url } else { EXAMPLE_ORIGIN }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

/// Whether the text of a skill contains this path, and not only a longer one.
fn mentions(skill: &Skill, endpoint: &Endpoint) -> bool {
    let mut after = skill.text.split(endpoint.path).skip(1);
    after.any(|rest| !rest.starts_with(|next: char| next == '/' || next.is_alphanumeric()))
}
