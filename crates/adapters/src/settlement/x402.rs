//! x402 on a chain: the calls of the scheme `upto`, and the events that prove a payment.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{Revert, SolCall, SolError, SolEvent, SolInterface};
use evm::contracts;
use evm::interfaces::{
    EIP2612Permit, Permit2, PermitTransferFrom, TokenPermissions, UptoProxy, Usdc, Witness,
};
use order::model::chain::EvmAddress;
use order::model::money::Usdc as Money;
use order::model::payment::{Instrument, PaymentKey};
use order::tender::Rejection;
use pay::x402::credential::{Eip2612Permit, Permit2Authorization};
use pay::x402::settler::KnownAccount;
use tokio::sync::SemaphorePermit;

use super::chain::LATEST;
use super::limits::ContractWallets;
use super::network_settler::{NetworkSettler, PaymentCall, PrepareError};
use super::preparation::Allowance;
use crate::permit2;
use crate::permit2::x402_signature::{
    BAD_SIGNATURE, CODE_REFUSED, REJECTED_SIGNATURE, WalletAnswer,
};
use crate::rpc::{EventLog, NodeError, TransactionReceipt, from_alloy, to_alloy};
use crate::settlement::proof::NonceState;

pub(super) mod trace;

const PERMIT2: Address = Address::new(contracts::PERMIT2);
const UPTO_PROXY: Address = Address::new(contracts::UPTO_PROXY);

/// Permit2's error for a failed transfer.
const TRANSFER_FAILED: &str = "TRANSFER_FROM_FAILED";

const USED_NONCE: &str = "permit2_invalid_nonce";
const NO_BALANCE: &str = "permit2_insufficient_balance";
const SIMULATION_FAILED: &str = "permit2_simulation_failed";
const CODE_FAILED: &str = "contract_wallet_failed_recently";

/// All transactions for this authorization have this key.
fn key(authorization: &Permit2Authorization) -> PaymentKey {
    let Permit2Authorization { network, payer, nonce, .. } = *authorization;
    PaymentKey::of_nonce(Instrument::Permit2, network, payer, nonce)
}

