//! All address records of a name, from one node at one block.

use std::collections::BTreeMap;

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use evm::interfaces::{Resolver, UniversalResolver};
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{BlockTag, Found, Gateway, Record, Source};

use super::address_record::AddressRecord;
use super::error::LookupError;
use super::name::EnsName;
use super::resolver_call::{ResolverClient, ResolverReply};
use crate::rpc::{BlockId, Node};

/// Mainnet's coin type (SLIP-44).
const MAINNET_COIN: u64 = 60;
/// The default for EVM networks without a record (ENSIP-19).
const DEFAULT_COIN: u64 = 0x8000_0000;

/// When the mainnet record applies to another network.
pub(super) enum MainnetRule<'a> {
    Never,
    /// If the account has no code on mainnet and on the network, checked with these nodes.
    PlainAccounts(&'a BTreeMap<Network, Node>),
}

/// All nodes must agree on all fields but `gateway`.
#[derive(Debug)]
pub(super) struct NameRecords {
    pub(super) resolver: EvmAddress,
    pub(super) found: Found,
    pub(super) records: Vec<Record>,
    pub(super) gateway: Option<Gateway>,
}

impl NameRecords {
    /// Nodes may use different gateways.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        (self.resolver, self.found, &self.records) == (other.resolver, other.found, &other.records)
    }
}

pub(super) struct RecordReader<'a> {
    pub(super) resolver: ResolverClient<'a>,
    pub(super) name: &'a EnsName,
    pub(super) mainnet: MainnetRule<'a>,
}

/// A record, and the gateway that was used.
struct FoundRecord {
    entry: AddressRecord,
    gateway: Option<Gateway>,
}

impl RecordReader<'_> {
    /// None if the name has no resolver.
    pub(super) async fn read(&self) -> Result<Option<NameRecords>, LookupError> {
        let Some((resolver, found)) = self.resolver().await? else { return Ok(None) };
        let look = |coin| self.look(resolver, coin);
        let [base, polygon, arbitrum] = Network::ALL.map(|network| look(network.coin_type()));
        let (base, polygon, arbitrum) = tokio::try_join!(base, polygon, arbitrum)?;
        let own = [base, polygon, arbitrum];
        let mut gateway = own.iter().find_map(|record| record.gateway.clone());

        let mut records = Vec::new();
        let mut unset = Vec::new();
        for (network, record) in Network::ALL.into_iter().zip(own) {
            match record.entry {
                AddressRecord::Account(address) => {
                    records.push(Record { network, address, source: Source::Chain });
                }
                AddressRecord::Unset => unset.push(network),
                AddressRecord::Unusable => {}
            }
        }
        if !unset.is_empty() {
            let default = look(DEFAULT_COIN).await?;
            gateway = gateway.or(default.gateway);
            match default.entry {
                AddressRecord::Account(address) => records.extend(unset.iter().map(|on| Record {
                    network: *on,
                    address,
                    source: Source::Default,
                })),
                AddressRecord::Unset => {
                    records.extend(self.plain_accounts(resolver, &unset).await?)
                }
                AddressRecord::Unusable => {}
            }
        }
        records.sort();
        Ok(Some(NameRecords { resolver, found, records, gateway }))
    }

    async fn resolver(&self) -> Result<Option<(EvmAddress, Found)>, LookupError> {
        let name = self.name.labels.clone().into();
        let question = UniversalResolver::findResolverCall { name };
        let ResolverReply::Answer { bytes, .. } = self.resolver.ask(&question).await? else {
            return Ok(None);
        };
        let answer = UniversalResolver::findResolverCall::abi_decode_returns(&bytes)
            .map_err(|_| LookupError::Unusable)?;
        if answer.resolver.is_zero() {
            return Ok(None);
        }
        let found = if answer.offset.is_zero() { Found::Exactly } else { Found::ByWildcard };
        Ok(Some((EvmAddress::from_bytes(answer.resolver.into_array()), found)))
    }

    /// The record for a coin type.
    async fn look(&self, resolver: EvmAddress, coin_type: u64) -> Result<FoundRecord, LookupError> {
        let inner = Resolver::addr_1Call { node: self.name.node, coinType: U256::from(coin_type) };
        let question = UniversalResolver::resolveCall {
            name: self.name.labels.clone().into(),
            data: inner.abi_encode().into(),
        };
        let (bytes, gateway) = match self.resolver.ask(&question).await? {
            ResolverReply::Nothing => {
                return Ok(FoundRecord { entry: AddressRecord::Unset, gateway: None });
            }
            ResolverReply::Answer { bytes, gateway } => (bytes, gateway),
        };
        let answer = UniversalResolver::resolveCall::abi_decode_returns(&bytes)
            .map_err(|_| LookupError::Unusable)?;
        if answer.resolver.into_array() != resolver.bytes() {
            return Err(LookupError::Disagreement);
        }
        let entry = match Resolver::addr_1Call::abi_decode_returns(&answer.result) {
            Ok(account) => AddressRecord::of(&account),
            Err(_) if answer.result.is_empty() => AddressRecord::Unset,
            Err(_) => AddressRecord::Unusable,
        };
        Ok(FoundRecord { entry, gateway })
    }

    /// The mainnet record, for networks on which the account has no code.
    async fn plain_accounts(
        &self,
        resolver: EvmAddress,
        unset: &[Network],
    ) -> Result<Vec<Record>, LookupError> {
        let MainnetRule::PlainAccounts(elsewhere) = self.mainnet else { return Ok(Vec::new()) };
        let AddressRecord::Account(address) = self.look(resolver, MAINNET_COIN).await?.entry else {
            return Ok(Vec::new());
        };
        if !self.resolver.node.code(address, self.resolver.at).await?.is_empty() {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        for network in unset {
            let Some(node) = elsewhere.get(network) else { continue };
            if node.code(address, BlockId::Tag(BlockTag::Latest)).await?.is_empty() {
                records.push(Record { network: *network, address, source: Source::MainnetEoa });
            }
        }
        Ok(records)
    }
}
