//! What MPP asks of a chain: the payer's signed transfer (EIP-3009), and what proves that it was made.
//!
//! An authorization names nobody who must carry it: whoever has seen it may. So a
//! transaction of ours that fails proves nothing before it is known what became of the
//! authorization, and money that somebody else moved with it is moved all the same.

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::{Revert, SolCall, SolError, SolEvent};
use async_trait::async_trait;
use order::chain::{EvmAddress, Network};
use order::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::Rejection;
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::mpp::facilitator::{Due, Facilitator, Found, Prepared, Service};

use super::abi::Usdc;
use super::bundle::{Bundle, UNREADABLE};
use super::lane::{Errand, LATEST, Lane, Unpaid, Unready, Whose};
use super::queue::ErrandId;
use super::{Settler, complain};
use crate::nonce::Nonce;
use crate::rpc::{Log, Receipt};

mod trace;

use trace::Whereabouts;

const USED: &str = "This authorization was used for another transfer, or cancelled. Ask for a \
                    new challenge and sign that one.";
const EXPIRED: &str = "This authorization has run out. Ask for a new challenge and sign that one.";

#[async_trait]
impl Facilitator for Settler {
    fn service(&self, network: Network) -> Service {
        if self.lanes.contains_key(&network) { Service::Offered } else { Service::NotOffered }
    }

    async fn verify(&self, authorization: &Authorization) -> Result<Found, Rejection> {
        let lane = self.lane(authorization.network)?;
        of_usdc(authorization)?;
        let errand = errand(authorization);
        let tried = lane.node.call_as(lane.address(), errand.to, &errand.data, LATEST).await;
        match tried.map_err(Unready::from) {
            Ok(_) => Ok(Found::Unused),
            Err(why) => unless_moved(lane, authorization, &why).await.map(|()| Found::Carried),
        }
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        earlier: Option<&Preparation>,
    ) -> Result<Prepared, Rejection> {
        let unused = |preparation| Prepared { preparation, found: Found::Unused };
        let lane = self.lane(authorization.network)?;
        of_usdc(authorization)?;
        let bundle = match earlier {
            Some(kept) => {
                let bundle = Bundle::read(kept).ok_or(Rejection::Unavailable)?;
                // We can send what a retired key signed, and sign nothing more for it.
                if !bundle.is_by(lane.address()) {
                    return Ok(unused(kept.clone()));
                }
                Some(bundle)
            }
            None => None,
        };
        match lane.ready(&errand(authorization), bundle).await {
            Ok(bundle) => bundle.write().map(unused).ok_or(Rejection::Unavailable),
            Err(why) => {
                complain(authorization.network, &why);
                unless_moved(lane, authorization, &why).await?;
                let others = || Bundle::carried_by_others(lane.address()).write();
                let preparation = earlier.cloned().or_else(others);
                let carried = |preparation| Prepared { preparation, found: Found::Carried };
                preparation.map(carried).ok_or(Rejection::Unavailable)
            }
        }
    }

    async fn settle(&self, due: Due<'_>) -> Result<Moved, Failure> {
        let lane = self.node_of(due.authorization.network)?;
        let bundle = read(due.preparation)?;
        let paid = |receipt: &Receipt| shows(receipt, due.authorization);
        let whose = if bundle.is_by(lane.address()) {
            Whose::Ours(errand_id(due.authorization))
        } else {
            Whose::Retired
        };
        match lane.carry(whose, &bundle, &paid).await {
            Ok(moved) => Ok(moved),
            Err(unpaid) => after(unpaid, due.authorization, lane, &bundle).await,
        }
    }

    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure> {
        let network = due.authorization.network;
        let traced = trace::trace(self.node_of(network)?, due, told).await;
        traced.map_err(|doubt| doubt.told(network))
    }
}

fn read(preparation: &Preparation) -> Result<Bundle, Failure> {
    Bundle::read(preparation).ok_or_else(|| Failure::Lost(UNREADABLE.to_owned()))
}

/// What it means that our own transaction did not pay: somebody else's may have, and once
/// ours has been in a block anybody can read the authorization there and carry it.
async fn after(
    unpaid: Unpaid,
    authorization: &Authorization,
    lane: &Lane,
    bundle: &Bundle,
) -> Result<Moved, Failure> {
    let found = trace::find(lane, authorization, Some(bundle.since)).await;
    match (found, unpaid) {
        (Ok(Whereabouts::Moved(moved)), _) => Ok(moved),
        (
            Ok(Whereabouts::Expired | Whereabouts::Elsewhere(Finality::Final)),
            Unpaid::NeverSent(why) | Unpaid::Reverted(why) | Unpaid::Unknown(why),
        )
        | (Ok(Whereabouts::Unused), Unpaid::NeverSent(why)) => Err(Failure::Refused(why)),
        (
            Ok(Whereabouts::Unused | Whereabouts::Elsewhere(Finality::Provisional)) | Err(_),
            Unpaid::NeverSent(why) | Unpaid::Reverted(why) | Unpaid::Unknown(why),
        ) => Err(Failure::Lost(why)),
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

/// All transactions that carry this authorization are one errand.
fn errand_id(authorization: &Authorization) -> ErrandId {
    let chain = authorization.network.chain_id().to_be_bytes();
    let parts = [b"eip3009".as_slice(), &chain, &authorization.from.bytes(), &authorization.nonce];
    ErrandId(keccak256(parts.concat()).0)
}

/// The call that makes the payer's transfer.
///
/// The token marks the nonce as used in the same call, so of all the transactions that
/// anybody may ever send for it, one can succeed.
fn errand(authorization: &Authorization) -> Errand {
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
    let to = authorization.network.usdc();
    Errand { id: errand_id(authorization), to, data: call.abi_encode() }
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
    lane: &Lane,
    authorization: &Authorization,
    why: &Unready,
) -> Result<(), Rejection> {
    let reason = match why {
        Unready::Reverted(bytes) => reason(bytes),
        Unready::Node(_) | Unready::TooDear | Unready::NoFunds => {
            return Err(Rejection::Unavailable);
        }
    };
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    match trace::find(lane, authorization, None).await {
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
