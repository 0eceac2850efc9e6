//! The last good list of a facilitator in a file, so that a restart does not close payments.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use order::model::chain::{EvmAddress, Network};
use pay::x402::facilitator::{Service, Sponsoring};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::supported::List;
use crate::http::Address;

/// The name of the file in the folder of the service.
const FILE: &str = "facilitator-supported.json";
const VERSION: u32 = 1;
/// Larger than any list that is written here.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Where the list of one facilitator is kept.
#[derive(Clone)]
pub(super) struct ListFile {
    path: PathBuf,
    /// The URL may hold a key, so its digest stands for it.
    url_sha256: String,
}

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    url_sha256: String,
    services: BTreeMap<String, SavedService>,
    carriers: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct SavedService {
    carrier: String,
    sponsoring: bool,
}

/// Why there is no list to begin with.
enum NoList {
    /// This is the first start, or another facilitator was asked before.
    None,
    Unreadable,
}

impl ListFile {
    pub(super) fn of(folder: &Path, facilitator: &Address) -> Self {
        let digest = Sha256::digest(facilitator.to_text());
        let url_sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: folder.join(FILE), url_sha256 }
    }

    /// The list of this facilitator, if it is there.
    pub(super) fn read(&self) -> Option<List> {
        match self.load() {
            Ok(list) => Some(list),
            Err(NoList::None) => None,
            Err(NoList::Unreadable) => {
                tracing::warn!(
                    place = FILE,
                    "The saved list of the facilitator cannot be read and is ignored"
                );
                None
            }
        }
    }

    fn load(&self) -> Result<List, NoList> {
        let found = match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(NoList::None),
            found => found.map_err(|_| NoList::Unreadable)?,
        };
        if found.len() > BYTES_MAX {
            return Err(NoList::Unreadable);
        }
        let text = fs::read(&self.path).map_err(|_| NoList::Unreadable)?;
        let saved: Saved = serde_json::from_slice(&text).map_err(|_| NoList::Unreadable)?;
        if saved.version != VERSION {
            return Err(NoList::Unreadable);
        }
        if saved.url_sha256 != self.url_sha256 {
            return Err(NoList::None);
        }
        saved.list().ok_or(NoList::Unreadable)
    }

    /// Replaces the file as a whole. Without it the service runs as well.
    pub(super) fn write(&self, list: &List) {
        if let Err(error) = self.replace(list) {
            tracing::warn!(
                place = FILE,
                kind = ?error.kind(),
                "The list of the facilitator cannot be saved; a restart will wait for it"
            );
        }
    }

    fn replace(&self, list: &List) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(&Saved::of(list, &self.url_sha256))?;
        // Two processes may share the folder.
        let new = self.path.with_extension(format!("json.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&new)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}

impl Saved {
    fn of(list: &List, url_sha256: &str) -> Self {
        let service = |(network, service): (&Network, &Service)| {
            let sponsoring = service.sponsoring == Sponsoring::Offered;
            let saved = SavedService { carrier: service.carrier.to_string(), sponsoring };
            (network.caip2().to_owned(), saved)
        };
        let carriers = |(network, carriers): (&Network, &Vec<EvmAddress>)| {
            let carriers = carriers.iter().map(EvmAddress::to_string).collect();
            (network.caip2().to_owned(), carriers)
        };
        Self {
            version: VERSION,
            url_sha256: url_sha256.to_owned(),
            services: list.services.iter().map(service).collect(),
            carriers: list.carriers.iter().map(carriers).collect(),
        }
    }

    /// None if any part is not what was written.
    fn list(&self) -> Option<List> {
        let mut list = List::default();
        for (network, saved) in &self.services {
            let sponsoring =
                if saved.sponsoring { Sponsoring::Offered } else { Sponsoring::NotOffered };
            let service = Service { carrier: saved.carrier.parse().ok()?, sponsoring };
            list.services.insert(Network::from_caip2(network)?, service);
        }
        for (network, saved) in &self.carriers {
            let carriers: Option<_> = saved.iter().map(|carrier| carrier.parse().ok()).collect();
            list.carriers.insert(Network::from_caip2(network)?, carriers?);
        }
        Some(list)
    }
}