/// The call that transfers `charge` from the payer to the seller.
///
/// Permit2 marks the nonce as used in the same call, so at most one transaction can succeed.
pub(super) fn call(
    authorization: &Permit2Authorization,
    charge: Money,
    allowance: Allowance,
) -> PaymentCall {
    let permit = PermitTransferFrom {
        permitted: permitted(authorization),
        nonce: U256::from_be_bytes(authorization.nonce),
        deadline: U256::from(authorization.deadline),
    };
    let amount = U256::from(charge.atomic());
    let (owner, witness) = (to_alloy(authorization.payer), witness(authorization));
    let signature = Bytes::copy_from_slice(authorization.account_signature());
    let data = match (allowance, &authorization.permit) {
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
    let (payer, deadline) = (authorization.payer, authorization.deadline);
    PaymentCall { key: key(authorization), payer, to: from_alloy(UPTO_PROXY), data, deadline }
}

fn permitted(authorization: &Permit2Authorization) -> TokenPermissions {
    let (token, amount) =
        (to_alloy(authorization.network.usdc()), U256::from(authorization.most.atomic()));
    TokenPermissions { token, amount }
}

fn witness(authorization: &Permit2Authorization) -> Witness {
    Witness {
        to: to_alloy(authorization.pay_to),
        facilitator: to_alloy(authorization.facilitator),
        validAfter: U256::from(authorization.valid_after),
    }
}

fn spelled_out(permit: &Eip2612Permit) -> EIP2612Permit {
    let (r, s) = (&permit.signature[..32], &permit.signature[32..64]);
    EIP2612Permit {
        value: U256::from(permit.amount.atomic()),
        deadline: U256::from(permit.deadline),
        r: B256::from_slice(r),
        s: B256::from_slice(s),
        v: permit.signature[64],
    }
}

/// A transfer event of the token proves the payment.
pub(super) fn shows(
    receipt: &TransactionReceipt,
    authorization: &Permit2Authorization,
    charge: Money,
) -> bool {
    receipt.logs.iter().any(|log| is_payment(log, authorization, charge))
}

fn is_payment(log: &EventLog, authorization: &Permit2Authorization, charge: Money) -> bool {
    let topics = log.topics.iter().copied();
    let moved = Usdc::Transfer::decode_raw_log_validate(topics, &log.data);
    log.address == to_alloy(authorization.network.usdc())
        && moved.is_ok_and(|moved| {
            moved.from == to_alloy(authorization.payer)
                && moved.to == to_alloy(authorization.pay_to)
                && moved.value == U256::from(charge.atomic())
        })
}

/// All checks that need the chain, of an authorization whose signature was checked.
pub(super) async fn verify(
    network: &NetworkSettler,
    simulation: SemaphorePermit<'_>,
    authorization: &Permit2Authorization,
) -> Result<(), Rejection> {
    let nonce = permit2::nonce(authorization.payer, authorization.nonce);
    let asked = (nonce.contract, nonce.call_data.clone());
    let [balance, allowance] = Funds::questions(authorization);
    let answers = network.chain.node.call_all(&[asked, balance, allowance], LATEST).await;
    let (state, funds) = match answers.map_err(unavailable)?.as_slice() {
        [state, balance, allowance] => (nonce.read(state), Funds::read(balance, allowance)),
        _ => return Err(Rejection::Unavailable),
    };
    let (state, funds) = (state.map_err(unavailable)?, funds.map_err(unavailable)?);
    if state == NonceState::Used {
        return Err(Rejection::Invalid(USED_NONCE.to_owned()));
    }
    enough(&funds, authorization.most)?;
    match funds.route(authorization, authorization.most)? {
        Allowance::Given => Ok(()),
        // Only the token can verify the permit.
        Allowance::ByPermit => {
            let charge = authorization.most;
            let call = call(authorization, charge, Allowance::ByPermit);
            match network.try_call(&call).await {
                Ok(()) => Ok(()),
                Err(why) => Err(declined(network, simulation, authorization, charge, why).await),
            }
        }
    }
}

struct Funds {
    balance: U256,
    allowance: U256,
}

impl Funds {
    /// The calls that read them.
    fn questions(authorization: &Permit2Authorization) -> [(EvmAddress, Vec<u8>); 2] {
        let (usdc, account) = (authorization.network.usdc(), to_alloy(authorization.payer));
        let balance = Usdc::balanceOfCall { account };
        let allowance = Usdc::allowanceCall { owner: account, spender: PERMIT2 };
        [(usdc, balance.abi_encode()), (usdc, allowance.abi_encode())]
    }

    fn read(balance: &[u8], allowance: &[u8]) -> Result<Self, NodeError> {
        let balance = Usdc::balanceOfCall::abi_decode_returns(balance);
        let allowance = Usdc::allowanceCall::abi_decode_returns(allowance);
        match (balance, allowance) {
            (Ok(balance), Ok(allowance)) => Ok(Self { balance, allowance }),
            (Err(_), _) | (_, Err(_)) => Err(NodeError::Unusable),
        }
    }

    /// How Permit2 gets its allowance.
    fn route(
        &self,
        authorization: &Permit2Authorization,
        amount: Money,
    ) -> Result<Allowance, Rejection> {
        if self.allowance >= U256::from(amount.atomic()) {
            return Ok(Allowance::Given);
        }
        authorization
            .permit
            .as_ref()
            .map(|_| Allowance::ByPermit)
            .ok_or(Rejection::AllowanceMissing)
    }
}

async fn funds(
    network: &NetworkSettler,
    authorization: &Permit2Authorization,
) -> Result<Funds, NodeError> {
    let answers = network.chain.node.call_all(&Funds::questions(authorization), LATEST).await?;
    match answers.as_slice() {
        [balance, allowance] => Funds::read(balance, allowance),
        _ => Err(NodeError::Unusable),
    }
}

fn enough(funds: &Funds, amount: Money) -> Result<(), Rejection> {
    if funds.balance < U256::from(amount.atomic()) {
        return Err(Rejection::Invalid(NO_BALANCE.to_owned()));
    }
    Ok(())
}

/// Whether the permit is needed.
pub(super) async fn route(
    network: &NetworkSettler,
    authorization: &Permit2Authorization,
    charge: Money,
) -> Result<Allowance, Rejection> {
    match authorization.permit {
        None => Ok(Allowance::Given),
        Some(_) => {
            let funds = funds(network, authorization).await.map_err(unavailable)?;
            funds.route(authorization, charge)
        }
    }
}

/// Why nothing was signed, as an x402 reason, after a simulation.
pub(super) async fn declined(
    network: &NetworkSettler,
    simulation: SemaphorePermit<'_>,
    authorization: &Permit2Authorization,
    charge: Money,
    why: PrepareError,
) -> Rejection {
    let invalid = |reason: &str| Rejection::Invalid(reason.to_owned());
    let bytes = match why {
        PrepareError::Reverted(bytes) => bytes,
        PrepareError::CodeRefused => return invalid(CODE_REFUSED),
        PrepareError::CodeFailed => return invalid(CODE_FAILED),
        PrepareError::Node(_)
        | PrepareError::Store
        | PrepareError::TooDear
        | PrepareError::NoFunds => return Rejection::Unavailable,
    };
    // Permit2 does not say why the transfer failed; balance and allowance do.
    if Revert::abi_decode(&bytes).is_ok_and(|revert| revert.reason == TRANSFER_FAILED) {
        let Ok(funds) = funds(network, authorization).await else { return Rejection::Unavailable };
        let found =
            enough(&funds, charge).and_then(|()| funds.route(authorization, charge).map(drop));
        if let Err(found) = found {
            return found;
        }
    }
    // The payer's code may run again, and must not take the simulations of others.
    drop(simulation);
    invalid(match reason(&bytes) {
        plain @ (BAD_SIGNATURE | SIMULATION_FAILED) => {
            explained(network, authorization, plain).await
        }
        REJECTED_SIGNATURE if network.signatures().contract_wallets == ContractWallets::Refused => {
            CODE_REFUSED
        }
        exact => exact,
    })
}

/// The reason of a revert that the payer's code may have caused. Code may revert with any words of
/// its own, also that of an account with a key (EIP-7702).
async fn explained(
    network: &NetworkSettler,
    authorization: &Permit2Authorization,
    without_code: &'static str,
) -> &'static str {
    if network.accounts.known(authorization.payer) == KnownAccount::WithoutCode {
        return without_code;
    }
    match network.signatures().ask(authorization).await {
        Ok(WalletAnswer::NoCode) => without_code,
        Ok(WalletAnswer::Rejects) => REJECTED_SIGNATURE,
        Ok(WalletAnswer::CodeRefused) => CODE_REFUSED,
        // Nothing more is known.
        Ok(WalletAnswer::Accepts) | Err(_) => SIMULATION_FAILED,
    }
}

