//! How the emulated services are reached, as plain values.

use std::collections::BTreeMap;

use order::model::chain::{EvmAddress, Network};
use zeroize::Zeroizing;

/// The emulated services that the configuration uses.
#[derive(Default)]
pub(crate) struct SandboxEndpoints {
    pub(crate) provider: Option<ProviderEndpoint>,
    pub(crate) chains: Option<ChainEndpoints>,
}

pub(crate) struct ProviderEndpoint {
    /// Without a trailing slash.
    pub(crate) base_url: String,
    /// The page that shows accepted cards.
    pub(crate) mailbox_url: String,
    pub(crate) token: String,
}

pub(crate) struct ChainEndpoints {
    /// The URL of the emulator, which also serves the faucet and the CCIP-Read gateway.
    pub(crate) origin: String,
    pub(crate) ethereum_rpc_url: String,
    pub(crate) rpc_urls: BTreeMap<Network, String>,
    pub(crate) universal_resolver: EvmAddress,
    /// The private key of the account that settles payments on the emulated chains.
    pub(crate) settler_key: Zeroizing<String>,
}
