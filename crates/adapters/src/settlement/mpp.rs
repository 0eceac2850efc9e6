//! What MPP asks of a chain: the payer's signed transfer (EIP-3009), and what proves that it was made.
//!
//! An authorization names nobody who must carry it: whoever has seen it may. So a
//! transaction of ours that fails proves nothing before it is known what became of the
//! authorization, and money that somebody else moved with it is moved all the same.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{Revert, SolCall, SolError, SolEvent};
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::payment::{Finality, Instrument, PaymentKey, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::mpp::facilitator::{Due, Facilitator, Found, Prepared, Service};

use super::abi::Usdc;
use super::network::{NetworkSettler, PaymentCall, Unpaid, Unready};
use super::preparation::{PreparedCall, UNREADABLE};
use super::{Settler, log_unready};
use crate::nonce::Nonce;
use crate::rpc::{Log, Receipt};

mod trace;

use trace::Whereabouts;

const USED: &str = "This authorization was used for another transfer, or cancelled. Ask for a \
                    new challenge and sign that one.";
const CODE_REFUSED: &str = "Accounts with code cannot pay here. Pay from a plain account.";
const CODE_FAILED: &str = "The last payment of this wallet contract failed on chain. Try again in \
                           an hour, or pay from a plain account.";
const EXPIRED: &str = "This authorization has run out. Ask for a new challenge and sign that one.";

#[async_trait]
impl Facilitator for Settler {
    fn service(&self, network: Network) -> Service {
        if self.networks.contains_key(&network) { Service::Offered } else { Service::NotOffered }
    }

    async fn verify(&self, authorization: &Authorization) -> Result<Found, Rejection> {
        let network = self.served(authorization.network)?;
        of_usdc(authorization)?;
        let _turn = network.turn().await?;
        match network.try_call(&call(authorization)).await {
            Ok(()) => Ok(Found::Unused),
            Err(why) => unless_moved(network, authorization, &why).await.map(|()| Found::Carried),
        }
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        earlier: Option<&Preparation>,
    ) -> Result<Prepared, Rejection> {
        let network = self.served(authorization.network)?;
        of_usdc(authorization)?;
        let read = |kept| PreparedCall::read(kept).ok_or(Rejection::Unavailable);
        let earlier = earlier.map(read).transpose()?;
        let _turn = network.turn().await?;
        match network.simulate(&call(authorization)).await {
            Ok(prepared) => {
                let preparation = prepared.after(earlier).write();
                Ok(Prepared { preparation, found: Found::Unused })
            }
            Err(why) => {
                log_unready(authorization.network, &why);
                unless_moved(network, authorization, &why).await?;
                let others = || PreparedCall::made_by_others(network.address());
                let preparation = earlier.unwrap_or_else(others).write();
                Ok(Prepared { preparation, found: Found::Carried })
            }
        }
    }

    async fn settle(&self, due: Due<'_>) -> Result<Moved, Unsettled> {
        let network = self.traced(due.authorization.network)?;
        let unreadable = || Unsettled::Lost(UNREADABLE.to_owned());
        let prepared = PreparedCall::read(due.preparation).ok_or_else(unreadable)?;
        let paid = |receipt: &Receipt| shows(receipt, due.authorization);
        match network.settle(call(due.authorization), &prepared, &paid).await {
            Ok(moved) => Ok(moved),
            Err(unpaid) => after(unpaid, due.authorization, network, &prepared).await,
        }
    }

    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure> {
        let network = due.authorization.network;
        let traced = trace::trace(self.traced(network)?, due, told).await;
        traced.map_err(|doubt| doubt.told(network))
    }
}

/// What it means that our own transaction did not pay: another one may have, and once ours
/// has been in a block anybody can read the authorization there and send it.
async fn after(
    unpaid: Unpaid,
    authorization: &Authorization,
    network: &NetworkSettler,
    prepared: &PreparedCall,
) -> Result<Moved, Unsettled> {
    let found = trace::find(network, authorization, Some(prepared.since)).await;
    match (found, unpaid) {
        (Ok(Whereabouts::Moved(moved)), _) => Ok(moved),
        (Ok(Whereabouts::Unused), Unpaid::NeverSent(reason)) => {
            Err(Unsettled::Withdrawn(reason.to_string()))
        }
        (Ok(Whereabouts::Expired | Whereabouts::Elsewhere(Finality::Final)), unpaid) => {
            Err(Unsettled::Refused(unpaid.words()))
        }
        (
            Ok(Whereabouts::Unused | Whereabouts::Elsewhere(Finality::Provisional)) | Err(_),
            unpaid,
        ) => Err(Unsettled::Lost(unpaid.words())),
    }
}

fn place(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

/// The word of any other contract is worth nothing.
fn of_usdc(authorization: &Authorization) -> Result<(), Rejection> {
    if authorization.token == authorization.network.usdc() {
        return Ok(());
    }
    Err(Rejection::Invalid("This authorization is not for USDC.".to_owned()))
}

/// All transactions that use this authorization share its key.
fn key(authorization: &Authorization) -> PaymentKey {
    let Authorization { network, from, nonce, .. } = *authorization;
    PaymentKey::of_nonce(Instrument::TransferAuthorization, network, from, nonce)
}

/// The call that makes the payer's transfer.
///
/// The token marks the nonce as used in the same call, so of all the transactions that
/// anybody may ever send for it, one can succeed.
fn call(authorization: &Authorization) -> PaymentCall {
    let signature = &authorization.signature;
    let call = Usdc::transferWithAuthorizationCall {
        from: place(authorization.from),
        to: place(authorization.to),
        value: U256::from(authorization.value.atomic()),
        validAfter: U256::from(authorization.valid_after),
        validBefore: U256::from(authorization.valid_before),
        nonce: authorization.nonce.into(),
        v: signature[64],
        r: B256::from_slice(&signature[..32]),
        s: B256::from_slice(&signature[32..64]),
    };
    PaymentCall {
        key: key(authorization),
        payer: authorization.from,
        to: authorization.network.usdc(),
        data: call.abi_encode(),
        // The token takes it before that second, and not in it.
        deadline: authorization.valid_before.saturating_sub(1),
    }
}

/// The nonce, as the token is asked about it.
fn nonce(authorization: &Authorization) -> Nonce {
    let asked = Usdc::authorizationStateCall {
        authorizer: place(authorization.from),
        nonce: authorization.nonce.into(),
    };
    let contract = authorization.network.usdc();
    Nonce { contract, question: asked.abi_encode(), bit: U256::MAX }
}

/// What proves that a transaction paid: the token announced that it used this nonce, and
/// with its next word the transfer. A transaction may use many authorizations, and only
/// this order tells whose transfer is whose.
fn shows(receipt: &Receipt, authorization: &Authorization) -> bool {
    let uses = |log: &Log| is_use(log, authorization);
    receipt.logs.windows(2).any(|pair| uses(&pair[0]) && is_payment(&pair[1], authorization))
}

fn is_use(log: &Log, authorization: &Authorization) -> bool {
    let topics = log.topics.iter().copied();
    let used = Usdc::AuthorizationUsed::decode_raw_log_validate(topics, &log.data);
    log.address == place(authorization.network.usdc())
        && used.is_ok_and(|used| {
            used.authorizer == place(authorization.from) && used.nonce.0 == authorization.nonce
        })
}

fn is_payment(log: &Log, authorization: &Authorization) -> bool {
    let topics = log.topics.iter().copied();
    let moved = Usdc::Transfer::decode_raw_log_validate(topics, &log.data);
    log.address == place(authorization.network.usdc())
        && moved.is_ok_and(|moved| {
            moved.from == place(authorization.from)
                && moved.to == place(authorization.to)
                && moved.value == U256::from(authorization.value.atomic())
        })
}

/// Why the transfer cannot be made, in words for the payer; all is well if somebody
/// has made this very transfer already.
async fn unless_moved(
    network: &NetworkSettler,
    authorization: &Authorization,
    why: &Unready,
) -> Result<(), Rejection> {
    let reason = match why {
        Unready::Reverted(bytes) => reason(bytes),
        Unready::CodeRefused => return Err(Rejection::Invalid(CODE_REFUSED.to_owned())),
        Unready::CodeFailed => return Err(Rejection::Invalid(CODE_FAILED.to_owned())),
        Unready::Node(_) | Unready::Store | Unready::TooDear | Unready::NoFunds => {
            return Err(Rejection::Unavailable);
        }
    };
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    match trace::find(network, authorization, None).await {
        Ok(Whereabouts::Moved(_)) => Ok(()),
        Ok(Whereabouts::Elsewhere(_)) => invalid(USED),
        // It was used before it ran out, perhaps, and one node does not know yet.
        Ok(Whereabouts::Unused) if [USED, EXPIRED].contains(&reason) => Err(Rejection::Unavailable),
        Ok(Whereabouts::Unused | Whereabouts::Expired) => invalid(reason),
        Err(_) => Err(Rejection::Unavailable),
    }
}

/// What the token said no with, for the payer.
fn reason(revert: &[u8]) -> &'static str {
    let words = Revert::abi_decode(revert).map(|revert| revert.reason).unwrap_or_default();
    let says = |part: &str| words.contains(part);
    if says("used or canceled") {
        USED
    } else if says("authorization is expired") {
        EXPIRED
    } else if says("not yet valid") {
        "This authorization is not valid yet. Sign one with a validAfter of 0."
    } else if says("exceeds balance") {
        "The payer's account does not hold enough USDC. Add some, or pay from another account."
    } else if says("blacklisted") {
        "USDC's issuer has blocked the payer's or the seller's account. Pay from another account."
    } else if says("paused") {
        "USDC's issuer has paused all transfers. Try again later."
    } else if says("signature") {
        "USDC does not accept the signature. A wallet that is a contract, or acts as one, \
         cannot pay here; pay from a plain account."
    } else {
        "USDC refused the transfer when it was tried. Pay from another account."
    }
}

#[cfg(test)]
mod tests;
