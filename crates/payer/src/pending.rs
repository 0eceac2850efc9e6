//! The payment whose outcome is unknown: signed, and in a file beside the card.
//!
//! It is written before it is sent and removed when its outcome is known. Until then
//! nothing else is signed: the same payment can be settled only once, but a second one
//! could be settled too.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::card::CardFile;
use crate::outcome::PaymentOutcome;
use crate::values::amount::UsdcAmount;
use crate::values::header_json::{decode_mpp, decode_x402};
use crate::values::network::PaymentNetwork;
use crate::values::rail::PaymentRail;

const OWNER_ONLY: u32 = 0o600;

/// A signed payment, and what it was signed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingPayment {
    pub(crate) rail: PaymentRail,
    pub(crate) endpoint: String,
    /// See [`CardFile::digest`].
    pub(crate) card: String,
    pub(crate) order: Option<String>,
    pub(crate) network: PaymentNetwork,
    pub(crate) most: UsdcAmount,
    pub(crate) payer: String,
    /// The value of the header that pays.
    pub(crate) header: String,
}

impl PendingPayment {
    /// The second until which the payment can be settled.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let deadline = match self.rail {
            PaymentRail::X402 => {
                let sent = decode_x402(&self.header)?;
                sent["payload"]["permit2Authorization"]["deadline"].clone()
            }
            PaymentRail::Mpp => {
                let (_, credential) = self.header.split_once(' ')?;
                decode_mpp(credential)?["payload"]["validBefore"].clone()
            }
        };
        deadline.as_str()?.parse().ok()
    }

    fn to_json(&self) -> Value {
        json!({
            "about": "A signed payment whose end is not known yet. Run the same command again.",
            "endpoint": self.endpoint,
            "card": self.card,
            "order": self.order,
            "network": self.network.caip2(),
            "most": self.most.atomic(),
            "payer": self.payer,
            member(self.rail): self.header,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let paid_by = |rail: PaymentRail| text(member(rail)).map(|header| (rail, header));
        let (rail, header) = PaymentRail::ALL.into_iter().find_map(paid_by)?;
        Some(Self {
            rail,
            endpoint: text("endpoint")?,
            card: text("card")?,
            order: text("order"),
            network: PaymentNetwork::from_caip2(&text("network")?)?,
            most: UsdcAmount::from_atomic(value["most"].as_u64()?),
            payer: text("payer")?,
            header,
        })
    }
}

/// The member of the file that has the header's value. It names the rail too.
const fn member(rail: PaymentRail) -> &'static str {
    match rail {
        PaymentRail::X402 => "payment_signature",
        PaymentRail::Mpp => "authorization",
    }
}

/// The file of the payment whose outcome is unknown.
pub(crate) struct PendingFile {
    path: PathBuf,
}

impl PendingFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path_text(&self) -> String {
        self.path.display().to_string()
    }

    /// The payment whose outcome is unknown, if there is one for this card at this service.
    pub(crate) fn find(
        &self,
        card: &CardFile,
        endpoint: &str,
    ) -> Result<Option<PendingPayment>, PaymentOutcome> {
        let shown = self.path.display();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(PaymentOutcome::Unusable(format!(
                    "{shown} cannot be read: {error}.\n"
                )));
            }
        };
        let payment =
            serde_json::from_str(&text).ok().and_then(|value| PendingPayment::from_json(&value));
        let Some(payment) = payment else {
            return Err(PaymentOutcome::Unusable(format!(
                "{shown} is no payment that this command wrote. If you know that no payment for \
                 this card is in doubt, remove it.\n"
            )));
        };
        if payment.card == card.digest() && payment.endpoint == endpoint {
            return Ok(Some(payment));
        }
        let order = payment.order.as_deref().unwrap_or("unknown");
        Err(PaymentOutcome::Unusable(format!(
            "{shown} holds a payment whose end is not known yet, for another card, another \
             service or another rail: {}, order {order}.\nFinish that one first with the card and the rail as they \
             were, or name another file with --keep.\n",
            payment.endpoint
        )))
    }

    /// Writes the payment before it is sent. Of two commands at the same time, one succeeds.
    pub(crate) fn put(&self, payment: &PendingPayment) -> Result<(), PaymentOutcome> {
        let wrong = |error: std::io::Error| {
            PaymentOutcome::Unusable(format!(
                "The payment cannot be written to {}: {error}.\nIt was not sent. Name a file that \
                 can be written with --keep.\n",
                self.path.display()
            ))
        };
        write(&self.path, payment).map_err(wrong)
    }

    /// Replaces the payment by the same one with a permit added. At every moment the file has
    /// one of the two.
    pub(crate) fn replace(&self, payment: &PendingPayment) -> Result<(), PaymentOutcome> {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        write(&new, payment).and_then(|()| fs::rename(&new, &self.path)).map_err(|error| {
            PaymentOutcome::Unusable(format!(
                "The payment cannot be written to {}: {error}.\nIt was not sent. If that file is \
                 there and no other command is at work, remove it.\n",
                new.display()
            ))
        })
    }

    /// Removes the file once the outcome is known.
    pub(crate) fn clear(&self) -> Result<(), PaymentOutcome> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(PaymentOutcome::Unusable(format!(
                    "{} holds a payment that has ended and cannot be removed: {error}. Remove it by \
                 hand.\n",
                    self.path.display()
                )))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Writes a new file that only its owner can read.
fn write(path: &Path, payment: &PendingPayment) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(format!("{:#}\n", payment.to_json()).as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn card(folder: &tempfile::TempDir, text: &str) -> CardFile {
        let path = folder.path().join("card.json");
        fs::write(&path, text).unwrap();
        CardFile::read(&path).unwrap()
    }

    #[test]
    fn one_payment_keeps_the_file_until_its_outcome_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = PendingFile::at(folder.path().join("card.json.payment"));
        let (first, second) = (card(&folder, "{}"), card(&folder, r#"{"a":1}"#));
        let payment = PendingPayment {
            rail: PaymentRail::X402,
            endpoint: "http://127.0.0.1:1/api".to_owned(),
            card: first.digest(),
            order: None,
            network: PaymentNetwork::Polygon,
            most: UsdcAmount::from_atomic(7),
            payer: "0x".to_owned(),
            header: "e30=".to_owned(),
        };
        assert_eq!(file.find(&first, &payment.endpoint), Ok(None));
        file.put(&payment).unwrap();
        let mode = fs::metadata(&file.path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, OWNER_ONLY);
        assert!(file.put(&payment).is_err(), "the file exists");
        assert_eq!(file.find(&first, &payment.endpoint), Ok(Some(payment.clone())));
        assert!(file.find(&second, &payment.endpoint).is_err(), "another card");
        assert!(file.find(&first, "http://127.0.0.1:2/api").is_err(), "another service");
        file.clear().unwrap();
        file.clear().unwrap();
        let other = PendingPayment { rail: PaymentRail::Mpp, ..payment.clone() };
        file.put(&other).unwrap();
        assert_eq!(file.find(&first, &other.endpoint), Ok(Some(other.clone())));
        file.clear().unwrap();
        assert_eq!(file.find(&second, &payment.endpoint), Ok(None));
    }

    #[test]
    fn a_file_with_other_content_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, "my notes").unwrap();
        assert!(PendingFile::at(path).find(&card(&folder, "{}"), "x").is_err());
    }
}
