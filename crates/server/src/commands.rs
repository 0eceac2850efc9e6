//! The subcommands, one file each.

pub(crate) mod check;
pub(crate) mod pay;
pub(crate) mod serve;
pub(crate) mod simulate;