fn unavailable(_: NodeError) -> Rejection {
    Rejection::Unavailable
}

/// The x402 reason of a revert.
fn reason(revert: &[u8]) -> &'static str {
    use Permit2::Permit2Errors as P;
    use UptoProxy::UptoProxyErrors as U;
    match (P::abi_decode(revert), U::abi_decode(revert)) {
        (Ok(P::InvalidNonce(_)), _) => USED_NONCE,
        (Ok(P::SignatureExpired(_)), _) => "permit2_deadline_expired",
        (Ok(P::InvalidSignatureLength(_) | P::InvalidSignature(_) | P::InvalidSigner(_)), _) => {
            BAD_SIGNATURE
        }
        (Ok(P::InvalidContractSignature(_)), _) => REJECTED_SIGNATURE,
        (Err(_), Ok(U::AmountExceedsPermitted(_))) => "upto_amount_exceeds_permitted",
        (Err(_), Ok(U::UnauthorizedFacilitator(_))) => "upto_unauthorized_facilitator",
        (Err(_), Ok(U::PaymentTooEarly(_))) => "permit2_payment_too_early",
        (Err(_), Ok(U::Permit2612AmountMismatch(_))) => "permit2_2612_amount_mismatch",
        // What our own checks and calls make impossible.
        (Ok(P::InvalidAmount(_)), _)
        | (
            Err(_),
            Ok(U::InvalidAmount(_) | U::InvalidOwner(_) | U::InvalidDestination(_)) | Err(_),
        ) => SIMULATION_FAILED,
    }
}

#[cfg(test)]
mod tests;
