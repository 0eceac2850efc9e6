//! The schemas of all bodies. Responses may get more members.

mod discovery;
mod faults;
mod postcards;
mod shop;
mod types;

use serde_json::{Map, Value};

use crate::discovery::openapi::references::merged;
#[cfg(test)]
pub(super) use crate::discovery::openapi::schemas::postcards::IMAGE_URL_CHARACTERS_MAX;

pub(super) fn schemas() -> Map<String, Value> {
    merged([
        postcards::schemas(),
        faults::schemas(),
        shop::schemas(),
        discovery::schemas(),
        discovery::messages(),
    ])
}
