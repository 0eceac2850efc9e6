//! The `payments` section: how payments are settled on chain.

use adapters::http::HttpUrl;
use adapters::keys::PaymentChains;
use content::render::Money;
use order::model::chain::Network;
use pay::mpp::challenge_id::Realm;

use crate::config::fault::SettingProblem;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::values::secret::Secret;
use crate::config::values::{ReportText, choose};
use crate::config::{secret_file, settings};

pub(crate) mod gas;

#[derive(Debug)]
pub(crate) enum PaymentsConfig {
    Disabled,
    /// Our own settler, on the emulated chains.
    Sandbox,
    Settler(SettlerConfig),
    Facilitator(FacilitatorConfig),
}

impl PaymentsConfig {
    /// The chains that payments are made on. None without payments.
    pub(crate) const fn chains(&self) -> Option<PaymentChains> {
        match self {
            Self::Disabled => None,
            Self::Sandbox => Some(PaymentChains::Emulated),
            Self::Settler(_) | Self::Facilitator(_) => Some(PaymentChains::Real),
        }
    }

    /// Whether payments move real money, independent of `server.mode`.
    pub(crate) const fn money(&self) -> Money {
        match self {
            Self::Disabled | Self::Sandbox => Money::Play,
            Self::Settler(_) | Self::Facilitator(_) => Money::Real,
        }
    }

    /// The operator's nodes. Our settler needs one for each network on which payments are accepted;
    /// beside a facilitator they confirm its reports.
    pub(crate) const fn nodes(&self) -> Option<&NetworkNodes> {
        match self {
            Self::Disabled | Self::Sandbox => None,
            Self::Settler(settler) => Some(&settler.nodes),
            Self::Facilitator(facilitator) => Some(&facilitator.nodes),
        }
    }

    /// Whether a node is configured for this network.
    pub(crate) fn has_node(&self, network: Network) -> bool {
        let nodes = self.nodes().map(|nodes| nodes.0.as_slice()).unwrap_or_default();
        nodes.iter().any(|(known, _)| *known == network)
    }

