//! The list of all public endpoints, from which every document is derived.

use crate::surface::EndpointTag::{Agents, Discover, Mcp, Pages, Postcards, Shop};
use crate::surface::HttpMethod::{Get, Post};
use crate::surface::QuotaScope::{Discovery, Exempt};
use crate::surface::ResponseFormat::{Card, Html, Json, Linkset, Markdown, Plain, Script, Xml};

/// One endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub method: HttpMethod,
    /// In the notation of OpenAPI and the router, with parameters in braces.
    pub path: &'static str,
    /// The operation id in OpenAPI, for generated clients.
    pub operation: &'static str,
    pub summary: &'static str,
    pub tag: EndpointTag,
    pub format: ResponseFormat,
    /// Every status that the contract or HTTP allows.
    pub statuses: &'static [u16],
    pub quota: QuotaScope,
    /// The service that must be enabled; otherwise the endpoint answers 503.
    pub requires: Option<OptionalService>,
    pub deprecation: Option<Deprecation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
}

/// The media type of a successful response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFormat {
    Json,
    Linkset,
    /// An MCP server card, which is JSON.
    Card,
    /// HTML, or Markdown if the client prefers it.
    Html,
    Markdown,
    Plain,
    Script,
    Xml,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointTag {
    Postcards,
    Discover,
    Shop,
    Pages,
    Mcp,
    Agents,
}

/// Whether requests count against the shared quota and the version header applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaScope {
    Discovery,
    Exempt,
}

/// A service that the configuration can disable. Documents offer only enabled services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionalService {
    Preview,
    X402,
    Mpp,
    Registration,
}

impl OptionalService {
    pub const ALL: [Self; 4] = [Self::Preview, Self::X402, Self::Mpp, Self::Registration];

    /// Whether it takes payments.
    pub const fn is_paid(self) -> bool {
        match self {
            Self::X402 | Self::Mpp => true,
            Self::Preview | Self::Registration => false,
        }
    }

    /// The name in templates and texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::X402 => "x402",
            Self::Mpp => "mpp",
            Self::Registration => "registration",
        }
    }
}

/// The deprecation of an endpoint, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecation {
    pub deprecated_at: u64,
    pub sunset_at: u64,
}

impl HttpMethod {
    pub const fn name(self) -> &'static str {
        match self {
            Get => "GET",
            Post => "POST",
        }
    }
}

impl ResponseFormat {
    /// The media type without its parameters.
    pub fn essence(self) -> &'static str {
        let media_type = self.media_type();
        media_type.split_once(';').map_or(media_type, |(essence, _)| essence)
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            Json => "application/json",
            Linkset => {
                "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\""
            }
            Card => "application/mcp-server-card+json",
            Html => "text/html; charset=utf-8",
            Markdown => "text/markdown; charset=utf-8",
            Plain => "text/plain; charset=utf-8",
            Script => "text/javascript; charset=utf-8",
            Xml => "application/xml",
        }
    }
}

impl EndpointTag {
    pub const ALL: [Self; 6] = [Postcards, Discover, Shop, Pages, Mcp, Agents];

    pub const fn name(self) -> &'static str {
        match self {
            Postcards => "Postcards",
            Discover => "Discovery",
            Shop => "Shop",
            Pages => "Pages",
            Mcp => "MCP",
            Agents => "Agent registration",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Postcards => "One 4x6 postcard for one paid request, its preview and its status.",
            Discover => "Machine-readable documents.",
            Shop => "Bitcoin hardware: a feed and a checkout challenge that captures no funds.",
            Pages => "Pages for people, each also as Markdown.",
            Mcp => "A read-only MCP server with nine tools.",
            Agents => "An optional anonymous token with the scope public:read.",
        }
    }
}

const fn endpoint(
    method: HttpMethod,
    path: &'static str,
    operation: &'static str,
    tag: EndpointTag,
    format: ResponseFormat,
    statuses: &'static [u16],
    summary: &'static str,
) -> Endpoint {
    let (quota, requires, deprecation) = (Exempt, None, None);
    Endpoint {
        method,
        path,
        operation,
        summary,
        tag,
        format,
        statuses,
        quota,
        requires,
        deprecation,
    }
}

/// The same endpoint with the shared quota.
const fn with_quota(endpoint: Endpoint) -> Endpoint {
    Endpoint { quota: Discovery, ..endpoint }
}

/// The same endpoint, which requires an optional service.
const fn requires(service: OptionalService, endpoint: Endpoint) -> Endpoint {
    Endpoint { requires: Some(service), ..endpoint }
}

const OK_ONLY: &[u16] = &[200];
const WITH_QUOTA: &[u16] = &[200, 400, 429];

