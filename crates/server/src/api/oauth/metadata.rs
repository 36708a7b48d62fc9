//! The documents that OAuth clients read, and the JSON of registrations and tokens.

use actions::integrations::oauth_tokens::IssuedTokens;
use base::security::scopes::Scope;
use model::people::oauth_clients::OauthClient;
use serde_json::{Value, json};

use crate::api::mcp::{self, RESOURCE_METADATA};

const ROOT_RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";

/// The addresses of the documents.
pub const PATHS: [&str; 3] = [RESOURCE_METADATA, ROOT_RESOURCE_METADATA, SERVER_METADATA];

/// What tokens are for.
pub fn resource(origin: &str) -> String {
    format!("{origin}{}", mcp::PATH)
}

/// The document at one of [`PATHS`].
pub fn document(path: &str, origin: &str, takes_registrations: bool) -> Option<Value> {
    match path {
        RESOURCE_METADATA | ROOT_RESOURCE_METADATA => Some(json!({
            "resource": resource(origin),
            "authorization_servers": [origin],
            "scopes_supported": ["read", "write", "draft"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Mailroom",
        })),
        SERVER_METADATA => {
            let scopes: Vec<&str> =
                Scope::USUAL.iter().map(|scope| scope.as_str()).chain(["offline_access"]).collect();
            let mut server = json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "revocation_endpoint": format!("{origin}/revoke"),
                "scopes_supported": scopes,
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "client_id_metadata_document_supported": true,
                "authorization_response_iss_parameter_supported": true,
            });
            if takes_registrations {
                server["registration_endpoint"] = format!("{origin}/register").into();
            }
            Some(server)
        }
        _ => None,
    }
}

/// A client as it was registered. What it asked for and does not get is left out, not null.
pub fn registration(client: &OauthClient) -> Value {
    let uris: Vec<String> = client.redirect_uris.iter().map(ToString::to_string).collect();
    json!({
        "client_id": client.id,
        "client_id_issued_at": client.created_at / 1_000,
        "client_name": client.name,
        "redirect_uris": uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

pub fn tokens(issued: &IssuedTokens) -> Value {
    json!({
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in_seconds,
        "refresh_token": issued.refresh_token,
        "scope": issued.scope,
    })
}
