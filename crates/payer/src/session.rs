//! What all steps of one payment share: the card, the service, the options and the outside.

use std::collections::BTreeMap;

use crate::card::CardFile;
use crate::faucet;
use crate::io::PayerIo;
use crate::options::{PaymentOptions, ServiceLocation};
use crate::outcome::PaymentOutcome;
use crate::payer_key::{MoneyKind, PayerKey, consent, file};
use crate::pending::{PendingFile, PendingPayment};
use crate::service::PaidService;
use crate::values::account::EvmAccount;
use crate::values::amount::UsdcAmount;
use crate::values::network::PaymentNetwork;
use crate::values::text::plain;

const NO_KEY: &str = "\
Nothing was signed: there is no key to pay with.
  --key-file FILE   a file of yours with a private key: 0x and 64 hexadecimal digits
  --sandbox URL     the chain of a sandbox, whose faucet then pays; the banner of the
                    service names it, and in its own folder the service is found without
";

/// One card at one service.
pub(crate) struct PaymentSession<'a> {
    pub(crate) options: &'a PaymentOptions,
    pub(crate) io: &'a dyn PayerIo,
    pub(crate) card: CardFile,
    pub(crate) location: ServiceLocation,
    pub(crate) service: PaidService,
    pub(crate) pending: PendingFile,
}

impl PaymentSession<'_> {
    /// The key of the key file, or that of the sandbox's faucet.
    pub(crate) async fn open_key(&self) -> Result<PayerKey, PaymentOutcome> {
        let mut payer_key = match (&self.options.key_file, &self.location.sandbox) {
            (Some(path), _) => {
                let (key, nodes) = (file::read(path)?, BTreeMap::new());
                PayerKey { key, money: MoneyKind::Real, nodes }
            }
            (None, Some(chain)) => faucet::payer_key(self.io, chain).await?,
            (None, None) => return Err(PaymentOutcome::Unusable(NO_KEY.to_owned())),
        };
        if let Some(url) = &self.options.rpc_url {
            payer_key.nodes = PaymentNetwork::ALL.map(|network| (network, url.clone())).into();
        }
        Ok(payer_key)
    }

    /// Asks before the key is used for real money.
    pub(crate) fn obtain_consent(
        &self,
        payer_key: &PayerKey,
        most: UsdcAmount,
        network: PaymentNetwork,
    ) -> Result<(), PaymentOutcome> {
        consent::obtain(self.options, self.io, payer_key, most, network)
    }

    /// Prints what is about to be signed. `amount` says whether it is exact.
    pub(crate) fn announce(
        &self,
        payer_key: &PayerKey,
        network: PaymentNetwork,
        amount: &str,
        to: EvmAccount,
        seconds: u64,
    ) {
        self.io.print(&format!(
            "Signing as {} on {}: {amount} to {to}, within {seconds} seconds.\n\n",
            payer_key.address(),
            network.name(),
        ));
    }

    /// What was signed, with what it was signed for.
    pub(crate) fn pending_payment(
        &self,
        order: Option<String>,
        network: PaymentNetwork,
        most: UsdcAmount,
        payer_key: &PayerKey,
        header: String,
    ) -> PendingPayment {
        PendingPayment {
            rail: self.service.rail,
            endpoint: self.service.endpoint.clone(),
            card: self.card.digest(),
            order,
            network,
            most,
            payer: payer_key.address().to_string(),
            header,
        }
    }
}

/// The outcome if nothing in a challenge may be signed.
pub(crate) fn nothing_signed(objections: &[String]) -> PaymentOutcome {
    let list: String = objections.iter().map(|one| format!("  {}\n", plain(one))).collect();
    PaymentOutcome::Refused(format!("Nothing was signed, because\n{list}"))
}
