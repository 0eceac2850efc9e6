//! The CCIP-Read gateway that signs answers for offchain names.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::{SolCall, SolError, SolInterface, SolValue};
use evm::interfaces::{BatchGateway, Resolver, UniversalResolver};

use crate::chain::contracts::ens::{Signed, digest, read};
use crate::chain::ens::names::{
    GatewayFault, NameAddresses, NameRecord, NameRegistry, from_dns, resolver,
};
use crate::keys::Key;

/// Validity of an answer, in seconds.
const LIFE: u64 = 300;

/// A refusal: HTTP status and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    pub(crate) status: u16,
    pub(crate) words: &'static str,
}

const MALFORMED: NoAnswer = NoAnswer { status: 400, words: "the data is not a call of `resolve`" };

/// Answers `resolve(name, data)`, or a batch of such questions.
pub(crate) fn answer(
    names: &NameRegistry,
    now: u64,
    sender: Address,
    data: &[u8],
) -> Result<Bytes, NoAnswer> {
    match BatchGateway::queryCall::abi_decode_validate(data) {
        Ok(batch) => Ok(many(names, now, batch)),
        Err(_) => one(names, now, sender, data),
    }
}

fn many(names: &NameRegistry, now: u64, batch: BatchGateway::queryCall) -> Bytes {
    let mut answer = BatchGateway::queryReturn { failures: vec![], responses: vec![] };
    for request in batch.requests {
        let (failure, response) = match one(names, now, request.sender, &request.data) {
            Ok(response) => (false, response),
            Err(NoAnswer { status, words }) => {
                let error = UniversalResolver::HttpError { status, message: words.to_owned() };
                (true, error.abi_encode().into())
            }
        };
        answer.failures.push(failure);
        answer.responses.push(response);
    }
    BatchGateway::queryCall::abi_encode_returns(&answer).into()
}

fn one(names: &NameRegistry, now: u64, sender: Address, data: &[u8]) -> Result<Bytes, NoAnswer> {
    match names.fault {
        GatewayFault::Down => {
            return Err(NoAnswer { status: 500, words: "gateway error" });
        }
        GatewayFault::NotFound => {
            return Err(NoAnswer { status: 404, words: "name not found" });
        }
        GatewayFault::None
        | GatewayFault::Forged
        | GatewayFault::Expired
        | GatewayFault::Garbage
        | GatewayFault::Hang => {}
    }
    if sender != resolver() && sender != names.universal_resolver() {
        return Err(NoAnswer { status: 400, words: "unknown sender" });
    }
    let Ok(Resolver::ResolverCalls::resolve(question)) =
        Resolver::ResolverCalls::abi_decode_validate(data)
    else {
        return Err(MALFORMED);
    };
    let name = from_dns(&question.name).ok_or(MALFORMED)?;
    let nothing = NameAddresses::new();
    let addresses = match names.get(&name) {
        Some(NameRecord::Offchain(addresses) | NameRecord::OnChain(addresses)) => addresses,
        Some(NameRecord::Wildcard | NameRecord::NotContract | NameRecord::Failing(_)) | None => {
            &nothing
        }
    };
    let result = read(addresses, &name, &question.data).map_err(|_| MALFORMED)?;
    Ok(signed(names, now, sender, data, result))
}

fn signed(
    names: &NameRegistry,
    now: u64,
    sender: Address,
    question: &[u8],
    result: Bytes,
) -> Bytes {
    let expires = match names.fault {
        GatewayFault::Expired => now.saturating_sub(1),
        GatewayFault::None
        | GatewayFault::Down
        | GatewayFault::NotFound
        | GatewayFault::Forged
        | GatewayFault::Garbage
        | GatewayFault::Hang => now.saturating_add(LIFE),
    };
    let digest = digest(sender, expires, question, &result).0;
    let signature = if names.fault == GatewayFault::Forged {
        Key::derive(&digest, "another key").sign(digest)
    } else {
        names.signer.sign(digest)
    };
    let answer: Signed = (result, expires, Bytes::from(signature.to_vec()));
    answer.abi_encode_params().into()
}
