//! Who judges a promise and brings it to a chain, in the steps and words of the official facilitator.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolError;
use order::model::chain::{EvmAddress, Network};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::ask::Ask;
use crate::chain::abi::Permit2;
use crate::chain::{Chain, PERMIT2, Settled, UPTO_PROXY, Unsigned};
use crate::keys::Key;

/// A promise that ends sooner is not worth a transaction, in seconds.
const MARGIN_SECONDS: u64 = 6;
const GAS: u64 = 300_000;
const PRIORITY_FEE: u128 = 1_000_000;
const MAX_FEE: u128 = 10_000_000_000;
/// How often it looks for a receipt.
const LOOK: Duration = Duration::from_millis(10);

pub(super) struct Carrier {
    chains: BTreeMap<Network, Chain>,
    keys: Vec<Key>,
    patience: Duration,
    /// What was sent and not yet answered for, by the promise's signature.
    pending: Mutex<HashMap<Bytes, B256>>,
    /// One transaction after another, so that no two take one account nonce.
    sending: Mutex<()>,
}

/// What became of a settlement.
pub(super) enum Carried {
    Done {
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

impl Carrier {
    pub(super) fn new(
        chains: BTreeMap<Network, Chain>,
        keys: Vec<Key>,
        patience: Duration,
    ) -> Self {
        Self { chains, keys, patience, pending: Mutex::default(), sending: Mutex::default() }
    }

    pub(super) fn accounts(&self) -> impl Iterator<Item = EvmAddress> {
        self.keys.iter().map(Key::address)
    }

    pub(super) fn networks(&self) -> impl Iterator<Item = Network> {
        self.chains.keys().copied()
    }

    fn key(&self, account: Address) -> Option<&Key> {
        self.keys.iter().find(|key| plain(key.address()) == account)
    }

    /// Whether this much could be settled now, or the reason why not.
    pub(super) fn verify(&self, ask: &Ask, amount: U256) -> Result<&Chain, &'static str> {
        if ask.accepted_scheme != "upto" || ask.scheme != "upto" {
            return Err("invalid_upto_evm_scheme");
        }
        let chain = ask.network().and_then(|network| self.chains.get(&network));
        let Some(chain) = chain.filter(|_| ask.accepted_network == ask.network) else {
            return Err("invalid_upto_evm_network_mismatch");
        };
        if ask.spender != plain(UPTO_PROXY) {
            return Err("invalid_permit2_spender");
        }
        if ask.witness.to != ask.pay_to {
            return Err("invalid_permit2_recipient_mismatch");
        }
        if self.key(ask.witness.facilitator).is_none() {
            return Err("upto_facilitator_mismatch");
        }
        let now = chain.head().timestamp;
        if ask.permit.deadline < U256::from(now.saturating_add(MARGIN_SECONDS)) {
            return Err("permit2_deadline_expired");
        }
        if ask.witness.validAfter > U256::from(now) {
            return Err("permit2_not_yet_valid");
        }
        if ask.permit.permitted.amount != amount {
            return Err("permit2_amount_mismatch");
        }
        if ask.permit.permitted.token != ask.asset {
            return Err("permit2_token_mismatch");
        }
        let carrier = noun(ask.witness.facilitator);
        match chain.simulate(carrier, UPTO_PROXY, &ask.calldata(amount)) {
            Ok(_) => Ok(chain),
            Err(revert) => Err(diagnosis(chain, ask, amount, &revert)),
        }
    }

    /// Settles, or looks after what it sent for this promise before.
    pub(super) async fn settle(&self, ask: &Ask, amount: U256) -> Carried {
        let earlier = self.pending().remove(&ask.signature);
        if let (Some(transaction), Some(chain)) =
            (earlier, ask.network().and_then(|network| self.chains.get(&network)))
        {
            return self.confirm(chain, ask, transaction, amount).await;
        }
        let most = ask.permit.permitted.amount;
        let chain = match self.verify(ask, most) {
            Ok(chain) => chain,
            Err(reason) => return Carried::Refused(reason),
        };
        if amount > most {
            return Carried::Refused("invalid_upto_evm_payload_settlement_exceeds_amount");
        }
        match self.send(chain, ask, amount) {
            Some(transaction) => self.confirm(chain, ask, transaction, amount).await,
            None => Carried::Refused("invalid_exact_evm_transaction_failed"),
        }
    }

    fn send(&self, chain: &Chain, ask: &Ask, amount: U256) -> Option<B256> {
        let key = self.key(ask.witness.facilitator)?;
        let _one_at_a_time = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = Unsigned {
            chain_id: chain.id().number(),
            nonce: chain.next_nonce_of(key.address()),
            priority_fee: PRIORITY_FEE,
            max_fee: MAX_FEE,
            gas: GAS,
            to: UPTO_PROXY,
            value: 0,
            data: ask.calldata(amount),
        };
        chain.send(&transaction.sign(key)).ok().map(B256::from)
    }

    async fn confirm(&self, chain: &Chain, ask: &Ask, transaction: B256, amount: U256) -> Carried {
        let mined = async {
            loop {
                match chain.settled(transaction.0) {
                    Some(Settled::Succeeded { .. }) => {
                        return Carried::Done { transaction, amount };
                    }
                    Some(Settled::Reverted { .. }) => return Carried::Reverted { transaction },
                    Some(Settled::Waiting) | None => sleep(LOOK).await,
                }
            }
        };
        match timeout(self.patience, mined).await {
            Ok(carried) => carried,
            Err(_) => {
                self.owe(ask, transaction);
                Carried::Pending { transaction }
            }
        }
    }

    /// The next settlement of this promise gets the truth about this one.
    pub(super) fn owe(&self, ask: &Ask, transaction: B256) {
        self.pending().insert(ask.signature.clone(), transaction);
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<Bytes, B256>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The official one asks for the signature first, then for money and allowance.
fn diagnosis(chain: &Chain, ask: &Ask, amount: U256, revert: &[u8]) -> &'static str {
    let signature = [
        Permit2::InvalidSigner::SELECTOR,
        Permit2::InvalidSignature::SELECTOR,
        Permit2::InvalidSignatureLength::SELECTOR,
        Permit2::InvalidContractSignature::SELECTOR,
    ];
    let owner = noun(ask.owner);
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

impl Carried {
    pub(super) fn transaction(&self) -> Option<B256> {
        match self {
            Self::Done { transaction, .. }
            | Self::Pending { transaction }
            | Self::Reverted { transaction } => Some(*transaction),
            Self::Refused(_) => None,
        }
    }

    pub(super) fn written(&self, ask: &Ask) -> Value {
        match self {
            Self::Done { transaction, amount } => json!({
                "success": true,
                "transaction": transaction.to_string(),
                "network": ask.network,
                "payer": ask.owner.to_string(),
                "amount": amount.to_string(),
            }),
            Self::Pending { transaction } => {
                no(ask, "settlement_pending", &transaction.to_string())
            }
            Self::Reverted { transaction } => {
                no(ask, "invalid_upto_evm_transaction_failed", &transaction.to_string())
            }
            Self::Refused(reason) => no(ask, reason, ""),
        }
    }
}

/// A settlement that did not succeed, in the words of the protocol.
pub(super) fn no(ask: &Ask, reason: &str, transaction: &str) -> Value {
    json!({
        "success": false,
        "errorReason": reason,
        "transaction": transaction,
        "network": ask.network,
        "payer": ask.owner.to_string(),
    })
}

fn plain(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

fn noun(address: Address) -> EvmAddress {
    EvmAddress::from_bytes(address.into())
}
