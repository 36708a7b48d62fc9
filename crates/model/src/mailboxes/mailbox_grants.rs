//! What providers granted when somebody signed in there: the tokens by which the mailbox of an inbox is
//! read and sent from.
//!
//! Access tokens last an hour or so and are refreshed with the refresh token, which the provider may
//! replace at each use. One process refreshes at a time: it takes a lease in the row, and what it was
//! given is written only while that lease is its own.

use std::fmt;

use base::app::{App, Cx};
use base::error::Result;
use base::ids::{Ids, MailboxId};
use base::limits::MINUTE_MS;
use base::string_enum::string_enum;
use db::Tx;

use crate::installation::sealing;

/// An access token is replaced this long before it expires.
const EXPIRES_EARLY_MS: i64 = 5 * MINUTE_MS;
/// A refresh must have ended by then, or another process may begin one.
const REFRESH_LEASE_MS: i64 = MINUTE_MS;
const HOLDER_CHARS: usize = 20;

string_enum! {
    /// Whom people sign in with to connect a mailbox.
    SignInProvider { Google = "google", Microsoft = "microsoft" }
}

impl SignInProvider {
    pub fn name(self) -> &'static str {
        match self {
            SignInProvider::Google => "Google",
            SignInProvider::Microsoft => "Microsoft",
        }
    }

    /// Whether its mailboxes can be read and sent from by Microsoft Graph too.
    pub fn has_graph(self) -> bool {
        match self {
            SignInProvider::Google => false,
            SignInProvider::Microsoft => true,
        }
    }
}

string_enum! {
    /// How a mail server is signed in to: with a password, or with the grant of the inbox.
    MailAuth { Password = "password", OAuth = "oauth" }
}

/// Names a grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GrantKey {
    pub ws: i64,
    pub mailbox: String,
}

/// What a provider gave.
#[derive(Clone, PartialEq, Eq)]
pub struct GrantedTokens {
    pub access_token: String,
    pub expires_at: i64,
    pub refresh_token: String,
}

/// Tokens are in no log.
impl fmt::Debug for GrantedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tokens until {}", self.expires_at)
    }
}

/// A mailbox that somebody signed in to at its provider.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub provider: SignInProvider,
    /// The account that was signed in to.
    pub account: String,
    pub tokens: GrantedTokens,
}

/// What to do for an access token.
#[derive(Clone, PartialEq, Eq)]
pub enum TokenStep {
    /// It can be used.
    Ready(String),
    /// The caller refreshes it, and hands the outcome to [`end_refresh`].
    Refresh(RefreshLease),
    /// Another process refreshes it.
    Wait,
    /// The provider ended the grant: somebody has to sign in again.
    Ended(SignInProvider),
    /// There is no such grant.
    Missing,
}

/// The right to refresh a grant's tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshLease {
    pub provider: SignInProvider,
    pub refresh_token: String,
    holder: String,
}

/// The outcome of a refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    Refreshed(GrantedTokens),
    /// The provider does not accept the refresh token any more.
    Ended,
    /// Something passing: it may be tried again.
    Failed,
}

db::row! {
    struct GrantRow from "g" {
        provider: SignInProvider,
        refresh_token: String,
        access_token: String,
        expires_at: i64,
        holder: String,
        held_until: i64,
        ended_at: Option<i64>,
    }
}

/// Puts a grant in the place of the one that an inbox has.
pub fn set(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId, new: &NewGrant) -> Result<()> {
    let purpose = sealing::grant_purpose(cx.actor.ws, mailbox.as_str());
    tx.exec(
        "INSERT INTO mailbox_grants (ws, mailbox, provider, account, refresh_token, access_token,
            expires_at, holder, held_until, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', 0, ?8)
         ON CONFLICT (ws, mailbox) DO UPDATE SET
            provider = excluded.provider, account = excluded.account,
            refresh_token = excluded.refresh_token, access_token = excluded.access_token,
            expires_at = excluded.expires_at, holder = '', held_until = 0, ended_at = NULL,
            created_at = excluded.created_at",
        &[
            &cx.actor.ws,
            mailbox,
            &new.provider,
            &new.account,
            &sealing::seal(cx, &purpose, &new.tokens.refresh_token),
            &sealing::seal(cx, &purpose, &new.tokens.access_token),
            &new.tokens.expires_at,
            &cx.now,
        ],
    )?;
    Ok(())
}

/// Forgets the grant of an inbox whose servers are signed in to with a password, or are gone.
pub fn forget_unused(tx: &mut Tx<'_>, ws: i64, mailbox: &str) -> Result<()> {
    tx.exec(
        "DELETE FROM mailbox_grants WHERE ws = ?1 AND mailbox = ?2
           AND NOT EXISTS (SELECT 1 FROM imap_accounts a
                           WHERE a.ws = ?1 AND a.mailbox = ?2 AND a.auth = 'oauth')
           AND NOT EXISTS (SELECT 1 FROM outgoing_servers s
                           WHERE s.ws = ?1 AND s.mailbox = ?2 AND s.auth = 'oauth')",
        &[&ws, &mailbox],
    )?;
    Ok(())
}

