//! Verifies an authorization and settles it on chain, in the steps of the official facilitator.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolError;
use evm::interfaces::Permit2;
use evm::transaction::UnsignedTransaction;
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::chain::network::{address, evm_address};
use crate::chain::{ChainHandle, PERMIT2, TransactionStatus, UPTO_PROXY};
use crate::facilitator::request::PaymentRequest;
use crate::keys::Key;

/// Minimum remaining validity of an authorization, in seconds.
const MARGIN_SECONDS: u64 = 6;
const GAS: u64 = 300_000;
const PRIORITY_FEE: u128 = 1_000_000;
const MAX_FEE: u128 = 10_000_000_000;
/// Polling interval for a receipt.
const LOOK: Duration = Duration::from_millis(10);

pub(crate) struct OnChainSettler {
    chains: BTreeMap<Network, ChainHandle>,
    keys: Vec<Key>,
    patience: Duration,
    /// Transactions whose outcome was not reported yet, by the authorization's signature.
    pending: Mutex<HashMap<Bytes, B256>>,
    /// Transactions are sent one at a time, so that no two use the same nonce.
    sending: Mutex<()>,
}

/// The outcome of a settlement.
pub(crate) enum SettlementOutcome {
    CallResult {
        transaction: B256,
        amount: U256,
    },
    Pending {
        transaction: B256,
    },
    Reverted {
        transaction: B256,
    },
    /// Nothing was sent.
    Refused(&'static str),
}

impl OnChainSettler {
    pub(crate) fn new(
        chains: BTreeMap<Network, ChainHandle>,
        keys: Vec<Key>,
        patience: Duration,
    ) -> Self {
        Self { chains, keys, patience, pending: Mutex::default(), sending: Mutex::default() }
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = EvmAddress> {
        self.keys.iter().map(Key::address)
    }

    pub(crate) fn networks(&self) -> impl Iterator<Item = Network> {
        self.chains.keys().copied()
    }

    fn key(&self, account: Address) -> Option<&Key> {
        self.keys.iter().find(|key| address(key.address()) == account)
    }

    /// Checks whether this amount can be settled now.
    pub(crate) fn verify(
        &self,
        request: &PaymentRequest,
        amount: U256,
    ) -> Result<&ChainHandle, &'static str> {
        if request.accepted_scheme != "upto" || request.scheme != "upto" {
            return Err("invalid_upto_evm_scheme");
        }
        let chain = request.network().and_then(|network| self.chains.get(&network));
        let Some(chain) = chain.filter(|_| request.accepted_network == request.network) else {
            return Err("invalid_upto_evm_network_mismatch");
        };
        if request.spender != address(UPTO_PROXY) {
            return Err("invalid_permit2_spender");
        }
        if request.witness.to != request.pay_to {
            return Err("invalid_permit2_recipient_mismatch");
        }
        if self.key(request.witness.facilitator).is_none() {
            return Err("upto_facilitator_mismatch");
        }
        let now = chain.head().timestamp;
        if request.permit.deadline < U256::from(now.saturating_add(MARGIN_SECONDS)) {
            return Err("permit2_deadline_expired");
        }
        if request.witness.validAfter > U256::from(now) {
            return Err("permit2_not_yet_valid");
        }
        if request.permit.permitted.amount != amount {
            return Err("permit2_amount_mismatch");
        }
        if request.permit.permitted.token != request.asset {
            return Err("permit2_token_mismatch");
        }
        let settler = evm_address(request.witness.facilitator);
        match chain.simulate(settler, UPTO_PROXY, &request.calldata(amount)) {
            Ok(_) => Ok(chain),
            Err(revert) => Err(diagnosis(chain, request, amount, &revert)),
        }
    }

    /// Settles, or reports the outcome of an earlier transaction for this authorization.
    pub(crate) async fn settle(&self, request: &PaymentRequest, amount: U256) -> SettlementOutcome {
        let earlier = self.pending().remove(&request.signature);
        if let (Some(transaction), Some(chain)) =
            (earlier, request.network().and_then(|network| self.chains.get(&network)))
        {
            return self.confirm(chain, request, transaction, amount).await;
        }
        let most = request.permit.permitted.amount;
        let chain = match self.verify(request, most) {
            Ok(chain) => chain,
            Err(reason) => return SettlementOutcome::Refused(reason),
        };
        if amount > most {
            return SettlementOutcome::Refused(
                "invalid_upto_evm_payload_settlement_exceeds_amount",
            );
        }
        match self.send(chain, request, amount) {
            Some(transaction) => self.confirm(chain, request, transaction, amount).await,
            None => SettlementOutcome::Refused("invalid_exact_evm_transaction_failed"),
        }
    }

