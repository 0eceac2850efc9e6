//! The client side of x402 and MPP: pays the challenge for one card, and signs nothing twice.
//!
//! A client shares nothing but chain encodings with the service that it pays. What it needs
//! of the outside it gets through [`io`].
//!
//! Reading order: [`options`], then [`payment`], the sequence of steps, and `session`, what
//! they share; `x402` and `mpp`, each with `challenge` (what is asked, and what is refused),
//! `authorize` (from a challenge to a signed payment) and `credential` (how it is sent);
//! `pending`, the payment whose outcome is unknown; `service`, what its replies mean.

mod card;
mod faucet;
pub mod io;
mod mpp;
pub mod options;
pub mod outcome;
mod payer_key;
pub mod payment;
mod pending;
mod report;
mod service;
mod session;
pub mod values;
mod x402;
