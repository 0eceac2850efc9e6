//! Where agents register: `/.well-known/oauth-protected-resource` and `oauth-authorization-server`.

use serde_json::{Value, json};

use super::places;
use crate::premises::{Premises, Service};

pub const SCOPE: &str = "public:read";

/// RFC 9728: `resource` is the very address under which we are known.
pub fn protected_resource(premises: &Premises) -> Value {
    json!({
        "resource": premises.base_url,
        "authorization_servers": [premises.base_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": premises.catalog.site.name,
        "resource_documentation": premises.url(places::AUTH_GUIDE.path),
        "resource_policy_uri": places::page(premises, places::PRIVACY),
        "resource_tos_uri": places::page(premises, places::TERMS),
        "agent_auth": agent_auth(premises),
    })
}

/// RFC 8414 as far as it is true: we issue tokens to agents and run no OAuth
/// flow, so the endpoints of one are not invented.
pub fn authorization_server(premises: &Premises) -> Value {
    json!({
        "issuer": premises.base_url,
        "response_types_supported": ["none"],
        "scopes_supported": [SCOPE],
        "token_endpoint_auth_methods_supported": ["none"],
        "service_documentation": premises.url(places::AUTH_GUIDE.path),
        "op_policy_uri": places::page(premises, places::PRIVACY),
        "op_tos_uri": places::page(premises, places::TERMS),
        "agent_auth": agent_auth(premises),
    })
}

fn agent_auth(premises: &Premises) -> Value {
    let mut way = json!({
        "skill": premises.url(places::AUTH_GUIDE.path),
        "register_uri": premises.url(places::REGISTER.path),
        "claim_uri": premises.url(places::CLAIM.path),
        "revocation_uri": premises.url(places::REVOKE.path),
        "identity_types_supported": [],
    });
    if premises.opens(Service::Registration) {
        way["identity_types_supported"] = json!(["anonymous"]);
        way["anonymous"] = json!({"credential_types_supported": ["access_token"]});
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn resource_issuer_and_server_are_the_same_text_to_the_last_letter() {
        let premises = samples::premises();
        let (resource, server) = (protected_resource(&premises), authorization_server(&premises));
        assert_eq!(resource["resource"], "https://shop.example.org");
        assert_eq!(resource["authorization_servers"], json!([server["issuer"]]));
        assert_eq!(server["issuer"], "https://shop.example.org");
    }

    #[test]
    fn both_documents_carry_the_same_way_to_register() {
        let premises = samples::premises();
        let (resource, server) = (protected_resource(&premises), authorization_server(&premises));
        assert_eq!(resource["agent_auth"], server["agent_auth"]);
        let way = &server["agent_auth"];
        assert_eq!(way["register_uri"], premises.url("/agent/auth"));
        assert_eq!(way["identity_types_supported"], json!(["anonymous"]));
        assert_eq!(way["anonymous"]["credential_types_supported"], json!(["access_token"]));
        for document in [&resource, &server] {
            samples::has_no_relative_address(document);
        }
    }

    #[test]
    fn no_endpoint_of_a_flow_that_we_do_not_run_is_invented() {
        let server = authorization_server(&samples::premises());
        samples::has_members(&server, &["issuer", "response_types_supported"]);
        for invented in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            assert!(server.get(invented).is_none(), "{invented}");
        }
    }
}
