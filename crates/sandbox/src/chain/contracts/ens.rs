//! The ENS Universal Resolver: names on chain, and names that a gateway answers for.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{Revert as Reason, SolCall, SolError, SolInterface, SolValue};
use evm::interfaces::{BatchGateway, Resolver, UniversalResolver};

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert};
use crate::chain::ens::names::{
    ETHEREUM_COIN, FoundName, GatewayLookup, NameAddresses, NameRecord, NameRegistry, from_dns,
    node, resolver,
};
use crate::chain::network::address;
use crate::keys::recover;
use UniversalResolver::UniversalResolverCalls as Calls;

/// The extra data that a caller returns with the gateway's answer: the resolver and the
/// question.
type Carried = (Address, Bytes);

/// The gateway's answer: result, expiry and signature.
pub(crate) type Signed = (Bytes, u64, Bytes);

pub(crate) fn call(env: &CallEnv<'_>, data: &[u8]) -> ContractResult {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::resolve(call) => resolve(env.names, &call, None),
        Calls::resolveWithGateways(call) => {
            let question = UniversalResolver::resolveCall { name: call.name, data: call.data };
            resolve(env.names, &question, Some(call.gateways))
        }
        Calls::resolveCallback(call) => callback(env, &call),
        Calls::findResolver(call) => find_resolver(env.names, &call.name),
    }
}

/// The resolver of a name, and the offset of the part of the name that has it.
fn find_resolver(names: &NameRegistry, dns: &Bytes) -> ContractResult {
    let Some(name) = from_dns(dns) else {
        return Err(Revert::error(&UniversalResolver::DNSDecodingFailed { dns: dns.clone() }));
    };
    let (resolver, offset) = match names.find(&name) {
        None | Some(FoundName::Here(NameRecord::Offchain(_))) => (Address::ZERO, 0),
        Some(FoundName::Here(
            NameRecord::OnChain(_)
            | NameRecord::Wildcard
            | NameRecord::NotContract
            | NameRecord::Failing(_),
        )) => (resolver(), 0),
        Some(FoundName::Above) => {
            (resolver(), dns.first().map_or(0, |length| usize::from(*length) + 1))
        }
    };
    let offset = U256::from(offset);
    let found = UniversalResolver::findResolverReturn { resolver, node: node(&name), offset };
    Ok(UniversalResolver::findResolverCall::abi_encode_returns(&found).into())
}

/// With the caller's own gateways the lookup is always a batch.
fn resolve(
    names: &NameRegistry,
    call: &UniversalResolver::resolveCall,
    gateways: Option<Vec<String>>,
) -> ContractResult {
    let Some(name) = from_dns(&call.name) else {
        return Err(Revert::error(&UniversalResolver::DNSDecodingFailed {
            dns: call.name.clone(),
        }));
    };
    let not_found = UniversalResolver::ResolverNotFound { name: call.name.clone() };
    match names.find(&name) {
        None => Err(Revert::error(&not_found)),
        Some(FoundName::Above) => Err(offchain(names, call, gateways)),
        Some(FoundName::Here(NameRecord::OnChain(addresses))) => {
            answered(&read(addresses, &name, &call.data)?)
        }
        Some(FoundName::Here(NameRecord::Wildcard)) => {
            answered(&read(&NameAddresses::new(), &name, &call.data)?)
        }
        Some(FoundName::Here(NameRecord::NotContract)) => {
            Err(Revert::error(&UniversalResolver::ResolverNotContract {
                name: call.name.clone(),
                resolver: resolver(),
            }))
        }
        Some(FoundName::Here(NameRecord::Failing(words))) => Err(failed(words)),
        Some(FoundName::Here(NameRecord::Offchain(_))) => Err(Revert::error(&not_found)),
    }
}

fn answered(result: &Bytes) -> ContractResult {
    let answer = UniversalResolver::resolveReturn { result: result.clone(), resolver: resolver() };
    Ok(UniversalResolver::resolveCall::abi_encode_returns(&answer).into())
}

fn failed(words: &str) -> Revert {
    let error = Reason::from(words).abi_encode().into();
    Revert::error(&UniversalResolver::ResolverError { errorData: error })
}

