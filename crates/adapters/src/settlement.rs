//! Our own settler: sends payments to the chain with an account of our own.
//!
//! One sender per network and account assigns nonces in order. What it signs is in the
//! outbox before it is sent, so a lost answer can always be looked up.
//!
//! Read it in this order: `x402` and `mpp`, the calls and what proves that one paid;
//! `network`, what both do with a call; `outbox`, where nonces are assigned; `sender`, who
//! assigns and sends; `chain`, what a receipt proves; `fees`, `gas`, `transaction` and
//! `rlp`, how a transaction is priced and written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Carrier, Due, Facilitator, Service, Signer as SignedBy, Sponsoring};
use zeroize::Zeroizing;

mod abi;
mod chain;
mod fees;
mod gas;
#[cfg(any(test, feature = "models"))]
pub mod model;
mod mpp;
mod network;
pub mod outbox;
mod preparation;
mod rlp;
mod sender;
mod transaction;
mod wallet_questions;
mod x402;

pub use fees::Fees;
pub use transaction::NotAKey;

use self::chain::Chain;
use self::network::{NetworkSettler, Shared, Unready};
use self::outbox::Outbox;
use self::preparation::{PreparedCall, UNREADABLE};
use self::sender::Sender;
use self::transaction::Signer;
use crate::rpc::{Node, Receipt};

use self::sender::WALLET_REFUSED_SECONDS;

/// Far above the time of a block, and below what official clients wait for an answer:
/// one of them hangs up after 35 seconds.
pub const RECEIPT_TIME: Duration = Duration::from_secs(25);

/// What the operator decides about settling.
pub struct Settings {
    /// Of the account that sends payments. It needs a little gas on every network, and no
    /// other program may send with it.
    pub key: Zeroizing<[u8; 32]>,
    pub networks: BTreeMap<Network, (Node, Limits)>,
    pub contract_wallets: ContractWallets,
    /// How long a payer waits for a block; see [`RECEIPT_TIME`].
    pub receipt_time: Duration,
    pub outbox: Arc<dyn Outbox>,
    pub clock: Arc<dyn Clock>,
}

/// Whether payers whose account has code may pay. Code can fail in a block after it has
/// passed a simulation, which costs us gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContractWallets {
    Accepted,
    Refused,
}

/// What a transaction may cost, and when to alert the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most that a unit of gas may cost, tip included, in wei.
    pub fee_cap: u128,
    /// The most gas that a transaction may ask for.
    pub gas_max: u64,
    /// The most that may be signed for in an hour, in wei.
    pub gas_budget_per_hour: u128,
    /// Below this balance an alert is logged, in wei.
    pub low_balance: u128,
    /// How old a block is that stays, where the node knows no final ones.
    pub confirmations: u64,
}

const GWEI: u128 = 1_000_000_000;
/// A settlement takes about 110,000; a wallet that is a contract may take more.
const GAS_MAX: u64 = 1_000_000;

impl Limits {
    /// What suits a network on an ordinary day: the alert comes while there is gas for some
    /// hundred payments, an hour's budget pays for some thousand at ten times the usual
    /// fee, and half an hour of blocks is taken for final.
    pub const fn of(network: Network) -> Self {
        let (fee_cap, budget, low_balance, confirmations) = match network {
            Network::Base => (5 * GWEI, 200_000_000 * GWEI, 1_000_000 * GWEI, 900),
            Network::Polygon => (1_000 * GWEI, 1_000_000_000_000 * GWEI, 2_000_000_000 * GWEI, 900),
            Network::Arbitrum => (5 * GWEI, 200_000_000 * GWEI, 1_000_000 * GWEI, 7_200),
        };
        Self { fee_cap, gas_max: GAS_MAX, gas_budget_per_hour: budget, low_balance, confirmations }
    }
}

/// Sends payments with a key of its own, a little gas, and a node of each network. Its
/// senders stop when it is dropped.
pub struct Settler {
    own: EvmAddress,
    networks: BTreeMap<Network, NetworkSettler>,
}

impl Settler {
    /// Starts a sender for each network on the current runtime.
    pub fn start(settings: Settings) -> Result<Self, NotAKey> {
        let (settler, senders) = Self::with_senders(settings)?;
        for sender in senders {
            tokio::spawn(sender.run());
        }
        Ok(settler)
    }

