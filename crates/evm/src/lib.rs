//! Chain encodings, each once: what every crate that reads or writes chain bytes shares.
//!
//! No I/O. Accounts are `[u8; 20]`, words of the EVM are `[u8; 32]`.
//!
//! * [`word`], [`hex`], [`checksum`], [`keccak`]: bytes and how they are written;
//! * [`rlp`], [`transaction`]: raw transactions (EIP-1559 and EIP-155);
//! * [`eip712`], [`permit2`], [`eip3009`], [`eip2612`]: what payers sign;
//! * [`signature`]: signing and recovery;
//! * [`contracts`], [`abi`], `interfaces`: addresses of contracts and calls to them.

pub mod abi;
pub mod checksum;
pub mod contracts;
pub mod eip2612;
pub mod eip3009;
pub mod eip712;
pub mod hex;
#[cfg(feature = "interfaces")]
pub mod interfaces;
pub mod keccak;
pub mod permit2;
pub mod rlp;
pub mod signature;
pub mod transaction;
pub mod word;
