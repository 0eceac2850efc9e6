//! The sandbox's facilitator, our adapter, and a manual clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use adapters::facilitator::{Deadlines, FacilitatorSettings, RemoteFacilitator, SupportedReply};
use adapters::http::{HostPolicy, HttpClient, HttpUrl};
use adapters::rpc::Node;
use alloy_primitives::U256;
use alloy_sol_types::{SolCall, sol};
use evm::transaction::UnsignedTransaction;
use order::model::chain::Network;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Usdc};
use order::model::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::Unsettled;
use order::testing::manual_clock::ManualClock;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{Permit2Payment, Permit2Settler};
use sandbox::chain::{self, ChainEmulator, ChainHandle, PERMIT2};
use sandbox::facilitator::fault::FacilitatorOperation;
use sandbox::facilitator::payment_payload::PaymentTerms;
use sandbox::facilitator::{self, FacilitatorEmulator as Emulated};
use sandbox::keys::Key;
use sandbox::payee::payee;

pub(crate) const START_TIME: u64 = 1_794_700_000;
pub(crate) const LIFE_SECONDS: u64 = 300;
/// Far longer than anything takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const CHARGE: Usdc = Usdc::from_atomic(2_117_500);

/// Whether the adapter can read the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainAccess {
    WithNode,
    WithoutNode,
}

pub(crate) struct FacilitatorFixture {
    pub(crate) chains: ChainEmulator,
    pub(crate) emulated: Emulated,
    pub(crate) remote: RemoteFacilitator,
    pub(crate) clock: Arc<ManualClock>,
    nonces: AtomicU64,
}

/// One payment that was begun.
pub(crate) struct Begun {
    pub(crate) authorization: Permit2Authorization,
    pub(crate) preparation: Preparation,
}

impl Begun {
    pub(crate) fn due(&self) -> Permit2Payment<'_> {
        Permit2Payment {
            authorization: &self.authorization,
            charge: CHARGE,
            preparation: &self.preparation,
        }
    }
}

pub(crate) async fn open(
    access: ChainAccess,
    settings: facilitator::FacilitatorEmulatorSettings,
) -> FacilitatorFixture {
    open_waiting(access, settings, PATIENCE).await
}

async fn open_waiting(
    access: ChainAccess,
    settings: facilitator::FacilitatorEmulatorSettings,
    settle: Duration,
) -> FacilitatorFixture {
    let clock = Arc::new(ManualClock::starting_at(Timestamp(START_TIME)));
    let chains = ChainEmulator::open(chain::ChainSettings::new(clock.clone())).await.unwrap();
    let emulated = Emulated::open(settings, &chains).await.unwrap();
    let client = HttpClient::new(HostPolicy::Configured).unwrap();
    let node = |network: Network| {
        let address = HttpUrl::parse(&chains.rpc_url(network)).unwrap();
        (network, Node::new(client.clone(), address, network.chain_id()))
    };
    let nodes = match access {
        ChainAccess::WithNode => Network::ALL.map(node).into(),
        ChainAccess::WithoutNode => BTreeMap::new(),
    };
    let settings = FacilitatorSettings {
        base: HttpUrl::parse(&emulated.base_url()).unwrap(),
        key: None,
        nodes,
        deadlines: Deadlines { question: PATIENCE, settle, repeat: settle },
    };
    let remote = RemoteFacilitator::new(settings, client, clock.clone());
    assert!(matches!(remote.refresh().await, SupportedReply::Good(_)));
    FacilitatorFixture { chains, emulated, remote, clock, nonces: AtomicU64::new(1) }
}

impl FacilitatorFixture {
    pub(crate) async fn seeing() -> Self {
        open(ChainAccess::WithNode, facilitator::FacilitatorEmulatorSettings::default()).await
    }

    /// With a short timeout for settlements.
    pub(crate) async fn hurried() -> Self {
        let soon = Duration::from_millis(300);
        open_waiting(
            ChainAccess::WithNode,
            facilitator::FacilitatorEmulatorSettings::default(),
            soon,
        )
        .await
    }

    /// How often the facilitator was asked to settle, and has done its work.
    pub(crate) fn settlements(&self) -> usize {
        let asked = self.emulated.journal();
        asked.iter().filter(|line| line.operation == FacilitatorOperation::Settle).count()
    }

    pub(crate) fn chain(&self, network: Network) -> ChainHandle {
        self.chains.chain(network)
    }

    pub(crate) fn payer(&self) -> Key {
        self.chains.faucet().payer()
    }

    /// What the seller was really paid on a network.
    pub(crate) fn paid(&self, network: Network) -> u128 {
        self.chain(network).usdc_of(payee())
    }

    pub(crate) fn terms(&self, network: Network) -> PaymentTerms {
        // Neighbours share a word of Permit2's bitmap.
        let number = self.nonces.fetch_add(1, Ordering::Relaxed);
        let mut nonce = [0x5a; 32];
        nonce[24..].copy_from_slice(&number.to_be_bytes());
        PaymentTerms {
            network,
            pay_to: payee(),
            facilitator: self.remote.support(network).unwrap().facilitator,
            most: CEILING.atomic(),
            nonce,
            deadline: self.clock.now().0 + LIFE_SECONDS,
        }
    }

    pub(crate) fn authorization(&self, network: Network, payer: &Key) -> Permit2Authorization {
        let terms = self.terms(network);
        authorization(terms, payer, terms.signed(payer))
    }

    pub(crate) async fn begin(&self, authorization: Permit2Authorization) -> Begun {
        let preparation = self.remote.prepare(&authorization, CHARGE, None).await.unwrap();
        Begun { authorization, preparation }
    }

    /// A payment by the usual payer, ready to settle.
    pub(crate) async fn ready(&self, network: Network) -> Begun {
        self.begin(self.authorization(network, &self.payer())).await
    }

    pub(crate) async fn settle(&self, begun: &Begun) -> Result<ConfirmedTransfer, Unsettled> {
        self.remote.settle(begun.due()).await
    }

    pub(crate) async fn trace(&self, begun: &Begun) -> Result<TransferStatus, Failure> {
        self.remote.trace(begun.due(), None).await
    }

    /// The time goes on, and a block says so.
    pub(crate) fn pass(&self, network: Network, seconds: u64) {
        self.clock.advance(seconds);
        self.chain(network).mine(1);
    }

    /// The payer makes the nonce worthless.
    pub(crate) fn burn(&self, begun: &Begun) {
        sol! {
            function invalidateUnorderedNonces(uint256 word, uint256 mask) external;
        }
        let (chain, key) = (self.chain(begun.authorization.network), self.payer());
        let nonce = begun.authorization.nonce;
        let call = invalidateUnorderedNoncesCall {
            word: U256::from_be_bytes(nonce) >> 8,
            mask: U256::ONE << usize::from(nonce[31]),
        };
        let transaction = UnsignedTransaction {
            chain_id: chain.id().number(),
            nonce: chain.next_nonce_of(key.address()),
            priority_fee: 1_000_000,
            max_fee: 1_000_000_000,
            gas: 100_000,
            to: PERMIT2.bytes(),
            value: 0,
            data: call.abi_encode(),
        };
        chain.send(&transaction.sign(key.signing_key())).unwrap();
    }
}

pub(crate) fn authorization(
    terms: PaymentTerms,
    payer: &Key,
    payload: serde_json::Value,
) -> Permit2Authorization {
    Permit2Authorization {
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
        payload: payload.into(),
    }
}
