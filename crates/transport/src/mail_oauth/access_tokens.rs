//! The access tokens of connected mailboxes, refreshed before they expire and when a server refuses one.

use std::future::Future;
use std::time::Duration;

use base::app::App;
use base::concurrency::future::BoxFuture;
use model::mailboxes::mailbox_grants::{
    self, GrantKey, RefreshLease, RefreshOutcome, SignInProvider, TokenStep,
};
use tokio::time::sleep;
use url::Url;

use super::client::OAuthClients;
use super::token_endpoint::TokenEndpoint;

/// How often, and how many times, it is looked whether another process is done refreshing.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const LOOKS: usize = 150;

/// Gives access tokens.
pub trait AccessTokens: Send + Sync {
    /// The access token of a grant. `refused` is the one that a server did not accept just now.
    fn token<'a>(
        &'a self,
        key: &'a GrantKey,
        refused: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, TokenFailure>>;

    /// Where Microsoft Graph is, which tokens of Microsoft may be for.
    fn graph(&self) -> Option<&Url> {
        None
    }
}

/// Why there is no access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenFailure {
    /// The provider ended the grant: somebody has to sign in again.
    SignInOver(SignInProvider),
    /// It may be there later; the reason is a sentence.
    Passing(String),
}

impl TokenFailure {
    pub fn sentence(&self) -> String {
        match self {
            TokenFailure::SignInOver(provider) => format!(
                "{} does not let Mailroom into this mailbox any more: the permission was withdrawn \
                 or has lapsed. Somebody has to sign in again.",
                provider.name()
            ),
            TokenFailure::Passing(sentence) => sentence.clone(),
        }
    }
}

/// Runs something with an access token, and once more with a new one if the server refuses the first.
pub async fn with_fresh_token<T, E, F>(
    tokens: &dyn AccessTokens,
    key: &GrantKey,
    is_refusal: impl Fn(&E) -> bool,
    work: impl Fn(String) -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: From<TokenFailure>,
{
    let token = tokens.token(key, None).await?;
    match work(token.clone()).await {
        Err(error) if is_refusal(&error) => {
            let fresh = tokens.token(key, Some(&token)).await?;
            match fresh == token {
                true => Err(error),
                false => work(fresh).await,
            }
        }
        done => done,
    }
}

/// The tokens of the grants in the database.
#[derive(Clone)]
pub struct MailboxTokens {
    app: App,
    clients: OAuthClients,
    endpoint: TokenEndpoint,
}

impl MailboxTokens {
    pub fn new(app: App, clients: OAuthClients) -> Result<MailboxTokens, String> {
        Ok(MailboxTokens { app, clients, endpoint: TokenEndpoint::new()? })
    }

    async fn find(&self, key: &GrantKey, refused: Option<&str>) -> Result<String, TokenFailure> {
        let ready = mailbox_grants::ready_token(&self.app, key, refused).await;
        if let Some(token) = ready.map_err(ours)? {
            return Ok(token);
        }
        for _ in 0..LOOKS {
            let step = mailbox_grants::next_step(&self.app, key, refused).await.map_err(ours)?;
            match step {
                TokenStep::Ready(token) => return Ok(token),
                TokenStep::Refresh(lease) => return self.refresh(key, &lease).await,
                TokenStep::Wait => sleep(LOOK_EVERY).await,
                TokenStep::Ended(provider) => return Err(TokenFailure::SignInOver(provider)),
                TokenStep::Missing => {
                    let sentence = "The sign-in of this mailbox is not there any more.";
                    return Err(TokenFailure::Passing(sentence.into()));
                }
            }
        }
        let sentence = "Another process takes too long to renew the access to this mailbox.";
        Err(TokenFailure::Passing(sentence.into()))
    }

    async fn refresh(&self, key: &GrantKey, lease: &RefreshLease) -> Result<String, TokenFailure> {
        // A caller that leaves, such as one whose lease of the mailbox ended, must not leave a
        // replaced refresh token unwritten.
        let (this, key, lease) = (self.clone(), key.clone(), lease.clone());
        let refreshed = tokio::spawn(async move { this.refresh_now(&key, &lease).await }).await;
        refreshed.unwrap_or_else(|_| Err(TokenFailure::Passing(OURS.into())))
    }

    async fn refresh_now(
        &self,
        key: &GrantKey,
        lease: &RefreshLease,
    ) -> Result<String, TokenFailure> {
        let (outcome, sentence) = match self.clients.of(lease.provider) {
            Some(client) => {
                let now = self.app.clock.now();
                self.endpoint.refresh(client, &lease.refresh_token, now).await
            }
            None => (RefreshOutcome::Failed, not_set_up(lease.provider)),
        };
        let ended = mailbox_grants::end_refresh(&self.app, key, lease, &outcome).await;
        let is_ours = ended.map_err(ours)?;
        let mailbox = &key.mailbox;
        match outcome {
            RefreshOutcome::Refreshed(tokens) => Ok(tokens.access_token),
            RefreshOutcome::Ended if is_ours => {
                tracing::warn!(mailbox, "the provider ended the OAuth grant of a mailbox");
                Err(TokenFailure::SignInOver(lease.provider))
            }
            RefreshOutcome::Ended | RefreshOutcome::Failed => {
                tracing::warn!(mailbox, why = sentence, "the access to a mailbox was not renewed");
                Err(TokenFailure::Passing(sentence))
            }
        }
    }
}

impl AccessTokens for MailboxTokens {
    fn token<'a>(
        &'a self,
        key: &'a GrantKey,
        refused: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, TokenFailure>> {
        Box::pin(self.find(key, refused))
    }

    fn graph(&self) -> Option<&Url> {
        self.clients.of(SignInProvider::Microsoft)?.graph.as_ref()
    }
}

/// The token of a sign-in that has just ended, before its mailbox is connected.
pub struct FixedToken(pub String);

impl AccessTokens for FixedToken {
    fn token<'a>(
        &'a self,
        _: &'a GrantKey,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, TokenFailure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

/// For servers that are signed in to with passwords alone.
pub struct NoTokens;

impl AccessTokens for NoTokens {
    fn token<'a>(
        &'a self,
        _: &'a GrantKey,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, TokenFailure>> {
        Box::pin(async { Err(TokenFailure::Passing(OURS.into())) })
    }
}

const OURS: &str = "Something failed on our side; the log tells what.";

fn ours(error: base::error::Error) -> TokenFailure {
    tracing::error!(cause = ?error, "the OAuth token of a mailbox could not be read or stored");
    TokenFailure::Passing(OURS.into())
}

/// The operator took the client out of the settings.
fn not_set_up(provider: SignInProvider) -> String {
    let (name, word) = (provider.name(), provider.as_str().to_ascii_uppercase());
    format!(
        "Signing in at {name} is not set up on this server any more. Whoever runs it can set \
         MAILROOM_{word}_CLIENT_ID."
    )
}
