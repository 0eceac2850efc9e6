//! Link targets of the built-in content, for tests.

/// The paths that the built-in content links to and that are not pages.
pub(crate) const OTHER_PATHS: &[&str] = &[
    "/llms.txt",
    "/auth.md",
    "/openapi.json",
    "/shop/feed.json",
    "/.well-known/security.txt",
    "/.well-known/api-catalog",
    "/api",
    "/api/x402",
    "/sitemap.xml",
    "/shop/checkout",
    "/client/pennyblack.mjs",
    "/client/pennyblack.mjs.sha256",
];
