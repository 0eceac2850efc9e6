//! What x402 asks of a chain: the calls of the scheme `upto`, and what proves that one paid.

use alloy_primitives::{Address, B256, Bytes, U256, address};
use alloy_sol_types::{
    Revert, SolCall, SolError, SolEvent, SolInterface, SolStruct, eip712_domain,
};
use order::model::chain::EvmAddress;
use order::model::money::Usdc as Money;
use order::model::payment::{Instrument, PaymentKey};
use order::tender::Rejection;
use pay::x402::credential::{Permit, Promise};
use pay::x402::facilitator::Signer;

use super::abi::{
    EIP2612Permit, Permit2, PermitTransferFrom, PermitWitnessTransferFrom, TokenPermissions,
    UptoProxy, Usdc, Wallet, Witness,
};
use super::chain::LATEST;
use super::network::{NetworkSettler, PaymentCall, Unready};
use super::preparation::Allowance;
use crate::nonce::State;
use crate::permit2;
use crate::rpc::{Log, NoAnswer, Receipt};

mod trace;

pub(super) use trace::trace;

/// Uniswap's Permit2, the same on every chain.
const PERMIT2: Address = address!("0x000000000022D473030F116dDEE9F6B43aC78BA3");
/// The x402 proxy of the scheme `upto`, the same on every chain.
const UPTO_PROXY: Address = address!("0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002");

/// What Permit2 says when the token did not move.
const TRANSFER_FAILED: &str = "TRANSFER_FROM_FAILED";

const BAD_SIGNATURE: &str = "invalid_permit2_signature";
const USED_NONCE: &str = "permit2_invalid_nonce";
const NO_BALANCE: &str = "permit2_insufficient_balance";
const CODE_REFUSED: &str = "contract_wallet_not_accepted";
const CODE_FAILED: &str = "contract_wallet_failed_recently";

