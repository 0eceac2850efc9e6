//! What a facilitator serves: the last good copy of its list, and every carrier that it ever named.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::model::chain::{EvmAddress, Network};
use pay::x402::facilitator::{Carrier, Service, Sponsoring};
use serde::Deserialize;
use serde_json::Value;

use crate::http::{Answer, Silence};

const SPONSORING: &str = "eip2612GasSponsoring";
/// Carriers are few; a list that names a new one every minute shall not grow
/// for ever. Offers live a day, so the oldest may go.
const CARRIERS_MAX: usize = 4_096;

/// How often a list is asked for while all is well, in seconds.
const FRESH_SECONDS: u64 = 5 * 60;
/// The first wait after a bad answer. Each one in a row doubles it.
const BACK_OFF_SECONDS: u64 = 5;
const BACK_OFF_SECONDS_MAX: u64 = 60;
/// Longer than this nobody makes us wait.
const RETRY_AFTER_SECONDS_MAX: u64 = 10 * 60;

/// What became of one question for the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    Good(List),
    /// No list; and how many seconds the facilitator wants us to wait, if it said so.
    Bad {
        retry_after: Option<u64>,
    },
}

/// A list, as far as it concerns us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    pub(super) services: BTreeMap<Network, Service>,
    pub(super) carriers: BTreeMap<Network, Vec<EvmAddress>>,
}

#[derive(Deserialize)]
struct OnTheWire {
    kinds: Vec<Value>,
    #[serde(default)]
    extensions: Option<Vec<Value>>,
    #[serde(default)]
    signers: Option<BTreeMap<String, Value>>,
}

pub(super) fn read(answer: Result<Answer, Silence>) -> Listed {
    let Ok(answer) = answer else { return Listed::Bad { retry_after: None } };
    match answer.read::<OnTheWire>() {
        Ok(list) => Listed::Good(list.sorted()),
        Err(_) => {
            let retry_after = answer.header("retry-after").and_then(|text| text.parse().ok());
            Listed::Bad { retry_after }
        }
    }
}

impl OnTheWire {
    /// What cannot be read is left out: other schemes may look as they like.
    fn sorted(&self) -> List {
        let mut list = List::default();
        let extensions = self.extensions.as_deref().unwrap_or_default();
        let sponsoring = if extensions.iter().any(|name| name == SPONSORING) {
            Sponsoring::Offered
        } else {
            Sponsoring::NotOffered
        };
        for (network, carrier) in self.kinds.iter().filter_map(kind) {
            list.services.entry(network).or_insert(Service { carrier, sponsoring });
            list.carriers.entry(network).or_default().push(carrier);
        }
        for (family, signers) in self.signers.iter().flatten() {
            let signers: Vec<EvmAddress> =
                signers.as_array().into_iter().flatten().filter_map(address).collect();
            for network in Network::ALL {
                if family == "eip155:*" || family == network.caip2() {
                    list.carriers.entry(network).or_default().extend(&signers);
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
pub(super) struct Memory(Mutex<List>);

impl Memory {
    /// The list takes the place of the last one; its carriers join the earlier ones. What is
    /// known from now on, if that is something new.
    pub(super) fn keep(&self, list: &List) -> Option<List> {
        let mut known = self.known();
        let before = known.clone();
        known.services.clone_from(&list.services);
        for (network, named) in &list.carriers {
            let carriers = known.carriers.entry(*network).or_default();
            for carrier in named {
                // Named again is as good as new.
                carriers.retain(|known| known != carrier);
                carriers.push(*carrier);
            }
            let spare = carriers.len().saturating_sub(CARRIERS_MAX);
            carriers.drain(..spare);
        }
        (*known != before).then(|| known.clone())
    }

    pub(super) fn service(&self, network: Network) -> Option<Service> {
        self.known().services.get(&network).copied()
    }

    pub(super) fn carrier(&self, network: Network, named: EvmAddress) -> Carrier {
        match self.known().carriers.get(&network) {
            Some(carriers) if carriers.contains(&named) => Carrier::Ours,
            Some(_) | None => Carrier::Unknown,
        }
    }

    fn known(&self) -> MutexGuard<'_, List> {
        // Nothing that runs under this lock can leave a list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long to wait before the list is asked for again.
#[derive(Default)]
pub(super) struct Pause {
    bad: u32,
}

impl Pause {
    pub(super) fn after(&mut self, listed: &Listed) -> u64 {
        match listed {
            Listed::Good(_) => {
                self.bad = 0;
                FRESH_SECONDS
            }
            Listed::Bad { retry_after } => {
                let wait = (BACK_OFF_SECONDS << self.bad.min(10)).min(BACK_OFF_SECONDS_MAX);
                self.bad = self.bad.saturating_add(1);
                retry_after.unwrap_or(wait).clamp(1, RETRY_AFTER_SECONDS_MAX)
            }
        }
    }
}
