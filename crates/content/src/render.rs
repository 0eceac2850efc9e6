//! Renders the catalog as HTML for browsers and as Markdown for other readers.

mod layout;
mod lists;
mod pages;
mod paywall;
mod renderer;

pub use paywall::{Money, PayableNetwork, Paywall, PaywallPage, UnpaidRequest};
pub use renderer::{PageBodies, RenderContext, Renderer};

#[cfg(test)]
mod tests;
