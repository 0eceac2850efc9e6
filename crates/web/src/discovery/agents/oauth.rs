//! Where agents register: `/.well-known/oauth-protected-resource` and `oauth-authorization-server`.

use serde_json::{Value, json};

use crate::discovery::links;
use crate::site_facts::SiteFacts;
use crate::surface::OptionalService;

pub const SCOPE: &str = "public:read";

/// RFC 9728: `resource` is the very address under which we are known.
pub fn protected_resource(facts: &SiteFacts) -> Value {
    json!({
        "resource": facts.base_url,
        "authorization_servers": [facts.base_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": facts.catalog.site.name,
        "resource_documentation": facts.url(links::AUTH_GUIDE.path),
        "resource_policy_uri": links::page(facts, links::PRIVACY),
        "resource_tos_uri": links::page(facts, links::TERMS),
        "agent_auth": agent_auth(facts),
    })
}

/// The path form of RFC 9728, for the MCP server. It names no authorization server: the MCP server
/// requires no token, and some clients begin a login where one is named.
pub fn mcp_resource(facts: &SiteFacts) -> Value {
    let mut resource = protected_resource(facts);
    resource["resource"] = json!(facts.url(links::MCP.path));
    if let Some(members) = resource.as_object_mut() {
        members.remove("authorization_servers");
    }
    resource
}

/// RFC 8414 as far as it is true: we issue tokens to agents and run no OAuth
/// flow, so the endpoints of one are not invented.
pub fn authorization_server(facts: &SiteFacts) -> Value {
    json!({
        "issuer": facts.base_url,
        "response_types_supported": ["none"],
        "scopes_supported": [SCOPE],
        "token_endpoint_auth_methods_supported": ["none"],
        "service_documentation": facts.url(links::AUTH_GUIDE.path),
        "op_policy_uri": links::page(facts, links::PRIVACY),
        "op_tos_uri": links::page(facts, links::TERMS),
        "agent_auth": agent_auth(facts),
    })
}

fn agent_auth(facts: &SiteFacts) -> Value {
    let mut way = json!({
        "skill": facts.url(links::AUTH_GUIDE.path),
        "register_uri": facts.url(links::REGISTER.path),
        "claim_uri": facts.url(links::CLAIM.path),
        "revocation_uri": facts.url(links::REVOKE.path),
        "identity_types_supported": [],
    });
    if facts.is_enabled(OptionalService::Registration) {
        way["identity_types_supported"] = json!(["anonymous"]);
        way["anonymous"] = json!({"credential_types_supported": ["access_token"]});
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn resource_issuer_and_server_are_the_same_text_to_the_last_letter() {
        let facts = fixtures::site_facts();
        let (resource, server) = (protected_resource(&facts), authorization_server(&facts));
        assert_eq!(resource["resource"], "https://shop.example.org");
        assert_eq!(resource["authorization_servers"], json!([server["issuer"]]));
        assert_eq!(server["issuer"], "https://shop.example.org");
    }

    #[test]
    fn the_document_of_the_mcp_server_names_it_and_no_login() {
        let facts = fixtures::site_facts();
        let mcp = mcp_resource(&facts);
        assert_eq!(mcp["resource"], "https://shop.example.org/mcp");
        assert!(mcp.get("authorization_servers").is_none(), "{mcp}");
        assert_eq!(mcp["agent_auth"], protected_resource(&facts)["agent_auth"]);
    }

    #[test]
    fn both_documents_carry_the_same_way_to_register() {
        let facts = fixtures::site_facts();
        let (resource, server) = (protected_resource(&facts), authorization_server(&facts));
        assert_eq!(resource["agent_auth"], server["agent_auth"]);
        let way = &server["agent_auth"];
        assert_eq!(way["register_uri"], facts.url("/agent/auth"));
        assert_eq!(way["identity_types_supported"], json!(["anonymous"]));
        assert_eq!(way["anonymous"]["credential_types_supported"], json!(["access_token"]));
        for document in [&resource, &server] {
            fixtures::has_no_relative_address(document);
        }
    }

    #[test]
    fn no_endpoint_of_a_flow_that_we_do_not_run_is_invented() {
        let server = authorization_server(&fixtures::site_facts());
        fixtures::has_members(&server, &["issuer", "response_types_supported"]);
        for invented in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            assert!(server.get(invented).is_none(), "{invented}");
        }
    }
}
