//! Builds the application from the configuration, the store and the external services.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use adapters::measurements::measured_settler::MeasuredSettler;
use content::catalog::Catalog;
use content::render::Money;
use order::checkout::Checkout;
use order::checkout::preview::Previews;
use order::checkout::quotes::QuoteLimiter;
use order::checkout::single_flight::SingleFlight;
use order::model::chain::Network;
use order::model::seller::Sellers;
use order::ports::{Clock, Provider};
use order::reconciler::Reconciler;
use order::status::StatusReader;
use order::tender::{Tender, Tenders};
use order::writer::OrderWriter;
use pay::http_binding::HttpBinding;
use pay::mode::PaymentMode;
use pay::mpp::challenge_id::{ChallengeSecrets, Realm};
use pay::mpp::settler::TransferSettler;
use pay::mpp::tender::Mpp;
use pay::x402::resource::Resource;
use pay::x402::tender::X402;
use web::app::AppState;
use web::documents::site::Site;
use web::http::limits::RequestLimits;
use web::http::quota::DiscoveryQuota;
use web::routes::agents::token::TokenKeys;
use web::routes::agents::{AgentRegistry, RegistrationMode};
use web::routes::postcards::{self, PaidRoutes};
use web::site_facts::{ListenScope, SiteFacts};
use web::surface::OptionalService;
use web::task_tracker::TaskTracker;

use crate::config::Config;
use crate::config::payments::PaymentsConfig;
use crate::config::provider::ProviderConfig;
use crate::config::values::BaseUrl;
use crate::wiring::external_services::ExternalServices;
use crate::wiring::storage::Storage;

pub(crate) mod catalog;
pub(crate) mod chain_url_file;
pub(crate) mod external_services;
pub(crate) mod names;
mod no_provider;
pub(crate) mod open_orders;
pub(crate) mod operator;
pub(crate) mod payments;
pub(crate) mod provider;
pub(crate) mod sandbox_endpoints;
#[cfg(feature = "sandbox")]
pub(crate) mod sandbox_world;
#[cfg(not(feature = "sandbox"))]
#[path = "wiring/no_sandbox_world.rs"]
pub(crate) mod sandbox_world;
pub(crate) mod storage;
pub(crate) mod transfers;

/// What the application is built from.
pub(crate) struct AppParts<'a> {
    pub(crate) site: Site,
    pub(crate) storage: &'a Storage,
    pub(crate) services: &'a ExternalServices,
    pub(crate) payments: Option<&'a PaymentHandlers>,
    pub(crate) tasks: TaskTracker,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn app_state(config: &Config, bound: SocketAddr, parts: AppParts<'_>) -> AppState {
    let AppParts { site, storage, services, payments, tasks, clock } = parts;
    AppState {
        statuses: StatusReader {
            store: storage.store.port(),
            identity: storage.keyring.identity(),
            clock: clock.clone(),
        },
        previews: previews(config, storage, services, payments, clock.clone()),
        paid_routes: payments.map(|payments| sending(config, services, payments)),
        names: services.names.clone(),
        clock,
        tasks,
        limits: RequestLimits {
            body_bytes: config.limits.body_bytes,
            request_time: config.limits.request,
            ..RequestLimits::default()
        },
        paid_request_time: config.limits.paid_request,
        site,
        listen_scope: if bound.ip().is_loopback() {
            ListenScope::Loopback
        } else {
            ListenScope::Network
        },
        quota: DiscoveryQuota::new(config.limits.discovery_quota),
        agents: AgentRegistry {
            keys: TokenKeys::new(storage.keyring.tokens()),
            random: Arc::new(randomness),
            mode: if config.agents.anonymous {
                RegistrationMode::Open
            } else {
                RegistrationMode::Closed
            },
            base_url: config.server.base_url(bound).to_string(),
        },
        dependencies: services.dependencies(),
    }
}

/// The facts that every document is rendered from.
pub(crate) fn site_facts(config: &Config, bound: SocketAddr, catalog: Catalog) -> SiteFacts {
    SiteFacts {
        base_url: config.server.base_url(bound).to_string(),
        catalog,
        payee: config.shop.payee,
        default_seller: config.sellers.default.to_string(),
        seller_parent: config.sellers.parent.to_string(),
        profile: config.mcp.profile,
        mode: mode(config),
        enabled: open(config),
        networks: networks(config),
    }
}

