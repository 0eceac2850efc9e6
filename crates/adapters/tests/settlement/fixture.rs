//! Sandbox chains, one outbox, and settlers whose clock the test sets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::measurements::measured_settler::MeasuredSettler;
use adapters::rpc::Node;
use adapters::settlement::outbox::{MemoryOutbox, Outbox, SenderAccount, SentTransactions};
use adapters::settlement::{ContractWallets, Settler, SettlerLimits, SettlerSettings};
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::payment::{Instrument, PaymentKey, Preparation};
use order::ports::{Clock, Failure, Moment};
use order::tender::{Rejection, Unsettled};
use pay::mpp::credential::TransferAuthorization;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{Permit2Payment, Permit2Settler, SignatureKind};
use sandbox::chain::{self, ChainEmulator, ChainHandle, MiningMode, PERMIT2};
use sandbox::keys::Key;
use sandbox::payee::payee;
use tokio::task::JoinHandle;

use crate::signing::{CHARGE, Terms, key_bytes, transfer};

pub(crate) const NOON: u64 = 1_794_700_000;
pub(crate) const AUTHORIZATION_SECONDS: u64 = 600;
/// The network of a test that names no other.
pub(crate) const BASE: Network = Network::Base;
/// Long enough for the busiest machine.
const NODE_DEADLINE: Duration = Duration::from_secs(20);
/// How long a payer waits for a block in a test that expects one.
const RECEIPT_TIME: Duration = Duration::from_secs(30);
/// How long one waits in a test that expects no block.
pub(crate) const SHORT_RECEIPT_TIME: Duration = Duration::from_millis(300);
/// After so long a test has failed.
const UNTIL_MOST: Duration = Duration::from_secs(60);

/// A calendar that the test sets. What the sender measures by is real time.
pub(crate) struct TestClock {
    seconds: AtomicU64,
    real: SystemClock,
}

impl TestClock {
    fn start() -> Arc<Self> {
        Arc::new(Self { seconds: AtomicU64::new(0), real: SystemClock::start() })
    }

    pub(crate) fn forward(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOON + self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.seconds.load(Ordering::SeqCst)
    }

    async fn wait(&self, seconds: u64) {
        self.forward(seconds);
    }

    fn monotonic(&self) -> Duration {
        self.real.monotonic()
    }

    async fn moment(&self, milliseconds: u64) -> Moment {
        self.real.moment(milliseconds).await
    }
}

/// Waits for something that other tasks bring about.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let clock = SystemClock::start();
    while !holds().await {
        assert!(clock.monotonic() < UNTIL_MOST, "never happened: {what}");
        let _ = clock.moment(5).await;
    }
}

pub(crate) struct Fixture {
    pub chains: ChainEmulator,
    pub clock: Arc<TestClock>,
    /// How long nodes are waited for.
    pub node_deadline: Duration,
    /// How long a payer waits for a block.
    pub receipt_time: Duration,
    pub outbox: MemoryOutbox,
    authorizations: AtomicU64,
}

impl Fixture {
    /// A block is made for each transaction or when the test asks for one, and is final.
    pub(crate) async fn open() -> Self {
        let clock = TestClock::start();
        let settings = chain::ChainSettings {
            seed: Some([9; 32]),
            mining: MiningMode::OnArrival { heartbeat: 0 },
            ..chain::ChainSettings::new(clock.clone())
        };
        Self {
            chains: ChainEmulator::open(settings).await.unwrap(),
            clock,
            node_deadline: NODE_DEADLINE,
            receipt_time: RECEIPT_TIME,
            outbox: MemoryOutbox::default(),
            authorizations: AtomicU64::new(0),
        }
    }

    pub(crate) async fn with_short_receipt_time() -> Self {
        Self { receipt_time: SHORT_RECEIPT_TIME, ..Self::open().await }
    }

    /// Its node is given up sooner than a payment waits for its turn.
    pub(crate) async fn with_short_node_deadline() -> Self {
        Self { node_deadline: Duration::from_secs(4), ..Self::open().await }
    }

