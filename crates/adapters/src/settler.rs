//! Our own settler: carries payments to the chain with a key of this house.
//!
//! It signs, what it signed is kept with the order, and only then is it sent. So a
//! lost answer can always be looked up, and sending again is harmless.
//!
//! Read it in this order: `x402` and `mpp`, the calls and what proves that one paid;
//! `lane`, how any transaction is made ready, sent and found again; `queue`, who has
//! which number; `bundle`, what is kept; `fees`, `transaction` and `rlp`, how one is
//! written. Only `x402`, `mpp` and `abi` know what the transactions are for.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use order::chain::{EvmAddress, Network};
use order::money::Usdc;
use order::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::Rejection;
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::{Carrier, Due, Facilitator, Service, Signer as SignedBy, Sponsoring};
use zeroize::Zeroizing;

mod abi;
mod bundle;
mod fees;
mod lane;
mod mpp;
mod queue;
mod rlp;
mod transaction;
mod x402;

pub use transaction::NotAKey;

use crate::rpc::{Node, Receipt};
use bundle::{Bundle, UNREADABLE};
use lane::{Lane, Unready, Whose};
use transaction::Signer;

/// Far above the time of a block, and below what official clients wait for an answer:
/// one of them hangs up after 35 seconds.
pub const RECEIPT_SECONDS: u64 = 25;

/// What the operator decides about settling.
pub struct Settings {
    /// Of the account that carries payments. It needs a little gas on every
    /// network, and nobody else may send with it.
    pub key: Zeroizing<[u8; 32]>,
    /// Accounts that carried payments before and whose keys are gone. What they
    /// signed is still looked after.
    pub retired: Vec<EvmAddress>,
    pub networks: BTreeMap<Network, (Node, Limits)>,
    /// How long a payer waits for a block; see [`RECEIPT_SECONDS`].
    pub receipt_seconds: u64,
    pub clock: Arc<dyn Clock>,
}

/// What a transaction may cost, and when to worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most that a unit of gas may cost, tip included, in wei.
    pub fee_cap: u128,
    /// The most gas that a transaction may ask for.
    pub gas_max: u64,
    /// Below this the alarm is raised, in wei.
    pub low_balance: u128,
    /// How old a block is that stays, where the node knows no final ones.
    pub confirmations: u64,
}

const GWEI: u128 = 1_000_000_000;
/// A settlement takes about 110,000; a wallet that is a contract may take more.
const GAS_MAX: u64 = 1_000_000;

impl Limits {
    /// What suits a network on an ordinary day: the alarm comes while there is gas
    /// for some hundred payments, and half an hour of blocks is taken for final.
    pub const fn of(network: Network) -> Self {
        let (fee_cap, low_balance, confirmations) = match network {
            Network::Base => (5 * GWEI, 1_000_000 * GWEI, 900),
            Network::Polygon => (1_000 * GWEI, 2_000_000_000 * GWEI, 900),
            Network::Arbitrum => (5 * GWEI, 1_000_000 * GWEI, 7_200),
        };
        Self { fee_cap, gas_max: GAS_MAX, low_balance, confirmations }
    }
}

/// Carries promises with a key of its own, a little gas, and a node of each network.
pub struct Settler {
    own: EvmAddress,
    retired: Vec<EvmAddress>,
    lanes: BTreeMap<Network, Lane>,
}

impl Settler {
    pub fn new(settings: Settings) -> Result<Self, NotAKey> {
        let Settings { key, retired, networks, receipt_seconds, clock } = settings;
        let signer = Arc::new(Signer::new(&key)?);
        let lane = |(network, serving)| {
            let (signer, clock) = (Arc::clone(&signer), Arc::clone(&clock));
            (network, Lane::new(network, serving, signer, clock, receipt_seconds))
        };
        let lanes = networks.into_iter().map(lane).collect();
        Ok(Self { own: signer.address(), retired, lanes })
    }

    /// The account that carries payments, for whoever sends it gas.
    pub fn address(&self) -> EvmAddress {
        self.own
    }

    fn lane(&self, network: Network) -> Result<&Lane, Rejection> {
        self.lanes.get(&network).ok_or(Rejection::Unavailable)
    }

    fn node_of(&self, network: Network) -> Result<&Lane, Failure> {
        self.lanes.get(&network).ok_or_else(|| Failure::Lost("no node".to_owned()))
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
        self.lanes.contains_key(&network).then_some(served)
    }

    fn carrier(&self, _network: Network, named: EvmAddress) -> Carrier {
        if named == self.own || self.retired.contains(&named) {
            Carrier::Ours
        } else {
            Carrier::Unknown
        }
    }

    async fn verify(&self, promise: &Promise, signer: SignedBy) -> Result<(), Rejection> {
        let lane = self.lane(promise.network)?;
        self.named_us(promise)?;
        x402::verify(lane, promise, signer).await
    }

    async fn prepare(
        &self,
        promise: &Promise,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let lane = self.lane(promise.network)?;
        let bundle = match earlier {
            // We can send what a retired key signed, and sign nothing more for it.
            Some(kept) if self.named_us(promise).is_err() => return Ok(kept.clone()),
            Some(kept) => Some(Bundle::read(kept).ok_or(Rejection::Unavailable)?),
            None => None,
        };
        self.named_us(promise)?;
        if charge > promise.most || charge == Usdc::from_atomic(0) {
            return Err(Rejection::Invalid("upto_amount_exceeds_permitted".to_owned()));
        }
        let allowance = x402::route(lane, promise, charge).await?;
        let errand = x402::errand(promise, charge, allowance);
        match lane.ready(&errand, bundle).await {
            Ok(bundle) => bundle.write().ok_or(Rejection::Unavailable),
            Err(why) => {
                complain(promise.network, &why);
                Err(x402::declined(lane, promise, charge, why).await)
            }
        }
    }

    async fn settle(&self, due: Due<'_>) -> Result<Moved, Failure> {
        let lane = self.node_of(due.promise.network)?;
        let unreadable = || Failure::Lost(UNREADABLE.to_owned());
        let bundle = Bundle::read(due.preparation).ok_or_else(unreadable)?;
        let paid = |receipt: &Receipt| x402::shows(receipt, due.promise, due.charge);
        let whose = match self.named_us(due.promise) {
            Ok(()) => Whose::Ours(x402::errand_id(due.promise)),
            Err(_) => Whose::Retired,
        };
        Ok(lane.carry(whose, &bundle, &paid).await?)
    }

    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure> {
        let network = due.promise.network;
        let traced = x402::trace(self.node_of(network)?, due, told).await;
        traced.map_err(|doubt| doubt.told(network))
    }
}

/// What an operator should hear about, since the payer can do nothing about it.
fn complain(network: Network, why: &Unready) {
    let what = match why {
        // The client has its own line about a node that does not answer.
        Unready::Reverted(_) | Unready::Node(_) => return,
        Unready::TooDear => "Gas costs more than the settler may pay; nothing was signed",
        Unready::NoFunds => "The settler's account cannot pay for gas; nothing was signed",
    };
    tracing::warn!(network = network.caip2(), "{what}");
}
