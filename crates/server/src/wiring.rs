//! Introduces the parts of the house to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use content::catalog::Catalog;
use content::render::Money;
use order::checkout::Desk;
use order::checkout::preview::Previews;
use order::checkout::quotes::Quotes;
use order::checkout::single_flight::SingleFlight;
use order::model::chain::Network;
use order::model::seller::Sellers;
use order::ports::{Clock, Provider};
use order::reconciler::resubmit_watch::ResubmitWatches;
use order::status::StatusReader;
use order::tender::{Tender, Tenders};
use pay::envelope::Envelope;
use pay::mode::Mode;
use pay::mpp::{Mpp, Realm, Secrets};
use pay::x402::resource::Resource;
use pay::x402::tender::X402;
use web::House;
use web::agents::token::TokenKeys;
use web::agents::{Enabled, Registry};
use web::guard::Limits;
use web::postcards::{self, Sending};
use web::premises::{Premises, Reach, Service};
use web::quota::Quota;
use web::site::Site;
use web::walks::Walks;

use crate::config::Config;
use crate::config::paying::Paying;
use crate::config::posting::Posting;
use crate::config::values::{Answer, BaseUrl};
use crate::storage::Storage;
use crate::world::World;

/// What has been opened already.
pub(crate) struct Inside<'a> {
    pub(crate) site: Site,
    pub(crate) storage: &'a Storage,
    pub(crate) world: &'a World,
    pub(crate) desks: Option<&'a Desks>,
    pub(crate) walks: Walks,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn house(config: &Config, bound: SocketAddr, inside: Inside<'_>) -> House {
    let Inside { site, storage, world, desks, walks, clock } = inside;
    House {
        statuses: StatusReader {
            store: storage.store.port(),
            identity: storage.keyring.identity(),
            clock: clock.clone(),
        },
        previews: previews(config, world),
        sending: desks.map(|desks| sending(config, world, desks)),
        names: world.names.clone(),
        clock,
        walks,
        limits: Limits {
            body_bytes: config.limits.body_bytes,
            request_time: config.limits.request,
            ..Limits::default()
        },
        paid_time: config.limits.paid_request,
        site,
        reach: if bound.ip().is_loopback() { Reach::Loopback } else { Reach::Network },
        quota: Quota::new(config.limits.discovery_quota),
        registry: Registry {
            keys: TokenKeys::new(storage.keyring.tokens()),
            randomness: Arc::new(randomness),
            enabled: match config.agents.anonymous {
                Answer::Yes => Enabled::Yes,
                Answer::No => Enabled::No,
            },
            base_url: config.server.base_url(bound).to_string(),
        },
    }
}

/// What every document is written from.
pub(crate) fn premises(config: &Config, bound: SocketAddr, catalog: Catalog) -> Premises {
    Premises {
        base_url: config.server.base_url(bound).to_string(),
        catalog,
        payee: config.shop.payee,
        default_seller: config.sellers.default.to_string(),
        seller_parent: config.sellers.parent.to_string(),
        profile: config.mcp.profile,
        mode: mode(config),
        open: open(config),
        networks: networks(config),
    }
}

fn mode(config: &Config) -> Mode {
    match config.paying.money() {
        Money::Real => Mode::Live,
        Money::Play => Mode::Sandbox,
    }
}

/// What this configuration lets callers do, as `world` and `desks` open it.
fn open(config: &Config) -> BTreeSet<Service> {
    let mut open = BTreeSet::new();
    if let Posting::Sandbox(_) | Posting::ThanksIo(_) | Posting::Lob(_) = &config.posting {
        open.insert(Service::Preview);
        match &config.paying {
            Paying::Nobody => {}
            Paying::Sandbox => open.extend([Service::X402, Service::Mpp]),
            Paying::Settler(_) | Paying::Facilitator(_) => {
                open.insert(Service::X402);
                // Our own settler carries it, on this network alone.
                if config.paying.has_settler() && config.paying.has_node(Network::Base) {
                    open.insert(Service::Mpp);
                }
            }
        }
    }
    match config.agents.anonymous {
        Answer::Yes => {
            open.insert(Service::Registration);
        }
        Answer::No => {}
    }
    open
}

/// Where a payment by x402 can be settled, as far as it is known before anyone is asked: a
/// facilitator may serve any network, and each challenge names those that it does serve.
fn networks(config: &Config) -> Vec<Network> {
    if !open(config).contains(&Service::X402) {
        return Vec::new();
    }
    let served = |network: &Network| match &config.paying {
        Paying::Nobody => false,
        Paying::Sandbox | Paying::Facilitator(_) => true,
        Paying::Settler(_) => config.paying.has_node(*network),
    };
    Network::ALL.into_iter().filter(served).collect()
}

fn previews(config: &Config, world: &World) -> Option<Previews> {
    let provider = world.provider.as_ref()?.previews.clone();
    Some(Previews { provider, names: world.names.clone(), sellers: sellers(config) })
}

