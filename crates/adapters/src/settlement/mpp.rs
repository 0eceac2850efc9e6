//! MPP on a chain: the payer's signed transfer (EIP-3009), and the events that prove it.
//!
//! Any account may send an authorization. A failed transaction of ours therefore proves nothing
//! until the state of the authorization is known, and a transfer by another sender is a payment.

use alloy_sol_types::{Revert, SolError};
use async_trait::async_trait;
use order::model::chain::Network;
use order::model::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use pay::transfer::{ConfirmedTransfer, TransferStatus};

use super::network_settler::{NetworkSettler, PrepareError, SettleFailure};
use super::outcome_log::log_doubt;
use super::preparation::{PreparedCall, UNREADABLE};
use super::{Settler, log_unready};
use crate::rpc::TransactionReceipt;

mod trace;
mod transfer;

use trace::AuthorizationState;
use transfer::{call, shows};

const USED: &str = "This authorization was used for another transfer, or cancelled. Ask for a \
                    new challenge and sign that one.";
const CODE_REFUSED: &str = "Accounts with code cannot pay here. Pay from a plain account.";
const CODE_FAILED: &str = "The last payment of this wallet contract failed on chain. Try again in \
                           an hour, or pay from a plain account.";
const EXPIRED: &str = "This authorization has run out. Ask for a new challenge and sign that one.";

#[async_trait]
impl TransferSettler for Settler {
    fn support(&self, network: Network) -> TransferSupport {
        if self.networks.contains_key(&network) {
            TransferSupport::Offered
        } else {
            TransferSupport::NotOffered
        }
    }

    async fn verify(
        &self,
        authorization: &TransferAuthorization,
    ) -> Result<AuthorizationUse, Rejection> {
        let network = self.served(authorization.network)?;
        of_usdc(authorization)?;
        let _permit = network.simulation_permit().await?;
        match network.try_call(&call(authorization)).await {
            Ok(()) => Ok(AuthorizationUse::Unused),
            Err(why) => {
                unless_moved(network, authorization, &why).await.map(|()| AuthorizationUse::Used)
            }
        }
    }

    async fn prepare(
        &self,
        authorization: &TransferAuthorization,
        earlier: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        let network = self.served(authorization.network)?;
        of_usdc(authorization)?;
        let read = |kept| PreparedCall::read(kept).ok_or(Rejection::Unavailable);
        let earlier = earlier.map(read).transpose()?;
        let _permit = network.simulation_permit().await?;
        match network.simulate(&call(authorization)).await {
            Ok(prepared) => {
                let preparation = prepared.after(earlier).write();
                Ok(PreparedTransfer { preparation, usage: AuthorizationUse::Unused })
            }
            Err(why) => {
                log_unready(authorization.network, &why);
                unless_moved(network, authorization, &why).await?;
                let others = || PreparedCall::made_by_others(network.address());
                let preparation = earlier.unwrap_or_else(others).write();
                Ok(PreparedTransfer { preparation, usage: AuthorizationUse::Used })
            }
        }
    }

    async fn settle(&self, due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        let network = self.traced(due.authorization.network)?;
        let unreadable = || Unsettled::Lost(UNREADABLE.to_owned());
        let prepared = PreparedCall::read(due.preparation).ok_or_else(unreadable)?;
        let paid = |receipt: &TransactionReceipt| shows(receipt, due.authorization);
        match network.settle(call(due.authorization), &prepared, &paid).await {
            Ok(moved) => Ok(moved),
            Err(unpaid) => after(unpaid, due.authorization, network, &prepared).await,
        }
    }

    async fn trace(
        &self,
        due: TransferPayment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        let network = due.authorization.network;
        let traced = trace::trace(self.traced(network)?, due, reported).await;
        log_doubt(network, reported, traced)
    }
}

/// The outcome if our own transaction did not pay: another one may have, since any sender can
/// read the authorization in our block and send it.
async fn after(
    unpaid: SettleFailure,
    authorization: &TransferAuthorization,
    network: &NetworkSettler,
    prepared: &PreparedCall,
) -> Result<ConfirmedTransfer, Unsettled> {
    let found = trace::find(network, authorization, Some(prepared.since)).await;
    match (found, unpaid) {
        (Ok(AuthorizationState::Moved(moved)), _) => Ok(moved),
        (Ok(AuthorizationState::Unused), SettleFailure::NeverSent(reason)) => {
            Err(Unsettled::Withdrawn(reason.to_string()))
        }
        (
            Ok(AuthorizationState::Expired | AuthorizationState::Elsewhere(Finality::Final)),
            unpaid,
        ) => Err(Unsettled::Refused(unpaid.reason())),
        (
            Ok(AuthorizationState::Unused | AuthorizationState::Elsewhere(Finality::Provisional))
            | Err(_),
            unpaid,
        ) => Err(Unsettled::Lost(unpaid.reason())),
    }
}

/// Events of any other contract prove nothing.
fn of_usdc(authorization: &TransferAuthorization) -> Result<(), Rejection> {
    if authorization.token == authorization.network.usdc() {
        return Ok(());
    }
    Err(Rejection::Invalid("This authorization is not for USDC.".to_owned()))
}

/// Why the transfer cannot be made, for the payer; no error if another sender has made this
/// transfer.
async fn unless_moved(
    network: &NetworkSettler,
    authorization: &TransferAuthorization,
    why: &PrepareError,
) -> Result<(), Rejection> {
    let reason = match why {
        PrepareError::Reverted(bytes) => reason(bytes),
        PrepareError::CodeRefused => return Err(Rejection::Invalid(CODE_REFUSED.to_owned())),
        PrepareError::CodeFailed => return Err(Rejection::Invalid(CODE_FAILED.to_owned())),
        PrepareError::Node(_)
        | PrepareError::Store
        | PrepareError::TooDear
        | PrepareError::NoFunds => {
            return Err(Rejection::Unavailable);
        }
    };
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    match trace::find(network, authorization, None).await {
        Ok(AuthorizationState::Moved(_)) => Ok(()),
        Ok(AuthorizationState::Elsewhere(_)) => invalid(USED),
        // It may have been used before it expired, and one node is behind.
        Ok(AuthorizationState::Unused) if [USED, EXPIRED].contains(&reason) => {
            Err(Rejection::Unavailable)
        }
        Ok(AuthorizationState::Unused | AuthorizationState::Expired) => invalid(reason),
        Err(_) => Err(Rejection::Unavailable),
    }
}

/// The token's revert reason, for the payer.
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
        "USDC does not accept the signature. The payer's account may have code (EIP-7702) that \
         rejects signatures of its key: remove the delegation, or pay from a plain account."
    } else {
        "USDC refused the transfer when it was tried. Pay from another account."
    }
}

#[cfg(test)]
mod tests;
