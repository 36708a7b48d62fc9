//! The client of the provider: where people are sent, and who they are when they come back.

use std::future::Future;
use std::sync::Arc;

use actions::sign_in::provider_rules::{ProviderIdentity, ProviderPlan, ProviderRules};
use base::email_address::EmailAddress;
use base::limits::{DAY_MS, HOUR_MS, MINUTE_MS};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rustls::RootCertStore;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::config::{OidcConfig, ProviderSecondStep, oidc_redirect_uri};
use super::discovery::{ProviderMetadata, discover};
use super::id_token::{IdentityClaims, ReadToken, TokenExpectation};
use super::key_set::ProviderKeys;
use super::provider_http::{OidcFault, ProviderHttp};
use crate::net::ssrf_guard::SsrfGuard;

/// What is asked for.
const SCOPES: &str = "openid email profile";
/// Documents are read again after this long, and used without it for no longer than the second.
const FRESH_MS: i64 = HOUR_MS;
const STALE_MS: i64 = DAY_MS;
/// After a failure the provider is left alone for this long.
const RETRY_MS: i64 = 10_000;
/// A token with an unknown key has the keys read again at most this often.
const KEYS_AGAIN_MS: i64 = MINUTE_MS;
/// Characters of a code and of an access token.
const CODE_CHARS: usize = 4 * 1024;
const ACCESS_TOKEN_CHARS: usize = 16 * 1024;

/// Signs people in at one provider. Cheap to clone.
#[derive(Clone)]
pub struct OidcClient(Arc<Inner>);

struct Inner {
    config: OidcConfig,
    http: ProviderHttp,
    metadata: Mutex<KeptDocument<ProviderMetadata>>,
    keys: Mutex<KeptDocument<ProviderKeys>>,
}

/// A document of the provider that this process has read.
struct KeptDocument<T> {
    value: Option<Arc<T>>,
    read_at: i64,
    failed: Option<(i64, OidcFault)>,
}

impl<T> Default for KeptDocument<T> {
    fn default() -> KeptDocument<T> {
        KeptDocument { value: None, read_at: 0, failed: None }
    }
}

impl<T> KeptDocument<T> {
    /// The document, read again where it is older than `fresh_ms`. One that fails to be read is used a
    /// while longer.
    async fn get(
        &mut self,
        now: i64,
        fresh_ms: i64,
        read: impl Future<Output = Result<T, OidcFault>>,
    ) -> Result<Arc<T>, OidcFault> {
        if let Some(value) = self.value.as_ref().filter(|_| now - self.read_at < fresh_ms) {
            return Ok(Arc::clone(value));
        }
        let fault = match &self.failed {
            Some((at, fault)) if now - at < RETRY_MS => fault.clone(),
            _ => match read.await {
                Ok(value) => {
                    let value = Arc::new(value);
                    *self = KeptDocument {
                        value: Some(Arc::clone(&value)),
                        read_at: now,
                        failed: None,
                    };
                    return Ok(value);
                }
                Err(fault) => fault,
            },
        };
        if self.failed.as_ref().is_none_or(|(at, _)| now - at >= RETRY_MS) {
            tracing::warn!(
                reason = fault.reason(),
                "a document of the sign-in provider was not read"
            );
            self.failed = Some((now, fault.clone()));
        }
        let usable = self.value.as_ref().filter(|_| now - self.read_at < STALE_MS);
        usable.map(Arc::clone).ok_or(fault)
    }
}

/// Somebody who has signed in.
pub struct ProviderSignIn {
    pub identity: ProviderIdentity,
    /// The identity token, by which the provider knows whom to sign out.
    pub id_token: String,
}

#[derive(Default, Deserialize)]
struct TokenAnswer {
    id_token: Option<String>,
    access_token: Option<String>,
    /// Set where there are no tokens.
    error: Option<String>,
}

impl OidcClient {
    pub fn new(
        config: OidcConfig,
        guard: SsrfGuard,
        roots: RootCertStore,
    ) -> Result<OidcClient, String> {
        let http = ProviderHttp::new(config.issuer.clone(), guard, roots)?;
        let (metadata, keys) = (Mutex::default(), Mutex::default());
        Ok(OidcClient(Arc::new(Inner { config, http, metadata, keys })))
    }