/// The access token, where it can be used as it is. `refused` is one that a mail server did not
/// accept, whatever its time says.
pub async fn ready_token(
    app: &App,
    key: &GrantKey,
    refused: Option<&str>,
) -> Result<Option<String>> {
    let (inner, key, refused) = (app.clone(), key.clone(), refused.map(str::to_owned));
    app.store
        .read(move |tx| {
            let Some(row) = row(tx, &key)? else { return Ok(None) };
            usable(&inner, &key, &row, refused.as_deref())
        })
        .await
}

/// The next step towards an access token; takes the lease where it has to be refreshed.
pub async fn next_step(app: &App, key: &GrantKey, refused: Option<&str>) -> Result<TokenStep> {
    let (inner, key, refused) = (app.clone(), key.clone(), refused.map(str::to_owned));
    app.store
        .write(move |tx| {
            let now = inner.clock.now();
            let Some(row) = row(tx, &key)? else { return Ok(TokenStep::Missing) };
            if row.ended_at.is_some() {
                return Ok(TokenStep::Ended(row.provider));
            }
            if let Some(token) = usable(&inner, &key, &row, refused.as_deref())? {
                return Ok(TokenStep::Ready(token));
            }
            if !row.holder.is_empty() && row.held_until > now {
                return Ok(TokenStep::Wait);
            }
            lease(tx, &inner, &key, row).map(TokenStep::Refresh)
        })
        .await
}

fn usable(
    app: &App,
    key: &GrantKey,
    row: &GrantRow,
    refused: Option<&str>,
) -> Result<Option<String>> {
    if row.ended_at.is_some() || row.expires_at - EXPIRES_EARLY_MS <= app.clock.now() {
        return Ok(None);
    }
    let purpose = sealing::grant_purpose(key.ws, &key.mailbox);
    let token = sealing::unseal(&*app.sealer, &purpose, row.access_token.clone())?;
    Ok(Some(token).filter(|token| refused != Some(token.as_str())))
}

fn lease(tx: &mut Tx<'_>, app: &App, key: &GrantKey, row: GrantRow) -> Result<RefreshLease> {
    let holder = new_holder(&app.ids);
    let until = app.clock.now() + REFRESH_LEASE_MS;
    tx.exec(
        "UPDATE mailbox_grants SET holder = ?3, held_until = ?4 WHERE ws = ?1 AND mailbox = ?2",
        &[&key.ws, &key.mailbox, &holder, &until],
    )?;
    let purpose = sealing::grant_purpose(key.ws, &key.mailbox);
    let refresh_token = sealing::unseal(&*app.sealer, &purpose, row.refresh_token)?;
    Ok(RefreshLease { provider: row.provider, refresh_token, holder })
}

fn new_holder(ids: &Ids) -> String {
    ids.token(HOLDER_CHARS)
}

/// Records a refresh. False where the lease was lost, or somebody signed in again meanwhile: what
/// they wrote stays.
pub async fn end_refresh(
    app: &App,
    key: &GrantKey,
    lease: &RefreshLease,
    outcome: &RefreshOutcome,
) -> Result<bool> {
    let (inner, key) = (app.clone(), key.clone());
    let (holder, outcome) = (lease.holder.clone(), outcome.clone());
    app.store
        .write(move |tx| {
            let now = inner.clock.now();
            let changed = match &outcome {
                RefreshOutcome::Refreshed(tokens) => {
                    let purpose = sealing::grant_purpose(key.ws, &key.mailbox);
                    let seal = |token: &str| inner.sealer.seal(&inner.ids, &purpose, token);
                    tx.exec(
                        "UPDATE mailbox_grants SET access_token = ?4, expires_at = ?5,
                            refresh_token = ?6, holder = '', held_until = 0
                         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
                        &[
                            &key.ws,
                            &key.mailbox,
                            &holder,
                            &seal(&tokens.access_token),
                            &tokens.expires_at,
                            &seal(&tokens.refresh_token),
                        ],
                    )?
                }
                RefreshOutcome::Ended => tx.exec(
                    "UPDATE mailbox_grants SET ended_at = ?4, holder = '', held_until = 0
                     WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
                    &[&key.ws, &key.mailbox, &holder, &now],
                )?,
                RefreshOutcome::Failed => tx.exec(
                    "UPDATE mailbox_grants SET holder = '', held_until = 0
                     WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
                    &[&key.ws, &key.mailbox, &holder],
                )?,
            };
            Ok(changed == 1)
        })
        .await
}

fn row(tx: &mut Tx<'_>, key: &GrantKey) -> Result<Option<GrantRow>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM mailbox_grants g WHERE g.ws = ?1 AND g.mailbox = ?2",
            GrantRow::COLUMNS
        ),
        &[&key.ws, &key.mailbox],
    )?)
}