fn place(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

fn noun(place: Address) -> EvmAddress {
    EvmAddress::from_bytes(place.into())
}

/// All transactions that spend this promise share its key.
fn key(promise: &Promise) -> PaymentKey {
    let Promise { network, payer, nonce, .. } = *promise;
    PaymentKey::of_nonce(Instrument::Permit2, network, payer, nonce)
}

/// The call that takes `charge` from the payer and gives it to the seller.
///
/// Permit2 marks the promise's nonce as used in the same call, so of all the
/// transactions that we may ever sign for it, one can succeed.
pub(super) fn call(promise: &Promise, charge: Money, allowance: Allowance) -> PaymentCall {
    let permit = PermitTransferFrom {
        permitted: permitted(promise),
        nonce: U256::from_be_bytes(promise.nonce),
        deadline: U256::from(promise.deadline),
    };
    let amount = U256::from(charge.atomic());
    let (owner, witness) = (place(promise.payer), witness(promise));
    let signature = Bytes::copy_from_slice(&promise.signature);
    let data = match (allowance, &promise.permit) {
        (Allowance::ByPermit, Some(given)) => {
            let permit2612 = spelled_out(given);
            UptoProxy::settleWithPermitCall {
                permit2612,
                permit,
                amount,
                owner,
                witness,
                signature,
            }
            .abi_encode()
        }
        (Allowance::Given | Allowance::ByPermit, _) => {
            UptoProxy::settleCall { permit, amount, owner, witness, signature }.abi_encode()
        }
    };
    let (payer, deadline) = (promise.payer, promise.deadline);
    PaymentCall { key: key(promise), payer, to: noun(UPTO_PROXY), data, deadline }
}

fn permitted(promise: &Promise) -> TokenPermissions {
    let (token, amount) = (place(promise.network.usdc()), U256::from(promise.most.atomic()));
    TokenPermissions { token, amount }
}

fn witness(promise: &Promise) -> Witness {
    Witness {
        to: place(promise.pay_to),
        facilitator: place(promise.facilitator),
        validAfter: U256::from(promise.valid_after),
    }
}

fn spelled_out(permit: &Permit) -> EIP2612Permit {
    let (r, s) = (&permit.signature[..32], &permit.signature[32..64]);
    EIP2612Permit {
        value: U256::from(permit.amount.atomic()),
        deadline: U256::from(permit.deadline),
        r: B256::from_slice(r),
        s: B256::from_slice(s),
        v: permit.signature[64],
    }
}

/// The hash that the payer signed.
fn digest(promise: &Promise) -> B256 {
    let message = PermitWitnessTransferFrom {
        permitted: permitted(promise),
        spender: UPTO_PROXY,
        nonce: U256::from_be_bytes(promise.nonce),
        deadline: U256::from(promise.deadline),
        witness: witness(promise),
    };
    let domain = eip712_domain! {
        name: "Permit2",
        chain_id: promise.network.chain_id(),
        verifying_contract: PERMIT2,
    };
    message.eip712_signing_hash(&domain)
}

/// What proves that a transaction paid: the token itself announced it.
pub(super) fn shows(receipt: &Receipt, promise: &Promise, charge: Money) -> bool {
    receipt.logs.iter().any(|log| is_payment(log, promise, charge))
}

fn is_payment(log: &Log, promise: &Promise, charge: Money) -> bool {
    let topics = log.topics.iter().copied();
    let moved = Usdc::Transfer::decode_raw_log_validate(topics, &log.data);
    log.address == place(promise.network.usdc())
        && moved.is_ok_and(|moved| {
            moved.from == place(promise.payer)
                && moved.to == place(promise.pay_to)
                && moved.value == U256::from(charge.atomic())
        })
}

/// Everything about a promise that only the chain can tell. First the signature, where no
/// key of the payer's made it: whoever sends nonsense costs one question, not four.
pub(super) async fn verify(
    network: &NetworkSettler,
    promise: &Promise,
    signer: Signer,
) -> Result<(), Rejection> {
    let nonce = permit2::nonce(promise.payer, promise.nonce);
    signed(network, promise, signer).await?;
    let asked = (nonce.contract, nonce.question.clone());
    let [balance, allowance] = Funds::questions(promise);
    let answers = network.chain.node.call_all(&[asked, balance, allowance], LATEST).await;
    let (state, funds) = match answers.map_err(unavailable)?.as_slice() {
        [state, balance, allowance] => (nonce.read(state), Funds::read(balance, allowance)),
        _ => return Err(Rejection::Unavailable),
    };
    let (state, funds) = (state.map_err(unavailable)?, funds.map_err(unavailable)?);
    if state == State::Used {
        return Err(Rejection::Invalid(USED_NONCE.to_owned()));
    }
    enough(&funds, promise.most)?;
    match funds.route(promise, promise.most)? {
        Allowance::Given => Ok(()),
        // Whether the permit holds, only the token knows.
        Allowance::ByPermit => {
            let call = call(promise, promise.most, Allowance::ByPermit);
            network.try_call(&call).await.map_err(|why| unready(&why))
        }
    }
}

struct Funds {
    balance: U256,
    allowance: U256,
}

impl Funds {
    /// What the token is asked for them.
    fn questions(promise: &Promise) -> [(EvmAddress, Vec<u8>); 2] {
        let (usdc, account) = (promise.network.usdc(), place(promise.payer));
        let balance = Usdc::balanceOfCall { account };
        let allowance = Usdc::allowanceCall { owner: account, spender: PERMIT2 };
        [(usdc, balance.abi_encode()), (usdc, allowance.abi_encode())]
    }

    fn read(balance: &[u8], allowance: &[u8]) -> Result<Self, NoAnswer> {
        let balance = Usdc::balanceOfCall::abi_decode_returns(balance);
        let allowance = Usdc::allowanceCall::abi_decode_returns(allowance);
        match (balance, allowance) {
            (Ok(balance), Ok(allowance)) => Ok(Self { balance, allowance }),
            (Err(_), _) | (_, Err(_)) => Err(NoAnswer::Unusable),
        }
    }

    /// How the token gets to move, if the payer has provided for it.
    fn route(&self, promise: &Promise, amount: Money) -> Result<Allowance, Rejection> {
        if self.allowance >= U256::from(amount.atomic()) {
            return Ok(Allowance::Given);
        }
        promise.permit.as_ref().map(|_| Allowance::ByPermit).ok_or(Rejection::AllowanceMissing)
    }
}

async fn funds(network: &NetworkSettler, promise: &Promise) -> Result<Funds, NoAnswer> {
    let answers = network.chain.node.call_all(&Funds::questions(promise), LATEST).await?;
    match answers.as_slice() {
        [balance, allowance] => Funds::read(balance, allowance),
        _ => Err(NoAnswer::Unusable),
    }
}

fn enough(funds: &Funds, amount: Money) -> Result<(), Rejection> {
    if funds.balance < U256::from(amount.atomic()) {
        return Err(Rejection::Invalid(NO_BALANCE.to_owned()));
    }
    Ok(())
}

/// How the allowance will come about, where a permit leaves that open.
pub(super) async fn route(
    network: &NetworkSettler,
    promise: &Promise,
    charge: Money,
) -> Result<Allowance, Rejection> {
    match promise.permit {
        None => Ok(Allowance::Given),
        Some(_) => {
            let funds = funds(network, promise).await.map_err(unavailable)?;
            funds.route(promise, charge)
        }
    }
}

/// Where no key of the payer signed, the payer must be a contract that says yes.
async fn signed(
    network: &NetworkSettler,
    promise: &Promise,
    signer: Signer,
) -> Result<(), Rejection> {
    let bad = || Rejection::Invalid(BAD_SIGNATURE.to_owned());
    match signer {
        Signer::Key => return Ok(()),
        Signer::Undecided => {}
    }
    if !network.wallet_questions.may_ask(promise.payer) {
        return Err(Rejection::Unavailable);
    }
    let code = network.chain.node.code(promise.payer, LATEST).await.map_err(unavailable)?;
    if code.is_empty() {
        return Err(bad());
    }
    let signature = Bytes::copy_from_slice(&promise.signature);
    let asked = Wallet::isValidSignatureCall { hash: digest(promise), signature };
    let answer = network.chain.node.call(promise.payer, &asked.abi_encode(), LATEST).await;
    match answer.map_err(Unready::from) {
        Ok(said) => {
            // A yes is the function's own selector.
            let yes = Wallet::isValidSignatureCall::abi_decode_returns(&said)
                .is_ok_and(|said| said.0 == Wallet::isValidSignatureCall::SELECTOR);
            if !yes {
                return Err(bad());
            }
            network.wallet_questions.accepted(promise.payer);
            Ok(())
        }
        Err(Unready::Reverted(_)) => Err(bad()),
        Err(other) => Err(unready(&other)),
    }
}

/// Why nothing was signed, in the words that payers know.
pub(super) async fn declined(
    network: &NetworkSettler,
    promise: &Promise,
    charge: Money,
    why: Unready,
) -> Rejection {
    let Unready::Reverted(bytes) = &why else { return unready(&why) };
    // Permit2 does not say why the token did not move; the token does.
    if Revert::abi_decode(bytes).is_ok_and(|revert| revert.reason == TRANSFER_FAILED) {
        let Ok(funds) = funds(network, promise).await else { return Rejection::Unavailable };
        let found = enough(&funds, charge).and_then(|()| funds.route(promise, charge).map(drop));
        if let Err(found) = found {
            return found;
        }
    }
    Rejection::Invalid(reason(bytes).to_owned())
}

fn unready(why: &Unready) -> Rejection {
    match why {
        Unready::Reverted(bytes) => Rejection::Invalid(reason(bytes).to_owned()),
        Unready::CodeRefused => Rejection::Invalid(CODE_REFUSED.to_owned()),
        Unready::CodeFailed => Rejection::Invalid(CODE_FAILED.to_owned()),
        Unready::Node(_) | Unready::Store | Unready::TooDear | Unready::NoFunds => {
            Rejection::Unavailable
        }
    }
}

fn unavailable(_: NoAnswer) -> Rejection {
    Rejection::Unavailable
}

/// The name that x402 has for what a contract said no with.
fn reason(revert: &[u8]) -> &'static str {
    use Permit2::Permit2Errors as P;
    use UptoProxy::UptoProxyErrors as U;
    match (P::abi_decode(revert), U::abi_decode(revert)) {
        (Ok(P::InvalidNonce(_)), _) => USED_NONCE,
        (Ok(P::SignatureExpired(_)), _) => "permit2_deadline_expired",
        (
            Ok(
                P::InvalidSignatureLength(_)
                | P::InvalidSignature(_)
                | P::InvalidSigner(_)
                | P::InvalidContractSignature(_),
            ),
            _,
        ) => BAD_SIGNATURE,
        (Err(_), Ok(U::AmountExceedsPermitted(_))) => "upto_amount_exceeds_permitted",
        (Err(_), Ok(U::UnauthorizedFacilitator(_))) => "upto_unauthorized_facilitator",
        (Err(_), Ok(U::PaymentTooEarly(_))) => "permit2_payment_too_early",
        (Err(_), Ok(U::Permit2612AmountMismatch(_))) => "permit2_2612_amount_mismatch",
        (Err(_), Err(_)) => "permit2_simulation_failed",
    }
}

#[cfg(test)]
mod tests;
