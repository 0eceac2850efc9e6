//! The words: loaded once, checked once, and never a visitor's problem.
//!
//! 1. [`site`]: facts that more than one page needs.
//! 2. [`catalog`]: everything together, built in or from a folder.

pub mod catalog;
pub mod site;
