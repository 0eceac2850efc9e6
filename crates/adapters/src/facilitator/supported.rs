//! What a facilitator supports: its last valid list, and every settling account that it has
//! named.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::model::chain::{EvmAddress, Network};
use pay::x402::settler::{FacilitatorAddress, GasSponsoring, Permit2Support};
use serde::Deserialize;
use serde_json::Value;

use crate::http::{CallError, HttpResponse};

const SPONSORING: &str = "eip2612GasSponsoring";
/// Bounds the list of settling accounts. Offers are valid for a day, so the oldest may be
/// dropped.
const ACCOUNTS_MAX: usize = 4_096;

/// The refresh interval, in seconds.
const FRESH_SECONDS: u64 = 5 * 60;
/// The first delay after a failure. Each failure in a row doubles it.
const BACK_OFF_SECONDS: u64 = 5;
const BACK_OFF_SECONDS_MAX: u64 = 60;
/// The longest accepted `Retry-After`.
const RETRY_AFTER_SECONDS_MAX: u64 = 10 * 60;

/// The result of one refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupportedReply {
    Good(SupportedList),
    /// No list; with the seconds of `Retry-After`, if sent.
    Bad {
        retry_after: Option<u64>,
    },
}

/// The entries for our networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SupportedList {
    pub(super) services: BTreeMap<Network, Permit2Support>,
    pub(super) accounts: BTreeMap<Network, Vec<EvmAddress>>,
}

#[derive(Deserialize)]
struct SupportedResponse {
    kinds: Vec<Value>,
    #[serde(default)]
    extensions: Option<Vec<Value>>,
    #[serde(default)]
    signers: Option<BTreeMap<String, Value>>,
}

pub(super) fn read(answer: Result<HttpResponse, CallError>) -> SupportedReply {
    let Ok(answer) = answer else { return SupportedReply::Bad { retry_after: None } };
    match answer.read::<SupportedResponse>() {
        Ok(list) => SupportedReply::Good(list.to_list()),
        Err(_) => {
            let retry_after = answer.header("retry-after").and_then(|text| text.parse().ok());
            SupportedReply::Bad { retry_after }
        }
    }
}

impl SupportedResponse {
    /// Entries of other schemes are ignored.
    fn to_list(&self) -> SupportedList {
        let mut list = SupportedList::default();
        let extensions = self.extensions.as_deref().unwrap_or_default();
        let sponsoring = if extensions.iter().any(|name| name == SPONSORING) {
            GasSponsoring::Offered
        } else {
            GasSponsoring::NotOffered
        };
        for (network, account) in self.kinds.iter().filter_map(kind) {
            list.services
                .entry(network)
                .or_insert(Permit2Support { facilitator: account, sponsoring });
            list.accounts.entry(network).or_default().push(account);
        }
        for (family, signers) in self.signers.iter().flatten() {
            let signers: Vec<EvmAddress> =
                signers.as_array().into_iter().flatten().filter_map(address).collect();
            for network in Network::ALL {
                if family == "eip155:*" || family == network.caip2() {
                    list.accounts.entry(network).or_default().extend(&signers);
                }
            }
        }
        list
    }
}

fn kind(kind: &Value) -> Option<(Network, EvmAddress)> {
    let ours = kind.get("x402Version")? == 2 && kind.get("scheme")? == "upto";
    let network = Network::from_caip2(kind.get("network")?.as_str()?).filter(|_| ours)?;
    Some((network, address(kind.pointer("/extra/facilitatorAddress")?)?))
}

fn address(value: &Value) -> Option<EvmAddress> {
    value.as_str()?.parse().ok()
}

#[derive(Default)]
pub(super) struct SupportedCache(Mutex<SupportedList>);

impl SupportedCache {
    /// Replaces the list and adds its settling accounts to the earlier ones. Returns the new
    /// state if it changed.
    pub(super) fn keep(&self, list: &SupportedList) -> Option<SupportedList> {
        let mut known = self.known();
        let before = known.clone();
        known.services.clone_from(&list.services);
        for (network, named) in &list.accounts {
            let accounts = known.accounts.entry(*network).or_default();
            for account in named {
                // Moves it to the newest.
                accounts.retain(|known| known != account);
                accounts.push(*account);
            }
            let spare = accounts.len().saturating_sub(ACCOUNTS_MAX);
            accounts.drain(..spare);
        }
        (*known != before).then(|| known.clone())
    }

    pub(super) fn support(&self, network: Network) -> Option<Permit2Support> {
        self.known().services.get(&network).copied()
    }

    pub(super) fn classify_facilitator(
        &self,
        network: Network,
        named: EvmAddress,
    ) -> FacilitatorAddress {
        match self.known().accounts.get(&network) {
            Some(accounts) if accounts.contains(&named) => FacilitatorAddress::Ours,
            Some(_) | None => FacilitatorAddress::Unknown,
        }
    }

    fn known(&self) -> MutexGuard<'_, SupportedList> {
        // Nothing that runs under this lock can leave a list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The delay before the next refresh.
#[derive(Default)]
pub(super) struct RefreshDelay {
    bad: u32,
}

impl RefreshDelay {
    pub(super) fn after(&mut self, listed: &SupportedReply) -> u64 {
        match listed {
            SupportedReply::Good(_) => {
                self.bad = 0;
                FRESH_SECONDS
            }
            SupportedReply::Bad { retry_after } => {
                let wait = (BACK_OFF_SECONDS << self.bad.min(10)).min(BACK_OFF_SECONDS_MAX);
                self.bad = self.bad.saturating_add(1);
                retry_after.unwrap_or(wait).clamp(1, RETRY_AFTER_SECONDS_MAX)
            }
        }
    }
}
