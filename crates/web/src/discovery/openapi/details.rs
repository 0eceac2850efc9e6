//! What each operation takes and answers, by the names of components: one table for all.

use crate::discovery::openapi::bodies::Body;
use crate::discovery::openapi::payment::Payment;
use crate::surface::Endpoint;

/// What the surface does not say about an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details {
    pub(super) operation: &'static str,
    /// Where the endpoint's own words do not fit.
    pub(super) summary: Option<&'static str>,
    pub(super) explains: &'static str,
    pub(super) parameters: &'static [&'static str],
    pub(super) body: Option<Body>,
    pub(super) answers: &'static [(u16, &'static str)],
    pub(super) payment: Option<Payment>,
}

pub(super) fn of(operation: &str) -> Option<&'static Details> {
    DETAILS.iter().find(|details| details.operation == operation)
}

/// How HEAD answers where GET does.
pub(super) fn head(endpoint: &Endpoint) -> &'static Details {
    if endpoint.statuses.contains(&200) { &HEAD_FOUND } else { &HEAD_QUOTED }
}

const fn details(
    operation: &'static str,
    explains: &'static str,
    answers: &'static [(u16, &'static str)],
) -> Details {
    let (summary, body, payment) = (None, None, None);
    Details { operation, summary, explains, parameters: &[], body, answers, payment }
}

impl Details {
    const fn taking(self, body: Body) -> Self {
        Self { body: Some(body), ..self }
    }

    const fn with(self, parameters: &'static [&'static str]) -> Self {
        Self { parameters, ..self }
    }

    const fn paid_by(self, payment: Payment) -> Self {
        Self { payment: Some(payment), ..self }
    }

    const fn called(self, summary: &'static str) -> Self {
        Self { summary: Some(summary), ..self }
    }
}

const HEAD_FOUND: Details = details(
    "head",
    "As GET, without a body.",
    &[(200, "HeadFound"), (400, "HeadRefused"), (429, "HeadRefused")],
)
.called("The headers alone");

const HEAD_QUOTED: Details = details(
    "head",
    "As GET, without a body.",
    &[(400, "HeadRefused"), (402, "HeadQuote"), (429, "HeadRefused")],
)
.called("The headers alone");

pub(super) const GET_REFUSED: Details = details(
    "get",
    "There is no stream to listen to: the server is stateless and takes POST only. Asking counts \
     against the shared quota.",
    &[(400, "UnsupportedVersion"), (405, "McpTakesPost"), (429, "QuotaExhausted")],
)
.called("Not offered: use POST");

pub(super) const HEAD_MCP: Details = details(
    "head",
    "Whether anybody is there, without a body.",
    &[(200, "HeadFound"), (400, "HeadRefused"), (429, "HeadRefused")],
)
.called("The headers alone");

