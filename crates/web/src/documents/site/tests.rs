//! Compares the endpoint list with what is served.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use order::model::ids::Timestamp;
use order::model::mail::Promises;
use order::status::StatusReader;
use order::testing::contract::samples::{identity, offer};
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::store::FakeStore;
use order::testing::fakes::world::FakeWorld;

use super::*;
use content::product::Product;

use crate::app::{App, AppState};
use crate::discovery::fixtures::site_facts;
use crate::documents::machine_readable::with_deprecation;
use crate::http::limits::RequestLimits;
use crate::http::quota;
use crate::routes::agents::token::TokenKeys;
use crate::routes::agents::{AgentRegistry, RegistrationMode};
use crate::routes::health::Dependencies;
use crate::surface::{Deprecation, HttpMethod, QuotaScope, SURFACE};
use crate::task_tracker::TaskTracker;

mod metrics;
mod texts;

const NOW: u64 = 1_794_700_800;

fn site() -> Site {
    Site::render(site_facts(), Timestamp(NOW)).unwrap()
}

fn app() -> App {
    let site = site();
    let store = Arc::new(FakeStore::default());
    let registry = AgentRegistry {
        keys: TokenKeys::new(vec![[7; 32]]),
        random: Arc::new(|| Some([1; 16])),
        mode: RegistrationMode::Open,
        base_url: site.facts.base_url.clone(),
    };
    let world = FakeWorld::new(
        Box::new(ExhaustiveFaults::default()),
        Box::new(ManualTime::default()),
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 },
    );
    App::new(AppState {
        statuses: StatusReader { store, identity: identity(), clock: world.clone() },
        previews: None,
        paid_routes: None,
        names: world.clone(),
        clock: world,
        tasks: TaskTracker::new(),
        limits: RequestLimits::default(),
        paid_request_time: RequestLimits::default().request_time,
        site,
        listen_scope: crate::site_facts::ListenScope::Loopback,
        quota: quota::DiscoveryQuota::new(quota::REQUESTS),
        agents: registry,
        dependencies: Dependencies::default(),
    })
}

async fn status(app: &App, method: &str, path: &str) -> u16 {
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    app.call(request).await.unwrap().status().as_u16()
}

/// A path that matches the pattern of an endpoint.
fn sample(path: &str) -> String {
    path.replace("{publicOrderId}", &offer(1).id.to_string()).replace("{username}", "demo")
}

#[tokio::test]
async fn every_listed_endpoint_is_served() {
    let app = app();
    for endpoint in SURFACE {
        let path = sample(endpoint.path);
        let answered = status(&app, endpoint.method.name(), &path).await;
        assert!(![404, 405].contains(&answered), "{path}: {answered}");
        if endpoint.method == HttpMethod::Get {
            assert_eq!(status(&app, "HEAD", &path).await, answered, "HEAD {path}");
        }
    }
}

#[tokio::test]
async fn every_document_is_a_listed_endpoint_or_made_from_content() {
    let Site { facts, documents, .. } = site();
    let mut known: BTreeSet<String> =
        SURFACE.iter().map(|endpoint| endpoint.path.to_owned()).collect();
    let mut page = |path: &str| {
        let stem = path.trim_end_matches('/');
        known.extend(["", "/", ".md", "/index.md"].map(|suffix| format!("{stem}{suffix}")));
    };
    for one in &facts.catalog.pages {
        page(&one.front.path);
        one.front.aliases.iter().for_each(|alias| page(alias));
    }
    facts.catalog.products.iter().for_each(|product| page(&product.path()));
    known.extend(facts.catalog.products.iter().map(Product::picture_path));
    known.extend(facts.catalog.agents.skills.iter().map(|skill| skill.path()));
    let gallery = facts.catalog.gallery.iter().flat_map(|picture| picture.files());
    known.extend(gallery.map(|(_, path)| path));
    known.insert("/favicon.svg".to_owned());
    known.extend(pages::RASTER_IMAGES.map(|(path, _)| path.to_owned()));
    for path in documents.paths().filter(|path| !path.starts_with("/assets/")) {
        assert!(known.contains(path), "{path} is not expected");
    }
}

#[test]
fn operation_names_and_paths_are_unique() {
    let operations: BTreeSet<_> = SURFACE.iter().map(|endpoint| endpoint.operation).collect();
    let places: BTreeSet<_> =
        SURFACE.iter().map(|endpoint| (endpoint.method.name(), endpoint.path)).collect();
    assert_eq!((operations.len(), places.len()), (SURFACE.len(), SURFACE.len()));
}

#[test]
fn the_quota_applies_to_the_routes_of_the_contract_only() {
    let counted: Vec<_> = SURFACE
        .iter()
        .filter(|endpoint| endpoint.quota == QuotaScope::Discovery)
        .map(|endpoint| endpoint.path)
        .collect();
    assert_eq!(counted, ["/openapi.json", "/api", "/api/x402", "/shop/feed.json", "/mcp"]);
}

#[test]
fn a_deprecated_endpoint_sends_deprecation_and_sunset() {
    let deprecation = Deprecation { deprecated_at: 1_688_169_599, sunset_at: 1_719_791_999 };
    let document =
        with_deprecation(DocumentBuilder::new("text/plain", "", CachePolicy::NoStore), deprecation);
    let headers = document.build(UrlScheme::Http).respond(&http::HeaderMap::new()).headers;
    assert_eq!(headers["deprecation"], "@1688169599");
    assert_eq!(headers["sunset"], "Sun, 30 Jun 2024 23:59:59 GMT");
    assert!(
        SURFACE.iter().all(|endpoint| endpoint.deprecation.is_none()),
        "no sunset is scheduled"
    );
}

#[test]
fn every_link_of_the_guide_is_a_markdown_document() {
    let Site { facts, documents, .. } = site();
    let headers = http::HeaderMap::new();
    let guide = documents.find("/llms.txt").unwrap().document(&headers).respond(&headers);
    let guide = String::from_utf8(guide.body.to_vec()).unwrap();
    assert!(guide.starts_with("# "));
    assert!(guide.len() < 30_000, "{} bytes", guide.len());
    for page in &facts.catalog.pages {
        assert!(guide.contains(&facts.url(&page.markdown_path())), "{}", page.name);
    }
}
