//! Introduces the parts of the house to each other.

use std::sync::Arc;

use axum::http::StatusCode;
use order::ports::Store;
use web::House;
use web::guard::Limits;
use web::walks::Walks;

use crate::config::Config;

pub(crate) fn house(config: &Config, store: Arc<dyn Store>, walks: Walks) -> House {
    House {
        store,
        walks,
        limits: Limits {
            body_bytes: config.limits.body_bytes,
            body_overflow: StatusCode::PAYLOAD_TOO_LARGE,
            request_time: config.limits.request,
        },
    }
}
