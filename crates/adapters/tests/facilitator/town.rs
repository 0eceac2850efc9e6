//! A facilitator of the sandbox, our adapter before it, and a clock in the test's hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use adapters::facilitator::{Deadlines, Listed, RemoteFacilitator, Settings};
use adapters::http::{Address, Client, Reach};
use adapters::rpc::Node;
use alloy_primitives::U256;
use alloy_sol_types::{SolCall, sol};
use async_trait::async_trait;
use order::model::chain::Network;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Usdc};
use order::model::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::Unsettled;
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Due, Facilitator};
use sandbox::chain::{self, Chain, Chains, PERMIT2, Unsigned};
use sandbox::facilitator::fault::Operation;
use sandbox::facilitator::signed::Terms;
use sandbox::facilitator::{self, Facilitator as Emulated};
use sandbox::keys::Key;
use sandbox::payee::payee;

pub(crate) const NOON: u64 = 1_794_700_000;
pub(crate) const LIFE_SECONDS: u64 = 300;
/// Far longer than anything takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const CHARGE: Usdc = Usdc::from_atomic(2_117_500);

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

/// Whether the adapter can read the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Seeing,
    Blind,
}

pub(crate) struct Town {
    pub(crate) chains: Chains,
    pub(crate) emulated: Emulated,
    pub(crate) remote: RemoteFacilitator,
    pub(crate) watch: Arc<Watch>,
    nonces: AtomicU64,
}

/// One payment that was begun.
pub(crate) struct Begun {
    pub(crate) promise: Promise,
    pub(crate) preparation: Preparation,
}

impl Begun {
    pub(crate) fn due(&self) -> Due<'_> {
        Due { promise: &self.promise, charge: CHARGE, preparation: &self.preparation }
    }
}

pub(crate) async fn open(sight: Sight, settings: facilitator::Settings) -> Town {
    open_waiting(sight, settings, PATIENCE).await
}

async fn open_waiting(sight: Sight, settings: facilitator::Settings, settle: Duration) -> Town {
    let watch = Arc::new(Watch::default());
    let chains = Chains::open(chain::Settings::new(watch.clone())).await.unwrap();
    let emulated = Emulated::open(settings, &chains).await.unwrap();
    let client = Client::new(Reach::Configured).unwrap();
    let node = |network: Network| {
        let address = Address::parse(&chains.rpc_url(network)).unwrap();
        (network, Node::new(client.clone(), address, network.chain_id()))
    };
    let nodes = match sight {
        Sight::Seeing => Network::ALL.map(node).into(),
        Sight::Blind => BTreeMap::new(),
    };
    let settings = Settings {
        base: Address::parse(&emulated.base_url()).unwrap(),
        key: None,
        nodes,
        deadlines: Deadlines { question: PATIENCE, settle, repeat: settle },
    };
    let remote = RemoteFacilitator::new(settings, client, watch.clone());
    assert!(matches!(remote.refresh().await, Listed::Good(_)));
    Town { chains, emulated, remote, watch, nonces: AtomicU64::new(1) }
}

impl Town {
    pub(crate) async fn seeing() -> Self {
        open(Sight::Seeing, facilitator::Settings::default()).await
    }

    /// Where nobody waits long for a settlement.
    pub(crate) async fn hurried() -> Self {
        let soon = Duration::from_millis(300);
        open_waiting(Sight::Seeing, facilitator::Settings::default(), soon).await
    }

    /// How often the facilitator was asked to settle, and has done its work.
    pub(crate) fn settlements(&self) -> usize {
        let asked = self.emulated.journal();
        asked.iter().filter(|line| line.operation == Operation::Settle).count()
    }

    pub(crate) fn chain(&self, network: Network) -> Chain {
        self.chains.chain(network)
    }

    pub(crate) fn payer(&self) -> Key {
        self.chains.faucet().payer()
    }

    /// What the seller was really paid on a network.
    pub(crate) fn paid(&self, network: Network) -> u128 {
        self.chain(network).usdc_of(payee())
    }

    pub(crate) fn terms(&self, network: Network) -> Terms {
        // Neighbours share a word of Permit2's bitmap.
        let number = self.nonces.fetch_add(1, Ordering::Relaxed);
        let mut nonce = [0x5a; 32];
        nonce[24..].copy_from_slice(&number.to_be_bytes());
        Terms {
            network,
            pay_to: payee(),
            facilitator: self.remote.service(network).unwrap().carrier,
            most: CEILING.atomic(),
            nonce,
            deadline: self.watch.now().0 + LIFE_SECONDS,
        }
    }

    pub(crate) fn promise(&self, network: Network, payer: &Key) -> Promise {
        let terms = self.terms(network);
        promise(terms, payer, terms.signed(payer))
    }

    pub(crate) async fn begin(&self, promise: Promise) -> Begun {
        let preparation = self.remote.prepare(&promise, CHARGE, None).await.unwrap();
        Begun { promise, preparation }
    }

    /// A payment by the usual payer, ready to settle.
    pub(crate) async fn ready(&self, network: Network) -> Begun {
        self.begin(self.promise(network, &self.payer())).await
    }

    pub(crate) async fn settle(&self, begun: &Begun) -> Result<Moved, Unsettled> {
        self.remote.settle(begun.due()).await
    }

    pub(crate) async fn trace(&self, begun: &Begun) -> Result<Movement, Failure> {
        self.remote.trace(begun.due(), None).await
    }

    /// The time goes on, and a block says so.
    pub(crate) fn pass(&self, network: Network, seconds: u64) {
        self.watch.forward(seconds);
        self.chain(network).mine(1);
    }

    /// The payer makes the nonce worthless.
    pub(crate) fn burn(&self, begun: &Begun) {
        sol! {
            function invalidateUnorderedNonces(uint256 word, uint256 mask) external;
        }
        let (chain, key) = (self.chain(begun.promise.network), self.payer());
        let nonce = begun.promise.nonce;
        let call = invalidateUnorderedNoncesCall {
            word: U256::from_be_bytes(nonce) >> 8,
            mask: U256::ONE << usize::from(nonce[31]),
        };
        let transaction = Unsigned {
            chain_id: chain.id().number(),
            nonce: chain.next_nonce_of(key.address()),
            priority_fee: 1_000_000,
            max_fee: 1_000_000_000,
            gas: 100_000,
            to: PERMIT2,
            value: 0,
            data: call.abi_encode(),
        };
        chain.send(&transaction.sign(&key)).unwrap();
    }
}

pub(crate) fn promise(terms: Terms, payer: &Key, payload: serde_json::Value) -> Promise {
    Promise {
        network: terms.network,
        payer: payer.address(),
        pay_to: terms.pay_to,
        facilitator: terms.facilitator,
        most: Usdc::from_atomic(terms.most),
        nonce: terms.nonce,
        valid_after: 0,
        deadline: terms.deadline,
        signature: terms.signature(payer).to_vec(),
        permit: None,
        payload,
    }
}