/// The endpoints in the order of the contract. The pages of the catalog are added to them.
// A table, which rustfmt would spread over ten pages.
#[rustfmt::skip]
pub const SURFACE: &[Endpoint] = &[
    requires(OptionalService::Preview, endpoint(
        Post, "/api/x402/postcards/preview", "previewPostcard", Postcards, Json,
        &[200, 400, 403, 404, 500, 502, 503],
        "Render a postcard and quote its price. Nothing is mailed and nothing is paid.")),
    requires(OptionalService::X402, endpoint(
        Post, "/api/x402/postcards", "sendPostcardX402", Postcards, Json,
        &[200, 400, 402, 403, 404, 409, 410, 412, 500, 502, 503],
        "Mail one postcard, paid by x402 version 2, scheme upto, at most 3.50 USDC.")),
    requires(OptionalService::Mpp, endpoint(
        Post, "/api/mpp/postcards", "sendPostcardMpp", Postcards, Json,
        &[200, 400, 402, 403, 404, 405, 409, 410, 500, 502, 503],
        "Mail one postcard, paid by MPP, method evm, intent charge, 3.50 USDC on Base.")),
    endpoint(Get, "/api/x402/orders/{publicOrderId}", "getOrder", Postcards, Json,
        &[200, 400, 404, 503],
        "Payment and delivery status of one order, without personal data."),
    endpoint(Get, "/orders/{publicOrderId}", "getOrderPage", Postcards, Html, &[200, 400, 404],
        "The same as a page for people."),
    endpoint(Get, "/api/x402/resolve/{username}", "resolveSeller", Postcards, Json,
        &[200, 400, 404, 500, 503],
        "The payout address of a seller, with the ENS evidence for it."),
    with_quota(endpoint(Get, "/openapi.json", "getOpenApi", Discover, Json, WITH_QUOTA,
        "This contract, as OpenAPI.")),
    with_quota(endpoint(Get, "/api", "getCheckoutQuote", Discover, Json, &[400, 402, 429],
        "A preview quote for the shop's discovery product: always 402, no funds are captured.")),
    with_quota(endpoint(Get, "/api/x402", "getServiceCatalog", Discover, Json, WITH_QUOTA,
        "The paid services, their prices, networks and adapters.")),
    endpoint(Get, "/.well-known/api-catalog", "getApiCatalog", Discover, Linkset, OK_ONLY,
        "Links to every API and its descriptions (RFC 9727)."),
    endpoint(Get, "/.well-known/agent-card.json", "getAgentCard", Discover, Json, OK_ONLY,
        "Identity and skills of this service (A2A)."),
    endpoint(Get, "/.well-known/mcp/server-card.json", "getMcpServerCard", Discover, Json, OK_ONLY,
        "The MCP server, its transport and its versions."),
    endpoint(Get, "/invest/index.json", "getInvestorBriefing", Discover, Json, OK_ONLY,
        "The investor briefing as data. No payment, no private data."),
    with_quota(endpoint(Get, "/shop/feed.json", "getProductFeed", Shop, Json, WITH_QUOTA,
        "Every product with price and availability.")),
    endpoint(Get, "/.well-known/agentic-commerce.json", "getCommerce", Shop, Json, OK_ONLY,
        "What can be bought, how, and what is not supported."),
    endpoint(Get, "/shop/checkout", "getCheckout", Shop, Json, &[400, 402, 404],
        "A payment challenge for one product. No funds are captured."),
    with_quota(endpoint(Post, "/mcp", "callMcp", Mcp, Json, &[200, 202, 400, 403, 404, 406, 415, 429, 500],
        "One JSON-RPC 2.0 message to the read-only MCP server.")),
    endpoint(Get, "/client/pennyblack.mjs", "getClient", Mcp, Script, OK_ONLY,
        "The command-line client: one file for Node.js 22, no packages, no key."),
    endpoint(Get, "/client/pennyblack.mjs.sha256", "getClientHash", Mcp, Plain, OK_ONLY,
        "The client's SHA-256, as sha256sum -c reads it."),
    endpoint(Get, "/mcp/server-card", "getMcpCard", Mcp, Card, OK_ONLY,
        "The MCP server card at the path of its specification."),
    requires(OptionalService::Registration, endpoint(
        Post, "/agent/auth", "registerAgent", Agents, Json, &[200, 400, 429, 503],
        "Register anonymously and receive a read-only token.")),
    endpoint(Post, "/agent/auth/claim", "claimAgent", Agents, Json, &[401, 409],
        "No-op. Returns claim_not_required."),
    endpoint(Post, "/agent/auth/revoke", "revokeAgent", Agents, Json, &[200, 401],
        "No-op. Returns 200."),
    endpoint(Get, "/.well-known/oauth-protected-resource", "getProtectedResource", Agents, Json,
        OK_ONLY, "Protected resource metadata (RFC 9728)."),
    endpoint(Get, "/.well-known/oauth-protected-resource/mcp", "getMcpProtectedResource", Agents,
        Json, OK_ONLY, "Protected resource metadata of /mcp (RFC 9728)."),
    endpoint(Get, "/.well-known/oauth-authorization-server", "getAuthorizationServer", Agents,
        Json, OK_ONLY, "Authorization server metadata (RFC 8414)."),
    endpoint(Get, "/auth.md", "getAuthGuide", Agents, Markdown, OK_ONLY,
        "How an agent registers, step by step."),
    endpoint(Get, "/llms.txt", "getLlmsTxt", Discover, Markdown, OK_ONLY,
        "The guide for agents: contents and when to use them."),
    endpoint(Get, "/llms-full.txt", "getLlmsFullTxt", Discover, Plain, OK_ONLY,
        "Every page in one text."),
    endpoint(Get, "/server.json", "getServerJson", Discover, Json, OK_ONLY,
        "The MCP server in the format of registries."),
    endpoint(Get, "/.well-known/ai-catalog.json", "getAiCatalog", Discover, Json, OK_ONLY,
        "A list of everything that agents can use."),
    endpoint(Get, "/.well-known/agent-skills/index.json", "getAgentSkills", Discover, Json, OK_ONLY,
        "Skills that an agent can load, with their digests."),
    endpoint(Get, "/.well-known/security.txt", "getSecurityTxt", Discover, Plain, OK_ONLY,
        "Security contact (RFC 9116)."),
    endpoint(Get, "/robots.txt", "getRobotsTxt", Discover, Plain, OK_ONLY,
        "Rules for crawlers."),
    endpoint(Get, "/sitemap.xml", "getSitemap", Discover, Xml, OK_ONLY,
        "Every page with its languages."),
];

/// Every path of the list, as valid link targets of the content.
pub fn paths() -> Vec<&'static str> {
    SURFACE.iter().map(|endpoint| endpoint.path).collect()
}
