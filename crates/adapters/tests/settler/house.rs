//! Chains, payers and settlers with their clock in the test's hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use adapters::http::{Address, Client, Reach};
use adapters::rpc::Node;
use adapters::settler::{Limits, RECEIPT_SECONDS, Settings, Settler};
use async_trait::async_trait;
use order::chain::{EvmAddress, Network};
use order::ids::Timestamp;
use order::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::Rejection;
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Due, Facilitator, Signer};
use sandbox::chain::{self, Chain, Chains, Mining, PERMIT2};
use sandbox::keys::Key;
use sandbox::payee::payee;

use crate::signing::{CHARGE, Terms, key_bytes, transfer};

pub(crate) const NOON: u64 = 1_794_700_000;
pub(crate) const PROMISE_SECONDS: u64 = 600;
/// Where nothing else is said, it happens here.
pub(crate) const BASE: Network = Network::Base;
/// Long enough for the busiest machine.
const NODE_DEADLINE: Duration = Duration::from_secs(20);

/// How a watch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// When somebody waits for it, and at once: for one payment after the other.
    WhenWaited,
    /// By itself, twenty times as fast as it should: for many payments at once,
    /// which would each push the hand.
    TwentyTimes,
}

pub(crate) struct Watch {
    seconds: AtomicU64,
    pace: Pace,
}

impl Watch {
    pub(crate) fn forward(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    fn start(pace: Pace) -> Arc<Self> {
        let watch = Arc::new(Self { seconds: AtomicU64::new(0), pace });
        if pace == Pace::TwentyTimes {
            let spring = Arc::downgrade(&watch);
            tokio::spawn(async move {
                while let Some(watch) = spring.upgrade() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    watch.forward(1);
                }
            });
        }
        watch
    }
}

