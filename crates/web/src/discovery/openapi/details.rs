//! Parameters, bodies and responses of each operation, by component name.

use crate::discovery::openapi::payment::PaymentProtocol;
use crate::discovery::openapi::request_bodies::RequestBody;
use crate::surface::Endpoint;

/// What the endpoint list does not contain.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperationDetails {
    pub(super) operation: &'static str,
    /// If it differs from that of the endpoint.
    pub(super) summary: Option<&'static str>,
    pub(super) description: &'static str,
    pub(super) parameters: &'static [&'static str],
    pub(super) body: Option<RequestBody>,
    pub(super) responses: &'static [(u16, &'static str)],
    pub(super) payment: Option<PaymentProtocol>,
}

pub(super) fn of(operation: &str) -> Option<&'static OperationDetails> {
    DETAILS.iter().find(|details| details.operation == operation)
}

/// The HEAD operation of a GET endpoint.
pub(super) fn head(endpoint: &Endpoint) -> &'static OperationDetails {
    if endpoint.statuses.contains(&200) { &HEAD_FOUND } else { &HEAD_QUOTED }
}

const fn details(
    operation: &'static str,
    description: &'static str,
    responses: &'static [(u16, &'static str)],
) -> OperationDetails {
    let (summary, body, payment) = (None, None, None);
    OperationDetails { operation, summary, description, parameters: &[], body, responses, payment }
}

impl OperationDetails {
    const fn with_body(self, body: RequestBody) -> Self {
        Self { body: Some(body), ..self }
    }

    const fn with_parameters(self, parameters: &'static [&'static str]) -> Self {
        Self { parameters, ..self }
    }

    const fn with_payment(self, payment: PaymentProtocol) -> Self {
        Self { payment: Some(payment), ..self }
    }

    const fn with_summary(self, summary: &'static str) -> Self {
        Self { summary: Some(summary), ..self }
    }
}

const HEAD_FOUND: OperationDetails = details(
    "head",
    "As GET, without a body.",
    &[(200, "HeadFound"), (400, "HeadRefused"), (429, "HeadRefused")],
)
.with_summary("The headers alone");

const HEAD_QUOTED: OperationDetails = details(
    "head",
    "As GET, without a body.",
    &[(400, "HeadRefused"), (402, "HeadQuote"), (429, "HeadRefused")],
)
.with_summary("The headers alone");

pub(super) const GET_REFUSED: OperationDetails = details(
    "get",
    "Not available: the server is stateless and has no streams. The request counts against the \
     shared quota.",
    &[(400, "UnsupportedVersion"), (405, "McpTakesPost"), (429, "QuotaExhausted")],
)
.with_summary("Not offered: use POST");

pub(super) const HEAD_MCP: OperationDetails = details(
    "head",
    "Availability check without a body.",
    &[(200, "HeadFound"), (400, "HeadRefused"), (429, "HeadRefused")],
)
.with_summary("The headers alone");