fn sending(config: &Config, world: &World, desks: &Desks) -> Sending {
    let (desk, x402) = (desks.paid.clone(), desks.x402.clone());
    let mpp = desks.mpp.clone().map(|mpp| -> Arc<dyn Envelope> { mpp });
    let money = config.paying.money();
    let nodes = match (&config.paying, &world.miniature.chains) {
        (Paying::Sandbox, Some(chains)) => {
            Network::ALL.into_iter().map(|network| (network, chains.rpc_url(network))).collect()
        }
        (Paying::Sandbox, None)
        | (Paying::Nobody | Paying::Settler(_) | Paying::Facilitator(_), _) => BTreeMap::new(),
    };
    Sending { desk, x402, mpp, money, nodes }
}

fn sellers(config: &Config) -> Sellers {
    Sellers { default: config.sellers.default.clone(), enabled: config.sellers.enabled.clone() }
}

/// Those who take money and send cards.
pub(crate) struct Desks {
    pub(crate) paid: Arc<Desk>,
    pub(crate) x402: Arc<X402>,
    /// Where somebody carries the payers' own transfers.
    pub(crate) mpp: Option<Arc<Mpp>>,
}

impl Desks {
    /// The ways of paying, for whoever asks after the money.
    pub(crate) fn tenders(&self) -> Tenders {
        let x402: Arc<dyn Tender> = self.x402.clone();
        let mpp = self.mpp.clone().map(|mpp| -> Arc<dyn Tender> { mpp });
        Tenders([x402].into_iter().chain(mpp).collect())
    }
}

/// None where nobody mails cards or nobody carries payments.
pub(crate) fn desks(
    config: &Config,
    bound: SocketAddr,
    storage: &Storage,
    world: &World,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Desks>, String> {
    let (Some(provider), Some(facilitator)) = (&world.provider, &world.carriers.x402) else {
        return Ok(None);
    };
    let base_url = config.server.base_url(bound);
    let x402 = X402::new(facilitator.clone(), resource(&base_url, postcards::X402)?);
    let x402 = x402.in_mode(mode(config));
    let mpp = world.carriers.mpp.as_ref().map(|carrier| {
        let (newest, earlier) = storage.keyring.challenges();
        let realm = config.realm.clone().map_or_else(|| Realm::parse(base_url.host()), Ok);
        let secrets = Secrets::new(newest, &earlier);
        let resource = resource(&base_url, postcards::MPP)?;
        let randomness = Arc::new(challenge_randomness);
        let mpp = Mpp::new(carrier.clone(), realm?, secrets, randomness, resource);
        Ok::<_, String>(Arc::new(mpp.in_mode(mode(config))))
    });
    Ok(Some(Desks {
        paid: desk(config, storage, world, clock, &provider.paid),
        x402: Arc::new(x402),
        mpp: mpp.transpose()?,
    }))
}

/// The same desk for whoever clears up, with the provider's second name: also where nobody carries payments now, since somebody
/// did when these were made. None where nobody mails cards.
pub(crate) fn rounds(
    config: &Config,
    storage: &Storage,
    world: &World,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<Desk>> {
    let provider = world.provider.as_ref()?;
    Some(desk(config, storage, world, clock, &provider.rounds))
}

fn desk(
    config: &Config,
    storage: &Storage,
    world: &World,
    clock: &Arc<dyn Clock>,
    provider: &Arc<dyn Provider>,
) -> Arc<Desk> {
    Arc::new(Desk {
        provider: provider.clone(),
        names: world.names.clone(),
        store: storage.store.port(),
        clock: clock.clone(),
        identity: storage.keyring.identity(),
        sellers: sellers(config),
        single_flight: SingleFlight::default(),
        quotes: Quotes::default(),
        resubmit_watches: ResubmitWatches::default(),
        worker: storage.worker,
    })
}

/// What is for sale at one of the doors.
fn resource(base_url: &BaseUrl, path: &str) -> Result<Resource, String> {
    let url = format!("{base_url}{path}");
    Resource::parse(&url, "One 4x6 inch postcard, printed and mailed", "Pennyblack", &TAGS)
}

/// By which catalogues list us.
const TAGS: [&str; 3] = ["postcard", "mail", "print"];

fn randomness() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

/// What tells challenges apart, which is no secret once it is sent. The system is asked
/// for many at once, as a question costs as much as some of a challenge's digests.
fn challenge_randomness() -> Option<[u8; 16]> {
    static LEFT: Mutex<Vec<[u8; 16]>> = Mutex::new(Vec::new());
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    if left.is_empty() {
        let mut bytes = [0; 16 * 64];
        getrandom::fill(&mut bytes).ok()?;
        left.extend_from_slice(bytes.as_chunks().0);
    }
    left.pop()
}