    fn send(&self, chain: &ChainHandle, request: &PaymentRequest, amount: U256) -> Option<B256> {
        let key = self.key(request.witness.facilitator)?;
        let _one_at_a_time = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = UnsignedTransaction {
            chain_id: chain.id().number(),
            nonce: chain.next_nonce_of(key.address()),
            priority_fee: PRIORITY_FEE,
            max_fee: MAX_FEE,
            gas: GAS,
            to: UPTO_PROXY.bytes(),
            value: 0,
            data: request.calldata(amount),
        };
        chain.send(&transaction.sign(key.signing_key())).ok().map(B256::from)
    }

    async fn confirm(
        &self,
        chain: &ChainHandle,
        request: &PaymentRequest,
        transaction: B256,
        amount: U256,
    ) -> SettlementOutcome {
        let mined = async {
            loop {
                match chain.settled(transaction.0) {
                    Some(TransactionStatus::Succeeded { .. }) => {
                        return SettlementOutcome::CallResult { transaction, amount };
                    }
                    Some(TransactionStatus::Reverted { .. }) => {
                        return SettlementOutcome::Reverted { transaction };
                    }
                    Some(TransactionStatus::Waiting) | None => sleep(LOOK).await,
                }
            }
        };
        match timeout(self.patience, mined).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.remember_pending(request, transaction);
                SettlementOutcome::Pending { transaction }
            }
        }
    }

    /// The next settlement of this authorization reports the outcome of this transaction.
    pub(crate) fn remember_pending(&self, request: &PaymentRequest, transaction: B256) {
        self.pending().insert(request.signature.clone(), transaction);
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<Bytes, B256>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The official facilitator checks the signature first, then balance and allowance.
fn diagnosis(
    chain: &ChainHandle,
    request: &PaymentRequest,
    amount: U256,
    revert: &[u8],
) -> &'static str {
    let signature = [
        Permit2::InvalidSigner::SELECTOR,
        Permit2::InvalidSignature::SELECTOR,
        Permit2::InvalidSignatureLength::SELECTOR,
        Permit2::InvalidContractSignature::SELECTOR,
    ];
    let owner = evm_address(request.owner);
    if signature.iter().any(|selector| revert.starts_with(selector)) {
        "invalid_permit2_signature"
    } else if U256::from(chain.usdc_of(owner)) < amount {
        "permit2_insufficient_balance"
    } else if U256::from(chain.allowance(owner, PERMIT2)) < amount {
        "permit2_allowance_required"
    } else {
        "permit2_simulation_failed"
    }
}

impl SettlementOutcome {
    pub(crate) fn transaction(&self) -> Option<B256> {
        match self {
            Self::CallResult { transaction, .. }
            | Self::Pending { transaction }
            | Self::Reverted { transaction } => Some(*transaction),
            Self::Refused(_) => None,
        }
    }

    pub(crate) fn written(&self, request: &PaymentRequest) -> Value {
        match self {
            Self::CallResult { transaction, amount } => json!({
                "success": true,
                "transaction": transaction.to_string(),
                "network": request.network,
                "payer": request.owner.to_string(),
                "amount": amount.to_string(),
            }),
            Self::Pending { transaction } => {
                failure(request, "settlement_pending", &transaction.to_string())
            }
            Self::Reverted { transaction } => {
                failure(request, "invalid_upto_evm_transaction_failed", &transaction.to_string())
            }
            Self::Refused(reason) => failure(request, reason, ""),
        }
    }
}

/// The response of a failed settlement.
pub(crate) fn failure(request: &PaymentRequest, reason: &str, transaction: &str) -> Value {
    json!({
        "success": false,
        "errorReason": reason,
        "transaction": transaction,
        "network": request.network,
        "payer": request.owner.to_string(),
    })
}
