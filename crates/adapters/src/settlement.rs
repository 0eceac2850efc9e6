//! Our own settler, which sends payments to a chain from our account.
//!
//! One sender per network and account assigns nonces in order. Each signed transaction is in the
//! outbox before it is sent, so a lost answer can be looked up.
//!
//! Reading order: `x402` and `mpp`, the calls and their proofs; `network_settler`, simulation and
//! settlement of a call; `outbox`, the stored nonces; `sender`, which assigns and sends; `chain`,
//! what a receipt proves; `proof`, which block used a nonce; `fees`, `gas_budget` and
//! `transaction`, pricing and signing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Preparation;
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{
    FacilitatorAddress, GasSponsoring, KnownAccount, Permit2Payment, Permit2Settler,
    Permit2Support, SignatureKind,
};
use zeroize::Zeroizing;

mod chain;
mod fees;
mod gas_budget;
pub(crate) mod limits;
#[cfg(any(test, feature = "models"))]
pub mod model;
mod mpp;
mod network_settler;
pub mod outbox;
pub(crate) mod outcome_log;
mod preparation;
pub mod proof;
mod sender;
mod transaction;
mod x402;

pub use fees::Fees;
pub use limits::{ContractWallets, SettlerLimits};
pub use transaction::NotAKey;

use self::chain::Chain;
use self::network_settler::{NetworkSettler, PrepareError, SharedParts};
use self::outbox::Outbox;
use self::outcome_log::log_doubt;
use self::preparation::{PreparedCall, UNREADABLE};
use self::sender::Sender;
use self::transaction::TransactionSigner;
use crate::rpc::{Node, TransactionReceipt};

/// Far above the block time, and below the shortest timeout of an official client (35 seconds).
pub const RECEIPT_TIME: Duration = Duration::from_secs(25);

/// Configuration of the settler.
pub struct SettlerSettings {
    /// The key of the sending account. It needs gas on every network, and no other program may
    /// use it.
    pub key: Zeroizing<[u8; 32]>,
    pub networks: BTreeMap<Network, (Node, SettlerLimits)>,
    pub contract_wallets: ContractWallets,
    /// How long a payment waits for its block; see [`RECEIPT_TIME`].
    pub receipt_time: Duration,
    pub outbox: Arc<dyn Outbox>,
    pub clock: Arc<dyn Clock>,
}

/// Sends payments with its own key and a node of each network. Its senders stop when it is
/// dropped.
pub struct Settler {
    own: EvmAddress,
    networks: BTreeMap<Network, NetworkSettler>,
}

impl Settler {
    /// Starts a sender for each network on the current runtime.
    pub fn start(settings: SettlerSettings) -> Result<Self, NotAKey> {
        let (settler, senders) = Self::with_senders(settings)?;
        for sender in senders {
            tokio::spawn(sender.run());
        }
        Ok(settler)
    }

    fn with_senders(settings: SettlerSettings) -> Result<(Self, Vec<Sender>), NotAKey> {
        let SettlerSettings { key, networks, contract_wallets, receipt_time, outbox, clock } =
            settings;
        let signer = Arc::new(TransactionSigner::new(&key)?);
        let own = signer.address();
        let shared = SharedParts { signer, outbox, clock, contract_wallets, receipt_time };
        let (mut settlers, mut senders) = (BTreeMap::new(), Vec::new());
        for (network, (node, limits)) in networks {
            let chain = Chain::new(node, limits.confirmations);
            let (settler, sender) = NetworkSettler::new(network, chain, limits, &shared);
            settlers.insert(network, settler);
            senders.push(sender);
        }
        Ok((Self { own, networks: settlers }, senders))
    }

