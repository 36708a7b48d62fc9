//! Signing in at the operator's OpenID provider (OpenID Connect Core 1.0, authorization code with PKCE):
//! discovery, keys, the code and the identity token.

mod client;
mod config;
mod discovery;
mod id_token;
mod key_set;
mod provider_http;

pub use client::{OidcClient, ProviderSignIn};
pub use config::{
    OIDC_CALLBACK, OidcConfig, ProviderSecondStep, issuer_address, oidc_redirect_uri,
};
pub use provider_http::OidcFault;
