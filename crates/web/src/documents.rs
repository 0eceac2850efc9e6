//! Documents that are rendered and compressed at start and served before the router.
//!
//! Reading order:
//! 1. `site`, which renders everything, with `pages` and `machine_readable`;
//! 2. `document`, one response in all its codings;
//! 3. `index`, all documents by path;
//! 4. `service`, which answers requests for them;
//! 5. `rendered_page`, a page that is not known at start.

pub(crate) mod document;
mod http_date;
pub(crate) mod index;
pub(crate) mod machine_readable;
mod pages;
pub(crate) mod rendered_page;
pub(crate) mod service;
pub mod site;
