//! An emulated chain with names, the ENS adapter that reads it, and a manual clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adapters::ens::{AllowedGateway, Ens, EnsNodes, EnsSettings, MainnetAccounts};
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::rpc::Node;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{BlockTag, Source};
use order::model::ids::Timestamp;
use order::model::resolution::Resolution;
use order::model::seller::Username;
use order::ports::{Clock, Failure, NameService, Purpose};
use sandbox::chain::{
    self, ChainEmulator, ChainId, NameAddresses, NameRecord, UNIVERSAL_RESOLVER, coin_type,
};

const PARENT: &str = "cards.example.eth";
const START: u64 = 1_794_700_000;
const MAINNET: u64 = 1;

/// Advances only by `advance`.
#[derive(Default)]
pub(super) struct ManualClock(AtomicU64);

impl ManualClock {
    pub(super) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(START + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    async fn wait(&self, _seconds: u64) {
        std::future::pending().await
    }
}

/// One or two chains on the same clock, and the adapter that reads them.
pub(super) struct NamesFixture {
    pub(super) clock: Arc<ManualClock>,
    pub(super) chains: ChainEmulator,
    pub(super) second: Option<ChainEmulator>,
    pub(super) ens: Ens,
}

impl NamesFixture {
    pub(super) async fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let chains = open(&clock).await;
        let gateways = [chains.origin()];
        let ens = ens(&clock, &chains, None, &gateways);
        Self { clock, chains, second: None, ens }
    }

    /// The adapter reads two nodes, which must agree.
    pub(super) async fn with_two_nodes() -> Self {
        let clock = Arc::new(ManualClock::default());
        let (chains, second) = (open(&clock).await, open(&clock).await);
        let gateways = [chains.origin(), second.origin()];
        let ens = ens(&clock, &chains, Some(&second), &gateways);
        Self { clock, chains, second: Some(second), ens }
    }

    /// Another adapter on the same chain, with an empty cache and these gateways only.
    pub(super) fn reader(&self, gateways: &[String]) -> Ens {
        ens(&self.clock, &self.chains, None, gateways)
    }

    pub(super) fn name(&self, seller: &str, entry: NameRecord) {
        self.chains.set_name(&full_name(seller), entry);
    }

    /// Names below the parent are resolved by the gateway only.
    pub(super) fn use_gateway(&self) {
        self.chains.set_name(PARENT, NameRecord::Wildcard);
    }

    pub(super) async fn resolve(&self, seller: &str) -> Result<Option<Resolution>, Failure> {
        resolve(&self.ens, seller).await
    }

    /// The payee on each network, and the source of its address.
    pub(super) async fn payees(&self, seller: &str) -> Vec<(Network, u8, Source)> {
        let found = self.resolve(seller).await.unwrap();
        let records = found.iter().flat_map(Resolution::records);
        records.map(|record| (record.network, record.address.bytes()[0], record.source)).collect()
    }

    /// The error text of a failed lookup.
    pub(super) async fn lookup_error(&self, seller: &str) -> String {
        match self.resolve(seller).await {
            Err(Failure::Lost(words) | Failure::Refused(words)) => words,
            Ok(found) => panic!("{seller} was found: {found:?}"),
        }
    }
}

pub(super) async fn resolve(ens: &Ens, seller: &str) -> Result<Option<Resolution>, Failure> {
    ens.resolve(&Username::kept(seller.to_owned()), Purpose::Payment).await
}

async fn open(clock: &Arc<ManualClock>) -> ChainEmulator {
    // Both nodes have the same seed, so that they have the same chain.
    let settings = chain::ChainSettings::new(clock.clone());
    ChainEmulator::open(chain::ChainSettings { seed: Some([7; 32]), ..settings }).await.unwrap()
}

fn ens(
    clock: &Arc<ManualClock>,
    first: &ChainEmulator,
    second: Option<&ChainEmulator>,
    gateways: &[String],
) -> Ens {
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    let node = |chains: &ChainEmulator| {
        let address = HttpUrl::parse(&chains.rpc_url(ChainId::Ethereum)).unwrap();
        Node::new(client.clone(), address, MAINNET)
    };
    let settings = EnsSettings {
        parent: PARENT.to_owned(),
        nodes: EnsNodes { first: node(first), second: second.map(node) },
        universal_resolver: UNIVERSAL_RESOLVER,
        block_tag: BlockTag::Safe,
        gateways: gateways.iter().map(|text| AllowedGateway::parse(text).unwrap()).collect(),
        mainnet: MainnetAccounts::Never,
        enabled: Vec::new(),
    };
    Ens::new(settings, clock.clone()).unwrap()
}

pub(super) fn full_name(seller: &str) -> String {
    format!("{seller}.{PARENT}")
}

/// NameAddresses by coin type, each of one byte repeated 20 times.
pub(super) fn addresses<const COUNT: usize>(entries: [(u64, u8); COUNT]) -> NameAddresses {
    entries.map(|(coin, byte)| (coin, EvmAddress::from_bytes([byte; 20]))).into()
}

/// The same address on every network.
pub(super) fn on_all_networks(byte: u8) -> NameAddresses {
    addresses(Network::ALL.map(|network| (coin_type(network), byte)))
}

/// The payees if every network has its own address.
pub(super) fn paid_on_all_networks(byte: u8) -> Vec<(Network, u8, Source)> {
    let mut all = Network::ALL.map(|network| (network, byte, Source::Chain)).to_vec();
    all.sort();
    all
}