#[async_trait]
impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp(NOON + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.seconds.load(Ordering::SeqCst)
    }

    async fn wait(&self, seconds: u64) {
        let until = self.uptime() + seconds;
        match self.pace {
            Pace::WhenWaited => self.forward(seconds),
            Pace::TwentyTimes => {}
        }
        while self.uptime() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

pub(crate) struct House {
    pub chains: Chains,
    pub watch: Arc<Watch>,
    /// How long nodes are waited for.
    pub node_deadline: Duration,
    promises: AtomicU64,
}

impl House {
    /// Every block is one that a transaction or the test asked for, and stays.
    pub(crate) async fn open() -> Self {
        Self::open_at(Pace::WhenWaited).await
    }

    pub(crate) async fn open_at(pace: Pace) -> Self {
        let watch = Watch::start(pace);
        let settings = chain::Settings {
            seed: Some([9; 32]),
            mining: Mining::OnArrival { heartbeat: 0 },
            ..chain::Settings::new(watch.clone())
        };
        let chains = Chains::open(settings).await.unwrap();
        Self { chains, watch, node_deadline: NODE_DEADLINE, promises: AtomicU64::new(0) }
    }

    pub(crate) fn chain(&self) -> Chain {
        self.chains.chain(BASE)
    }

    pub(crate) fn node(&self, network: Network) -> Node {
        let client = Client::new(Reach::Configured).unwrap();
        let address = Address::parse(&self.chains.rpc_url(network)).unwrap();
        Node::new(client, address, network.chain_id()).answering_within(self.node_deadline)
    }

    /// A settler that has just been started: it remembers nothing.
    pub(crate) fn settler(&self) -> Settler {
        Settler::new(self.settings(&self.chains.faucet().settler())).unwrap()
    }

    pub(crate) fn settings(&self, key: &Key) -> Settings {
        let serving = |network: Network| (network, (self.node(network), Limits::of(network)));
        Settings {
            key: key_bytes(key).into(),
            retired: Vec::new(),
            networks: Network::ALL.map(serving).into_iter().collect::<BTreeMap<_, _>>(),
            receipt_seconds: RECEIPT_SECONDS,
            clock: self.watch.clone(),
        }
    }

    /// The settler with other limits on the one network.
    pub(crate) fn settler_within(&self, limits: Limits) -> Settler {
        let mut settings = self.settings(&self.chains.faucet().settler());
        settings.networks = BTreeMap::from([(BASE, (self.node(BASE), limits))]);
        Settler::new(settings).unwrap()
    }

    pub(crate) fn carrier(&self) -> EvmAddress {
        self.chains.faucet().settler().address()
    }

    /// What somebody promises next, with a nonce that nobody used before.
    pub(crate) fn terms(&self, payer: EvmAddress) -> Terms {
        let number = self.promises.fetch_add(1, Ordering::SeqCst) + 1;
        let mut nonce = [0xa5; 32];
        nonce[24..].copy_from_slice(&number.to_be_bytes());
        let lasts = match self.watch.pace {
            Pace::WhenWaited => PROMISE_SECONDS,
            // On a busy machine ten minutes are over soon.
            Pace::TwentyTimes => 1_000 * PROMISE_SECONDS,
        };
        Terms {
            network: BASE,
            payer,
            pay_to: payee(),
            facilitator: self.carrier(),
            nonce,
            deadline: self.watch.now().0 + lasts,
        }
    }

    /// A good promise of the demonstration payer.
    pub(crate) fn promise(&self) -> Promise {
        let payer = self.chains.faucet().payer();
        self.terms(payer.address()).signed_by(&payer)
    }

    /// A good promise of a payer of their own.
    pub(crate) fn promise_of(&self, label: &str) -> Promise {
        let payer = self.chains.key(label);
        self.chains.faucet().fill(&self.chains, BASE.into(), payer.address());
        self.chain().set_allowance(payer.address(), PERMIT2, u128::MAX);
        self.terms(payer.address()).signed_by(&payer)
    }

    /// A signed transfer of the demonstration payer, under MPP's terms.
    pub(crate) fn transfer(&self) -> Authorization {
        let payer = self.chains.faucet().payer();
        transfer(&self.terms(payer.address()), &payer)
    }

    /// What the seller has been paid, in all.
    pub(crate) fn paid(&self) -> u128 {
        self.chain().usdc_of(payee())
    }
}

/// A payment as the desk holds it.
pub(crate) struct Payment {
    pub promise: Promise,
    pub preparation: Preparation,
}

impl Payment {
    pub(crate) async fn prepare(settler: &Settler, promise: Promise) -> Result<Self, Rejection> {
        let preparation = settler.prepare(&promise, CHARGE, None).await?;
        Ok(Self { promise, preparation })
    }

    fn due(&self) -> Due<'_> {
        Due { promise: &self.promise, charge: CHARGE, preparation: &self.preparation }
    }

    pub(crate) async fn settle(&self, settler: &Settler) -> Result<Moved, Failure> {
        settler.settle(self.due()).await
    }

    pub(crate) async fn trace(&self, settler: &Settler) -> Result<Movement, Failure> {
        settler.trace(self.due(), None).await
    }

    /// One look of the reconciler: find out, and ask again while it can still move.
    pub(crate) async fn look(&mut self, settler: &Settler) -> Result<Movement, Failure> {
        match self.trace(settler).await? {
            Movement::Open => {}
            end @ (Movement::Moved(_) | Movement::Void) => return Ok(end),
        }
        let again = settler.prepare(&self.promise, CHARGE, Some(&self.preparation)).await;
        let Ok(again) = again else { return Ok(Movement::Open) };
        self.preparation = again;
        self.settle(settler).await.map(Movement::Moved)
    }

    /// Looks as the reconciler does until there is nothing more to find out.
    pub(crate) async fn chase(&mut self, house: &House, settler: &Settler) -> Movement {
        for _ in 0..20 {
            match self.look(settler).await {
                Ok(end @ (Movement::Moved(_) | Movement::Void)) => return end,
                Ok(Movement::Open) | Err(_) => house.watch.wait(5).await,
            }
        }
        panic!("nobody found out what became of it");
    }

    /// How many transactions were signed for it.
    pub(crate) fn signed(&self) -> usize {
        let kept: serde_json::Value = serde_json::from_slice(&self.preparation.0).unwrap();
        kept["transactions"].as_array().unwrap().len()
    }

    /// The bytes that are sent next.
    pub(crate) fn raw(&self) -> Vec<u8> {
        let kept: serde_json::Value = serde_json::from_slice(&self.preparation.0).unwrap();
        let newest = kept["transactions"].as_array().unwrap().last().unwrap().clone();
        newest["raw"].as_str().unwrap().parse::<alloy_primitives::Bytes>().unwrap().to_vec()
    }
}

/// Verifies, prepares and settles, as the desk does for a paying caller.
pub(crate) async fn pay(settler: &Settler, promise: Promise) -> Result<Moved, Failure> {
    settler.verify(&promise, Signer::Key).await.unwrap();
    let payment = Payment::prepare(settler, promise).await.unwrap();
    payment.settle(settler).await
}

pub(crate) fn atomic(count: u64) -> u128 {
    u128::from(count * CHARGE.atomic())
}
