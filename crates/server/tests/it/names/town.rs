//! A chain with names, a name service that reads it, and a clock in the test's hand.

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
use sandbox::chain::{self, Addresses, ChainId, Chains, Name, UNIVERSAL_RESOLVER, coin_type};

const PARENT: &str = "cards.example.eth";
const NOON: u64 = 1_794_700_000;
const MAINNET: u64 = 1;

/// Goes only when it is told to.
#[derive(Default)]
pub(super) struct Watch(AtomicU64);

impl Watch {
    pub(super) fn forward(&self, seconds: u64) {
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

/// One chain or two under the same clock, and who reads them.
pub(super) struct Town {
    pub(super) watch: Arc<Watch>,
    pub(super) chains: Chains,
    pub(super) second: Option<Chains>,
    pub(super) ens: Ens,
}

impl Town {
    pub(super) async fn new() -> Self {
        let watch = Arc::new(Watch::default());
        let chains = open(&watch).await;
        let gateways = [chains.origin()];
        let ens = ens(&watch, &chains, None, &gateways);
        Self { watch, chains, second: None, ens }
    }

    /// Read through two nodes, which have to agree.
    pub(super) async fn of_two_nodes() -> Self {
        let watch = Arc::new(Watch::default());
        let (chains, second) = (open(&watch).await, open(&watch).await);
        let gateways = [chains.origin(), second.origin()];
        let ens = ens(&watch, &chains, Some(&second), &gateways);
        Self { watch, chains, second: Some(second), ens }
    }

    /// A second reader of the same chain, who remembers nothing yet and asks
    /// these gateways only.
    pub(super) fn reader(&self, gateways: &[String]) -> Ens {
        ens(&self.watch, &self.chains, None, gateways)
    }

    pub(super) fn name(&self, seller: &str, entry: Name) {
        self.chains.set_name(&full(seller), entry);
    }

    /// Everything below the parent is known to the gateway alone.
    pub(super) fn answer_by_gateway(&self) {
        self.chains.set_name(PARENT, Name::Wildcard);
    }

    pub(super) async fn ask(&self, seller: &str) -> Result<Option<Resolution>, Failure> {
        ask(&self.ens, seller).await
    }

    /// Where money would go on each network, and by which entry.
    pub(super) async fn paid(&self, seller: &str) -> Vec<(Network, u8, Source)> {
        let found = self.ask(seller).await.unwrap();
        let records = found.iter().flat_map(Resolution::records);
        records.map(|record| (record.network, record.address.bytes()[0], record.source)).collect()
    }

    /// The words that the log has for a lookup that failed.
    pub(super) async fn trouble(&self, seller: &str) -> String {
        match self.ask(seller).await {
            Err(Failure::Lost(words) | Failure::Refused(words)) => words,
            Ok(found) => panic!("{seller} was found: {found:?}"),
        }
    }
}

pub(super) async fn ask(ens: &Ens, seller: &str) -> Result<Option<Resolution>, Failure> {
    ens.resolve(&Username::kept(seller.to_owned()), Purpose::Payment).await
}

async fn open(watch: &Arc<Watch>) -> Chains {
    // Both of two nodes have the same seed, so that they keep the same chain.
    let settings = chain::Settings::new(watch.clone());
    Chains::open(chain::Settings { seed: Some([7; 32]), ..settings }).await.unwrap()
}

fn ens(watch: &Arc<Watch>, first: &Chains, second: Option<&Chains>, gateways: &[String]) -> Ens {
    let client = Client::new(Reach::Configured).unwrap();
    let node = |chains: &Chains| {
        let address = Address::parse(&chains.rpc_url(ChainId::Ethereum)).unwrap();
        Node::new(client.clone(), address, MAINNET)
    };
    let settings = Settings {
        parent: PARENT.to_owned(),
        nodes: Nodes { first: node(first), second: second.map(node) },
        universal_resolver: UNIVERSAL_RESOLVER,
        block_tag: BlockTag::Safe,
        gateways: gateways.iter().map(|text| Allowed::parse(text).unwrap()).collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    };
    Ens::new(settings, watch.clone()).unwrap()
}

pub(super) fn full(seller: &str) -> String {
    format!("{seller}.{PARENT}")
}

/// Entries by coin type, each an account of one byte twenty times.
pub(super) fn entries<const COUNT: usize>(entries: [(u64, u8); COUNT]) -> Addresses {
    entries.map(|(coin, byte)| (coin, EvmAddress::from_bytes([byte; 20]))).into()
}

/// The same account on every network.
pub(super) fn everywhere(byte: u8) -> Addresses {
    entries(Network::ALL.map(|network| (coin_type(network), byte)))
}

/// What is paid where every network has an entry of its own.
pub(super) fn on_every_chain(byte: u8) -> Vec<(Network, u8, Source)> {
    let mut all = Network::ALL.map(|network| (network, byte, Source::Chain)).to_vec();
    all.sort();
    all
}
