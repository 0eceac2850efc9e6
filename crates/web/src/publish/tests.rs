//! The surface held against what is served, and what is served against the surface.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use order::model::ids::Timestamp;
use order::model::mail::Promises;
use order::status::StatusReader;
use order::testing::contract::samples::{identity, offer};
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::store::Shelf;
use order::testing::fakes::world::World;

use super::*;
use crate::agents::token::TokenKeys;
use crate::agents::{Enabled, Registry};
use crate::discovery::samples::premises;
use crate::front::Front;
use crate::guard::Limits;
use crate::site::Site;
use crate::surface::Verb;
use crate::walks::Walks;
use crate::{House, quota};

mod words;

const NOW: u64 = 1_794_700_800;

fn front() -> Front {
    let premises = premises();
    let shelf = Arc::new(Shelf::default());
    let registry = Registry {
        keys: TokenKeys::new(vec![[7; 32]]),
        randomness: Arc::new(|| Some([1; 16])),
        enabled: Enabled::Yes,
        base_url: premises.base_url.clone(),
    };
    let world = World::new(
        Box::new(EveryFate::default()),
        Box::new(Still::default()),
        Promises { idempotent_seconds: None, cancel_seconds: 0, visibility_lag_seconds: 0 },
    );
    let house = House {
        statuses: StatusReader { store: shelf, identity: identity(), clock: world.clone() },
        previews: None,
        sending: None,
        names: world.clone(),
        clock: world,
        walks: Walks::new(),
        limits: Limits::default(),
        paid_time: Limits::default().request_time,
        site: Site::write(premises, Timestamp(NOW)).unwrap(),
        reach: crate::premises::Reach::Loopback,
        quota: quota::Quota::new(quota::REQUESTS),
        registry,
    };
    crate::open(house)
}

async fn status(front: &Front, method: &str, path: &str) -> u16 {
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    front.call(request).await.unwrap().status().as_u16()
}

/// An address that the pattern of an endpoint fits.
fn sample(path: &str) -> String {
    path.replace("{publicOrderId}", &offer(1).id.to_string()).replace("{username}", "demo")
}

#[tokio::test]
async fn every_endpoint_of_the_surface_is_served() {
    let front = front();
    for endpoint in SURFACE {
        let path = sample(endpoint.path);
        let answered = status(&front, endpoint.verb.name(), &path).await;
        assert!(![404, 405].contains(&answered), "{path}: {answered}");
        if endpoint.verb == Verb::Get {
            assert_eq!(status(&front, "HEAD", &path).await, answered, "HEAD {path}");
        }
    }
}

#[tokio::test]
async fn every_document_is_on_the_surface_or_made_of_the_words() {
    let premises = premises();
    let documents = everything(&premises, NOW).unwrap().documents;
    let mut known: BTreeSet<String> =
        SURFACE.iter().map(|endpoint| endpoint.path.to_owned()).collect();
    let mut page = |path: &str| {
        let bare = path.trim_end_matches('/');
        known.extend(["", "/", ".md", "/index.md"].map(|ending| format!("{bare}{ending}")));
    };
    for one in &premises.catalog.pages {
        page(&one.front.path);
        one.front.aliases.iter().for_each(|alias| page(alias));
    }
    premises.catalog.products.iter().for_each(|product| page(&product.path()));
    known.extend(premises.catalog.products.iter().map(Product::picture_path));
    known.extend(premises.catalog.agents.skills.iter().map(|skill| skill.path()));
    known.extend(["/favicon.svg", "/og.png"].map(str::to_owned));
    for path in documents.paths().filter(|path| !path.starts_with("/assets/")) {
        assert!(known.contains(path), "{path} is nobody's");
    }
}

#[test]
fn names_of_operations_and_addresses_are_unique() {
    let operations: BTreeSet<_> = SURFACE.iter().map(|endpoint| endpoint.operation).collect();
    let places: BTreeSet<_> =
        SURFACE.iter().map(|endpoint| (endpoint.verb.name(), endpoint.path)).collect();
    assert_eq!((operations.len(), places.len()), (SURFACE.len(), SURFACE.len()));
}

#[test]
fn what_the_contract_counts_is_counted_and_nothing_else() {
    let counted: Vec<_> = SURFACE
        .iter()
        .filter(|endpoint| endpoint.quota == Quota::Discovery)
        .map(|endpoint| endpoint.path)
        .collect();
    assert_eq!(counted, ["/openapi.json", "/api", "/api/x402", "/shop/feed.json", "/mcp"]);
}

#[test]
fn an_endpoint_on_its_way_out_says_since_when_and_until_when() {
    let retiring = Retiring { deprecated_at: 1_688_169_599, sunset_at: 1_719_791_999 };
    let draft = notice(Draft::new("text/plain", "", Keep::Never), retiring);
    let headers = draft.finish(Transport::Open).send(&http::HeaderMap::new()).headers;
    assert_eq!(headers["deprecation"], "@1688169599");
    assert_eq!(headers["sunset"], "Sun, 30 Jun 2024 23:59:59 GMT");
    assert!(SURFACE.iter().all(|endpoint| endpoint.retiring.is_none()), "no sunset is scheduled");
}

#[test]
fn every_text_of_the_guide_leads_to_markdown() {
    let premises = premises();
    let documents = everything(&premises, NOW).unwrap().documents;
    let asked = http::HeaderMap::new();
    let guide = documents.find("/llms.txt").unwrap().document(&asked).send(&asked);
    let guide = String::from_utf8(guide.body.to_vec()).unwrap();
    assert!(guide.starts_with("# "));
    assert!(guide.len() < 30_000, "{} bytes", guide.len());
    for page in &premises.catalog.pages {
        assert!(guide.contains(&premises.url(&page.markdown_path())), "{}", page.name);
    }
}
