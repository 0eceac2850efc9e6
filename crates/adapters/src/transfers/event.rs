//! USDC transfers in event logs.

use alloy_primitives::Address;
use alloy_sol_types::SolEvent;
use evm::interfaces::Usdc as UsdcContract;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::operator::transfers::ChainTransfer;

use crate::rpc::{EventLog, NodeError, TransactionReceipt};

/// The USDC transfers of a receipt. Events of other contracts, and other events, are none.
pub(super) fn in_receipt(
    receipt: &TransactionReceipt,
    network: Network,
) -> Result<Vec<ChainTransfer>, NodeError> {
    let belongs = |log: &EventLog| {
        log.transaction == receipt.transaction
            && (log.block, log.block_hash) == (receipt.block, receipt.block_hash)
            && !log.removed
    };
    if !receipt.logs.iter().all(belongs) {
        return Err(NodeError::Unusable);
    }
    let usdc = Address::from(network.usdc().bytes());
    let is_transfer = |log: &&EventLog| {
        log.address == usdc && log.topics.first() == Some(&UsdcContract::Transfer::SIGNATURE_HASH)
    };
    receipt.logs.iter().filter(is_transfer).map(read).collect()
}

/// The transfer in a log of the USDC contract.
pub(super) fn read(log: &EventLog) -> Result<ChainTransfer, NodeError> {
    let topics = log.topics.iter().copied();
    let event = UsdcContract::Transfer::decode_raw_log_validate(topics, &log.data)
        .map_err(|_| NodeError::Unusable)?;
    // More than 64 bits is more USDC than exists.
    let amount = u64::try_from(event.value).map_err(|_| NodeError::Unusable)?;
    Ok(ChainTransfer {
        from: EvmAddress::from_bytes(event.from.into_array()),
        to: EvmAddress::from_bytes(event.to.into_array()),
        amount: Usdc::from_atomic(amount),
    })
}
