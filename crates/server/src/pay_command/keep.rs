//! A payment that was signed and whose end is not known yet, on disk beside the card.
//!
//! It is written before it is sent and goes when its end is known. As long as
//! it is there nothing else is signed: the same payment can only be taken once,
//! and a second one could be taken too.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use order::model::chain::Network;
use order::model::money::Usdc;
use serde_json::{Value, json};

use super::card::Card;
use super::end::End;
use super::values::Rail;
use super::{mpp, x402};

const OWNER_ONLY: u32 = 0o600;

/// A signed payment, and what it was signed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) rail: Rail,
    pub(super) endpoint: String,
    /// See [`Card::digest`].
    pub(super) card: String,
    pub(super) order: Option<String>,
    pub(super) network: Network,
    pub(super) most: Usdc,
    pub(super) payer: String,
    /// The value of the header that pays.
    pub(super) header: String,
}

impl Kept {
    /// The second until which somebody who holds the payment could use it.
    pub(super) fn deadline(&self) -> Option<u64> {
        let deadline = match self.rail {
            Rail::X402 => {
                let sent = x402::challenge::decoded(&self.header)?;
                sent["payload"]["permit2Authorization"]["deadline"].clone()
            }
            Rail::Mpp => {
                let (_, credential) = self.header.split_once(' ')?;
                mpp::challenge::decoded(credential)?["payload"]["validBefore"].clone()
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

    fn of_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let paid_by = |rail: Rail| text(member(rail)).map(|header| (rail, header));
        let (rail, header) = Rail::ALL.into_iter().find_map(paid_by)?;
        Some(Self {
            rail,
            endpoint: text("endpoint")?,
            card: text("card")?,
            order: text("order"),
            network: Network::from_caip2(&text("network")?)?,
            most: Usdc::from_atomic(value["most"].as_u64()?),
            payer: text("payer")?,
            header,
        })
    }
}

/// The name of the header's value in the file, which tells the rail too.
const fn member(rail: Rail) -> &'static str {
    match rail {
        Rail::X402 => "payment_signature",
        Rail::Mpp => "authorization",
    }
}

/// The place of the payment in doubt.
pub(super) struct Keep {
    path: PathBuf,
}

impl Keep {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// The payment in doubt, if there is one for this card at this place.
    pub(super) fn find(&self, card: &Card, endpoint: &str) -> Result<Option<Kept>, End> {
        let shown = self.path.display();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(End::Unusable(format!("{shown} cannot be read: {error}.\n")));
            }
        };
        let kept = serde_json::from_str(&text).ok().and_then(|value| Kept::of_json(&value));
        let Some(kept) = kept else {
            return Err(End::Unusable(format!(
                "{shown} is no payment that this command wrote. If you know that no payment for \
                 this card is in doubt, remove it.\n"
            )));
        };
        if kept.card == card.digest() && kept.endpoint == endpoint {
            return Ok(Some(kept));
        }
        let order = kept.order.as_deref().unwrap_or("unknown");
        Err(End::Unusable(format!(
            "{shown} holds a payment whose end is not known yet, for another card, another \
             service or another rail: {}, order {order}.\nFinish that one first with the card and the rail as they \
             were, or name another file with --keep.\n",
            kept.endpoint
        )))
    }

    /// Writes the payment down before it is sent. Of two commands at once, one
    /// gets the place.
    pub(super) fn put(&self, kept: &Kept) -> Result<(), End> {
        let wrong = |error: std::io::Error| {
            End::Unusable(format!(
                "The payment cannot be written to {}: {error}.\nIt was not sent. Name a file that \
                 can be written with --keep.\n",
                self.path.display()
            ))
        };
        write(&self.path, kept).map_err(wrong)
    }

    /// Puts the same promise, with more beside it, in the place of the one that is there. At
    /// every moment one of the two is.
    pub(super) fn replace(&self, kept: &Kept) -> Result<(), End> {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        write(&new, kept).and_then(|()| fs::rename(&new, &self.path)).map_err(|error| {
            End::Unusable(format!(
                "The payment cannot be written to {}: {error}.\nIt was not sent. If that file is \
                 there and no other command is at work, remove it.\n",
                new.display()
            ))
        })
    }

    /// Its end is known.
    pub(super) fn clear(&self) -> Result<(), End> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(End::Unusable(format!(
                "{} holds a payment that has ended and cannot be removed: {error}. Remove it by \
                 hand.\n",
                self.path.display()
            ))),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Writes a file that was not there, for the owner's eyes.
fn write(path: &Path, kept: &Kept) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(format!("{:#}\n", kept.to_json()).as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn card(folder: &tempfile::TempDir, text: &str) -> Card {
        let path = folder.path().join("card.json");
        fs::write(&path, text).unwrap();
        Card::read(&path).unwrap()
    }

    #[test]
    fn one_payment_has_the_place_until_its_end_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let keep = Keep::at(folder.path().join("card.json.payment"));
        let (first, second) = (card(&folder, "{}"), card(&folder, r#"{"a":1}"#));
        let kept = Kept {
            rail: Rail::X402,
            endpoint: "http://127.0.0.1:1/api".to_owned(),
            card: first.digest(),
            order: None,
            network: Network::Polygon,
            most: Usdc::from_atomic(7),
            payer: "0x".to_owned(),
            header: "e30=".to_owned(),
        };
        assert_eq!(keep.find(&first, &kept.endpoint), Ok(None));
        keep.put(&kept).unwrap();
        let mode = fs::metadata(&keep.path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, OWNER_ONLY);
        assert!(keep.put(&kept).is_err(), "the place is taken");
        assert_eq!(keep.find(&first, &kept.endpoint), Ok(Some(kept.clone())));
        assert!(keep.find(&second, &kept.endpoint).is_err(), "another card");
        assert!(keep.find(&first, "http://127.0.0.1:2/api").is_err(), "another service");
        keep.clear().unwrap();
        keep.clear().unwrap();
        let other = Kept { rail: Rail::Mpp, ..kept.clone() };
        keep.put(&other).unwrap();
        assert_eq!(keep.find(&first, &other.endpoint), Ok(Some(other.clone())));
        keep.clear().unwrap();
        assert_eq!(keep.find(&second, &kept.endpoint), Ok(None));
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, "my notes").unwrap();
        assert!(Keep::at(path).find(&card(&folder, "{}"), "x").is_err());
    }
}
