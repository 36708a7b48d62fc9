//! How this server is known at the operator's OpenID provider.

use std::fmt;
use std::str::FromStr;

use actions::sign_in::provider_rules::ProviderRules;
use url::Url;

use crate::net::token_address::token_address;

/// Where the browser comes back to, below the public address.
pub const OIDC_CALLBACK: &str = "/sign-in/provider/callback";

/// The client that the operator registered, and what they decided about it.
#[derive(Clone)]
pub struct OidcConfig {
    /// The same as in `rules`, parsed.
    pub issuer: Url,
    pub client_id: String,
    /// None for a public client, which PKCE protects alone.
    pub client_secret: Option<String>,
    pub second_step: ProviderSecondStep,
    pub rules: ProviderRules,
}

/// Whether a sign-in at the provider is one step or two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProviderSecondStep {
    /// People with an authenticator app are asked for its code.
    #[default]
    Ours,
    /// The provider asks for whatever it takes.
    Theirs,
    /// The provider's, where its token says so (`amr` with `mfa`, RFC 8176).
    WhereSaid,
}

impl FromStr for ProviderSecondStep {
    type Err = ();

    fn from_str(text: &str) -> Result<ProviderSecondStep, ()> {
        match text {
            "ours" => Ok(ProviderSecondStep::Ours),
            "provider" => Ok(ProviderSecondStep::Theirs),
            "amr" => Ok(ProviderSecondStep::WhereSaid),
            _ => Err(()),
        }
    }
}

/// Secrets are in no log.
impl fmt::Debug for OidcConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {} of {}", self.client_id, self.issuer)
    }
}

/// An issuer is an address without query and fragment (OpenID Connect Discovery, 3). The error is a
/// sentence without its subject.
pub fn issuer_address(text: &str) -> Result<Url, String> {
    let url = token_address(text)?;
    let has_more = url.query().is_some() || url.fragment().is_some();
    if has_more || !url.username().is_empty() || url.password().is_some() {
        return Err("must be an address without user, query and fragment".into());
    }
    Ok(url)
}

/// What the operator registers at the provider.
pub fn oidc_redirect_uri(public_url: &str) -> String {
    format!("{public_url}{OIDC_CALLBACK}")
}
