//! Renders the catalog as HTML for browsers and as Markdown for other readers.

mod layout;
mod lists;
mod order_page;
mod pages;
mod paywall;
mod phrases;
mod renderer;
mod send;

pub use order_page::{
    ExplorerLink, OrderPageError, OrderPages, OrderSummary, PaymentSummary, TimelineStep,
    TransferProof,
};
pub use paywall::{PayableNetwork, Paywall, PaywallPage, UnpaidRequest};
pub use renderer::{CardLimits, Money, PageBodies, RenderContext, Renderer};
pub use send::{
    CardForm, CardFormFault, CardFormNotice, CardFormPages, CardFormValues, CardProof, ShownPrice,
    ShownQuote,
};

#[cfg(test)]
mod tests;
