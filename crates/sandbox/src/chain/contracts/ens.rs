//! The ENS Universal Resolver: names on chain, and names that a gateway answers for.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{Revert as Reason, SolCall, SolError, SolInterface, SolValue};

use super::super::abi::{BatchGateway, Resolver, UniversalResolver};
use super::super::names::{
    Addresses, ETHEREUM_COIN, Found, Lookup, Name, Names, from_dns, node, resolver,
};
use super::super::network::address;
use super::{Answer, Env, Revert};
use crate::keys::recover;
use UniversalResolver::UniversalResolverCalls as Calls;

/// What a caller must hand back with the gateway's answer: who was to be asked,
/// and what.
type Carried = (Address, Bytes);

/// The gateway's answer: the result, until when it holds, and the signature.
pub(in super::super) type Signed = (Bytes, u64, Bytes);

pub(super) fn call(env: &Env<'_>, data: &[u8]) -> Answer {
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

/// Who answers for a name, and how many bytes of it stand before the part that
/// has a resolver: none for a name of its own.
fn find_resolver(names: &Names, dns: &Bytes) -> Answer {
    let Some(name) = from_dns(dns) else {
        return Err(Revert::error(&UniversalResolver::DNSDecodingFailed { dns: dns.clone() }));
    };
    let (resolver, offset) = match names.find(&name) {
        None | Some(Found::Here(Name::Offchain(_))) => (Address::ZERO, 0),
        Some(Found::Here(
            Name::OnChain(_) | Name::Wildcard | Name::NotContract | Name::Failing(_),
        )) => (resolver(), 0),
        Some(Found::Above) => {
            (resolver(), dns.first().map_or(0, |length| usize::from(*length) + 1))
        }
    };
    let offset = U256::from(offset);
    let found = UniversalResolver::findResolverReturn { resolver, node: node(&name), offset };
    Ok(UniversalResolver::findResolverCall::abi_encode_returns(&found).into())
}

/// With gateways of the caller's own choice the lookup is always a batch.
fn resolve(
    names: &Names,
    call: &UniversalResolver::resolveCall,
    gateways: Option<Vec<String>>,
) -> Answer {
    let Some(name) = from_dns(&call.name) else {
        return Err(Revert::error(&UniversalResolver::DNSDecodingFailed {
            dns: call.name.clone(),
        }));
    };
    let not_found = UniversalResolver::ResolverNotFound { name: call.name.clone() };
    match names.find(&name) {
        None => Err(Revert::error(&not_found)),
        Some(Found::Above) => Err(offchain(names, call, gateways)),
        Some(Found::Here(Name::OnChain(addresses))) => {
            answered(&read(addresses, &name, &call.data)?)
        }
        Some(Found::Here(Name::Wildcard)) => answered(&read(&Addresses::new(), &name, &call.data)?),
        Some(Found::Here(Name::NotContract)) => {
            Err(Revert::error(&UniversalResolver::ResolverNotContract {
                name: call.name.clone(),
                resolver: resolver(),
            }))
        }
        Some(Found::Here(Name::Failing(words))) => Err(failed(words)),
        Some(Found::Here(Name::Offchain(_))) => Err(Revert::error(&not_found)),
    }
}

fn answered(result: &Bytes) -> Answer {
    let answer = UniversalResolver::resolveReturn { result: result.clone(), resolver: resolver() };
    Ok(UniversalResolver::resolveCall::abi_encode_returns(&answer).into())
}

fn failed(words: &str) -> Revert {
    let error = Reason::from(words).abi_encode().into();
    Revert::error(&UniversalResolver::ResolverError { errorData: error })
}

/// One record of a name. A question about another name is answered as an empty one.
pub(in super::super) fn read(addresses: &Addresses, name: &str, data: &[u8]) -> Answer {
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

/// "Ask them, and come back with the answer."
fn offchain(
    names: &Names,
    call: &UniversalResolver::resolveCall,
    gateways: Option<Vec<String>>,
) -> Revert {
    let question: Bytes =
        Resolver::resolveCall { name: call.name.clone(), data: call.data.clone() }
            .abi_encode()
            .into();
    let single = format!("{}/gateway/{{sender}}/{{data}}.json", names.origin);
    let lookup = if gateways.is_some() { Lookup::Batched } else { names.lookup };
    let (asked, urls, data) = match lookup {
        Lookup::Get => (names.universal_resolver(), vec![single], question.clone()),
        Lookup::Post => (
            names.universal_resolver(),
            vec![format!("{}/gateway", names.origin)],
            question.clone(),
        ),
        Lookup::Batched => {
            let request = BatchGateway::Request {
                sender: resolver(),
                urls: vec![single],
                data: question.clone(),
            };
            let batch = BatchGateway::queryCall { requests: vec![request] }.abi_encode();
            // The first address means: whoever can, asks the gateways himself.
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

fn callback(env: &Env<'_>, call: &UniversalResolver::resolveCallbackCall) -> Answer {
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
    let signer = <[u8; 65]>::try_from(signature.as_ref()).ok().and_then(|parts| {
        recover(digest, parts[64], B256::from_slice(&parts[..32]), B256::from_slice(&parts[32..64]))
    });
    if signer != Some(address(env.names.signer.address())) {
        return Err(failed("SignatureVerifier: Invalid signature"));
    }
    answered(&result)
}

/// The one answer out of a batch; a failure in it is the caller's.
fn unbatched(response: &[u8]) -> Answer {
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

/// What the gateway signs: for whom, how long, which question, which answer.
pub(in super::super) fn digest(
    asked: Address,
    expires: u64,
    question: &[u8],
    result: &[u8],
) -> B256 {
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