fn mode(config: &Config) -> PaymentMode {
    match config.payments.money() {
        Money::Real => PaymentMode::Live,
        Money::Play => PaymentMode::Sandbox,
    }
}

/// The services that this configuration enables, as `ExternalServices` and `PaymentHandlers`
/// open them.
fn open(config: &Config) -> BTreeSet<OptionalService> {
    let mut open = BTreeSet::new();
    if let ProviderConfig::Sandbox(_) | ProviderConfig::ThanksIo(_) | ProviderConfig::Lob(_) =
        &config.provider
    {
        open.insert(OptionalService::Preview);
        match &config.payments {
            PaymentsConfig::Disabled => {}
            PaymentsConfig::Sandbox => open.extend([OptionalService::X402, OptionalService::Mpp]),
            PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_) => {
                open.insert(OptionalService::X402);
                // MPP is settled by our own settler, on this network only.
                if config.payments.has_settler() && config.payments.has_node(Network::Base) {
                    open.insert(OptionalService::Mpp);
                }
            }
        }
    }
    if config.agents.anonymous {
        open.insert(OptionalService::Registration);
    }
    open
}

/// The networks on which x402 payments can be settled, as far as the configuration determines: a
/// facilitator may serve any network, and each challenge lists those that it serves.
fn networks(config: &Config) -> Vec<Network> {
    if !open(config).contains(&OptionalService::X402) {
        return Vec::new();
    }
    let served = |network: &Network| match &config.payments {
        PaymentsConfig::Disabled => false,
        PaymentsConfig::Sandbox | PaymentsConfig::Facilitator(_) => true,
        PaymentsConfig::Settler(_) => config.payments.has_node(*network),
    };
    Network::ALL.into_iter().filter(served).collect()
}

fn previews(
    config: &Config,
    storage: &Storage,
    services: &ExternalServices,
    payments: Option<&PaymentHandlers>,
    clock: Arc<dyn Clock>,
) -> Option<Previews> {
    let tenders = payments.map(PaymentHandlers::tenders);
    let tenders = tenders.iter().flat_map(|tenders| &tenders.0);
    Some(Previews {
        provider: services.provider.as_ref()?.previews.clone(),
        names: services.names.clone(),
        sellers: sellers(config),
        identity: storage.keyring.identity(),
        clock,
        prices: tenders.map(|tender| (tender.kind(), tender.price())).collect(),
    })
}

fn sending(config: &Config, services: &ExternalServices, payments: &PaymentHandlers) -> PaidRoutes {
    let (checkout, x402) = (payments.checkout.clone(), payments.x402.clone());
    let mpp = payments.mpp.clone().map(|mpp| -> Arc<dyn HttpBinding> { mpp });
    let money = config.payments.money();
    let nodes = match (&config.payments, &services.sandbox.chains) {
        (PaymentsConfig::Sandbox, Some(chains)) => chains.rpc_urls.clone(),
        (PaymentsConfig::Sandbox, None)
        | (
            PaymentsConfig::Disabled | PaymentsConfig::Settler(_) | PaymentsConfig::Facilitator(_),
            _,
        ) => BTreeMap::new(),
    };
    PaidRoutes { checkout, x402, mpp, money, nodes }
}

fn sellers(config: &Config) -> Sellers {
    Sellers { default: config.sellers.default.clone(), enabled: config.sellers.enabled.clone() }
}

/// What accepts payments and sends cards.
pub(crate) struct PaymentHandlers {
    pub(crate) checkout: Arc<Checkout>,
    pub(crate) x402: Arc<X402>,
    /// `None` if MPP payments cannot be settled.
    pub(crate) mpp: Option<Arc<Mpp>>,
    /// The same payment methods for operators, whose lookups are not counted as settlements.
    pub(crate) evidence_tenders: Tenders,
}

impl PaymentHandlers {
    /// The payment methods, by which the reconciler looks settlements up.
    pub(crate) fn tenders(&self) -> Tenders {
        tenders(self.x402.clone(), self.mpp.clone())
    }
}

