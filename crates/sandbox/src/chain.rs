//! Emulated chains: real JSON-RPC on loopback, real signatures, no real money.
//!
//! Reading order: [`ChainSettings`] and [`ChainEmulator`] here, then `handle` (access from
//! inside the process), `node` (blocks, state, pool, reorganisations), `contracts` (USDC,
//! Permit2, the `upto` proxy, names), `rpc` (JSON-RPC methods) and `http` (routes and the
//! control interface).

mod clock;
mod contracts;
mod ens;
mod faults;
mod funding;
mod handle;
mod http;
mod journal;
pub(crate) mod network;
mod node;
mod rpc;
#[cfg(test)]
mod testing;
mod transaction;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use order::model::chain::EvmAddress;
use order::ports::Clock;

pub use contracts::wallet::WalletKind;
pub use ens::names::{
    DEFAULT_EVM_COIN, ETHEREUM_COIN, GatewayFault, GatewayLookup, NameAddresses, NameRecord,
    coin_type,
};
pub use faults::{NodeFault, NodeFaultRule};
pub use handle::{ChainHandle, ChainHead, TransactionStatus, UsdcTransfer};
pub use journal::{CallOutcome, JournaledCall};
pub use network::{ChainId, PERMIT2, UNIVERSAL_RESOLVER, UPTO_PROXY};
pub use node::{MiningMode, ReorgedTransactions, TagDepths};

use crate::faucet::Faucet;
use crate::http::server::{LoopbackServer, bind};
use crate::keys::Key;
use ens::names::NameRegistry;
use handle::EmulatedChains;
use http::control;

/// How the chains start.
pub struct ChainSettings {
    pub clock: Arc<dyn Clock>,
    /// The port on 127.0.0.1; 0 for any free port.
    pub port: u16,
    /// The seed of all keys; random if absent.
    pub seed: Option<[u8; 32]>,
    pub mining: MiningMode,
    pub depths: TagDepths,
    pub names: BTreeMap<String, NameRecord>,
    pub universal_resolver: EvmAddress,
    pub lookup: GatewayLookup,
}

impl ChainSettings {
    /// One block per transaction, an empty block every two seconds, blocks final at once, no
    /// names.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            port: 0,
            seed: None,
            mining: MiningMode::OnArrival { heartbeat: 2 },
            depths: TagDepths::default(),
            names: BTreeMap::new(),
            universal_resolver: UNIVERSAL_RESOLVER,
            lookup: GatewayLookup::default(),
        }
    }
}

/// The four emulated chains and their HTTP server.
pub struct ChainEmulator {
    chains: Arc<EmulatedChains>,
    faucet: Faucet,
    server: LoopbackServer,
}

impl ChainEmulator {
    pub async fn open(settings: ChainSettings) -> io::Result<Self> {
        let listener = bind(settings.port).await?;
        let address = listener.local_addr()?;
        let faucet = Faucet::open(settings.seed)?;
        let mut names = NameRegistry::new(faucet.key("gateway"), settings.names);
        names.set_universal_resolver(settings.universal_resolver);
        names.lookup = settings.lookup;
        names.origin = format!("http://{address}");
        let chains =
            Arc::new(EmulatedChains::new(settings.clock, names, settings.mining, settings.depths));
        let faucet_state =
            control::FaucetState { faucet: faucet.clone(), origin: format!("http://{address}") };
        let server = LoopbackServer::start(listener, http::router(&chains, faucet_state))?;
        let chains = Self { chains, faucet, server };
        for id in ChainId::ALL {
            funding::fund(&chains.faucet, &chains.chain(id));
        }
        Ok(chains)
    }

    /// The JSON-RPC URL of this chain.
    pub fn rpc_url(&self, chain: impl Into<ChainId>) -> String {
        format!("{}/{}", self.server.origin(), chain.into().number())
    }

    /// The URL of the control interface and of the name gateway.
    pub fn origin(&self) -> String {
        self.server.origin()
    }

    pub fn chain(&self, chain: impl Into<ChainId>) -> ChainHandle {
        ChainHandle::new(Arc::clone(&self.chains), chain.into())
    }

    pub fn faucet(&self) -> &Faucet {
        &self.faucet
    }

    /// Gives an account 1,000 USDC and gas.
    pub fn fill_account(&self, id: ChainId, account: EvmAddress) {
        funding::fill_account(&self.chain(id), account);
    }

    /// Advances the time of all chains.
    pub fn advance(&self, seconds: u64) {
        self.chains.clock().advance(seconds);
    }

    /// The timestamp of the next block.
    pub fn now(&self) -> u64 {
        self.chains.clock().now()
    }

    /// Registers or changes a name; the next read sees it.
    pub fn set_name(&self, name: &str, entry: NameRecord) {
        self.chains.names().set(name, entry);
    }

    pub fn remove_name(&self, name: &str) -> Option<NameRecord> {
        self.chains.names().remove(name)
    }

    pub fn set_lookup(&self, lookup: GatewayLookup) {
        self.chains.names().lookup = lookup;
    }

    pub fn set_gateway_fault(&self, fault: GatewayFault) {
        self.chains.names().fault = fault;
    }

    /// The key with this label: the same label gives the same key.
    pub fn key(&self, label: &str) -> Key {
        self.faucet.key(label)
    }

    /// Closes the server. Calls that hang are ended.
    pub async fn close(self) {
        // Closing fails only if the server had failed before.
        let _ = self.server.close().await;
    }
}
