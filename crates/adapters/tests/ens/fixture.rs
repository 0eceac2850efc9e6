//! A name service with a manual clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::ens::{AllowedGateway, Ens, EnsNodes, EnsSettings, MainnetAccounts};
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::rpc::Node;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{BlockTag, Source};
use order::model::ids::Timestamp;
use order::model::resolution::Resolution;
use order::model::seller::Username;
use order::ports::{Failure, NameService, Purpose};
use order::testing::manual_clock::ManualClock;

use crate::chain::{Chain, Entry, UNIVERSAL_RESOLVER};

pub(crate) const PARENT: &str = "cards.example.eth";
pub(crate) const START_TIME: u64 = 1_790_000_000;
pub(crate) const DEFAULT_COIN: u64 = 0x8000_0000;
pub(crate) const MAINNET_COIN: u64 = 60;

pub(crate) fn node(chain: &Chain, chain_id: u64) -> Node {
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    Node::new(client, HttpUrl::parse(&chain.url).unwrap(), chain_id)
}

pub(crate) fn settings(first: &Chain, second: Option<&Chain>, gateways: &[&str]) -> EnsSettings {
    EnsSettings {
        parent: PARENT.to_owned(),
        nodes: EnsNodes { first: node(first, 1), second: second.map(|chain| node(chain, 1)) },
        universal_resolver: UNIVERSAL_RESOLVER.parse().unwrap(),
        block_tag: BlockTag::Safe,
        gateways: gateways.iter().map(|text| AllowedGateway::parse(text).unwrap()).collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    }
}

/// The same, with nodes of the networks that can be asked about code.
pub(crate) fn with_plain_accounts(first: &Chain, elsewhere: &[(Network, &Chain)]) -> EnsSettings {
    let nodes =
        elsewhere.iter().map(|(network, chain)| (*network, node(chain, network.chain_id())));
    let mainnet = MainnetAccounts::IfPlain(nodes.collect::<BTreeMap<_, _>>());
    EnsSettings { mainnet, ..settings(first, None, &[]) }
}

pub(crate) struct EnsFixture {
    pub ens: Ens,
    pub clock: Arc<ManualClock>,
}

impl EnsFixture {
    pub(crate) fn new(settings: EnsSettings) -> Self {
        let clock = Arc::new(ManualClock::starting_at(Timestamp(START_TIME)));
        Self { ens: Ens::new(settings, clock.clone()).unwrap(), clock }
    }

    pub(crate) async fn ask(&self, name: &str) -> Result<Option<Resolution>, Failure> {
        self.ens.resolve(&Username::kept(name.to_owned()), Purpose::Payment).await
    }

    /// Where money would go, network by network.
    pub(crate) async fn records(&self, name: &str) -> Vec<(Network, u8, Source)> {
        let found = self.ask(name).await.unwrap();
        let records = found.iter().flat_map(Resolution::records);
        records.map(|record| (record.network, record.address.bytes()[0], record.source)).collect()
    }
}

pub(crate) fn full(name: &str) -> String {
    format!("{name}.{PARENT}")
}

/// A name with these entries, each an account of one byte twenty times.
pub(crate) fn entry(records: &[(u64, u8)]) -> Entry {
    let records = records.iter().map(|(coin, byte)| (*coin, vec![*byte; 20])).collect();
    Entry { records, ..Entry::default() }
}

/// A name with the same account on every network.
pub(crate) fn everywhere(byte: u8) -> Entry {
    entry(&Network::ALL.map(|network| (network.coin_type(), byte)))
}

pub(crate) fn payee(resolution: &Resolution, network: Network) -> Option<EvmAddress> {
    resolution.payees().on(network)
}
