//! How sellers' names are looked up, as the operator decides it.

use adapters::ens::{Allowed, NotAGateway};
use adapters::http::Address;
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;

use crate::config::fault::Wrong;
use crate::config::reader::{Noted, Reader};
use crate::config::settings;
use crate::config::values::{self, Answer, Shown, choose};

#[derive(Debug)]
pub(crate) enum Naming {
    /// In the world that sandbox mode brings along.
    Sandbox,
    Ens(Box<Ens>),
}

#[derive(Debug)]
pub(crate) struct Ens {
    pub nodes: NodeAddresses,
    pub gateways: Vec<Allowed>,
    pub universal_resolver: EvmAddress,
    pub block_tag: BlockTag,
    /// Whether the mainnet entry of a plain account serves other networks.
    pub mainnet_eoa: Answer,
}

/// One node, or two that have to agree.
#[derive(Debug)]
pub(crate) struct NodeAddresses {
    pub first: Address,
    pub second: Option<Address>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sandbox,
    Ens,
}

/// Every setting is read whatever the kind, so that its faults are told.
pub(super) fn read(reader: &mut Reader) -> Result<Naming, Noted> {
    let kind = kind(reader);
    let nodes = reader.take_if_told(&settings::NAMES_RPC, node_addresses);
    let gateways = reader.take_if_told(&settings::NAMES_GATEWAYS, gateways);
    let universal_resolver = reader.take(&settings::NAMES_UNIVERSAL_RESOLVER, values::address);
    let block_tag = reader.take(&settings::NAMES_BLOCK_TAG, block_tag);
    let mainnet_eoa = reader.take(&settings::NAMES_MAINNET_EOA, values::yes_or_no);
    match (kind?, nodes?) {
        (Kind::Sandbox, _) => Ok(Naming::Sandbox),
        (Kind::Ens, Some(nodes)) => Ok(Naming::Ens(Box::new(Ens {
            nodes,
            gateways: gateways?.unwrap_or_default(),
            universal_resolver: universal_resolver?,
            block_tag: block_tag?,
            mainnet_eoa: mainnet_eoa?,
        }))),
        (Kind::Ens, None) => {
            let wrong = Wrong::new(
                "is not set, and ENS cannot be read without a node",
                "Name one or two Ethereum nodes, like [\"https://rpc.example/key\"].",
            );
            Err(reader.object(&settings::NAMES_RPC, wrong))
        }
    }
}

fn kind(reader: &mut Reader) -> Result<Kind, Noted> {
    let kinds = [("sandbox", Kind::Sandbox), ("ens", Kind::Ens)];
    let kind = reader.take(&settings::NAMES_KIND, |text| choose(text, &kinds))?;
    let wrong = Wrong::new(
        "`sandbox` names lead to accounts that nobody holds, and live mode pays them",
        "Write names.kind = \"ens\" and name a node in names.rpc.",
    );
    reader.keep_from_live(&settings::NAMES_KIND, kind, &Kind::Sandbox, wrong)
}

fn node_addresses(text: &str) -> Result<NodeAddresses, Wrong> {
    // The text is not repeated: the address of a node often holds a key.
    let addresses: Result<Vec<_>, _> =
        text.split(',').map(|one| Address::parse(one.trim())).collect();
    let addresses = addresses
        .map_err(|fault| Wrong::new("holds an address that is not taken", fault.to_string()))?;
    let mut addresses = addresses.into_iter();
    match (addresses.next(), addresses.next(), addresses.next()) {
        (Some(first), second, None) if second.as_ref() != Some(&first) => {
            Ok(NodeAddresses { first, second })
        }
        (Some(_), Some(_), None) => Err(Wrong::new(
            "names the same node twice",
            "Name a second node that somebody else runs, or only one.",
        )),
        (Some(_), _, _) | (None, _, _) => {
            Err(Wrong::new("is not one node or two", "Name one Ethereum node, or two."))
        }
    }
}

fn gateways(text: &str) -> Result<Vec<Allowed>, Wrong> {
    let parse = |one: &str| {
        Allowed::parse(one.trim()).map_err(|NotAGateway| {
            Wrong::new(
                format!("`{}` is no host", one.trim()),
                "Write host names like gateway.example, or proof:gateway.example for one whose \
                 answers are proved on chain.",
            )
        })
    };
    text.split(',').map(parse).collect()
}

fn block_tag(text: &str) -> Result<BlockTag, Wrong> {
    choose(text, &BlockTag::ALL.map(|tag| (tag.word(), tag)))
}

impl Shown for Kind {
    fn shown(&self) -> String {
        match self {
            Self::Sandbox => "sandbox".to_owned(),
            Self::Ens => "ens".to_owned(),
        }
    }
}

impl Shown for NodeAddresses {
    fn shown(&self) -> String {
        let hosts = [Some(&self.first), self.second.as_ref()].into_iter().flatten();
        let hosts: Vec<_> =
            hosts.map(|node| format!("{} (rest not shown)", node.origin())).collect();
        hosts.join(", ")
    }
}

impl Shown for Vec<Allowed> {
    fn shown(&self) -> String {
        self.iter().map(Allowed::origin).collect::<Vec<_>>().join(", ")
    }
}

impl Shown for BlockTag {
    fn shown(&self) -> String {
        self.word().to_owned()
    }
}
