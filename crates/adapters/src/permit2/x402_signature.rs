//! Whether the code of a payer's account accepts a signature that no key of the payer made (ERC-1271).

use alloy_primitives::Bytes;
use alloy_sol_types::SolCall;
use evm::interfaces::Wallet;
use order::model::evidence::BlockTag;
use order::tender::Rejection;
use pay::x402::credential::Permit2Authorization;
use pay::x402::signature::authorization_digest;

use crate::payer_accounts::PayerAccounts;
use crate::rpc::{BlockId, Node, NodeError};
use crate::settlement::outbox::AccountCode;

const LATEST: BlockId = BlockId::Tag(BlockTag::Latest);

pub(crate) const BAD_SIGNATURE: &str = "invalid_permit2_signature";
/// The account has no code, and the signature says how it would be deployed (ERC-6492).
const NOT_DEPLOYED: &str = "contract_wallet_not_deployed";
/// The account has code, and the code does not accept the signature.
pub(crate) const REJECTED_SIGNATURE: &str = "contract_wallet_rejected_signature";

/// What an account says about a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalletAnswer {
    Accepts,
    /// Also if it has no code, or code that is not a wallet's.
    Rejects,
}

/// Checks a signature that no key of the payer made, within the limits of such checks.
pub(crate) async fn check(
    node: &Node,
    accounts: &PayerAccounts,
    authorization: &Permit2Authorization,
) -> Result<(), Rejection> {
    let payer = authorization.payer;
    let invalid = |reason: &str| Err(Rejection::Invalid(reason.to_owned()));
    if !accounts.may_ask(payer) {
        return Err(Rejection::Unavailable);
    }
    let code = node.code(payer, LATEST).await.map_err(|_| Rejection::Unavailable)?;
    match AccountCode::of(&code) {
        AccountCode::None if authorization.has_deployment() => return invalid(NOT_DEPLOYED),
        AccountCode::None => {
            accounts.saw(payer, AccountCode::None);
            return invalid(BAD_SIGNATURE);
        }
        AccountCode::Present => accounts.saw(payer, AccountCode::Present),
    }
    match ask(node, authorization).await {
        Ok(WalletAnswer::Accepts) => {
            accounts.accepted(payer);
            Ok(())
        }
        Ok(WalletAnswer::Rejects) => invalid(REJECTED_SIGNATURE),
        Err(_) => Err(Rejection::Unavailable),
    }
}

/// Calls `isValidSignature` of the payer's account.
pub(crate) async fn ask(
    node: &Node,
    authorization: &Permit2Authorization,
) -> Result<WalletAnswer, NodeError> {
    let asked = Wallet::isValidSignatureCall {
        hash: authorization_digest(authorization).into(),
        signature: Bytes::copy_from_slice(authorization.account_signature()),
    };
    match node.call(authorization.payer, &asked.abi_encode(), LATEST).await {
        Ok(said) => {
            // The answer is the function's selector.
            let accepts = Wallet::isValidSignatureCall::abi_decode_returns(&said)
                .is_ok_and(|said| said.0 == Wallet::isValidSignatureCall::SELECTOR);
            Ok(if accepts { WalletAnswer::Accepts } else { WalletAnswer::Rejects })
        }
        Err(NodeError::Reverted(_)) => Ok(WalletAnswer::Rejects),
        Err(why) => Err(why),
    }
}
