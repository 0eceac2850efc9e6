//! The `names` section: how sellers' names are looked up.

use adapters::ens::{AllowedGateway, GatewayParseError};
use adapters::http::HttpUrl;
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;

use crate::config::fault::SettingProblem;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::settings;
use crate::config::values::{self, ReportText, choose};

#[derive(Debug)]
pub(crate) enum NamesConfig {
    /// On the emulated chain.
    Sandbox,
    Ens(Box<EnsConfig>),
}

#[derive(Debug)]
pub(crate) struct EnsConfig {
    pub nodes: EthereumNodes,
    pub gateways: Vec<AllowedGateway>,
    pub universal_resolver: EvmAddress,
    pub block_tag: BlockTag,
    /// Whether the mainnet address of an EOA is paid on other networks.
    pub mainnet_eoa: bool,
}

/// One Ethereum node, or two that must agree.
#[derive(Debug)]
pub(crate) struct EthereumNodes {
    pub first: HttpUrl,
    pub second: Option<HttpUrl>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sandbox,
    Ens,
}

/// Every setting is read whatever the kind is, so that all faults are reported.
pub(super) fn read(reader: &mut SettingsReader) -> Result<NamesConfig, FaultRecorded> {
    let kind = kind(reader);
    let nodes = reader.take_optional(&settings::NAMES_RPC, ethereum_nodes);
    let gateways = reader.take_optional(&settings::NAMES_GATEWAYS, gateways);
    let universal_resolver = reader.take(&settings::NAMES_UNIVERSAL_RESOLVER, values::evm_address);
    let block_tag = reader.take(&settings::NAMES_BLOCK_TAG, block_tag);
    let mainnet_eoa = reader.take(&settings::NAMES_MAINNET_EOA, values::yes_or_no);
    match (kind?, nodes?) {
        (Kind::Sandbox, _) => Ok(NamesConfig::Sandbox),
        (Kind::Ens, Some(nodes)) => Ok(NamesConfig::Ens(Box::new(EnsConfig {
            nodes,
            gateways: gateways?.unwrap_or_default(),
            universal_resolver: universal_resolver?,
            block_tag: block_tag?,
            mainnet_eoa: mainnet_eoa?,
        }))),
        (Kind::Ens, None) => {
            let problem = SettingProblem::new(
                "is not set, and names.kind = \"ens\" requires a node",
                "Set one or two Ethereum nodes, like [\"https://rpc.example/key\"].",
            );
            Err(reader.record_fault(&settings::NAMES_RPC, problem))
        }
    }
}

fn kind(reader: &mut SettingsReader) -> Result<Kind, FaultRecorded> {
    let kinds = [("sandbox", Kind::Sandbox), ("ens", Kind::Ens)];
    let kind = reader.take(&settings::NAMES_KIND, |text| choose(text, &kinds))?;
    let problem = SettingProblem::new(
        "`sandbox` names resolve to a burn address (no known key), which live mode would pay",
        "Set names.kind = \"ens\" and a node in names.rpc.",
    );
    reader.reject_in_live_mode(&settings::NAMES_KIND, kind, &Kind::Sandbox, problem)
}

fn ethereum_nodes(text: &str) -> Result<EthereumNodes, SettingProblem> {
    // The text is not repeated: the URL of a node often contains a key.
    let addresses: Result<Vec<_>, _> =
        text.split(',').map(|one| HttpUrl::parse(one.trim())).collect();
    let addresses = addresses
        .map_err(|fault| SettingProblem::new("contains an invalid URL", fault.to_string()))?;
    let mut addresses = addresses.into_iter();
    match (addresses.next(), addresses.next(), addresses.next()) {
        (Some(first), second, None) if second.as_ref() != Some(&first) => {
            Ok(EthereumNodes { first, second })
        }
        (Some(_), Some(_), None) => Err(SettingProblem::new(
            "has the same node twice",
            "Set a second node of another operator, or only one.",
        )),
        (Some(_), _, _) | (None, _, _) => {
            Err(SettingProblem::new("is not one node or two", "Set one or two Ethereum nodes."))
        }
    }
}

fn gateways(text: &str) -> Result<Vec<AllowedGateway>, SettingProblem> {
    let parse = |one: &str| {
        AllowedGateway::parse(one.trim()).map_err(|GatewayParseError| {
            SettingProblem::new(
                format!("`{}` is not a host", one.trim()),
                "Write host names like gateway.example, or proof:gateway.example for one whose \
                 responses are proved on chain.",
            )
        })
    };
    text.split(',').map(parse).collect()
}

fn block_tag(text: &str) -> Result<BlockTag, SettingProblem> {
    choose(text, &BlockTag::ALL.map(|tag| (tag.word(), tag)))
}

impl ReportText for Kind {
    fn report_text(&self) -> String {
        match self {
            Self::Sandbox => "sandbox".to_owned(),
            Self::Ens => "ens".to_owned(),
        }
    }
}

impl ReportText for EthereumNodes {
    fn report_text(&self) -> String {
        let hosts = [Some(&self.first), self.second.as_ref()].into_iter().flatten();
        let hosts: Vec<_> =
            hosts.map(|node| format!("{} (rest not shown)", node.origin())).collect();
        hosts.join(", ")
    }
}

impl ReportText for Vec<AllowedGateway> {
    fn report_text(&self) -> String {
        self.iter().map(AllowedGateway::origin).collect::<Vec<_>>().join(", ")
    }
}

impl ReportText for BlockTag {
    fn report_text(&self) -> String {
        self.word().to_owned()
    }
}
