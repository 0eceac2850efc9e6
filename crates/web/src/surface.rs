//! Every public address of the service, once: whatever speaks of endpoints reads this list.

use crate::premises::Service;
use crate::surface::Answer::{Card, Html, Json, Linkset, Markdown, Plain, Script, Xml};
use crate::surface::Quota::{Discovery, Free};
use crate::surface::Tag::{Agents, Discover, Mcp, Pages, Postcards, Shop};
use crate::surface::Verb::{Get, Post};

/// One thing that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub verb: Verb,
    /// As OpenAPI and the router write it, parameters in braces.
    pub path: &'static str,
    /// Its name in OpenAPI, for generated clients.
    pub operation: &'static str,
    pub says: &'static str,
    pub tag: Tag,
    pub answer: Answer,
    /// Every status that the contract or HTTP lets it answer with.
    pub statuses: &'static [u16],
    pub quota: Quota,
    /// What a configuration must open before this is more than a refusal.
    pub needs: Option<Service>,
    pub retiring: Option<Retiring>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
}

/// The media type of a good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Json,
    Linkset,
    /// An MCP server card, which is JSON.
    Card,
    /// HTML, or Markdown for whoever asks for it.
    Html,
    Markdown,
    Plain,
    Script,
    Xml,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Postcards,
    Discover,
    Shop,
    Pages,
    Mcp,
    Agents,
}

/// Whether a request counts against the shared quota and reads the version header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Discovery,
    Free,
}

/// An endpoint on its way out, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retiring {
    pub deprecated_at: u64,
    pub sunset_at: u64,
}

impl Verb {
    pub const fn name(self) -> &'static str {
        match self {
            Get => "GET",
            Post => "POST",
        }
    }
}

impl Answer {
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

impl Tag {
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

    pub const fn says(self) -> &'static str {
        match self {
            Postcards => "One 4x6 postcard for one paid request, its preview and its status.",
            Discover => "Documents that tell machines what is here.",
            Shop => "Bitcoin hardware: a feed and a checkout challenge that captures no funds.",
            Pages => "Pages for people, each also as Markdown.",
            Mcp => "A read-only MCP server with nine tools.",
            Agents => "An optional anonymous token with the scope public:read.",
        }
    }
}

const fn endpoint(
    verb: Verb,
    path: &'static str,
    operation: &'static str,
    tag: Tag,
    answer: Answer,
    statuses: &'static [u16],
    says: &'static str,
) -> Endpoint {
    let (quota, needs, retiring) = (Free, None, None);
    Endpoint { verb, path, operation, says, tag, answer, statuses, quota, needs, retiring }
}

/// The same endpoint, counted.
const fn counted(endpoint: Endpoint) -> Endpoint {
    Endpoint { quota: Discovery, ..endpoint }
}

/// The same endpoint, which a configuration may close.
const fn needing(service: Service, endpoint: Endpoint) -> Endpoint {
    Endpoint { needs: Some(service), ..endpoint }
}

const FOUND: &[u16] = &[200];
const COUNTED: &[u16] = &[200, 400, 429];