    fn with_senders(settings: Settings) -> Result<(Self, Vec<Sender>), NotAKey> {
        let Settings { key, networks, contract_wallets, receipt_time, outbox, clock } = settings;
        let signer = Arc::new(Signer::new(&key)?);
        let own = signer.address();
        let shared = Shared { signer, outbox, clock, contract_wallets, receipt_time };
        let (mut settlers, mut senders) = (BTreeMap::new(), Vec::new());
        for (network, (node, limits)) in networks {
            let chain = Chain::new(node, limits.confirmations);
            let (settler, sender) = NetworkSettler::new(network, chain, limits, &shared);
            settlers.insert(network, settler);
            senders.push(sender);
        }
        Ok((Self { own, networks: settlers }, senders))
    }

    /// The account that sends payments, to be funded with gas.
    pub fn address(&self) -> EvmAddress {
        self.own
    }

    fn served(&self, network: Network) -> Result<&NetworkSettler, Rejection> {
        self.networks.get(&network).ok_or(Rejection::Unavailable)
    }

    fn traced(&self, network: Network) -> Result<&NetworkSettler, Failure> {
        self.networks.get(&network).ok_or_else(|| Failure::Lost("no node".to_owned()))
    }

    /// The chain takes a promise only from the account that it names.
    fn named_us(&self, promise: &Promise) -> Result<(), Rejection> {
        if promise.facilitator == self.own {
            return Ok(());
        }
        Err(Rejection::Invalid("upto_facilitator_mismatch".to_owned()))
    }
}

#[async_trait]
impl Facilitator for Settler {
    fn service(&self, network: Network) -> Option<Service> {
        let served = Service { carrier: self.own, sponsoring: Sponsoring::Offered };
        self.networks.contains_key(&network).then_some(served)
    }

    fn carrier(&self, _network: Network, named: EvmAddress) -> Carrier {
        if named == self.own { Carrier::Ours } else { Carrier::Unknown }
    }

    async fn verify(&self, promise: &Promise, signer: SignedBy) -> Result<(), Rejection> {
        let network = self.served(promise.network)?;
        self.named_us(promise)?;
        let _turn = network.turn().await?;
        x402::verify(network, promise, signer).await
    }

    async fn prepare(
        &self,
        promise: &Promise,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let network = self.served(promise.network)?;
        let read = |kept| PreparedCall::read(kept).ok_or(Rejection::Unavailable);
        let earlier = earlier.map(read).transpose()?;
        self.named_us(promise)?;
        if charge > promise.most || charge == Usdc::from_atomic(0) {
            return Err(Rejection::Invalid("upto_amount_exceeds_permitted".to_owned()));
        }
        let _turn = network.turn().await?;
        let allowance = x402::route(network, promise, charge).await?;
        let call = x402::call(promise, charge, allowance);
        match network.simulate(&call).await {
            Ok(prepared) => Ok(prepared.with_allowance(allowance).after(earlier).write()),
            Err(why) => {
                log_unready(promise.network, &why);
                Err(x402::declined(network, promise, charge, why).await)
            }
        }
    }

    async fn settle(&self, due: Due<'_>) -> Result<Moved, Unsettled> {
        let network = self.traced(due.promise.network)?;
        let unreadable = || Unsettled::Lost(UNREADABLE.to_owned());
        let prepared = PreparedCall::read(due.preparation).ok_or_else(unreadable)?;
        // The chain takes it from no other account; what an earlier account signed is traced.
        if self.named_us(due.promise).is_err() {
            return Err(Unsettled::Lost("it names another account".to_owned()));
        }
        let paid = |receipt: &Receipt| x402::shows(receipt, due.promise, due.charge);
        let call = x402::call(due.promise, due.charge, prepared.allowance);
        Ok(network.settle(call, &prepared, &paid).await?)
    }

    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure> {
        let network = due.promise.network;
        let traced = x402::trace(self.traced(network)?, due, told).await;
        traced.map_err(|doubt| doubt.told(network))
    }
}

/// What an operator should know, since the payer can do nothing about it.
fn log_unready(network: Network, why: &Unready) {
    let what = match why {
        // The client has its own line about a node that does not answer.
        Unready::Reverted(_)
        | Unready::Node(_)
        | Unready::Store
        | Unready::CodeRefused
        | Unready::CodeFailed => return,
        Unready::TooDear => "Gas costs more than the settler may pay; nothing was signed",
        Unready::NoFunds => "The settler's account cannot pay for gas; nothing was signed",
    };
    tracing::warn!(network = network.caip2(), "{what}");
}