pub(super) const DETAILS: &[Details] = &[
    details(
        "previewPostcard",
        "The picture's address, the message and the recipient go to the postcard provider, which \
         draws both sides. This is no payment sandbox. If a preview fails, do not send the card to \
         a paid endpoint merely because of that.",
        &[
            (200, "Preview"),
            (400, "InvalidPostcard"),
            (403, "SellerNotEnabled"),
            (404, "SellerNotResolved"),
            (500, "InternalError"),
            (502, "ProviderFault"),
            (503, "Unavailable"),
        ],
    )
    .taking(Body::Postcard),
    details(
        "sendPostcardX402",
        "Send the postcard without a payment and read the challenge in PAYMENT-REQUIRED. Sign an \
         authorization of at most 3.50 USDC on Base, Polygon or Arbitrum, and send the identical \
         body again with PAYMENT-SIGNATURE. What is charged is the provider's total plus 21%, \
         straight to the seller. The same operation again answers 200 and charges nothing. An \
         operation that is paid or in doubt never answers 402.",
        &[
            (200, "SentByX402"),
            (400, "InvalidPostcard"),
            (402, "X402Challenge"),
            (403, "SellerNotEnabled"),
            (404, "SellerNotResolved"),
            (409, "Conflict"),
            (410, "OperationExpired"),
            (412, "AllowanceRequired"),
            (500, "InternalError"),
            (502, "Unconfirmed"),
            (503, "Unresolved"),
        ],
    )
    .taking(Body::Postcard)
    .with(&["PAYMENT-SIGNATURE", "X-Payment", "Idempotency-Key"])
    .paid_by(Payment::X402),
    details(
        "sendPostcardMpp",
        "Send the postcard without a payment and read the challenge in WWW-Authenticate. Send the \
         identical body again with `Authorization: Payment <credential>`, or with the credential \
         in Payment-Authorization or Payment-Signature. PAYMENT-REQUIRED offers the same as \
         x402 exact. The price is fixed; retries are as with x402. Every other method answers \
         405.",
        &[
            (200, "SentByMpp"),
            (400, "MppRefused"),
            (402, "MppChallenge"),
            (403, "MppRefused"),
            (404, "MppRefused"),
            (405, "MethodNotAllowed"),
            (409, "MppRefused"),
            (410, "MppRefused"),
            (500, "MppUnavailable"),
            (502, "MppUnavailable"),
            (503, "MppUnavailable"),
        ],
    )
    .taking(Body::Postcard)
    .with(&["Payment-Authorization", "Payment-Signature", "Idempotency-Key"])
    .paid_by(Payment::Mpp),
    details(
        "getOrder",
        "For orders of both ways of paying. It never holds the recipient, the message or the \
         picture; `pricing`, `payment` and `delivery` are there once there is evidence for them. \
         There are no webhooks: poll every few seconds while a payment is being confirmed, every \
         few hours once the card is in the post.",
        &[(200, "Order"), (400, "InvalidOrderId"), (404, "UnknownOrder"), (503, "Unavailable")],
    )
    .with(&["publicOrderId"]),
    details(
        "resolveSeller",
        "Starts no payment. That a name resolves does not mean that its holder sells cards here.",
        &[
            (200, "Seller"),
            (400, "InvalidSeller"),
            (404, "SellerNotResolved"),
            (500, "InternalError"),
            (503, "Unavailable"),
        ],
    )
    .with(&["username"]),
    details(
        "getOpenApi",
        "Generated from the list that the routes are made of.",
        &[(200, "OpenApi"), (400, "UnsupportedVersion"), (429, "QuotaExhausted")],
    ),
    details(
        "getCheckoutQuote",
        "An x402 version 2 quote, in the body and as base64 in PAYMENT-REQUIRED, beside Lightning \
         and on-chain Bitcoin. It is a preview: live settlement completes outside this service.",
        &[(400, "UnsupportedVersion"), (402, "CountedQuote"), (429, "QuotaExhausted")],
    ),
    details(
        "getServiceCatalog",
        "What can be paid for here, at which address, by which protocol and on which networks.",
        &[(200, "ServiceCatalog"), (400, "UnsupportedVersion"), (429, "QuotaExhausted")],
    ),
    details(
        "getApiCatalog",
        "A linkset (RFC 9264) with the machine-readable and the written description of each API.",
        &[(200, "ApiCatalog")],
    ),
    details(
        "getAgentCard",
        "An A2A 1.0 card with the members of 0.3 beside them. The interface it names is MCP.",
        &[(200, "AgentCard")],
    ),
    details(
        "getMcpServerCard",
        "Name, version and address of the MCP server. Its tools are told by tools/list.",
        &[(200, "McpServerCard")],
    ),
    details(
        "getInvestorBriefing",
        "Facts, risks, questions and answers. Information only, not an offer.",
        &[(200, "Briefing")],
    ),
    details(
        "getProductFeed",
        "In the shape of the ACP product feed. The id of a product is its slug: the `sku` of the \
         checkout and what the MCP tool get_product takes.",
        &[(200, "ProductFeed"), (400, "UnsupportedVersion"), (429, "QuotaExhausted")],
    ),
    details(
        "getCommerce",
        "An index of what agents can and cannot do in the shop.",
        &[(200, "Commerce")],
    ),
    details(
        "getCheckout",
        "An x402 version 2 quote, in the body and as base64 in PAYMENT-REQUIRED. Live settlement \
         completes outside this service.",
        &[(400, "InvalidSku"), (402, "Quote"), (404, "UnknownSku")],
    )
    .with(&["sku"]),
    details(
        "callMcp",
        "Stateless Streamable HTTP: no batches, no session. Send `Content-Type: application/json` \
         and an `Accept` with application/json and text/event-stream. A request is answered with \
         200, a notification with an empty 202 (200 in the worker profile). 403 is for an Origin \
         that is no site, and on loopback for a foreign Host; 404 for a method unknown to \
         2026-07-28. tools/list names nine tools, all read-only; one that fails says `isError`.",
        &[
            (200, "McpAnswer"),
            (202, "McpAccepted"),
            (400, "McpBadRequest"),
            (403, "McpRefused"),
            (404, "McpRefused"),
            (406, "McpRefused"),
            (415, "McpRefused"),
            (429, "QuotaExhausted"),
            (500, "McpRefused"),
        ],
    )
    .taking(Body::Message)
    .with(&["MCP-Protocol-Version"]),
    details("getMcpCard", "The same as /.well-known/mcp/server-card.json.", &[(200, "McpCard")]),
    details(
        "registerAgent",
        "Needed for nothing that is public. The token is sent as `Authorization: Bearer`, does \
         not expire and opens nothing that is closed without it.",
        &[
            (200, "Registered"),
            (400, "RegistrationRefused"),
            (429, "AgentRateLimited"),
            (503, "AgentUnavailable"),
        ],
    )
    .taking(Body::Registration),
    details(
        "claimAgent",
        "An anonymous registration is complete as it is. Go on with the token that you have.",
        &[(401, "UnknownToken"), (409, "ClaimNotRequired")],
    )
    .taking(Body::Anything),
    details(
        "revokeAgent",
        "Changes nothing, as no list of tokens is kept. To be rid of a token, delete it.",
        &[(200, "Revoked"), (401, "UnknownToken")],
    )
    .taking(Body::Anything),
    details(
        "getProtectedResource",
        "OAuth protected resource metadata with `agent_auth`. No route demands a token.",
        &[(200, "ProtectedResource")],
    ),
    details(
        "getAuthorizationServer",
        "Authorization server metadata with `agent_auth`. There is no login and no token endpoint.",
        &[(200, "AuthorizationServer")],
    ),
    details(
        "getAuthGuide",
        "Discover, register, use, revoke: with requests and answers to copy.",
        &[(200, "Markdown")],
    ),
    details("getClient", "Calls the nine tools and nothing else.", &[(200, "Script")]),
    details("getClientHash", "Of exactly the bytes that are served.", &[(200, "PlainText")]),
    details("getLlmsTxt", "In the format of llmstxt.org.", &[(200, "Markdown")]),
    details(
        "getLlmsFullTxt",
        "The Markdown of all pages, one after another.",
        &[(200, "PlainText")],
    ),
    details(
        "getServerJson",
        "In the format of the MCP registry's server.json.",
        &[(200, "ServerJson")],
    ),
    details(
        "getAiCatalog",
        "Names the MCP server, the agent card and the skills.",
        &[(200, "AiCatalog")],
    ),
    details(
        "getAgentSkills",
        "In the format of Agent Skills discovery 0.2.0.",
        &[(200, "AgentSkills")],
    ),
    details("getSecurityTxt", "Contact for security reports.", &[(200, "PlainText")]),
    details("getRobotsTxt", "Rules for crawlers, with content signals.", &[(200, "PlainText")]),
    details("getSitemap", "Canonical addresses only.", &[(200, "Xml")]),
];
