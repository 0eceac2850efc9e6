//! The gateway that answers for names off chain, with its signature.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::{SolCall, SolError, SolInterface, SolValue};

use super::abi::{BatchGateway, Resolver, UniversalResolver};
use super::contracts::ens::{Signed, digest, read};
use super::names::{Addresses, GatewayFault, Name, Names, from_dns, resolver};
use crate::keys::Key;

/// How long an answer holds, in seconds.
const LIFE: u64 = 300;

/// Why there is no answer: the status and the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoAnswer {
    pub(super) status: u16,
    pub(super) words: &'static str,
}

const MALFORMED: NoAnswer = NoAnswer { status: 400, words: "this is not a question to a resolver" };

/// Answers `resolve(name, data)`, or a batch of such questions.
pub(super) fn answer(
    names: &Names,
    now: u64,
    sender: Address,
    data: &[u8],
) -> Result<Bytes, NoAnswer> {
    match BatchGateway::queryCall::abi_decode_validate(data) {
        Ok(batch) => Ok(many(names, now, batch)),
        Err(_) => one(names, now, sender, data),
    }
}

fn many(names: &Names, now: u64, batch: BatchGateway::queryCall) -> Bytes {
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

fn one(names: &Names, now: u64, sender: Address, data: &[u8]) -> Result<Bytes, NoAnswer> {
    match names.fault {
        GatewayFault::Down => {
            return Err(NoAnswer { status: 500, words: "the gateway has lost its way" });
        }
        GatewayFault::NotFound => {
            return Err(NoAnswer { status: 404, words: "the gateway knows no such name" });
        }
        GatewayFault::None
        | GatewayFault::Forged
        | GatewayFault::Expired
        | GatewayFault::Garbage
        | GatewayFault::Hang => {}
    }
    if sender != resolver() && sender != names.universal_resolver() {
        return Err(NoAnswer { status: 400, words: "this gateway answers another resolver" });
    }
    let Ok(Resolver::ResolverCalls::resolve(question)) =
        Resolver::ResolverCalls::abi_decode_validate(data)
    else {
        return Err(MALFORMED);
    };
    let name = from_dns(&question.name).ok_or(MALFORMED)?;
    let nothing = Addresses::new();
    let addresses = match names.get(&name) {
        Some(Name::Offchain(addresses) | Name::OnChain(addresses)) => addresses,
        Some(Name::Wildcard | Name::NotContract | Name::Failing(_)) | None => &nothing,
    };
    let result = read(addresses, &name, &question.data).map_err(|_| MALFORMED)?;
    Ok(signed(names, now, sender, data, result))
}

fn signed(names: &Names, now: u64, sender: Address, question: &[u8], result: Bytes) -> Bytes {
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
        Key::derive(&digest, "somebody else").sign(digest)
    } else {
        names.signer.sign(digest)
    };
    let answer: Signed = (result, expires, Bytes::from(signature.to_vec()));
    answer.abi_encode_params().into()
}
