//! Introduces the parts of the house to each other.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use content::catalog::Catalog;
use order::ports::Clock;
use order::preview::Previews;
use order::seller::Sellers;
use web::House;
use web::agents::token::TokenKeys;
use web::agents::{Enabled, Registry};
use web::guard::Limits;
use web::premises::Premises;
use web::quota::Quota;
use web::site::Site;
use web::walks::Walks;

use crate::config::Config;
use crate::config::values::Answer;
use crate::storage::Storage;
use crate::world::World;

/// What has been opened already.
pub(crate) struct Inside<'a> {
    pub(crate) site: Site,
    pub(crate) storage: &'a Storage,
    pub(crate) world: &'a World,
    pub(crate) walks: Walks,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn house(config: &Config, bound: SocketAddr, inside: Inside<'_>) -> House {
    let Inside { site, storage, world, walks, clock } = inside;
    House {
        store: storage.store.port(),
        previews: previews(config, world),
        names: world.names.clone(),
        clock,
        walks,
        limits: Limits {
            body_bytes: config.limits.body_bytes,
            body_overflow: StatusCode::PAYLOAD_TOO_LARGE,
            request_time: config.limits.request,
        },
        site,
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
    }
}

fn previews(config: &Config, world: &World) -> Option<Previews> {
    let sellers = Sellers {
        default: config.sellers.default.clone(),
        enabled: config.sellers.enabled.clone(),
    };
    let provider = world.previews.clone()?;
    Some(Previews { provider, names: world.names.clone(), sellers })
}

fn randomness() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}
