//! Transactions in the name of an account whose key the sandbox does not have.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use evm::transaction::TransactionType;

use super::EmulatedNode;
use super::pool::{PoolAdmission, SenderState};
use super::state::{Changes, Slot};
use crate::chain::ens::names::NameRegistry;
use crate::chain::transaction::Transaction;

const GAS: u64 = 100_000;

impl EmulatedNode {
    /// Calls a contract as this account, and mines the transaction. The account is given the gas.
    pub(crate) fn call_as(
        &mut self,
        names: &NameRegistry,
        from: Address,
        to: Address,
        data: Bytes,
    ) -> Result<B256, String> {
        let nonce = self.nonce(from);
        let max_fee = self.base_fee;
        let balance = self.state.get(Slot::Native(from)) + max_fee * U256::from(GAS);
        self.place(Changes::from([(Slot::Native(from), balance)]));
        let mut unique = from.to_vec();
        unique.extend(nonce.to_be_bytes());
        unique.extend(&data);
        let transaction = Transaction {
            transaction_type: TransactionType::DynamicFee,
            chain_id: self.chain.number(),
            nonce,
            priority_fee: U256::ZERO,
            max_fee,
            gas: GAS,
            to: Some(to),
            value: U256::ZERO,
            data,
            v: 0,
            r: B256::ZERO,
            s: B256::ZERO,
            hash: keccak256(unique),
            from,
        };
        let hash = transaction.hash;
        let sender = SenderState { nonce, balance };
        self.pool.add(Arc::new(transaction), &sender, PoolAdmission::Ready)?;
        self.mine_now(names);
        Ok(hash)
    }
}
