//! Chains in miniature: real JSON-RPC on loopback, real signatures, no real money.
//!
//! Reading order: [`Settings`] and [`Chains`] here, then `world` (what somebody in
//! the same process can do to a chain), `node` (blocks and what undoes them),
//! `contracts` (USDC, Permit2, the `upto` proxy, names), `rpc` (what a node
//! answers), `http` and `control` (the doors).

pub(crate) mod abi;
mod block;
mod contracts;
mod control;
mod faults;
mod gateway;
mod hands;
mod http;
mod journal;
mod names;
mod network;
mod node;
mod pool;
mod rlp;
mod rpc;
mod state;
#[cfg(test)]
mod testing;
mod transaction;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use order::model::chain::EvmAddress;
use order::ports::Clock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use contracts::WalletKind;
pub use faults::{Fault, Rule};
pub use journal::{Call, CallOutcome};
pub use names::{
    Addresses, DEFAULT_EVM_COIN, ETHEREUM_COIN, GatewayFault, Lookup, Name, coin_type,
};
pub use network::{ChainId, PERMIT2, UNIVERSAL_RESOLVER, UPTO_PROXY};
pub use node::{Depths, Fate, Mining};
pub use transaction::Unsigned;
pub use world::{Chain, Head, Settled, Transfer};

use crate::faucet::Faucet;
use crate::keys::Key;
use names::Names;
use wire::Wires;
use world::World;

/// How the chains begin.
pub struct Settings {
    pub clock: Arc<dyn Clock>,
    /// The port on 127.0.0.1; zero for any that is free.
    pub port: u16,
    /// What all keys are derived from; without one, randomness.
    pub seed: Option<[u8; 32]>,
    pub mining: Mining,
    pub depths: Depths,
    pub names: BTreeMap<String, Name>,
    pub universal_resolver: EvmAddress,
    pub lookup: Lookup,
}

impl Settings {
    /// A block with every transaction, an empty one every two seconds, all of them
    /// final at once, and no names.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            port: 0,
            seed: None,
            mining: Mining::OnArrival { heartbeat: 2 },
            depths: Depths::default(),
            names: BTreeMap::new(),
            universal_resolver: UNIVERSAL_RESOLVER,
            lookup: Lookup::default(),
        }
    }
}

/// All four chains and the server in front of them.
pub struct Chains {
    world: Arc<World>,
    faucet: Faucet,
    address: SocketAddr,
    closing: watch::Sender<()>,
    server: JoinHandle<()>,
}

impl Chains {
    pub async fn open(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let address = listener.local_addr()?;
        let faucet = Faucet::open(settings.seed)?;
        let mut names = Names::new(faucet.key("gateway"), settings.names);
        names.place_universal_resolver(settings.universal_resolver);
        names.lookup = settings.lookup;
        names.origin = format!("http://{address}");
        let world = Arc::new(World::new(settings.clock, names, settings.mining, settings.depths));
        let (closing, closed) = watch::channel(());
        let tap = control::Tap { faucet: faucet.clone(), origin: format!("http://{address}") };
        let router = http::router(Arc::clone(&world), tap, closed.clone());
        let server = tokio::spawn(wire::serve(Wires(listener), router, closed));
        let chains = Self { world, faucet, address, closing, server };
        chains.faucet.fund(&chains);
        Ok(chains)
    }

    /// Where the JSON-RPC of this chain answers.
    pub fn rpc_url(&self, chain: impl Into<ChainId>) -> String {
        format!("http://{}/{}", self.address, chain.into().number())
    }

    /// Where the sandbox is told what to do, and the gateway of the names listens.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn chain(&self, chain: impl Into<ChainId>) -> Chain {
        Chain::new(Arc::clone(&self.world), chain.into())
    }

    pub fn faucet(&self) -> &Faucet {
        &self.faucet
    }

    /// Puts the time of all chains forward, for good.
    pub fn advance(&self, seconds: u64) {
        self.world.hands().advance(seconds);
    }

    /// The time that the next block will have.
    pub fn now(&self) -> u64 {
        self.world.hands().now()
    }

    /// Registers or changes a name; the next read sees it.
    pub fn set_name(&self, name: &str, entry: Name) {
        self.world.names().set(name, entry);
    }

    pub fn remove_name(&self, name: &str) -> Option<Name> {
        self.world.names().remove(name)
    }

    pub fn set_lookup(&self, lookup: Lookup) {
        self.world.names().lookup = lookup;
    }

    pub fn set_gateway_fault(&self, fault: GatewayFault) {
        self.world.names().fault = fault;
    }

    /// A key of this sandbox by its label: whoever asks by the same label gets the same.
    pub fn key(&self, label: &str) -> Key {
        self.faucet.key(label)
    }

    /// Stops answering. Calls that hang are let go.
    pub async fn close(self) {
        let _ = self.closing.send(());
        let _ = self.server.await;
    }
}
