//! One question to the Universal Resolver, with its detours outside of the chain (EIP-3668).

use alloy_primitives::{Address as Account, Bytes};
use alloy_sol_types::{SolCall, SolError, SolType};
use order::model::chain::EvmAddress;
use order::model::evidence::Gateway;

use super::abi::UniversalResolver::{
    OffchainLookup, ResolverError, ResolverNotContract, ResolverNotFound,
    UnsupportedResolverProfile,
};
use super::abi::{BatchGateway, CallbackArguments};
use super::gateway::Gateways;
use super::trouble::Trouble;
use crate::rpc::{At, NoAnswer, Node};

/// A resolver may send us out, and out once more.
const LOOKUPS_MAX: usize = 2;
/// How many servers one lookup may send us to at once.
const BATCH_MAX: usize = 4;

/// Where and when a question is asked.
pub(super) struct Counter<'a> {
    pub(super) node: &'a Node,
    pub(super) gateways: &'a Gateways,
    pub(super) universal_resolver: EvmAddress,
    pub(super) at: At,
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// There is no such thing, says the chain itself.
    Nothing,
    Answer {
        bytes: Bytes,
        gateway: Option<Gateway>,
    },
}

impl Counter<'_> {
    pub(super) async fn ask(&self, question: &impl SolCall) -> Result<Heard, Trouble> {
        let mut data = Bytes::from(question.abi_encode());
        let mut gateway = None;
        for lookups in 0..=LOOKUPS_MAX {
            let revert = match self.node.call(self.universal_resolver, &data, self.at).await {
                Ok(bytes) => return Ok(Heard::Answer { bytes, gateway }),
                Err(NoAnswer::Reverted(revert)) => revert,
                Err(other) => return Err(other.into()),
            };
            // After a detour the resolver's own no means that it does not believe the
            // gateway. Taken for an empty entry, a stranger on the way could hide an
            // account, and the seller's default would be paid in its place.
            if gateway.is_some() && is(&revert, ResolverError::SELECTOR) {
                return Err(Trouble::GatewayNotBelieved);
            }
            if says_that_nothing_is_there(&revert) {
                return Ok(Heard::Nothing);
            }
            let lookup = OffchainLookup::abi_decode(&revert).map_err(|_| Trouble::Reverted)?;
            if lookups == LOOKUPS_MAX {
                break;
            }
            let (said, host) = self.look_outside(&lookup).await?;
            gateway = Some(host);
            data = callback(&lookup, &said);
        }
        Err(Trouble::TooManyLookups)
    }

    async fn look_outside(&self, lookup: &OffchainLookup) -> Result<(Bytes, Gateway), Trouble> {
        // Only the contract that was asked may send us somewhere.
        if lookup.sender != account(self.universal_resolver) {
            return Err(Trouble::Unusable);
        }
        // The Universal Resolver bundles what resolvers want to know and names
        // a server that unbundles it. We do that ourselves: so each server is
        // judged, and nobody stands in between.
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
    ) -> Result<(Bytes, Gateway), Trouble> {
        if requests.len() > BATCH_MAX {
            return Err(Trouble::TooManyLookups);
        }
        let mut last = None;
        let mut responses = Vec::with_capacity(requests.len());
        for request in requests {
            let sender = EvmAddress::from_bytes(request.sender.into_array());
            let (said, host) = self.gateways.ask(sender, &request.urls, &request.data).await?;
            responses.push(said);
            last = Some(host);
        }
        let gateway = last.ok_or(Trouble::Unusable)?;
        let failures = vec![false; responses.len()];
        let bundle = BatchGateway::queryReturn { failures, responses };
        Ok((BatchGateway::queryCall::abi_encode_returns(&bundle).into(), gateway))
    }
}

/// The chain's own ways of saying that a name, or this entry of it, is not there.
fn says_that_nothing_is_there(revert: &[u8]) -> bool {
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

/// The way back to the chain, where the contract judges what was said.
fn callback(lookup: &OffchainLookup, said: &Bytes) -> Bytes {
    let arguments = (said.clone(), lookup.extraData.clone());
    let mut data = lookup.callbackFunction.to_vec();
    data.extend(CallbackArguments::abi_encode_params(&arguments));
    data.into()
}

pub(super) fn account(address: EvmAddress) -> Account {
    Account::from(address.bytes())
}
