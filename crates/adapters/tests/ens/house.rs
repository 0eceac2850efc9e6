//! A name service with its clock in the test's hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adapters::ens::{Allowed, Ens, MainnetAccounts, Nodes, Settings};
use adapters::http::{Address, Client, Reach};
use adapters::rpc::Node;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{BlockTag, Source};
use order::model::ids::Timestamp;
use order::model::seller::{Resolution, Username};
use order::ports::{Clock, Failure, NameService, Purpose};

use crate::chain::{Chain, Entry, UNIVERSAL_RESOLVER};

pub(crate) const PARENT: &str = "cards.example.eth";
pub(crate) const NOON: u64 = 1_790_000_000;
pub(crate) const DEFAULT_COIN: u64 = 0x8000_0000;
pub(crate) const MAINNET_COIN: u64 = 60;

/// Goes only when it is told to.
#[derive(Default)]
pub(crate) struct Watch(AtomicU64);

impl Watch {
    pub(crate) fn forward(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp(NOON + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    async fn wait(&self, _seconds: u64) {
        std::future::pending().await
    }
}

pub(crate) fn node(chain: &Chain, chain_id: u64) -> Node {
    let client = Client::new(Reach::Configured).unwrap();
    Node::new(client, Address::parse(&chain.url).unwrap(), chain_id)
}

pub(crate) fn settings(first: &Chain, second: Option<&Chain>, gateways: &[&str]) -> Settings {
    Settings {
        parent: PARENT.to_owned(),
        nodes: Nodes { first: node(first, 1), second: second.map(|chain| node(chain, 1)) },
        universal_resolver: UNIVERSAL_RESOLVER.parse().unwrap(),
        block_tag: BlockTag::Safe,
        gateways: gateways.iter().map(|text| Allowed::parse(text).unwrap()).collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    }
}

/// The same, with nodes of the networks that can be asked about code.
pub(crate) fn with_plain_accounts(first: &Chain, elsewhere: &[(Network, &Chain)]) -> Settings {
    let nodes =
        elsewhere.iter().map(|(network, chain)| (*network, node(chain, network.chain_id())));
    let mainnet = MainnetAccounts::IfPlain(nodes.collect::<BTreeMap<_, _>>());
    Settings { mainnet, ..settings(first, None, &[]) }
}

pub(crate) struct House {
    pub ens: Ens,
    pub watch: Arc<Watch>,
}

impl House {
    pub(crate) fn new(settings: Settings) -> Self {
        let watch = Arc::new(Watch::default());
        Self { ens: Ens::new(settings, watch.clone()).unwrap(), watch }
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
