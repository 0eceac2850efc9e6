//! The doors of the house: the whole site on one page.
//!
//! Reading order:
//! 1. `guard`, what every request passes through;
//! 2. `problem`, how we say that something is wrong;
//! 3. `health`, whether we are alive and ready;
//! 4. `walks`, where paid work goes on when its caller hangs up.

pub mod guard;
pub mod health;
pub mod problem;
pub mod request_id;
pub mod walks;

use std::sync::Arc;

use axum::Router;
use order::ports::Store;

use crate::guard::{Guard, Limits};
use crate::walks::Walks;

/// Everything that the doors need to know about the rest of the house.
pub struct House {
    pub store: Arc<dyn Store>,
    /// Where the paid doors start their walks; whoever made it ends it.
    pub walks: Walks,
    /// What a request may cost us where its route says nothing else.
    pub limits: Limits,
}

pub fn router(house: House) -> Router {
    let everyday = Guard::new(house.limits);
    let open = Router::new().merge(health::routes(house.store)).fallback(problem::not_found);

    guarded(open, everyday)
}

/// Puts routes behind their guard.
///
/// Routes that need other limits are guarded on their own, by
/// `everyday.with(limits)`, and then merged: no request passes two guards.
fn guarded(routes: Router, guard: Guard) -> Router {
    routes.method_not_allowed_fallback(problem::method_not_allowed).layer(guard)
}