    /// The account of a key.
    pub fn account_of(key: &Zeroizing<[u8; 32]>) -> Result<EvmAddress, NotAKey> {
        TransactionSigner::new(key).map(|signer| signer.address())
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

    /// A Permit2 authorization can be settled only by the account that it names.
    fn check_facilitator(&self, authorization: &Permit2Authorization) -> Result<(), Rejection> {
        if authorization.facilitator == self.own {
            return Ok(());
        }
        Err(Rejection::Invalid("upto_facilitator_mismatch".to_owned()))
    }
}

#[async_trait]
impl Permit2Settler for Settler {
    fn support(&self, network: Network) -> Option<Permit2Support> {
        let served = Permit2Support { facilitator: self.own, sponsoring: GasSponsoring::Offered };
        self.networks.contains_key(&network).then_some(served)
    }

    fn classify_facilitator(&self, _network: Network, named: EvmAddress) -> FacilitatorAddress {
        if named == self.own { FacilitatorAddress::Ours } else { FacilitatorAddress::Unknown }
    }

    fn known_account(&self, network: Network, payer: EvmAddress) -> KnownAccount {
        let known = self.networks.get(&network).map(|network| network.accounts.known(payer));
        known.unwrap_or(KnownAccount::Unknown)
    }

    async fn verify(
        &self,
        authorization: &Permit2Authorization,
        signer: SignatureKind,
    ) -> Result<(), Rejection> {
        let network = self.served(authorization.network)?;
        self.check_facilitator(authorization)?;
        // The payer's code runs here. It must not take the simulations of others.
        if signer == SignatureKind::Contract {
            network.signatures().check(authorization).await?;
        }
        let permit = network.simulation_permit().await?;
        x402::verify(network, permit, authorization).await
    }

    async fn prepare(
        &self,
        authorization: &Permit2Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let network = self.served(authorization.network)?;
        let read = |kept| PreparedCall::read(kept).ok_or(Rejection::Unavailable);
        let earlier = earlier.map(read).transpose()?;
        self.check_facilitator(authorization)?;
        if charge > authorization.most || charge == Usdc::from_atomic(0) {
            return Err(Rejection::Invalid("upto_amount_exceeds_permitted".to_owned()));
        }
        let permit = network.simulation_permit().await?;
        let allowance = x402::route(network, authorization, charge).await?;
        let call = x402::call(authorization, charge, allowance);
        match network.simulate(&call).await {
            Ok(prepared) => Ok(prepared.with_allowance(allowance).after(earlier).write()),
            Err(why) => {
                log_unready(authorization.network, &why);
                Err(x402::declined(network, permit, authorization, charge, why).await)
            }
        }
    }

    async fn settle(&self, due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        let network = self.traced(due.authorization.network)?;
        let unreadable = || Unsettled::Lost(UNREADABLE.to_owned());
        let prepared = PreparedCall::read(due.preparation).ok_or_else(unreadable)?;
        // Only the named account can settle it; what an earlier account signed is traced.
        if self.check_facilitator(due.authorization).is_err() {
            return Err(Unsettled::Lost("the authorization names another facilitator".to_owned()));
        }
        let paid =
            |receipt: &TransactionReceipt| x402::shows(receipt, due.authorization, due.charge);
        let call = x402::call(due.authorization, due.charge, prepared.allowance);
        Ok(network.settle(call, &prepared, &paid).await?)
    }

    async fn trace(
        &self,
        due: Permit2Payment<'_>,
        told: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        let network = due.authorization.network;
        let traced = x402::trace::trace(self.traced(network)?, due, told).await;
        log_doubt(network, told, traced)
    }
}

/// Logs what only the operator can fix.
fn log_unready(network: Network, why: &PrepareError) {
    let what = match why {
        // The HTTP client logs node failures.
        PrepareError::Reverted(_)
        | PrepareError::Node(_)
        | PrepareError::Store
        | PrepareError::CodeRefused
        | PrepareError::CodeFailed => return,
        PrepareError::TooDear => "Gas costs more than the settler may pay; nothing was signed",
        PrepareError::NoFunds => "The settler's account cannot pay for gas; nothing was signed",
    };
    tracing::warn!(network = network.caip2(), "{what}");
}
