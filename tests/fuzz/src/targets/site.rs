//! The whole site in this process, over fakes: what every answer must be, whatever was sent.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Request, StatusCode};
use content::catalog::Catalog;
use content::render::Money;
use http_body_util::BodyExt;
use order::checkout::preview::Previews;
use order::model::chain::{EvmAddress, Network};
use order::ports::{Store, TidyLimits};
use order::tender::Tender;
use order::testing::fakes::world::FakeWorld;
use pay::mode::PaymentMode;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use web::app::{App, AppState};
use web::documents::site::Site;
use web::http::limits::RequestLimits;
use web::http::quota::DiscoveryQuota;
use web::routes::agents::token::TokenKeys;
use web::routes::agents::{AgentRegistry, RegistrationMode};
use web::routes::health::Dependencies;
use web::routes::postcards::PaidRoutes;
use web::site_facts::{ListenScope, McpProfile, SiteFacts};
use web::surface::{self, OptionalService};
use web::task_tracker::TaskTracker;

use super::payments;

/// A word that is in no text of the site. Where it is sent as personal data, no JSON may repeat it.
pub(crate) const MARKER: &str = "Zq7xMarkedWord";

const BASE_URL: &str = "https://shop.example.org";

static SITE: LazyLock<Mutex<FuzzedSite>> = LazyLock::new(|| Mutex::new(FuzzedSite::new()));

pub(crate) struct FuzzedSite {
    app: App,
    world: Arc<FakeWorld>,
    runtime: Runtime,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn site() -> MutexGuard<'static, FuzzedSite> {
    SITE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FuzzedSite {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let world = payments::world();
        let facts = SiteFacts {
            base_url: BASE_URL.to_owned(),
            catalog: Catalog::built_in(&surface::paths()).expect("the built-in texts"),
            payee: EvmAddress::from_bytes([0x11; 20]),
            default_seller: "alice".to_owned(),
            seller_parent: "cards.example.eth".to_owned(),
            profile: McpProfile::Node,
            mode: PaymentMode::Live,
            enabled: OptionalService::ALL.into(),
            networks: Network::ALL.to_vec(),
        };
        let site = Site::render(facts, world.time()).expect("the documents");
        let app = {
            let _entered = runtime.enter();
            App::new(state(&world, site))
        };
        Self { app, world, runtime }
    }

    /// Sends a request, and forgets what it left in the store.
    pub(crate) fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.runtime.block_on(async {
            let response = self.app.call(request).await.expect("an answer");
            let (head, body) = response.into_parts();
            let body = body.collect().await.expect("a whole body").to_bytes();
            Answer { status: head.status.as_u16(), headers: head.headers, body: body.to_vec() }
        });
        answer.check();
        answer
    }

    /// Forgets unpaid orders, so that every run begins with an empty store.
    pub(crate) fn forget(&self) {
        let limits = TidyLimits { unpaid_rows_max: 0, lapsed_seconds: 0 };
        let tidied = self.runtime.block_on(self.world.tidy(self.world.time(), limits));
        tidied.expect("a store that answers");
    }
}

fn state(world: &Arc<FakeWorld>, site: Site) -> AppState {
    let process = world.process();
    let statuses = process.status_reader();
    let (x402, mpp) = (payments::x402().0, payments::mpp().0);
    let prices = [(x402.kind(), x402.price()), (mpp.kind(), mpp.price())];
    let previews = Previews {
        provider: world.clone(),
        names: world.clone(),
        sellers: process.checkout.sellers.clone(),
        identity: process.checkout.identity.clone(),
        clock: world.clone(),
        prices: prices.into(),
    };
    let paid_routes = PaidRoutes {
        checkout: Arc::new(process.checkout),
        x402: Arc::new(x402),
        mpp: Some(Arc::new(mpp)),
        money: Money::Real,
        nodes: BTreeMap::new(),
    };
    let limits = RequestLimits::default();
    AppState {
        statuses,
        previews: Some(previews),
        paid_routes: Some(paid_routes),
        names: world.clone(),
        clock: world.clone(),
        tasks: TaskTracker::new(),
        limits,
        paid_request_time: limits.request_time,
        site,
        listen_scope: ListenScope::Loopback,
        quota: DiscoveryQuota::new(u32::MAX),
        agents: AgentRegistry {
            keys: TokenKeys::new(vec![[3; 32]]),
            random: Arc::new(|| Some([5; 16])),
            mode: RegistrationMode::Open,
            base_url: BASE_URL.to_owned(),
        },
        dependencies: Dependencies::default(),
    }
}

impl Answer {
    /// What holds for every answer.
    fn check(&self) {
        let shown = || String::from_utf8_lossy(&self.body).into_owned();
        let status = StatusCode::from_u16(self.status).expect("a status");
        let is_bodiless = matches!(self.status, 202 | 204 | 304);
        assert!(!is_bodiless || self.body.is_empty(), "{status} with a body: {}", shown());
        if self.is_json() && !self.body.is_empty() {
            let read = serde_json::from_slice::<Value>(&self.body);
            assert!(read.is_ok(), "{status} with a body that is not JSON: {}", shown());
        }
        if status.is_server_error() || status.is_client_error() {
            let kind = self.media_type();
            let is_page = kind.starts_with("text/html") || kind.starts_with("text/markdown");
            assert!(self.is_json() || is_page, "{status} as {kind:?}: {}", shown());
        }
        if !self.media_type().starts_with("text/html") {
            assert!(!contains(&self.body, MARKER), "{status} repeats personal data: {}", shown());
        }
        for (name, value) in &self.headers {
            assert!(!contains(value.as_bytes(), MARKER), "{name} repeats personal data: {value:?}");
        }
    }

    pub(crate) fn media_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn is_json(&self) -> bool {
        let essence = self.media_type().split(';').next().unwrap_or_default();
        essence == "application/json" || essence.ends_with("+json")
    }

    /// The body as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}
