//! Who signed in: the claims of an identity token (OpenID Connect Core, section 2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::mailboxes::mailbox_grants::SignInProvider;
use serde::Deserialize;

/// Clocks may differ by this much, in seconds.
const SKEW: i64 = 5 * 60;

#[derive(Deserialize)]
struct Claims {
    aud: Audience,
    exp: i64,
    nonce: Option<String>,
    email: Option<String>,
    preferred_username: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// The address of the account that an identity token is about, if the token is one for this client and
/// this sign-in. It came from the provider's own server by TLS, so its signature is not needed (3.1.3.7).
pub fn account(
    provider: SignInProvider,
    token: &str,
    client_id: &str,
    nonce: &str,
    now: i64,
) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    let is_ours = match &claims.aud {
        Audience::One(audience) => audience == client_id,
        Audience::Several(all) => all.iter().any(|audience| audience == client_id),
    };
    let is_fresh = claims.exp + SKEW > now.div_euclid(1_000);
    if !is_ours || !is_fresh || claims.nonce.as_deref() != Some(nonce) {
        return None;
    }
    let account = match provider {
        SignInProvider::Google => claims.email,
        SignInProvider::Microsoft => claims.preferred_username.or(claims.email),
    };
    account
        .map(|account| mail::normal_address(&account))
        .filter(|account| mail::is_address(account))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.x", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn an_account_is_told_by_a_token_for_this_client_and_this_sign_in_only() {
        let google =
            |claims: &str| account(SignInProvider::Google, &token(claims), "us", "n1", 1_000_000);
        let good = r#"{"aud":"us","exp":2000,"nonce":"n1","email":"Ann@Acme.example"}"#;
        assert_eq!(google(good).as_deref(), Some("ann@acme.example"));
        for bad in [
            r#"{"aud":"them","exp":2000,"nonce":"n1","email":"a@b.example"}"#,
            r#"{"aud":"us","exp":2000,"nonce":"n2","email":"a@b.example"}"#,
            r#"{"aud":"us","exp":2000,"email":"a@b.example"}"#,
            r#"{"aud":"us","exp":1,"nonce":"n1","email":"a@b.example"}"#,
            r#"{"aud":"us","exp":2000,"nonce":"n1","email":"nobody"}"#,
            r#"{"aud":"us","exp":2000,"nonce":"n1"}"#,
            "{}",
        ] {
            assert_eq!(google(bad), None, "{bad}");
        }
        assert_eq!(account(SignInProvider::Google, "x", "us", "n1", 0), None);
    }
}
