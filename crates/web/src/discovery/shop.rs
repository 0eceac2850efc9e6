//! Documents of the shop: product feed, commerce metadata and quotes.

pub mod commerce;
pub mod feed;
pub mod quote;
