//! The subcommands, one file each.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod check_live;
mod operator_client;
pub(crate) mod orders;
pub(crate) mod pay;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod simulate;