    pub fn rules(&self) -> &ProviderRules {
        &self.0.config.rules
    }

    /// The address at the provider where somebody signs in (Core, 3.1.2.1).
    pub async fn sign_in_url(
        &self,
        plan: &ProviderPlan,
        public_url: &str,
        now: i64,
    ) -> Result<String, OidcFault> {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&plan.verifier));
        let mut url = self.metadata(now).await?.authorize.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.0.config.client_id)
            .append_pair("redirect_uri", &oidc_redirect_uri(public_url))
            .append_pair("scope", SCOPES)
            .append_pair("state", &plan.state)
            .append_pair("nonce", &plan.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// The address at the provider where somebody signs out, if it has one (RP-Initiated Logout 1.0, 2).
    /// Without their identity token it asks them.
    pub async fn sign_out_url(
        &self,
        id_token: Option<&str>,
        public_url: &str,
        now: i64,
    ) -> Result<Option<String>, OidcFault> {
        let Some(mut url) = self.metadata(now).await?.end_session.clone() else { return Ok(None) };
        url.query_pairs_mut()
            .append_pair("client_id", &self.0.config.client_id)
            .append_pair("post_logout_redirect_uri", &oidc_redirect_uri(public_url))
            .extend_pairs(id_token.map(|token| ("id_token_hint", token)));
        Ok(Some(url.into()))
    }

    /// Refuses an answer that another provider gave (RFC 9207, 2.4). `issuer` is what the answer names.
    pub async fn check_answer(&self, issuer: Option<&str>, now: i64) -> Result<(), OidcFault> {
        let is_right = match issuer {
            Some(issuer) => issuer == self.rules().issuer,
            None => !self.metadata(now).await?.answers_name_issuer,
        };
        if is_right { Ok(()) } else { Err(OidcFault::Untrusted("the answer is of another issuer")) }
    }

    /// Redeems the code that a sign-in ended with, and checks who it was.
    pub async fn redeem(
        &self,
        plan: &ProviderPlan,
        code: &str,
        public_url: &str,
        now: i64,
    ) -> Result<ProviderSignIn, OidcFault> {
        if code.is_empty() || code.len() > CODE_CHARS {
            return Err(OidcFault::Untrusted("the answer has no code"));
        }
        let metadata = self.metadata(now).await?;
        let given = self.ask_for_tokens(&metadata, plan, code, public_url).await?;
        let id_token = given.id_token.ok_or(OidcFault::Untrusted("there is no identity token"))?;
        let token = ReadToken::read(&id_token).map_err(OidcFault::Untrusted)?;
        let keys = self.keys_for(&metadata, &token, now).await?;
        let config = &self.0.config;
        let expected = TokenExpectation {
            issuer: &config.rules.issuer,
            client_id: &config.client_id,
            nonce: &plan.nonce,
            now: now as f64 / 1_000.0,
        };
        let claims = token.check(&keys, &expected).map_err(OidcFault::Untrusted)?;
        let has_both_steps = match config.second_step {
            ProviderSecondStep::Ours => false,
            ProviderSecondStep::Theirs => true,
            ProviderSecondStep::WhereSaid => claims.says_several_factors(),
        };
        let person = self.with_address(&metadata, claims, given.access_token.as_deref()).await?;
        let email_verified = person.email_verified();
        let email = person.email.map(|email| EmailAddress::new(&email));
        let identity = ProviderIdentity {
            issuer: config.rules.issuer.clone(),
            subject: person.sub,
            email: email.filter(|email| mail::is_address(email)),
            email_verified,
            name: person.name.unwrap_or_default(),
            has_both_steps,
        };
        Ok(ProviderSignIn { identity, id_token })
    }

    async fn ask_for_tokens(
        &self,
        metadata: &ProviderMetadata,
        plan: &ProviderPlan,
        code: &str,
        public_url: &str,
    ) -> Result<TokenAnswer, OidcFault> {
        let (form, credentials) = self.token_form(metadata, plan, code, public_url);
        let answer = self.0.http.post(&metadata.token, form, credentials).await?;
        let status = answer.status;
        let read: TokenAnswer = serde_json::from_slice(&answer.body).unwrap_or_default();
        match read.error {
            Some(word) => Err(OidcFault::Refused(word)),
            None if status == 200 => Ok(read),
            None => Err(OidcFault::Unreachable(format!("its token endpoint: status {status}"))),
        }
    }

    /// The form that redeems a code, and the header that goes with it.
    fn token_form(
        &self,
        metadata: &ProviderMetadata,
        plan: &ProviderPlan,
        code: &str,
        public_url: &str,
    ) -> (String, Option<String>) {
        let config = &self.0.config;
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &oidc_redirect_uri(public_url))
            .append_pair("code_verifier", &plan.verifier);
        let credentials = match &config.client_secret {
            Some(secret) if metadata.secret_in_header => Some(basic(&config.client_id, secret)),
            Some(secret) => {
                form.append_pair("client_id", &config.client_id);
                form.append_pair("client_secret", secret);
                None
            }
            None => {
                form.append_pair("client_id", &config.client_id);
                None
            }
        };
        (form.finish(), credentials)
    }

    /// The keys, read again if they lack the one that a token names.
    async fn keys_for(
        &self,
        metadata: &ProviderMetadata,
        token: &ReadToken<'_>,
        now: i64,
    ) -> Result<Arc<ProviderKeys>, OidcFault> {
        let mut kept = self.0.keys.lock().await;
        let keys = kept.get(now, FRESH_MS, self.read_keys(metadata)).await?;
        if token.has_key(&keys) {
            return Ok(keys);
        }
        kept.get(now, KEYS_AGAIN_MS, self.read_keys(metadata)).await
    }

    async fn read_keys(&self, metadata: &ProviderMetadata) -> Result<ProviderKeys, OidcFault> {
        let body = self.0.http.get(&metadata.keys, None).await?.success("its keys")?;
        ProviderKeys::parse(&body)
            .ok_or_else(|| OidcFault::Misconfigured("its keys cannot be read".into()))
    }

    /// Some providers tell the address at another place only (Core, 5.3). It counts if it is about the
    /// same subject.
    async fn with_address(
        &self,
        metadata: &ProviderMetadata,
        claims: IdentityClaims,
        access_token: Option<&str>,
    ) -> Result<IdentityClaims, OidcFault> {
        let (None, Some(url), Some(token)) = (&claims.email, &metadata.userinfo, access_token)
        else {
            return Ok(claims);
        };
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.len() > ACCESS_TOKEN_CHARS || !is_plain {
            return Err(OidcFault::Untrusted(
                "the access token is too long or not printable ASCII",
            ));
        }
        let body = self.0.http.get(url, Some(token)).await?.success("its userinfo")?;
        let mut told: IdentityClaims = serde_json::from_slice(&body)
            .map_err(|_| OidcFault::Untrusted("the userinfo cannot be read"))?;
        if told.sub != claims.sub {
            return Err(OidcFault::Untrusted("the userinfo is about somebody else"));
        }
        told.name = told.name.or(claims.name);
        Ok(told)
    }

    async fn metadata(&self, now: i64) -> Result<Arc<ProviderMetadata>, OidcFault> {
        let inner = &self.0;
        let mut kept = inner.metadata.lock().await;
        kept.get(now, FRESH_MS, discover(&inner.http, &inner.config.rules.issuer)).await
    }

    /// Reads the provider's documents once, for whoever sets it up.
    pub async fn look(&self) -> Result<(), OidcFault> {
        let metadata = discover(&self.0.http, &self.rules().issuer).await?;
        let keys = self.read_keys(&metadata).await?;
        if keys.is_empty() {
            let reason = "it lists no key for RS256, ES256 or EdDSA";
            return Err(OidcFault::Misconfigured(reason.into()));
        }
        Ok(())
    }
}

/// The header of a client with a secret (RFC 6749, 2.3.1): both parts are form-encoded first.
fn basic(id: &str, secret: &str) -> String {
    let part = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let both = format!("{}:{}", part(id), part(secret));
    format!("Basic {}", STANDARD.encode(both))
}
