//! MPP: one transfer of exactly the price, signed for USDC on Base (EIP-3009).

mod authorize;
pub(crate) mod challenge;
mod credential;
mod moment;
mod parameters;
