//! What one node says about a name at one block.

use std::collections::BTreeMap;

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{BlockTag, Found, Gateway, Record, Source};

use super::abi::{Resolver, UniversalResolver};
use super::name::EnsName;
use super::payee::Entry;
use super::question::{Counter, Heard};
use super::trouble::Trouble;
use crate::rpc::{At, Node};

/// Mainnet, as ENS numbers coins.
const MAINNET_COIN: u64 = 60;
/// Every EVM network that has no entry of its own (ENSIP-19).
const DEFAULT_COIN: u64 = 0x8000_0000;

/// When the entry for mainnet may speak for another network.
pub(super) enum MainnetRule<'a> {
    Never,
    /// If it is a plain account there and on the network itself, where these
    /// nodes can be asked.
    PlainAccounts(&'a BTreeMap<Network, Node>),
}

/// The parts on which all nodes have to agree come first.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) resolver: EvmAddress,
    pub(super) found: Found,
    pub(super) records: Vec<Record>,
    pub(super) gateway: Option<Gateway>,
}

impl Reading {
    /// What a gateway is called is no business of the nodes.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        (self.resolver, self.found, &self.records) == (other.resolver, other.found, &other.records)
    }
}

pub(super) struct Reader<'a> {
    pub(super) counter: Counter<'a>,
    pub(super) name: &'a EnsName,
    pub(super) mainnet: MainnetRule<'a>,
}

/// An entry, and the server that helped to find it.
struct Looked {
    entry: Entry,
    gateway: Option<Gateway>,
}

impl Reader<'_> {
    /// None if no resolver answers for the name.
    pub(super) async fn read(&self) -> Result<Option<Reading>, Trouble> {
        let Some((resolver, found)) = self.resolver().await? else { return Ok(None) };
        let look = |coin| self.look(resolver, coin);
        let [base, polygon, arbitrum] = Network::ALL.map(|network| look(network.coin_type()));
        let (base, polygon, arbitrum) = tokio::try_join!(base, polygon, arbitrum)?;
        let looked = [base, polygon, arbitrum];
        let mut gateway = looked.iter().find_map(|looked| looked.gateway.clone());

        let mut records = Vec::new();
        let mut unset = Vec::new();
        for (network, looked) in Network::ALL.into_iter().zip(looked) {
            match looked.entry {
                Entry::Account(address) => {
                    records.push(Record { network, address, source: Source::Chain });
                }
                Entry::Unset => unset.push(network),
                Entry::Unusable => {}
            }
        }
        if !unset.is_empty() {
            let default = look(DEFAULT_COIN).await?;
            gateway = gateway.or(default.gateway);
            match default.entry {
                Entry::Account(address) => records.extend(unset.iter().map(|on| Record {
                    network: *on,
                    address,
                    source: Source::Default,
                })),
                Entry::Unset => records.extend(self.plain_accounts(resolver, &unset).await?),
                Entry::Unusable => {}
            }
        }
        records.sort();
        Ok(Some(Reading { resolver, found, records, gateway }))
    }

    async fn resolver(&self) -> Result<Option<(EvmAddress, Found)>, Trouble> {
        let name = self.name.labels.clone().into();
        let question = UniversalResolver::findResolverCall { name };
        let Heard::Answer { bytes, .. } = self.counter.ask(&question).await? else {
            return Ok(None);
        };
        let answer = UniversalResolver::findResolverCall::abi_decode_returns(&bytes)
            .map_err(|_| Trouble::Unusable)?;
        if answer.resolver.is_zero() {
            return Ok(None);
        }
        let found = if answer.offset.is_zero() { Found::Exactly } else { Found::ByWildcard };
        Ok(Some((EvmAddress::from_bytes(answer.resolver.into_array()), found)))
    }

    /// What the name says for a coin type.
    async fn look(&self, resolver: EvmAddress, coin_type: u64) -> Result<Looked, Trouble> {
        let inner = Resolver::addrCall { node: self.name.node, coinType: U256::from(coin_type) };
        let question = UniversalResolver::resolveCall {
            name: self.name.labels.clone().into(),
            data: inner.abi_encode().into(),
        };
        let (bytes, gateway) = match self.counter.ask(&question).await? {
            Heard::Nothing => return Ok(Looked { entry: Entry::Unset, gateway: None }),
            Heard::Answer { bytes, gateway } => (bytes, gateway),
        };
        let answer = UniversalResolver::resolveCall::abi_decode_returns(&bytes)
            .map_err(|_| Trouble::Unusable)?;
        if answer.resolver.into_array() != resolver.bytes() {
            return Err(Trouble::Disagreement);
        }
        let entry = match Resolver::addrCall::abi_decode_returns(&answer.result) {
            Ok(account) => Entry::of(&account),
            Err(_) if answer.result.is_empty() => Entry::Unset,
            Err(_) => Entry::Unusable,
        };
        Ok(Looked { entry, gateway })
    }

    /// The entry for mainnet, for those networks on which nothing can be lost.
    async fn plain_accounts(
        &self,
        resolver: EvmAddress,
        unset: &[Network],
    ) -> Result<Vec<Record>, Trouble> {
        let MainnetRule::PlainAccounts(elsewhere) = self.mainnet else { return Ok(Vec::new()) };
        let Entry::Account(address) = self.look(resolver, MAINNET_COIN).await?.entry else {
            return Ok(Vec::new());
        };
        if !self.counter.node.code(address, self.counter.at).await?.is_empty() {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        for network in unset {
            let Some(node) = elsewhere.get(network) else { continue };
            if node.code(address, At::Tag(BlockTag::Latest)).await?.is_empty() {
                records.push(Record { network: *network, address, source: Source::MainnetEoa });
            }
        }
        Ok(records)
    }
}
