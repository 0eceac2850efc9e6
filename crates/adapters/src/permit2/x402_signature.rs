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
use crate::settlement::limits::ContractWallets;
use crate::settlement::outbox::AccountCode;

const LATEST: BlockId = BlockId::Tag(BlockTag::Latest);

pub(crate) const BAD_SIGNATURE: &str = "invalid_permit2_signature";
/// The account has no code, and the signature says how it would be deployed (ERC-6492).
const NOT_DEPLOYED: &str = "contract_wallet_not_deployed";
/// The account has code, and the code does not accept the signature.
pub(crate) const REJECTED_SIGNATURE: &str = "contract_wallet_rejected_signature";
/// The account has code, and such accounts are refused.
pub(crate) const CODE_REFUSED: &str = "contract_wallet_not_accepted";

/// What an account says about a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalletAnswer {
    NoCode,
    /// It has code and was not asked, because such accounts are refused.
    CodeRefused,
    Accepts,
    /// Also if its code is not a wallet's.
    Rejects,
}

/// Who is asked about signatures, and within which limits.
pub(crate) struct SignatureCheck<'a> {
    pub(crate) node: &'a Node,
    pub(crate) accounts: &'a PayerAccounts,
    pub(crate) contract_wallets: ContractWallets,
    /// The most gas that the payer's code may use for its answer.
    pub(crate) gas_max: u64,
}

impl SignatureCheck<'_> {
    /// Checks a signature that no key of the payer made.
    pub(crate) async fn check(
        &self,
        authorization: &Permit2Authorization,
    ) -> Result<(), Rejection> {
        let reason = match self.ask(authorization).await? {
            WalletAnswer::Accepts => return Ok(()),
            WalletAnswer::NoCode if authorization.has_deployment() => NOT_DEPLOYED,
            WalletAnswer::NoCode => BAD_SIGNATURE,
            WalletAnswer::CodeRefused => CODE_REFUSED,
            WalletAnswer::Rejects => REJECTED_SIGNATURE,
        };
        Err(Rejection::Invalid(reason.to_owned()))
    }

    /// Asks the payer's account, if the limits allow it now.
    pub(crate) async fn ask(
        &self,
        authorization: &Permit2Authorization,
    ) -> Result<WalletAnswer, Rejection> {
        let payer = authorization.payer;
        if !self.accounts.may_ask(payer) {
            return Err(Rejection::Unavailable);
        }
        let code = self.node.code(payer, LATEST).await.map_err(|_| Rejection::Unavailable)?;
        match (AccountCode::of(&code), self.contract_wallets) {
            (AccountCode::None, _) => {
                // One that is about to be deployed is not remembered as one without code.
                if !authorization.has_deployment() {
                    self.accounts.saw(payer, AccountCode::None);
                }
                return Ok(WalletAnswer::NoCode);
            }
            (AccountCode::Present, ContractWallets::Refused) => {
                self.accounts.saw(payer, AccountCode::Present);
                return Ok(WalletAnswer::CodeRefused);
            }
            (AccountCode::Present, ContractWallets::Accepted) => {
                self.accounts.saw(payer, AccountCode::Present);
            }
        }
        self.is_valid_signature(authorization).await.map_err(|_| Rejection::Unavailable)
    }

    async fn is_valid_signature(
        &self,
        authorization: &Permit2Authorization,
    ) -> Result<WalletAnswer, NodeError> {
        let asked = Wallet::isValidSignatureCall {
            hash: authorization_digest(authorization).into(),
            signature: Bytes::copy_from_slice(authorization.account_signature()),
        };
        let (payer, data) = (authorization.payer, asked.abi_encode());
        match self.node.call_within(payer, &data, self.gas_max, LATEST).await {
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
}
