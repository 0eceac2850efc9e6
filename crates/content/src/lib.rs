//! The words: loaded once, checked once, and never a visitor's problem.
//!
//! Reading order:
//! 1. [`site`]: facts that more than one page needs.
//! 2. [`page`], [`product`], [`faq`], [`briefing`], [`agents`], [`client`], [`snippet`]: what
//!    there is to say and to hand out.
//! 3. [`catalog`]: everything together, built in or from a folder, and checked.
//! 4. [`search`]: how a text is found by its words.
//! 5. [`render`]: the two faces of a page, HTML and Markdown.

pub mod agents;
pub mod briefing;
pub mod catalog;
mod checks;
pub mod client;
pub mod faq;
pub mod fault;
mod markdown;
pub mod page;
pub mod product;
pub mod render;
pub mod search;
pub mod site;
pub mod snippet;
mod source;
