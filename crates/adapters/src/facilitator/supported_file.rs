//! The last valid list of a facilitator in a file, so that payments work right after a restart.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use order::model::chain::{EvmAddress, Network};
use pay::x402::settler::{GasSponsoring, Permit2Support};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::supported::SupportedList;
use crate::http::HttpUrl;

/// The file name in the data folder.
const FILE: &str = "facilitator-supported.json";
const VERSION: u32 = 1;
/// Larger than any list.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The file of one facilitator's list.
#[derive(Clone)]
pub(super) struct SupportedFile {
    path: PathBuf,
    /// The URL may hold a key, so only its digest is stored.
    url_sha256: String,
}

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct SavedList {
    version: u32,
    url_sha256: String,
    services: BTreeMap<String, SavedService>,
    accounts: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct SavedService {
    facilitator: String,
    sponsoring: bool,
}

/// Why no list was read.
enum ReadError {
    /// There is no file, or it is of another facilitator.
    None,
    Unreadable,
}

impl SupportedFile {
    pub(super) fn of(folder: &Path, facilitator: &HttpUrl) -> Self {
        let digest = Sha256::digest(facilitator.to_text());
        let url_sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: folder.join(FILE), url_sha256 }
    }

    /// The saved list of this facilitator.
    pub(super) fn read(&self) -> Option<SupportedList> {
        match self.load() {
            Ok(list) => Some(list),
            Err(ReadError::None) => None,
            Err(ReadError::Unreadable) => {
                tracing::warn!(
                    place = FILE,
                    "The saved list of the facilitator cannot be read and is ignored"
                );
                None
            }
        }
    }

    fn load(&self) -> Result<SupportedList, ReadError> {
        let found = match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(ReadError::None),
            found => found.map_err(|_| ReadError::Unreadable)?,
        };
        if found.len() > BYTES_MAX {
            return Err(ReadError::Unreadable);
        }
        let text = fs::read(&self.path).map_err(|_| ReadError::Unreadable)?;
        let saved: SavedList = serde_json::from_slice(&text).map_err(|_| ReadError::Unreadable)?;
        if saved.version != VERSION {
            return Err(ReadError::Unreadable);
        }
        if saved.url_sha256 != self.url_sha256 {
            return Err(ReadError::None);
        }
        saved.list().ok_or(ReadError::Unreadable)
    }

    /// Replaces the file atomically. The service works without it.
    pub(super) fn write(&self, list: &SupportedList) {
        if let Err(error) = self.replace(list) {
            tracing::warn!(
                place = FILE,
                kind = ?error.kind(),
                "The list of the facilitator cannot be saved; a restart has to fetch it again"
            );
        }
    }

    fn replace(&self, list: &SupportedList) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(&SavedList::of(list, &self.url_sha256))?;
        // Two processes may share the folder.
        let new = self.path.with_extension(format!("json.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&new)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}

impl SavedList {
    fn of(list: &SupportedList, url_sha256: &str) -> Self {
        let service = |(network, service): (&Network, &Permit2Support)| {
            let sponsoring = service.sponsoring == GasSponsoring::Offered;
            let saved = SavedService { facilitator: service.facilitator.to_string(), sponsoring };
            (network.caip2().to_owned(), saved)
        };
        let accounts = |(network, accounts): (&Network, &Vec<EvmAddress>)| {
            let accounts = accounts.iter().map(EvmAddress::to_string).collect();
            (network.caip2().to_owned(), accounts)
        };
        Self {
            version: VERSION,
            url_sha256: url_sha256.to_owned(),
            services: list.services.iter().map(service).collect(),
            accounts: list.accounts.iter().map(accounts).collect(),
        }
    }

    /// None if any part cannot be parsed.
    fn list(&self) -> Option<SupportedList> {
        let mut list = SupportedList::default();
        for (network, saved) in &self.services {
            let sponsoring =
                if saved.sponsoring { GasSponsoring::Offered } else { GasSponsoring::NotOffered };
            let service =
                Permit2Support { facilitator: saved.facilitator.parse().ok()?, sponsoring };
            list.services.insert(Network::from_caip2(network)?, service);
        }
        for (network, saved) in &self.accounts {
            let accounts: Option<_> = saved.iter().map(|account| account.parse().ok()).collect();
            list.accounts.insert(Network::from_caip2(network)?, accounts?);
        }
        Some(list)
    }
}