pub(super) const DETAILS: &[OperationDetails] = &[
    details(
        "previewPostcard",
        "Sends image URL, message and recipient to the postcard provider, which renders both \
         sides. `quote` is the charge by x402, `mpp_quote` by MPP: a payment with its id is \
         charged no more, or answers 409 with a new quote. This is not a payment sandbox. Do \
         not send a paid request merely because a preview failed.",
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
    .with_body(RequestBody::Postcard),
    details(
        "sendPostcardX402",
        "Send the postcard without a payment and read the challenge in PAYMENT-REQUIRED. Sign an \
         authorization of at most 3.50 USDC on Base, Polygon or Arbitrum, and send the identical \
         body again with PAYMENT-SIGNATURE. The charge is the provider's total plus 21%, paid \
         directly to the seller. Repeating the operation answers 200 and charges nothing. An \
         operation that is paid or whose payment is unconfirmed never answers 402.",
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
    .with_body(RequestBody::Postcard)
    .with_parameters(&["PAYMENT-SIGNATURE", "X-Payment", "Idempotency-Key", "Quote-Id"])
    .with_payment(PaymentProtocol::X402),
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
    .with_body(RequestBody::Postcard)
    .with_parameters(&["Payment-Authorization", "Payment-Signature", "Idempotency-Key", "Quote-Id"])
    .with_payment(PaymentProtocol::Mpp),
    details(
        "getOrder",
        "For orders of both protocols. It never contains recipient, message or image; `pricing`, \
         `payment` and `delivery` are present once there is evidence for them. There are no \
         webhooks: poll every few seconds while a payment is being confirmed, and every few hours \
         once the card is mailed.",
        &[(200, "Order"), (400, "InvalidOrderId"), (404, "UnknownOrder"), (503, "Unavailable")],
    )
    .with_parameters(&["publicOrderId"]),
    details(
        "getOrderPage",
        "In four languages.",
        &[(200, "Page"), (400, "NoSuchPage"), (404, "NoSuchPage")],
    )
    .with_parameters(&["publicOrderId"]),
    details(
        "resolveSeller",
        "Starts no payment. A name that resolves is not necessarily an enabled seller.",
        &[
            (200, "Seller"),
            (400, "InvalidSeller"),
            (404, "SellerNotResolved"),
            (500, "InternalError"),
            (503, "Unavailable"),
        ],
    )
    .with_parameters(&["username"]),
    details(
        "getOpenApi",
        "Generated from the list of endpoints.",
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
        "Paid services with their URLs, protocols and networks.",
        &[(200, "ServiceCatalog"), (400, "UnsupportedVersion"), (429, "QuotaExhausted")],
    ),
    details(
        "getApiCatalog",
        "A linkset (RFC 9264) with the machine-readable description and the documentation of each \
         API.",
        &[(200, "ApiCatalog")],
    ),
    details(
        "getAgentCard",
        "An A2A 1.0 card with the members of 0.3 beside them. The interface it names is MCP.",
        &[(200, "AgentCard")],
    ),
    details(
        "getMcpServerCard",
        "Name, version and address of the MCP server. tools/list returns its tools.",
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
    .with_parameters(&["sku"]),
    details(
        "callMcp",
        "Stateless Streamable HTTP: no batches, no session. Send `Content-Type: application/json` \
         and an `Accept` with application/json and text/event-stream. A request is answered with \
         200, a notification with an empty 202 (200 in the worker profile). 403 is for an invalid \
         Origin, and on loopback for a foreign Host; 404 for a method unknown to 2026-07-28. \
         tools/list returns nine read-only tools; a failed call has `isError`.",
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
    .with_body(RequestBody::Message)
    .with_parameters(&["MCP-Protocol-Version"]),
    details("getMcpCard", "The same as /.well-known/mcp/server-card.json.", &[(200, "McpCard")]),
    details(
        "registerAgent",
        "Not required for public data. Send the token as `Authorization: Bearer`. It does not \
         expire and gives no additional access.",
        &[
            (200, "Registered"),
            (400, "RegistrationRefused"),
            (429, "AgentRateLimited"),
            (503, "AgentUnavailable"),
        ],
    )
    .with_body(RequestBody::Registration),
    details(
        "claimAgent",
        "An anonymous registration needs no claim. Continue with your token.",
        &[(401, "UnknownToken"), (409, "ClaimNotRequired")],
    )
    .with_body(RequestBody::Anything),
    details(
        "revokeAgent",
        "No-op, because tokens are not stored. Delete a token to discard it.",
        &[(200, "Revoked"), (401, "UnknownToken")],
    )
    .with_body(RequestBody::Anything),
    details(
        "getProtectedResource",
        "OAuth protected resource metadata with `agent_auth`. No route requires a token.",
        &[(200, "ProtectedResource")],
    ),
    details(
        "getMcpProtectedResource",
        "The same for the MCP server, which takes requests without a token.",
        &[(200, "ProtectedResource")],
    ),
    details(
        "getAuthorizationServer",
        "Authorization server metadata with `agent_auth`. There is no login and no token endpoint.",
        &[(200, "AuthorizationServer")],
    ),
    details(
        "getAuthGuide",
        "Discover, register, use and revoke, with example requests and responses.",
        &[(200, "Markdown")],
    ),
    details("getClient", "Calls the nine tools and nothing else.", &[(200, "Script")]),
    details("getClientHash", "The hash of the served bytes.", &[(200, "PlainText")]),
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
    details("getSitemap", "Canonical URLs only.", &[(200, "Xml")]),
];
