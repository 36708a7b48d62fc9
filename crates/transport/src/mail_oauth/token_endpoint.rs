//! The token endpoint of a provider: a code becomes tokens, and tokens are refreshed (RFC 6749, 4.1.3
//! and 6).

use std::time::Duration;

use actions::inboxes::mailbox_sign_in::SignInPlan;
use model::mailboxes::mailbox_grants::{GrantedTokens, RefreshOutcome};
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;

use super::client::{OAuthClient, redirect_uri};
use super::identity;
use crate::net::http_client::api_client;

/// One deadline for name, connection and response; a lease to refresh lasts longer.
const WITHIN: Duration = Duration::from_secs(20);
/// The largest response that is read, in bytes.
const RESPONSE_BYTES: usize = 64 * 1024;
/// Characters of one token.
const TOKEN_CHARS: usize = 8 * 1024;
/// How long an access token is used where the provider does not say it, and at most, in seconds.
const USUAL_LIFE: i64 = 30 * 60;
const LONGEST_LIFE: i64 = 24 * 60 * 60;
/// Words that mean that somebody has to sign in again. Those of OpenID Connect are Microsoft's.
const ENDED: &[&str] =
    &["invalid_grant", "interaction_required", "consent_required", "login_required"];

/// Asks providers for tokens.
#[derive(Clone)]
pub struct TokenEndpoint(Client);

/// What a code was redeemed for.
#[derive(Debug)]
pub struct CodeGrant {
    /// The address that was signed in with.
    pub account: String,
    pub tokens: GrantedTokens,
}

#[derive(Default, Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    refresh_token: Option<String>,
    id_token: Option<String>,
    scope: Option<String>,
    expires_in: Option<i64>,
    /// Set where there are no tokens.
    error: Option<String>,
}

impl TokenEndpoint {
    pub fn new() -> Result<TokenEndpoint, String> {
        Ok(TokenEndpoint(api_client(WITHIN)?))
    }

    /// Redeems the code that a sign-in ended with. The error is a sentence.
    pub async fn redeem(
        &self,
        client: &OAuthClient,
        plan: &SignInPlan,
        code: &str,
        public_url: &str,
        now: i64,
    ) -> Result<CodeGrant, String> {
        let name = client.provider.name();
        let uri = redirect_uri(public_url);
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &uri),
            ("code_verifier", &plan.verifier),
        ];
        let given = self.ask(client, &fields).await?;
        if let Some(error) = &given.error {
            return Err(refusal(name, error));
        }
        if client.lacks(&plan.choice, given.scope.as_deref()) {
            return Err(format!(
                "You signed in, but did not allow the use of your mail. Sign in again and tick \
                 every box that {name} shows."
            ));
        }
        let account = given.id_token.as_deref().and_then(|token| {
            identity::account(client.provider, token, &client.id, &plan.nonce, now)
        });
        let account = account.ok_or_else(|| format!("{name} did not say whose mailbox it is."))?;
        let tokens = given.tokens(None, now).ok_or_else(|| {
            format!(
                "{name} gave no lasting access to the mailbox. Remove Mailroom from the connected \
                 apps of your {name} account, and sign in again."
            )
        })?;
        Ok(CodeGrant { account, tokens })
    }

    /// Refreshes a grant's tokens; beside the outcome, a sentence about what went wrong.
    pub async fn refresh(
        &self,
        client: &OAuthClient,
        refresh_token: &str,
        now: i64,
    ) -> (RefreshOutcome, String) {
        let name = client.provider.name();
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token)];
        let given = match self.ask(client, &fields).await {
            Ok(given) => given,
            Err(sentence) => return (RefreshOutcome::Failed, sentence),
        };
        match &given.error {
            Some(error) if ENDED.contains(&error.as_str()) => {
                return (RefreshOutcome::Ended, refusal(name, error));
            }
            Some(error) => return (RefreshOutcome::Failed, refusal(name, error)),
            None => {}
        }
        match given.tokens(Some(refresh_token), now) {
            Some(tokens) => (RefreshOutcome::Refreshed(tokens), String::new()),
            None => (RefreshOutcome::Failed, unclear(name)),
        }
    }

    async fn ask(
        &self,
        client: &OAuthClient,
        fields: &[(&str, &str)],
    ) -> Result<TokenResponse, String> {
        let name = client.provider.name();
        let request = self
            .0
            .post(client.token_url.clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(form_of(client, fields));
        // The causes of a failure may quote the request, so they are not told.
        let unreachable = |_| format!("{name} could not be asked for access. Try again later.");
        let mut response = request.send().await.map_err(unreachable)?;
        let is_success = response.status().is_success();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > RESPONSE_BYTES {
                return Err(unclear(name));
            }
            body.extend_from_slice(&chunk);
        }
        let read: Option<TokenResponse> = serde_json::from_slice(&body).ok();
        match read {
            Some(read) if is_success == read.error.is_none() => Ok(read),
            _ => Err(unclear(name)),
        }
    }
}

fn form_of(client: &OAuthClient, fields: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields).append_pair("client_id", &client.id);
    if let Some(secret) = &client.secret {
        form.append_pair("client_secret", secret);
    }
    form.finish()
}

impl TokenResponse {
    /// The tokens; `kept` is the refresh token that stays where the provider gives no new one.
    fn tokens(self, kept: Option<&str>, now: i64) -> Option<GrantedTokens> {
        let refresh_token = self.refresh_token.or_else(|| kept.map(str::to_owned))?;
        let access_token = self.access_token?;
        let life = self.expires_in.unwrap_or(USUAL_LIFE).clamp(0, LONGEST_LIFE);
        let is_plain = |token: &str| {
            (1..=TOKEN_CHARS).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic())
        };
        (is_plain(&access_token) && is_plain(&refresh_token)).then(|| GrantedTokens {
            access_token,
            expires_at: now + life * 1_000,
            refresh_token,
        })
    }
}

fn unclear(name: &str) -> String {
    format!("{name} said something that could not be understood.")
}

/// What an error of the provider means to the people who connect a mailbox.
pub fn refusal(name: &str, error: &str) -> String {
    match error {
        "access_denied" => format!("Nothing was connected: it was not allowed at {name}."),
        "invalid_client" | "unauthorized_client" => format!(
            "{name} does not know this server, or not its secret. Whoever runs it has to look at the \
             client that is registered there."
        ),
        "invalid_grant" => format!("{name} does not accept this sign-in any more. Sign in again."),
        "temporarily_unavailable" | "server_error" => {
            format!("{name} cannot answer at the moment. Try again later.")
        }
        _ => {
            let plain = |c: &char| c.is_ascii_lowercase() || *c == '_';
            let error: String = error.chars().filter(plain).take(40).collect();
            format!("{name} refused the sign-in ({error}).")
        }
    }
}
