//! What the provider says of itself (OpenID Connect Discovery 1.0, 3 and 4).

use serde::Deserialize;
use url::Url;

use super::provider_http::{OidcFault, ProviderHttp};

/// Below the issuer.
const DOCUMENT: &str = "/.well-known/openid-configuration";

/// What of it is used.
#[derive(Clone, Debug)]
pub struct ProviderMetadata {
    pub authorize: Url,
    pub token: Url,
    pub keys: Url,
    pub userinfo: Option<Url>,
    /// Where people sign out (RP-Initiated Logout 1.0, 2.1).
    pub end_session: Option<Url>,
    /// True where the client's secret goes into a header, and not into the form.
    pub secret_in_header: bool,
    /// True where every answer names its issuer (RFC 9207).
    pub answers_name_issuer: bool,
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Reads and checks the document of the issuer.
pub async fn discover(http: &ProviderHttp, issuer: &str) -> Result<ProviderMetadata, OidcFault> {
    let address = format!("{}{DOCUMENT}", issuer.trim_end_matches('/'));
    let unreadable = || OidcFault::Misconfigured("its document cannot be read".into());
    let url = Url::parse(&address).map_err(|_| unreadable())?;
    let body = http.get(&url, None).await?.success("its document")?;
    let document: Document = serde_json::from_slice(&body).map_err(|_| unreadable())?;
    // Character by character (4.3): another issuer's tokens would be believed otherwise.
    if document.issuer != issuer {
        let said: String = document.issuer.chars().filter(|c| !c.is_control()).take(200).collect();
        return Err(OidcFault::Misconfigured(format!(
            "it says that its issuer is {said}, and MAILROOM_OIDC_ISSUER says {issuer}"
        )));
    }
    let methods = document.token_endpoint_auth_methods_supported;
    let can = |method: &str| methods.iter().flatten().any(|it| it == method);
    Ok(ProviderMetadata {
        authorize: http.endpoint("authorization_endpoint", &document.authorization_endpoint)?,
        token: http.endpoint("token_endpoint", &document.token_endpoint)?,
        keys: http.endpoint("jwks_uri", &document.jwks_uri)?,
        userinfo: match &document.userinfo_endpoint {
            Some(url) => Some(http.endpoint("userinfo_endpoint", url)?),
            None => None,
        },
        // Nobody is kept from signing in by where they would sign out.
        end_session: document
            .end_session_endpoint
            .and_then(|url| http.endpoint("end_session_endpoint", &url).ok()),
        secret_in_header: can("client_secret_basic") || !can("client_secret_post"),
        answers_name_issuer: document.authorization_response_iss_parameter_supported,
    })
}
