//! Adapters to external systems, each behind a port of the order crate.
//!
//! 1. [`clock`]: system time.
//! 2. [`keys`]: the key file and the keys derived from it.
//! 3. [`http`]: the HTTP client for all calls to other systems.
//! 4. [`rpc`]: JSON-RPC client for EVM nodes.
//! 5. [`ens`]: sellers' names and their accounts.
//! 6. [`provider`]: thanks.io and Lob, which print and mail cards.
//! 7. [`settlement`]: our own settler, which sends payments to a chain.
//! 8. [`facilitator`]: a remote facilitator, which sends x402 payments for us.
//! 9. [`permit2`]: proof on a chain that an x402 payment moved, or never will.
//! 10. [`transfers`]: USDC transfers, for refunds and audits.
//! 11. [`store`]: orders in SQLite or PostgreSQL.
//! 12. [`measurements`]: metrics of all of them.

pub mod clock;
pub mod ens;
pub mod facilitator;
pub mod http;
pub mod keys;
pub mod measurements;
mod payer_accounts;
pub mod permit2;
pub mod provider;
mod rate_limit;
pub mod rpc;
pub mod settlement;
pub mod store;
pub mod transfers;