/// One record of a name. A question about another name is answered as an empty one.
pub(crate) fn read(addresses: &NameAddresses, name: &str, data: &[u8]) -> ContractResult {
    let unsupported = || {
        let selector = data.first_chunk().copied().unwrap_or_default().into();
        Revert::error(&UniversalResolver::UnsupportedResolverProfile { selector })
    };
    let question = Resolver::ResolverCalls::abi_decode_validate(data).map_err(|_| unsupported())?;
    let of = |asked: B256, coin: u64| addresses.get(&coin).filter(|_| asked == node(name)).copied();
    match question {
        Resolver::ResolverCalls::addr_0(call) => {
            let found = of(call.node, ETHEREUM_COIN).map(address).unwrap_or_default();
            Ok(found.abi_encode().into())
        }
        Resolver::ResolverCalls::addr_1(call) => {
            let coin = u64::try_from(call.coinType).unwrap_or(u64::MAX);
            let found = of(call.node, coin).map(|found| found.bytes().to_vec());
            Ok(Bytes::from(found.unwrap_or_default()).abi_encode().into())
        }
        Resolver::ResolverCalls::resolve(_) => Err(unsupported()),
    }
}

/// The revert that sends the caller to the gateway (EIP-3668).
fn offchain(
    names: &NameRegistry,
    call: &UniversalResolver::resolveCall,
    gateways: Option<Vec<String>>,
) -> Revert {
    let question: Bytes =
        Resolver::resolveCall { name: call.name.clone(), data: call.data.clone() }
            .abi_encode()
            .into();
    let single = format!("{}/gateway/{{sender}}/{{data}}.json", names.origin);
    let lookup = if gateways.is_some() { GatewayLookup::Batched } else { names.lookup };
    let (asked, urls, data) = match lookup {
        GatewayLookup::Get => (names.universal_resolver(), vec![single], question.clone()),
        GatewayLookup::Post => (
            names.universal_resolver(),
            vec![format!("{}/gateway", names.origin)],
            question.clone(),
        ),
        GatewayLookup::Batched => {
            let request = BatchGateway::Request {
                sender: resolver(),
                urls: vec![single],
                data: question.clone(),
            };
            let batch = BatchGateway::queryCall { requests: vec![request] }.abi_encode();
            // The first URL means that the client may query the gateways itself.
            let usual =
                || vec!["x-batch-gateway:true".to_owned(), format!("{}/gateway", names.origin)];
            let urls = gateways.unwrap_or_else(usual);
            (resolver(), urls, batch.into())
        }
    };
    let carried: Carried = (asked, question);
    Revert::error(&UniversalResolver::OffchainLookup {
        sender: names.universal_resolver(),
        urls,
        callData: data,
        callbackFunction: UniversalResolver::resolveCallbackCall::SELECTOR.into(),
        extraData: carried.abi_encode_params().into(),
    })
}

fn callback(env: &CallEnv<'_>, call: &UniversalResolver::resolveCallbackCall) -> ContractResult {
    let (asked, question) =
        Carried::abi_decode_params_validate(&call.extraData).map_err(|_| Revert::silent())?;
    let response =
        if asked == resolver() { unbatched(&call.response)? } else { call.response.clone() };
    let Ok((result, expires, signature)) = Signed::abi_decode_params_validate(&response) else {
        return Err(Revert::error(&UniversalResolver::ResolverError { errorData: Bytes::new() }));
    };
    if expires < env.now {
        return Err(failed("SignatureVerifier: Signature expired"));
    }
    let digest = digest(asked, expires, &question, &result);
    let signature = signature.as_ref().try_into().ok();
    let signer = signature.and_then(|signature| recover(digest, signature));
    if signer != Some(address(env.names.signer.address())) {
        return Err(failed("SignatureVerifier: Invalid signature"));
    }
    answered(&result)
}

/// The single answer of a batch; its failure becomes a revert.
fn unbatched(response: &[u8]) -> ContractResult {
    let answer = BatchGateway::queryCall::abi_decode_returns_validate(response)
        .map_err(|_| Revert::silent())?;
    match (answer.failures.first(), answer.responses.into_iter().next()) {
        (Some(false), Some(response)) => Ok(response),
        (Some(true), Some(error)) if error.starts_with(&UniversalResolver::HttpError::SELECTOR) => {
            Err(Revert(error))
        }
        (Some(true), Some(error)) => {
            Err(Revert::error(&UniversalResolver::ResolverError { errorData: error }))
        }
        (None, _) | (_, None) => Err(Revert::silent()),
    }
}

/// The digest that the gateway signs: resolver, expiry, question, answer.
pub(crate) fn digest(asked: Address, expires: u64, question: &[u8], result: &[u8]) -> B256 {
    let expires = U256::from(expires).to_be_bytes::<32>();
    keccak256(
        [
            b"\x19\x00".as_slice(),
            asked.as_slice(),
            &expires[24..],
            keccak256(question).as_slice(),
            keccak256(result).as_slice(),
        ]
        .concat(),
    )
}