    pub(crate) fn chain(&self) -> ChainHandle {
        self.chains.chain(BASE)
    }

    pub(crate) fn node(&self, network: Network) -> Node {
        let client = HttpClient::new(HostPolicy::Configured).unwrap();
        let address = HttpUrl::parse(&self.chains.rpc_url(network)).unwrap();
        Node::new(client, address, network.chain_id()).answering_within(self.node_deadline)
    }

    /// The settler of another process on the same outbox.
    pub(crate) fn settler(&self) -> Settler {
        Settler::start(self.settings(&self.chains.faucet().settler())).unwrap()
    }

    /// The same on the one network, with something changed.
    pub(crate) fn settler_with(&self, change: impl FnOnce(&mut SettlerSettings)) -> Settler {
        let mut settings = self.settings(&self.chains.faucet().settler());
        settings.networks.retain(|network, _| *network == BASE);
        change(&mut settings);
        Settler::start(settings).unwrap()
    }

    pub(crate) fn settler_within(&self, limits: SettlerLimits) -> Settler {
        self.settler_with(|settings| {
            settings.networks = BTreeMap::from([(BASE, (self.node(BASE), limits))]);
        })
    }

    /// A settler that writes to this outbox, which the test keeps a hand on.
    pub(crate) fn settler_on(&self, outbox: &Arc<impl Outbox + 'static>) -> Settler {
        self.settler_with(|settings| settings.outbox = outbox.clone())
    }

    pub(crate) fn settings(&self, key: &Key) -> SettlerSettings {
        let serving =
            |network: Network| (network, (self.node(network), SettlerLimits::of(network)));
        SettlerSettings {
            key: key_bytes(key).into(),
            networks: Network::ALL.map(serving).into_iter().collect::<BTreeMap<_, _>>(),
            contract_wallets: ContractWallets::Accepted,
            receipt_time: self.receipt_time,
            outbox: Arc::new(self.outbox.another_process()),
            clock: self.clock.clone(),
        }
    }

    /// Ends a settler as the end of its process does. Returns when its lease is free.
    pub(crate) async fn end(&self, settler: impl Send) {
        drop(settler);
        let other = self.outbox.another_process();
        until("the lease is free", async || {
            other.lease(self.sender_account()).await.is_ok_and(|lease| lease.is_some())
        })
        .await;
    }

    pub(crate) fn account(&self) -> EvmAddress {
        self.chains.faucet().settler().address()
    }

    pub(crate) fn sender_account(&self) -> SenderAccount {
        SenderAccount { network: BASE, address: self.account() }
    }

    /// Terms with a nonce that no other authorization of this test has.
    pub(crate) fn terms(&self, payer: EvmAddress) -> Terms {
        let number = self.authorizations.fetch_add(1, Ordering::SeqCst) + 1;
        let mut nonce = [0xa5; 32];
        nonce[24..].copy_from_slice(&number.to_be_bytes());
        Terms {
            network: BASE,
            payer,
            pay_to: payee(),
            facilitator: self.account(),
            nonce,
            deadline: self.clock.now().0 + AUTHORIZATION_SECONDS,
        }
    }

    /// A good authorization of the demonstration payer.
    pub(crate) fn authorization(&self) -> Permit2Authorization {
        let payer = self.chains.faucet().payer();
        self.terms(payer.address()).signed_by(&payer)
    }

    /// A good authorization of another payer, who has money and an allowance.
    pub(crate) fn authorization_of(&self, label: &str) -> Permit2Authorization {
        let payer = self.funded_payer(label);
        self.terms(payer.address()).signed_by(&payer)
    }

    pub(crate) fn funded_payer(&self, label: &str) -> Key {
        let payer = self.chains.key(label);
        self.chains.fill_account(BASE.into(), payer.address());
        self.chain().set_allowance(payer.address(), PERMIT2, u128::MAX);
        payer
    }

    /// A signed transfer of the demonstration payer, under MPP's terms.
    pub(crate) fn transfer(&self) -> TransferAuthorization {
        let payer = self.chains.faucet().payer();
        transfer(&self.terms(payer.address()), &payer)
    }

