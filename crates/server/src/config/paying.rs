//! Who carries payments to the chain, as the operator decides it.

use adapters::http::Address;
use content::render::Money;
use order::model::chain::Network;
use pay::mpp::Realm;

use crate::config::fault::Wrong;
use crate::config::reader::{Noted, Reader};
use crate::config::secret::Secret;
use crate::config::settings::{self, Setting};
use crate::config::values::{Shown, choose};

#[derive(Debug)]
pub(crate) enum Paying {
    Nobody,
    /// Our own settler, on the chains that sandbox mode brings along.
    Sandbox,
    Settler(Settler),
    Facilitator(Facilitator),
}

impl Paying {
    /// What a payment is worth, whatever the mode is called.
    pub(crate) const fn money(&self) -> Money {
        match self {
            Self::Nobody | Self::Sandbox => Money::Play,
            Self::Settler(_) | Self::Facilitator(_) => Money::Real,
        }
    }

    /// The operator's own nodes, one for each network on which money is taken.
    pub(crate) const fn nodes(&self) -> Option<&NetworkNodes> {
        match self {
            Self::Nobody | Self::Sandbox => None,
            Self::Settler(settler) => Some(&settler.nodes),
            Self::Facilitator(facilitator) => Some(&facilitator.nodes),
        }
    }

    /// Whether the operator has named a node for this network.
    pub(crate) fn has_node(&self, network: Network) -> bool {
        let nodes = self.nodes().map(|nodes| nodes.0.as_slice()).unwrap_or_default();
        nodes.iter().any(|(known, _)| *known == network)
    }

