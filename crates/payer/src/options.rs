//! The options of a payment: card, protocol, key, limit and network.

use std::path::PathBuf;

use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;
use crate::values::rail::PaymentRail;

/// The arguments of `pennyblack pay`.
#[derive(Clone, Debug)]
pub struct PaymentOptions {
    /// The file with the card.
    pub body: PathBuf,
    pub rail: PaymentRail,
    /// A file with a private key. Without one the faucet of a sandbox pays.
    pub key_file: Option<PathBuf>,
    /// The most that may be signed for.
    pub max: UsdcAmount,
    /// Any that the service offers, if none is named.
    pub network: Option<PaymentNetwork>,
    /// A node of the network.
    pub rpc_url: Option<String>,
    pub approve: bool,
    pub yes: bool,
    /// The file for a signed payment; the card's with `.payment` if none is named.
    pub keep: Option<PathBuf>,
}

/// Where the service is.
#[derive(Clone, Debug)]
pub struct ServiceLocation {
    pub base_url: String,
    /// The URL of the sandbox's chain, if its faucet is to pay.
    pub sandbox: Option<String>,
}
