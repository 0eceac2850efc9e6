//! The whole site as one service: documents first, then MCP and the paid endpoints, then the
//! router.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Either;
use order::checkout::preview::Previews;
use order::ports::{Clock, NameService};
use order::status::StatusReader;
use tower::Service;

use crate::documents::document::UrlScheme;
use crate::documents::service::DocumentService;
use crate::documents::site::Site;
use crate::http::layer::RequestLayer;
use crate::http::limits::RequestLimits;
use crate::http::prepared_body::ResponseBody;
use crate::http::problem;
use crate::http::quota::DiscoveryQuota;
use crate::http::request_id::RequestIds;
use crate::http::request_metrics::RouteHistograms;
use crate::http::tracked::{ResponseFuture, TrackedResponse};
use crate::mcp::public_content::PublicContent;
use crate::mcp::transport::{self, McpServer};
use crate::routes::agents::AgentRegistry;
use crate::routes::health::Dependencies;
use crate::routes::order_page::OrderPageState;
use crate::routes::postcards::{PaidEndpoint, PaidRoutes};
use crate::routes::previews::PreviewState;
use crate::routes::sellers::SellerLookup;
use crate::routes::send::written_card::GalleryUrl;
use crate::routes::send::{self, SendState};
use crate::routes::{agents, health, not_found, order_page, orders, previews, sellers, shop};
use crate::site_facts::ListenScope;
use crate::task_tracker::TaskTracker;

/// Enough for the longest postcard with every character escaped.
pub(crate) const POSTCARD_BYTES: usize = 16 * 1024;

/// What the endpoints need from the rest of the program.
pub struct AppState {
    pub statuses: StatusReader,
    /// None without a postcard provider.
    pub previews: Option<Previews>,
    /// None if no payment protocol is configured.
    pub paid_routes: Option<PaidRoutes>,
    pub names: Arc<dyn NameService>,
    pub clock: Arc<dyn Clock>,
    /// Runs paid requests. The creator shuts it down.
    pub tasks: TaskTracker,
    /// The limits of routes that have no others.
    pub limits: RequestLimits,
    /// The time limit of a paid request.
    pub paid_request_time: Duration,
    pub site: Site,
    pub listen_scope: ListenScope,
    pub quota: DiscoveryQuota,
    pub agents: AgentRegistry,
    /// Reported by `/readyz`.
    pub dependencies: Dependencies,
}

/// The service. Clones are cheap.
#[derive(Clone)]
pub struct App {
    documents: Arc<DocumentService>,
    mcp: Arc<McpServer>,
    mcp_histograms: Arc<RouteHistograms>,
    paid: [Arc<PaidEndpoint>; 2],
    router: Router,
    ids: Arc<RequestIds>,
}

impl App {
    #[must_use]
    pub fn new(state: AppState) -> Self {
        let layer = RequestLayer::new(state.limits);
        let quota = Arc::new(state.quota);
        let Site { facts, documents, not_found_page, pages, paywall, card_form, order_pages } =
            state.site;
        let scheme = UrlScheme::of(&facts.base_url);
        let order_page = OrderPageState {
            statuses: state.statuses.clone(),
            pages: order_pages,
            mode: facts.mode,
            scheme,
            languages: facts.catalog.site.languages.clone(),
        };
        let routes = Router::new()
            .merge(health::routes(state.statuses.store.clone(), state.dependencies))
            .merge(orders::routes(state.statuses))
            .merge(order_page::routes(order_page))
            .merge(agents::routes(state.agents))
            .merge(shop::routes(&facts))
            .merge(sellers::routes(SellerLookup { names: state.names, clock: state.clock }));
        let routes = not_found::with_fallback(routes, &facts, not_found_page);
        let previews = state.previews.map(PreviewState::new);
        let preview_layer = layer.with(postcard_limits(state.limits));
        let preview_routes = layered(previews::routes(previews.clone()), preview_layer);
        let paid_limits = RequestLimits { request_time: state.paid_request_time, ..state.limits };
        let paid = PaidEndpoint::both(
            state.paid_routes,
            paywall,
            &state.tasks,
            postcard_limits(paid_limits),
            facts.mode,
        );
        let payment = paid[0].clone();
        let origin = facts.picture_origin();
        let gallery = facts.catalog.gallery.iter().map(|picture| GalleryUrl {
            name: picture.name.clone(),
            url: format!("{origin}{}", picture.path()),
        });
        let gallery = gallery.collect();
        let form = send::routes(SendState { pages: card_form, previews, payment, gallery, scheme });
        let router = layered(routes.merge(form), layer.clone()).merge(preview_routes);
        let content = PublicContent { facts, pages };
        let mcp = McpServer::new(&content, quota.clone(), state.limits, state.listen_scope);
        let ids = layer.ids().clone();
        let documents = DocumentService::new(documents, quota, ids.clone());
        let mcp_histograms = Arc::new(RouteHistograms::new(transport::PATHS[0]));
        let (documents, mcp) = (Arc::new(documents), Arc::new(mcp));
        Self { documents, mcp, mcp_histograms, paid, router, ids }
    }

    /// Documents and the endpoints that are called most do not pass the router, because its
    /// layers would cost as much as the response.
    pub fn call<B>(&self, request: Request<B>) -> AppFuture
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let path = request.uri().path();
        if transport::PATHS.contains(&path) {
            let mcp = self.mcp.clone();
            let respond =
                |request| -> ResponseFuture { Box::pin(async move { mcp.respond(request).await }) };
            let route = &self.mcp_histograms;
            return AppFuture::Tracked(TrackedResponse::start(&self.ids, route, request, respond));
        }
        if let Some(endpoint) = self.paid.iter().find(|endpoint| endpoint.path() == path) {
            let route = endpoint.histograms();
            let respond = |request| endpoint.clone().respond(request);
            return AppFuture::Tracked(TrackedResponse::start(&self.ids, route, request, respond));
        }
        match self.documents.find(path).filter(|entry| entry.answers(request.method())) {
            Some(entry) => AppFuture::Document(ready(self.documents.respond(entry, &request))),
            None => {
                let request = request.map(Body::new);
                AppFuture::Routed(Box::pin(self.router.clone().call(request)))
            }
        }
    }
}

/// A postcard is small. The contract has its own status for a body that is too large, and none
/// for one that is too slow.
pub(crate) fn postcard_limits(limits: RequestLimits) -> RequestLimits {
    RequestLimits {
        body_bytes: limits.body_bytes.min(POSTCARD_BYTES),
        body_overflow: StatusCode::INTERNAL_SERVER_ERROR,
        body_timeout: StatusCode::BAD_REQUEST,
        ..limits
    }
}

/// Applies the layer to routes. Routes with other limits get their own layer before they are
/// merged, so that no request passes two.
pub(crate) fn layered(routes: Router, layer: RequestLayer) -> Router {
    routes.method_not_allowed_fallback(problem::method_not_allowed).layer(layer)
}

/// A response in progress.
pub enum AppFuture {
    Document(Ready<Response<ResponseBody>>),
    Routed(Pin<Box<<Router as Service<Request<Body>>>::Future>>),
    Tracked(TrackedResponse),
}

impl Future for AppFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Document(document) => Pin::new(document).poll(context).map(Ok),
            Self::Routed(routed) => {
                routed.as_mut().poll(context).map_ok(|response| response.map(Either::Right))
            }
            Self::Tracked(tracked) => Pin::new(tracked).poll(context).map(Ok),
        }
    }
}
