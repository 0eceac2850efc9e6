//! Introduces the parts of the house to each other.

use std::net::SocketAddr;
use std::sync::Arc;

use adapters::clock::SystemClock;
use axum::http::StatusCode;
use content::catalog::Catalog;
use order::ports::{Clock, NameService};
use web::House;
use web::agents::token::TokenKeys;
use web::agents::{Enabled, Registry};
use web::guard::Limits;
use web::premises::Premises;
use web::quota::Quota;
use web::walks::Walks;

use crate::config::Config;
use crate::config::values::Anonymous;
use crate::storage::Storage;

pub(crate) fn house(
    config: &Config,
    bound: SocketAddr,
    catalog: Catalog,
    storage: &Storage,
    names: Option<Arc<dyn NameService>>,
    walks: Walks,
) -> House {
    let base_url = config.server.base_url(bound).to_string();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    House {
        store: storage.store.port(),
        previews: None,
        names,
        clock: clock.clone(),
        walks,
        limits: Limits {
            body_bytes: config.limits.body_bytes,
            body_overflow: StatusCode::PAYLOAD_TOO_LARGE,
            request_time: config.limits.request,
        },
        premises: Premises {
            base_url: base_url.clone(),
            catalog,
            payee: config.shop.payee,
            default_seller: config.sellers.default.to_string(),
            seller_parent: config.sellers.parent.to_string(),
        },
        quota: Quota::new(config.limits.discovery_quota),
        registry: Registry {
            keys: TokenKeys::new(storage.keyring.tokens()),
            randomness: Arc::new(randomness),
            enabled: match config.agents.anonymous {
                Anonymous::Yes => Enabled::Yes,
                Anonymous::No => Enabled::No,
            },
            base_url,
        },
        opened_at: clock.now(),
    }
}

fn randomness() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}
