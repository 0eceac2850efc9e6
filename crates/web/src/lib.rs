//! The doors of the house: the whole site on one page.
//!
//! Reading order:
//! 1. `surface`, the list of everything that can be asked for;
//! 2. `premises` and `discovery`, what the documents are made from and how;
//! 3. `site`, `publish`, `document`, `press`, `known` and `front`, how they are written once and handed out;
//! 4. `negotiate`, `version`, `window` and `quota`, what a caller may choose and how often;
//! 5. `guard` and `patience`, what every request for a door passes through;
//! 6. `draft`, `preview`, `postcards` and its `paywall`, `orders` and `sellers`, `mcp`, `agents`, `shop` and `health`, the
//!    doors themselves;
//! 7. `problem`, `refused` and `nowhere`, how we say that something is wrong;
//! 8. `walks`, where paid work goes on when its caller hangs up.

pub mod agents;
mod browsers;
mod date;
pub mod discovery;
mod document;
mod documents;
mod draft;
pub mod front;
pub mod guard;
pub mod health;
pub mod known;
mod mcp;
mod negotiate;
mod nowhere;
mod orders;
mod patience;
mod paywall;
pub mod postcards;
pub mod premises;
mod press;
mod preview;
pub mod problem;
mod publish;
pub mod quota;
mod refused;
pub mod request_id;
mod sellers;
mod shop;
pub mod site;
pub mod surface;
mod version;
pub mod walks;
pub mod window;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http::StatusCode;
use order::checkout::preview::Previews;
use order::ports::{Clock, NameService};
use order::status::StatusReader;

use crate::agents::Registry;
use crate::front::{Beside, Front};
use crate::guard::{Guard, Limits};
use crate::mcp::library::Library;
use crate::postcards::Sending;
use crate::premises::Reach;
use crate::publish::Published;
use crate::quota::Quota;
use crate::sellers::Directory;
use crate::site::Site;
use crate::walks::Walks;

/// The longest card, with every letter of it escaped, and room to spare.
const CARD_BYTES: usize = 16 * 1024;

/// Everything that the doors need to know about the rest of the house.
pub struct House {
    pub statuses: StatusReader,
    /// Who shows cards, if anybody does.
    pub previews: Option<Previews>,
    /// Who takes money and sends cards, if anybody does.
    pub sending: Option<Sending>,
    pub names: Arc<dyn NameService>,
    pub clock: Arc<dyn Clock>,
    /// Where the paid doors start their walks; whoever made it ends it.
    pub walks: Walks,
    /// What a request may cost us where its route says nothing else.
    pub limits: Limits,
    /// How long whoever pays is waited for.
    pub paid_time: Duration,
    pub site: Site,
    pub reach: Reach,
    pub quota: Quota,
    pub registry: Registry,
}

/// Opens the doors.
#[must_use]
pub fn open(house: House) -> Front {
    let everyday = Guard::new(house.limits);
    let quota = Arc::new(house.quota);
    let Site { premises, published } = house.site;
    let Published { documents, not_found, pages, paywall } = published;
    let doors = Router::new()
        .merge(health::routes(house.statuses.store.clone()))
        .merge(orders::routes(house.statuses))
        .merge(agents::routes(house.registry))
        .merge(shop::routes(&premises))
        .merge(sellers::routes(Directory { names: house.names, clock: house.clock }));
    let doors = nowhere::behind(doors, &premises, not_found);
    let mode = premises.mode;
    let library = Library { premises, pages };
    let mcp = mcp::Desk::new(&library, quota.clone(), house.limits, house.reach);
    let unpaid = everyday.with(card_limits(house.limits));
    let paid = card_limits(Limits { request_time: house.paid_time, ..house.limits });
    let sending = postcards::Doors::new(house.sending, paywall, house.walks, paid, mode);
    let shown = preview::routes(house.previews);
    let doors = guarded(shown, unpaid).merge(guarded(doors, everyday.clone()));
    let beside = Beside { mcp, sending };
    Front::new(Arc::new(documents), quota, doors, beside, everyday)
}

/// A postcard is small, and the contract has its own status for one that is not, and none for
/// one that is slow.
fn card_limits(everyday: Limits) -> Limits {
    Limits {
        body_bytes: everyday.body_bytes.min(CARD_BYTES),
        body_overflow: StatusCode::INTERNAL_SERVER_ERROR,
        body_timeout: StatusCode::BAD_REQUEST,
        ..everyday
    }
}

/// Puts routes behind their guard.
///
/// Routes that need other limits are guarded on their own, by
/// `everyday.with(limits)`, and then merged: no request passes two guards.
fn guarded(routes: Router, guard: Guard) -> Router {
    routes.method_not_allowed_fallback(problem::method_not_allowed).layer(guard)
}
