//! Pages, products and other texts: loaded and checked at start.
//!
//! Reading order:
//! 1. [`site`]: facts that several pages need.
//! 2. [`page`], [`product`], [`faq`], [`briefing`], [`agents`], [`client`], [`snippet`]: the
//!    files of the content folder.
//! 3. [`catalog`]: all of it, built in or from a folder, and checked, with the texts of the form
//!    and its pictures.
//! 4. [`search`]: full-text search.
//! 5. [`render`]: pages as HTML and as Markdown.

pub mod agents;
pub mod briefing;
pub mod catalog;
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
