//! The settler over HTTP against the sandbox's chains, with faults and reorganisations.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod faults;
mod fixture;
mod gas;
mod log_capture;
mod log_lines;
mod nonces;
mod signing;
mod stuck;
mod takeover;
mod transfers;
mod wallets;
mod watched_outbox;
mod x402_lost_answers;
mod x402_payments;
