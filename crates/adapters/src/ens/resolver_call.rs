//! One call to the Universal Resolver, with CCIP-Read (EIP-3668).

use alloy_primitives::{Address as Account, Bytes};
use alloy_sol_types::{SolCall, SolError, SolType, sol_data};
use evm::interfaces::BatchGateway;
use evm::interfaces::UniversalResolver::{
    OffchainLookup, ResolverError, ResolverNotContract, ResolverNotFound,
    UnsupportedResolverProfile,
};
use order::model::chain::EvmAddress;
use order::model::evidence::Gateway;

use super::error::LookupError;
use super::gateway::Gateways;
use crate::rpc::{BlockId, Node, NodeError};

/// The arguments of the callback of EIP-3668, behind its selector.
type CallbackArguments = (sol_data::Bytes, sol_data::Bytes);

/// The most off-chain lookups of one call.
const LOOKUPS_MAX: usize = 2;
/// The most requests of one batch lookup.
const BATCH_MAX: usize = 4;

/// The node, the contract and the block of a call.
pub(super) struct ResolverClient<'a> {
    pub(super) node: &'a Node,
    pub(super) gateways: &'a Gateways,
    pub(super) universal_resolver: EvmAddress,
    pub(super) at: BlockId,
}

/// The result of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResolverReply {
    /// The chain says that the name or record does not exist.
    Nothing,
    Answer {
        bytes: Bytes,
        gateway: Option<Gateway>,
    },
}

impl ResolverClient<'_> {
    pub(super) async fn ask(&self, question: &impl SolCall) -> Result<ResolverReply, LookupError> {
        let mut data = Bytes::from(question.abi_encode());
        let mut gateway = None;
        for lookups in 0..=LOOKUPS_MAX {
            let revert = match self.node.call(self.universal_resolver, &data, self.at).await {
                Ok(bytes) => return Ok(ResolverReply::Answer { bytes, gateway }),
                Err(NodeError::Reverted(revert)) => revert,
                Err(other) => return Err(other.into()),
            };
            // After an off-chain lookup, a resolver error means that the gateway's answer was
            // rejected. If that counted as an empty record, an attacker could hide an account,
            // and the seller's default account would be paid instead.
            if gateway.is_some() && is(&revert, ResolverError::SELECTOR) {
                return Err(LookupError::GatewayRejected);
            }
            if is_not_found(&revert) {
                return Ok(ResolverReply::Nothing);
            }
            let lookup = OffchainLookup::abi_decode(&revert).map_err(|_| LookupError::Reverted)?;
            if lookups == LOOKUPS_MAX {
                break;
            }
            let (said, host) = self.off_chain_lookup(&lookup).await?;
            gateway = Some(host);
            data = callback(&lookup, &said);
        }
        Err(LookupError::TooManyLookups)
    }

    async fn off_chain_lookup(
        &self,
        lookup: &OffchainLookup,
    ) -> Result<(Bytes, Gateway), LookupError> {
        // Only the called contract may request a lookup.
        if lookup.sender != account(self.universal_resolver) {
            return Err(LookupError::Unusable);
        }
        // The Universal Resolver batches lookups for a batch gateway. We resolve the batch
        // ourselves, so that each gateway is checked.
        match BatchGateway::queryCall::abi_decode(&lookup.callData) {
            Ok(query) => self.unbundle(&query.requests).await,
            Err(_) => {
                let sender = self.universal_resolver;
                self.gateways.ask(sender, &lookup.urls, &lookup.callData).await
            }
        }
    }

    async fn unbundle(
        &self,
        requests: &[BatchGateway::Request],
    ) -> Result<(Bytes, Gateway), LookupError> {
        if requests.len() > BATCH_MAX {
            return Err(LookupError::TooManyLookups);
        }
        let mut last = None;
        let mut responses = Vec::with_capacity(requests.len());
        for request in requests {
            let sender = EvmAddress::from_bytes(request.sender.into_array());
            let (said, host) = self.gateways.ask(sender, &request.urls, &request.data).await?;
            responses.push(said);
            last = Some(host);
        }
        let gateway = last.ok_or(LookupError::Unusable)?;
        let failures = vec![false; responses.len()];
        let bundle = BatchGateway::queryReturn { failures, responses };
        Ok((BatchGateway::queryCall::abi_encode_returns(&bundle).into(), gateway))
    }
}

/// The errors that mean that a name or a record does not exist.
fn is_not_found(revert: &[u8]) -> bool {
    let nothing = [
        ResolverNotFound::SELECTOR,
        ResolverNotContract::SELECTOR,
        UnsupportedResolverProfile::SELECTOR,
        ResolverError::SELECTOR,
    ];
    nothing.into_iter().any(|known| is(revert, known))
}

fn is(revert: &[u8], error: [u8; 4]) -> bool {
    revert.starts_with(&error)
}

/// The callback, in which the contract verifies the gateway's answer.
fn callback(lookup: &OffchainLookup, said: &Bytes) -> Bytes {
    let arguments = (said.clone(), lookup.extraData.clone());
    let mut data = lookup.callbackFunction.to_vec();
    data.extend(CallbackArguments::abi_encode_params(&arguments));
    data.into()
}

pub(super) fn account(address: EvmAddress) -> Account {
    Account::from(address.bytes())
}