/// What the contract names, in its sequence. Pages of the catalog come on top.
// Read as a table: a call for each column of each row would be ten pages long.
#[rustfmt::skip]
pub const SURFACE: &[Endpoint] = &[
    needing(Service::Preview, endpoint(
        Post, "/api/x402/postcards/preview", "previewPostcard", Postcards, Json,
        &[200, 400, 403, 404, 500, 502, 503],
        "Render a postcard through the provider. Nothing is mailed and nothing is paid.")),
    needing(Service::X402, endpoint(
        Post, "/api/x402/postcards", "sendPostcardX402", Postcards, Json,
        &[200, 400, 402, 403, 404, 409, 410, 412, 500, 502, 503],
        "Mail one postcard, paid by x402 version 2, scheme upto, at most 3.50 USDC.")),
    needing(Service::Mpp, endpoint(
        Post, "/api/mpp/postcards", "sendPostcardMpp", Postcards, Json,
        &[200, 400, 402, 403, 404, 405, 409, 410, 500, 502, 503],
        "Mail one postcard, paid by MPP, method evm, intent charge, 3.50 USDC on Base.")),
    endpoint(Get, "/api/x402/orders/{publicOrderId}", "getOrder", Postcards, Json,
        &[200, 400, 404, 503],
        "Payment and delivery status of one order, without personal data."),
    endpoint(Get, "/api/x402/resolve/{username}", "resolveSeller", Postcards, Json,
        &[200, 400, 404, 500, 503],
        "The payout address of a seller, with the ENS evidence for it."),
    counted(endpoint(Get, "/openapi.json", "getOpenApi", Discover, Json, COUNTED,
        "This contract, as OpenAPI.")),
    counted(endpoint(Get, "/api", "getCheckoutQuote", Discover, Json, &[400, 402, 429],
        "A preview quote for the shop's discovery product: always 402, no funds are captured.")),
    counted(endpoint(Get, "/api/x402", "getServiceCatalog", Discover, Json, COUNTED,
        "The paid services, their prices, networks and adapters.")),
    endpoint(Get, "/.well-known/api-catalog", "getApiCatalog", Discover, Linkset, FOUND,
        "Links to every API and its descriptions (RFC 9727)."),
    endpoint(Get, "/.well-known/agent-card.json", "getAgentCard", Discover, Json, FOUND,
        "Who we are and what agents can ask of us (A2A)."),
    endpoint(Get, "/.well-known/mcp/server-card.json", "getMcpServerCard", Discover, Json, FOUND,
        "The MCP server, its transport and its versions."),
    endpoint(Get, "/invest/index.json", "getInvestorBriefing", Discover, Json, FOUND,
        "The investor briefing as data. No payment, no private data."),
    counted(endpoint(Get, "/shop/feed.json", "getProductFeed", Shop, Json, COUNTED,
        "Every product with price and availability.")),
    endpoint(Get, "/.well-known/agentic-commerce.json", "getCommerce", Shop, Json, FOUND,
        "What can be bought here, how, and what is not supported."),
    endpoint(Get, "/shop/checkout", "getCheckout", Shop, Json, &[400, 402, 404],
        "A payment challenge for one product. No funds are captured."),
    counted(endpoint(Post, "/mcp", "callMcp", Mcp, Json, &[200, 202, 400, 403, 404, 406, 415, 429, 500],
        "One JSON-RPC 2.0 message to the read-only MCP server.")),
    endpoint(Get, "/client/pennyblack.mjs", "getClient", Mcp, Script, FOUND,
        "The command-line client: one file for Node.js 22, no packages, no key."),
    endpoint(Get, "/client/pennyblack.mjs.sha256", "getClientHash", Mcp, Plain, FOUND,
        "The client's SHA-256, as sha256sum -c reads it."),
    endpoint(Get, "/mcp/server-card", "getMcpCard", Mcp, Card, FOUND,
        "The MCP server card, where its specification looks for it."),
    needing(Service::Registration, endpoint(
        Post, "/agent/auth", "registerAgent", Agents, Json, &[200, 400, 429, 503],
        "Register anonymously and receive a read-only token.")),
    endpoint(Post, "/agent/auth/claim", "claimAgent", Agents, Json, &[401, 409],
        "Not needed: says claim_not_required."),
    endpoint(Post, "/agent/auth/revoke", "revokeAgent", Agents, Json, &[200, 401],
        "Not needed for the public token; answers kindly."),
    endpoint(Get, "/.well-known/oauth-protected-resource", "getProtectedResource", Agents, Json,
        FOUND, "What the token is good for (RFC 9728)."),
    endpoint(Get, "/.well-known/oauth-authorization-server", "getAuthorizationServer", Agents,
        Json, FOUND, "Where agents register (RFC 8414)."),
    endpoint(Get, "/auth.md", "getAuthGuide", Agents, Markdown, FOUND,
        "How an agent registers, step by step."),
    endpoint(Get, "/llms.txt", "getLlmsTxt", Discover, Markdown, FOUND,
        "The guide for agents: what is here and when to use it."),
    endpoint(Get, "/llms-full.txt", "getLlmsFullTxt", Discover, Plain, FOUND,
        "Every page in one text."),
    endpoint(Get, "/server.json", "getServerJson", Discover, Json, FOUND,
        "The MCP server as registries describe it."),
    endpoint(Get, "/.well-known/ai-catalog.json", "getAiCatalog", Discover, Json, FOUND,
        "Everything that agents can use here, as one list."),
    endpoint(Get, "/.well-known/agent-skills/index.json", "getAgentSkills", Discover, Json, FOUND,
        "Skills that an agent can load, with their digests."),
    endpoint(Get, "/.well-known/security.txt", "getSecurityTxt", Discover, Plain, FOUND,
        "Security contact (RFC 9116)."),
    endpoint(Get, "/robots.txt", "getRobotsTxt", Discover, Plain, FOUND,
        "What crawlers may do with the words here."),
    endpoint(Get, "/sitemap.xml", "getSitemap", Discover, Xml, FOUND,
        "Every page with its languages."),
];

/// Every address of the list, which words may link to beside their own pages.
pub fn paths() -> Vec<&'static str> {
    SURFACE.iter().map(|endpoint| endpoint.path).collect()
}
