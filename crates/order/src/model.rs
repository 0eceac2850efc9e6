//! Value types. Each is valid once it exists.

pub mod card;
pub mod chain;
pub mod country;
pub mod evidence;
pub mod identity;
pub mod ids;
pub mod image_url;
pub mod mail;
pub mod money;
pub mod offer;
pub mod payment;
pub mod public_address;
pub(crate) mod redacted;
pub mod resolution;
pub mod seller;