    /// Whether we settle payments ourselves, with a key of our own.
    pub(crate) const fn has_settler(&self) -> bool {
        match self {
            Self::Nobody => false,
            Self::Sandbox | Self::Settler(_) => true,
            Self::Facilitator(facilitator) => facilitator.settler_key.is_some(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Settler {
    pub key: Secret,
    pub nodes: NetworkNodes,
}

#[derive(Debug)]
pub(crate) struct Facilitator {
    pub address: Address,
    pub nodes: NetworkNodes,
    pub key: Option<FacilitatorKey>,
    /// Of our own settler, for what no facilitator carries.
    pub settler_key: Option<Secret>,
}

/// What signs the tokens of a facilitator that wants them.
#[derive(Debug)]
pub(crate) struct FacilitatorKey {
    pub name: KeyName,
    pub secret: Secret,
}

/// What the facilitator calls our key. No secret.
#[derive(Debug)]
pub(crate) struct KeyName(pub String);

/// A node for each network on which money is taken; at least one.
#[derive(Debug)]
pub(crate) struct NetworkNodes(pub Vec<(Network, Address)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nobody,
    Sandbox,
    Settler,
    Facilitator,
}

const KINDS: [(&str, Kind); 4] = [
    ("sandbox", Kind::Sandbox),
    ("settler", Kind::Settler),
    ("facilitator", Kind::Facilitator),
    ("none", Kind::Nobody),
];
pub(super) const NETWORKS: [(&str, Network); 3] =
    [("base", Network::Base), ("polygon", Network::Polygon), ("arbitrum", Network::Arbitrum)];

const KEY_DIGITS: usize = 64;

/// Every setting is read whatever the kind, so that its faults are told.
pub(super) fn read(reader: &mut Reader) -> Result<Paying, Noted> {
    let kind = kind(reader);
    let key = reader.take_if_told(&settings::PAYMENTS_SETTLER_KEY, settler_key);
    let nodes = reader.take_if_told(&settings::PAYMENTS_RPC, nodes);
    let address = reader.take_if_told(&settings::PAYMENTS_FACILITATOR, address);
    let facilitator_key = facilitator_key(reader);
    match kind? {
        Kind::Nobody => Ok(Paying::Nobody),
        Kind::Sandbox => Ok(Paying::Sandbox),
        Kind::Settler => {
            let key = needed(reader, &settings::PAYMENTS_SETTLER_KEY, key);
            let nodes = needed(reader, &settings::PAYMENTS_RPC, nodes);
            Ok(Paying::Settler(Settler { key: key?, nodes: nodes? }))
        }
        Kind::Facilitator => {
            let address = needed(reader, &settings::PAYMENTS_FACILITATOR, address);
            // Without one, a lost answer could never be cleared up.
            let nodes = needed(reader, &settings::PAYMENTS_RPC, nodes);
            let (address, nodes, settler_key) = (address?, nodes?, key?);
            let key = facilitator_key?;
            Ok(Paying::Facilitator(Facilitator { address, nodes, key, settler_key }))
        }
    }
}

/// None means the host name of the site.
pub(super) fn realm(reader: &mut Reader) -> Result<Option<Realm>, Noted> {
    reader.take_if_told(&settings::PAYMENTS_REALM, |text| {
        Realm::parse(text).map_err(|fault| Wrong::new("is no realm", fault))
    })
}

fn kind(reader: &mut Reader) -> Result<Kind, Noted> {
    let kind = reader.take(&settings::PAYMENTS_KIND, |text| choose(text, &KINDS))?;
    let wrong = Wrong::new(
        "`sandbox` money is no money, and live mode mails real cards",
        "Write payments.kind = \"settler\" or \"facilitator\", or \"none\".",
    );
    reader.keep_from_live(&settings::PAYMENTS_KIND, kind, &Kind::Sandbox, wrong)
}

fn facilitator_key(reader: &mut Reader) -> Result<Option<FacilitatorKey>, Noted> {
    let name = reader.take_if_told(&settings::PAYMENTS_FACILITATOR_KEY, key_name);
    let secret = reader.take_if_told(&settings::PAYMENTS_FACILITATOR_SECRET, secret);
    match (name?, secret?) {
        (Some(name), Some(secret)) => Ok(Some(FacilitatorKey { name, secret })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            let wrong = Wrong::new(
                "names a key whose secret is not set",
                "Set PENNYBLACK_FACILITATOR_SECRET, or leave both out.",
            );
            Err(reader.object(&settings::PAYMENTS_FACILITATOR_KEY, wrong))
        }
        (None, Some(_)) => {
            let wrong = Wrong::new(
                "is not set, and PENNYBLACK_FACILITATOR_SECRET is",
                "Name the key that the secret belongs to, or leave both out.",
            );
            Err(reader.object(&settings::PAYMENTS_FACILITATOR_KEY, wrong))
        }
    }
}

/// What this way of carrying cannot do without.
fn needed<T>(
    reader: &mut Reader,
    setting: &'static Setting,
    told: Result<Option<T>, Noted>,
) -> Result<T, Noted> {
    told?.ok_or_else(|| {
        let remedy = match setting.variable() {
            Some(variable) => format!("Set {variable}, or payments.kind = \"sandbox\"."),
            None => "Set it in the file, or payments.kind = \"sandbox\".".to_owned(),
        };
        let wrong = Wrong::new("is not set, and payments cannot be carried without it", remedy);
        reader.object(setting, wrong)
    })
}

fn settler_key(text: &str) -> Result<Secret, Wrong> {
    let digits = text.trim().trim_start_matches("0x");
    if digits.len() != KEY_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Wrong::new(
            "is not a private key",
            "Write 64 hexadecimal digits, as `openssl rand -hex 32` prints them.",
        ));
    }
    Ok(Secret::new(digits.to_owned()))
}

fn key_name(text: &str) -> Result<KeyName, Wrong> {
    if text.trim().is_empty() {
        return Err(Wrong::new("is empty", "Copy it from your account with the facilitator."));
    }
    Ok(KeyName(text.trim().to_owned()))
}

fn secret(text: &str) -> Result<Secret, Wrong> {
    if text.trim().is_empty() {
        return Err(Wrong::new("is empty", "Copy it from your account with the facilitator."));
    }
    Ok(Secret::new(text.trim().to_owned()))
}

/// The text is not repeated: the address of a node often holds a key.
fn nodes(text: &str) -> Result<NetworkNodes, Wrong> {
    let mut nodes: Vec<(Network, Address)> = Vec::new();
    for one in text.split(',') {
        let named = one.trim().split_once('=');
        let (name, place) = named.ok_or_else(|| {
            Wrong::new("names no network", "Write like base=https://rpc.example/key.")
        })?;
        let network = choose(name.trim(), &NETWORKS)?;
        if nodes.iter().any(|(known, _)| *known == network) {
            return Err(Wrong::new("names a network twice", "One node for each network."));
        }
        nodes.push((network, address(place.trim())?));
    }
    Ok(NetworkNodes(nodes))
}

fn address(text: &str) -> Result<Address, Wrong> {
    Address::parse(text)
        .map_err(|fault| Wrong::new("holds an address that is not taken", fault.to_string()))
}

impl Shown for Kind {
    fn shown(&self) -> String {
        KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl Shown for Realm {
    fn shown(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Shown for KeyName {
    fn shown(&self) -> String {
        self.0.clone()
    }
}

impl Shown for Network {
    fn shown(&self) -> String {
        NETWORKS.iter().find(|(_, network)| network == self).map_or("", |(name, _)| name).to_owned()
    }
}

impl Shown for Address {
    fn shown(&self) -> String {
        self.origin()
    }
}

impl Shown for NetworkNodes {
    fn shown(&self) -> String {
        let node = |(network, address): &(Network, Address)| {
            format!("{} at {} (rest not shown)", network.shown(), address.origin())
        };
        self.0.iter().map(node).collect::<Vec<_>>().join(", ")
    }
}
