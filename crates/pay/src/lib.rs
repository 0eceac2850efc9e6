//! Ways of paying: headers in, meaning out; meaning in, headers out.
//!
//! Read it in this order:
//!
//! 1. [`envelope`]: what every way of paying has in common, and the one table
//!    from the desk's words to HTTP's; [`fault`]: that table as a body;
//!    [`mode`]: whether money is real; [`movement`]: what chains say of it; `digits` and `eip712`: how clients write
//!    numbers and what keys sign; `form`: what is written once for all orders.
//! 2. [`x402`] and [`mpp`]: one folder for each protocol, with the same files in
//!    each.

mod digits;
mod eip712;
pub mod envelope;
pub mod fault;
mod form;
pub mod mode;
pub mod movement;
pub mod mpp;
pub mod x402;