    /// Whether we settle payments ourselves, with a key of our own.
    pub(crate) const fn has_settler(&self) -> bool {
        match self {
            Self::Disabled => false,
            Self::Sandbox | Self::Settler(_) => true,
            Self::Facilitator(facilitator) => facilitator.settler_key.is_some(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct SettlerConfig {
    pub key: Secret,
    pub nodes: NetworkNodes,
}

#[derive(Debug)]
pub(crate) struct FacilitatorConfig {
    pub address: HttpUrl,
    pub nodes: NetworkNodes,
    pub key: Option<FacilitatorKey>,
    /// The key of our own settler, for MPP, which facilitators do not settle.
    pub settler_key: Option<Secret>,
}

/// The key that signs tokens for a facilitator that requires them.
#[derive(Debug)]
pub(crate) struct FacilitatorKey {
    pub name: FacilitatorKeyName,
    pub secret: Secret,
}

/// The facilitator's name for our key. Not a secret.
#[derive(Debug)]
pub(crate) struct FacilitatorKeyName(pub String);

/// A node for each network on which payments are accepted; at least one.
#[derive(Debug)]
pub(crate) struct NetworkNodes(pub Vec<(Network, HttpUrl)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Disabled,
    Sandbox,
    Settler,
    Facilitator,
}

const KINDS: [(&str, Kind); 4] = [
    ("sandbox", Kind::Sandbox),
    ("settler", Kind::Settler),
    ("facilitator", Kind::Facilitator),
    ("none", Kind::Disabled),
];
pub(super) const NETWORKS: [(&str, Network); 3] =
    [("base", Network::Base), ("polygon", Network::Polygon), ("arbitrum", Network::Arbitrum)];

const KEY_DIGITS: usize = 64;

/// Every setting is read whatever the kind is, so that all faults are reported.
pub(super) fn read(reader: &mut SettingsReader) -> Result<PaymentsConfig, FaultRecorded> {
    let kind = kind(reader);
    let (variable, file) = (&settings::PAYMENTS_SETTLER_KEY, &settings::PAYMENTS_SETTLER_KEY_FILE);
    let key = secret_file::take(reader, variable, file, settler_key);
    let nodes = reader.take_optional(&settings::PAYMENTS_RPC, nodes);
    let address = reader.take_optional(&settings::PAYMENTS_FACILITATOR, url_of);
    let facilitator_key = facilitator_key(reader);
    match kind? {
        Kind::Disabled => Ok(PaymentsConfig::Disabled),
        Kind::Sandbox => Ok(PaymentsConfig::Sandbox),
        Kind::Settler => {
            let key = reader.needed(&settings::PAYMENTS_SETTLER_KEY, key);
            let nodes = reader.needed(&settings::PAYMENTS_RPC, nodes);
            Ok(PaymentsConfig::Settler(SettlerConfig { key: key?, nodes: nodes? }))
        }
        Kind::Facilitator => {
            let address = reader.needed(&settings::PAYMENTS_FACILITATOR, address);
            // Without a node, a settlement whose response was lost could not be looked up.
            let nodes = reader.needed(&settings::PAYMENTS_RPC, nodes);
            let (address, nodes, settler_key) = (address?, nodes?, key?);
            let key = facilitator_key?;
            Ok(PaymentsConfig::Facilitator(FacilitatorConfig { address, nodes, key, settler_key }))
        }
    }
}

/// `None` means the host name of the base URL.
pub(super) fn realm(reader: &mut SettingsReader) -> Result<Option<Realm>, FaultRecorded> {
    reader.take_optional(&settings::PAYMENTS_REALM, |text| {
        Realm::parse(text).map_err(|fault| SettingProblem::new("is not a valid realm", fault))
    })
}

fn kind(reader: &mut SettingsReader) -> Result<Kind, FaultRecorded> {
    let kind = reader.take(&settings::PAYMENTS_KIND, |text| choose(text, &KINDS))?;
    let problem = SettingProblem::new(
        "`sandbox` payments move no money, and live mode mails real cards",
        "Set payments.kind = \"settler\" or \"facilitator\", or \"none\".",
    );
    reader.reject_in_live_mode(&settings::PAYMENTS_KIND, kind, &Kind::Sandbox, problem)
}

fn facilitator_key(reader: &mut SettingsReader) -> Result<Option<FacilitatorKey>, FaultRecorded> {
    let name = reader.take_optional(&settings::PAYMENTS_FACILITATOR_KEY, key_name);
    let variable = &settings::PAYMENTS_FACILITATOR_SECRET;
    let file = &settings::PAYMENTS_FACILITATOR_SECRET_FILE;
    let secret = secret_file::take(reader, variable, file, secret);
    match (name?, secret?) {
        (Some(name), Some(secret)) => Ok(Some(FacilitatorKey { name, secret })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            let problem = SettingProblem::new(
                "is set, but PENNYBLACK_FACILITATOR_SECRET is not",
                "Set both or neither.",
            );
            Err(reader.record_fault(&settings::PAYMENTS_FACILITATOR_KEY, problem))
        }
        (None, Some(_)) => {
            let problem = SettingProblem::new(
                "is not set, but PENNYBLACK_FACILITATOR_SECRET is",
                "Set both or neither.",
            );
            Err(reader.record_fault(&settings::PAYMENTS_FACILITATOR_KEY, problem))
        }
    }
}

fn settler_key(text: &str) -> Result<Secret, SettingProblem> {
    let digits = text.trim().trim_start_matches("0x");
    if digits.len() != KEY_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(SettingProblem::new(
            "is not a private key",
            "Write 64 hexadecimal digits, as `openssl rand -hex 32` prints them.",
        ));
    }
    Ok(Secret::new(digits.to_owned()))
}

fn key_name(text: &str) -> Result<FacilitatorKeyName, SettingProblem> {
    if text.trim().is_empty() {
        return Err(SettingProblem::new("is empty", "Copy it from your facilitator account."));
    }
    Ok(FacilitatorKeyName(text.trim().to_owned()))
}

fn secret(text: &str) -> Result<Secret, SettingProblem> {
    if text.trim().is_empty() {
        return Err(SettingProblem::new("is empty", "Copy it from your facilitator account."));
    }
    Ok(Secret::new(text.trim().to_owned()))
}

/// The text is not repeated: the URL of a node often contains a key.
fn nodes(text: &str) -> Result<NetworkNodes, SettingProblem> {
    let mut nodes: Vec<(Network, HttpUrl)> = Vec::new();
    for one in text.split(',') {
        let named = one.trim().split_once('=');
        let (name, url) = named.ok_or_else(|| {
            SettingProblem::new("has no network", "Write it like base=https://rpc.example/key.")
        })?;
        let network = choose(name.trim(), &NETWORKS)?;
        if nodes.iter().any(|(known, _)| *known == network) {
            return Err(SettingProblem::new(
                "has a network twice",
                "Set one node for each network.",
            ));
        }
        nodes.push((network, url_of(url.trim())?));
    }
    Ok(NetworkNodes(nodes))
}

fn url_of(text: &str) -> Result<HttpUrl, SettingProblem> {
    HttpUrl::parse(text)
        .map_err(|fault| SettingProblem::new("contains an invalid URL", fault.to_string()))
}

impl ReportText for Kind {
    fn report_text(&self) -> String {
        KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl ReportText for Realm {
    fn report_text(&self) -> String {
        self.as_str().to_owned()
    }
}

impl ReportText for FacilitatorKeyName {
    fn report_text(&self) -> String {
        self.0.clone()
    }
}

impl ReportText for Network {
    fn report_text(&self) -> String {
        NETWORKS.iter().find(|(_, network)| network == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl ReportText for HttpUrl {
    fn report_text(&self) -> String {
        self.origin()
    }
}

impl ReportText for NetworkNodes {
    fn report_text(&self) -> String {
        let node = |(network, address): &(Network, HttpUrl)| {
            format!("{} at {} (rest not shown)", network.report_text(), address.origin())
        };
        self.0.iter().map(node).collect::<Vec<_>>().join(", ")
    }
}
