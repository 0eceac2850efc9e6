//! Every fuzz target: a parser that a stranger can reach, and what must hold for any input.
//!
//! A target takes any bytes and panics if a property does not hold. Its seeds are inputs that reach
//! deep: valid requests, signed payments and answers as the real systems send them.

mod answers;
pub(crate) mod card_body;
mod ens;
mod facilitator;
mod identifiers;
pub(crate) mod image_url;
mod key_file;
mod lob;
mod mcp;
mod mpp_credential;
mod node;
mod payer_challenge;
mod payments;
mod provider;
mod router;
mod site;
mod thanks_io;
mod x402_credential;

pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&[u8]),
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

pub(crate) const TARGETS: [Target; 14] = [
    target("card-body", card_body::run, card_body::seeds),
    target("router", router::run, router::seeds),
    target("mcp", mcp::run, mcp::seeds),
    target("image-url", image_url::run, image_url::seeds),
    target("identifiers", identifiers::run, identifiers::seeds),
    target("x402-credential", x402_credential::run, x402_credential::seeds),
    target("mpp-credential", mpp_credential::run, mpp_credential::seeds),
    target("payer-challenge", payer_challenge::run, payer_challenge::seeds),
    target("ens", ens::run, ens::seeds),
    target("node", node::run, node::seeds),
    target("facilitator", facilitator::run, facilitator::seeds),
    target("thanks-io", thanks_io::run, thanks_io::seeds),
    target("lob", lob::run, lob::seeds),
    target("key-file", key_file::run, key_file::seeds),
];

/// Texts as inputs.
fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The first byte, which chooses what the rest is used for, and the rest.
fn choice(data: &[u8]) -> Option<(u8, &[u8])> {
    data.split_first().map(|(choice, rest)| (*choice, rest))
}