/// `None` if no provider is configured, or payments cannot be settled.
pub(crate) fn payment_handlers(
    config: &Config,
    bound: SocketAddr,
    storage: &Storage,
    services: &ExternalServices,
    clock: &Arc<dyn Clock>,
) -> Result<Option<PaymentHandlers>, String> {
    let (Some(provider), Some(facilitator)) = (&services.provider, &services.settlers.x402) else {
        return Ok(None);
    };
    let base_url = config.server.base_url(bound);
    let x402 = |settler| -> Result<Arc<X402>, String> {
        let x402 = X402::new(settler, resource(&base_url, postcards::X402)?);
        Ok(Arc::new(x402.in_mode(mode(config))))
    };
    let mpp = |settler| -> Result<Arc<Mpp>, String> {
        let (newest, earlier) = storage.keyring.challenges();
        let realm = config.realm.clone().map_or_else(|| Realm::parse(base_url.host()), Ok);
        let secrets = ChallengeSecrets::new(newest, &earlier);
        let resource = resource(&base_url, postcards::MPP)?;
        let randomness = Arc::new(challenge_randomness);
        let mpp = Mpp::new(settler, realm?, secrets, randomness, resource);
        Ok(Arc::new(mpp.in_mode(mode(config))))
    };
    let transfers = services.settlers.mpp.as_ref();
    let read_only = (x402(facilitator.clone())?, transfers.cloned().map(mpp).transpose()?);
    let measured = transfers
        .map(|settler| -> Arc<dyn TransferSettler> { Arc::new(MeasuredSettler(settler.clone())) });
    Ok(Some(PaymentHandlers {
        checkout: checkout(config, storage, services, writer(storage, clock, &provider.paid)),
        x402: x402(Arc::new(MeasuredSettler(facilitator.clone())))?,
        mpp: measured.map(mpp).transpose()?,
        evidence_tenders: tenders(read_only.0, read_only.1),
    }))
}

fn tenders(x402: Arc<X402>, mpp: Option<Arc<Mpp>>) -> Tenders {
    let x402: Arc<dyn Tender> = x402;
    let mpp = mpp.map(|mpp| -> Arc<dyn Tender> { mpp });
    Tenders([x402].into_iter().chain(mpp).collect())
}

/// The reconciler, with its own share of the provider's rate limit. It exists also if payments are
/// disabled now, because earlier orders may still be open. `None` if no provider is configured.
pub(crate) fn reconciler(
    storage: &Storage,
    services: &ExternalServices,
    clock: &Arc<dyn Clock>,
) -> Option<Reconciler> {
    let provider = services.provider.as_ref()?;
    Some(Reconciler::new(writer(storage, clock, &provider.reconciler)))
}

fn writer(
    storage: &Storage,
    clock: &Arc<dyn Clock>,
    provider: &Arc<dyn Provider>,
) -> Arc<OrderWriter> {
    let (store, worker) = (storage.store.port(), storage.worker);
    Arc::new(OrderWriter { store, provider: provider.clone(), clock: clock.clone(), worker })
}

fn checkout(
    config: &Config,
    storage: &Storage,
    services: &ExternalServices,
    writer: Arc<OrderWriter>,
) -> Arc<Checkout> {
    Arc::new(Checkout {
        writer,
        names: services.names.clone(),
        identity: storage.keyring.identity(),
        sellers: sellers(config),
        single_flight: SingleFlight::default(),
        quote_limiter: QuoteLimiter::default(),
    })
}

/// The x402 resource of a paid endpoint.
fn resource(base_url: &BaseUrl, path: &str) -> Result<Resource, String> {
    let url = format!("{base_url}{path}");
    Resource::parse(&url, "One 4x6 inch postcard, printed and mailed", "Pennyblack", &TAGS)
}

/// The tags of the resource in x402 catalogs.
const TAGS: [&str; 3] = ["postcard", "mail", "print"];

fn randomness() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

/// What distinguishes challenges; it is public once a challenge is sent. Many values are read
/// from the operating system at once, because each call costs as much as some of a challenge's
/// digests.
fn challenge_randomness() -> Option<[u8; 16]> {
    static UNUSED: Mutex<Vec<[u8; 16]>> = Mutex::new(Vec::new());
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    if unused.is_empty() {
        let mut bytes = [0; 16 * 64];
        getrandom::fill(&mut bytes).ok()?;
        unused.extend_from_slice(bytes.as_chunks().0);
    }
    unused.pop()
}