    /// What the seller has been paid, in all.
    pub(crate) fn paid(&self) -> u128 {
        self.chain().usdc_of(payee())
    }

    /// Every transaction that the outbox has for a payment, by nonce.
    pub(crate) async fn sent(&self, key: PaymentKey) -> Vec<SentTransactions> {
        self.outbox.transactions(&[key]).await.unwrap()
    }

    /// How many transactions were signed for a payment.
    pub(crate) async fn signed(&self, key: PaymentKey) -> usize {
        self.sent(key).await.iter().map(|sent| sent.hashes.len()).sum()
    }
}

/// An x402 payment as the desk holds it.
#[derive(Clone)]
pub(crate) struct Payment {
    pub authorization: Permit2Authorization,
    pub preparation: Preparation,
}

impl Payment {
    pub(crate) async fn prepare(
        settler: &Settler,
        authorization: Permit2Authorization,
    ) -> Result<Self, Rejection> {
        let preparation = settler.prepare(&authorization, CHARGE, None).await?;
        Ok(Self { authorization, preparation })
    }

    pub(crate) fn key(&self) -> PaymentKey {
        let Permit2Authorization { network, payer, nonce, .. } = self.authorization;
        PaymentKey::of_nonce(Instrument::Permit2, network, payer, nonce)
    }

    pub(crate) fn due(&self) -> Permit2Payment<'_> {
        Permit2Payment {
            authorization: &self.authorization,
            charge: CHARGE,
            preparation: &self.preparation,
        }
    }

    pub(crate) async fn settle(&self, settler: &Settler) -> Result<ConfirmedTransfer, Unsettled> {
        settler.settle(self.due()).await
    }

    /// Settles in a task of its own.
    pub(crate) fn settling(
        &self,
        settler: &Arc<Settler>,
    ) -> JoinHandle<Result<ConfirmedTransfer, Unsettled>> {
        let (payment, settler) = (self.clone(), Arc::clone(settler));
        tokio::spawn(async move { payment.settle(&settler).await })
    }

    pub(crate) async fn trace(&self, settler: &Settler) -> Result<TransferStatus, Failure> {
        settler.trace(self.due(), None).await
    }

    /// One look of the reconciler: find out, and settle again while it can still move.
    pub(crate) async fn look(&mut self, settler: &Settler) -> Result<TransferStatus, Unsettled> {
        match self.trace(settler).await? {
            TransferStatus::Open => {}
            end @ (TransferStatus::Moved(_) | TransferStatus::Void) => return Ok(end),
        }
        let again = settler.prepare(&self.authorization, CHARGE, Some(&self.preparation)).await;
        let Ok(again) = again else { return Ok(TransferStatus::Open) };
        self.preparation = again;
        self.settle(settler).await.map(TransferStatus::Moved)
    }

    /// Looks as the reconciler does until there is nothing more to find out.
    pub(crate) async fn chase(&mut self, fixture: &Fixture, settler: &Settler) -> TransferStatus {
        for _ in 0..20 {
            match self.look(settler).await {
                Ok(end @ (TransferStatus::Moved(_) | TransferStatus::Void)) => return end,
                Ok(TransferStatus::Open) | Err(_) => fixture.clock.wait(5).await,
            }
        }
        panic!("it is still open");
    }
}

/// The settler as the service uses it: its payments are counted and logged.
pub(crate) fn measured(settler: Settler) -> MeasuredSettler<dyn Permit2Settler> {
    MeasuredSettler(Arc::new(settler))
}

/// Verifies, prepares and settles, as the desk does for a paying caller.
pub(crate) async fn pay(
    settler: &Settler,
    authorization: Permit2Authorization,
) -> Result<ConfirmedTransfer, Unsettled> {
    settler.verify(&authorization, SignatureKind::Key).await.unwrap();
    let payment = Payment::prepare(settler, authorization).await.unwrap();
    payment.settle(settler).await
}

pub(crate) fn atomic(count: u64) -> u128 {
    u128::from(count * CHARGE.atomic())
}
