//! MPP, HTTP authentication scheme `Payment`, method `evm`, intent `charge`: one fixed
//! price, moved by the payer's own signed transfer.

pub mod credential;
pub mod facilitator;
