//! Connecting a mailbox by signing in at its provider: what was chosen before somebody left for there, and
//! signing in again for an inbox whose grant is over.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{MailboxId, UserId};
use base::limits::MINUTE_MS;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::mailboxes;
use model::mailboxes::mailbox_grants::{self, NewGrant, SignInProvider};
use serde::{Deserialize, Serialize};

use crate::inboxes::outgoing_servers::{ServerScope, retry_waiting};
use crate::sign_in::sessions::SignedIn;

/// Somebody who left to sign in must be back by then.
const SIGN_IN_MS: i64 = 15 * MINUTE_MS;
/// Characters of the words that only one sign-in knows; PKCE asks for at least 43 (RFC 7636).
const VERIFIER_CHARS: usize = 64;
const NONCE_CHARS: usize = 26;

/// What was chosen before somebody left to sign in. It travels sealed, as the `state` of the request, and
/// only the session that began it can open it.
#[derive(Clone, Serialize, Deserialize)]
pub struct SignInPlan {
    pub provider: SignInProvider,
    /// Proves to the provider that who redeems the code is who asked for it (RFC 7636).
    pub verifier: String,
    /// Comes back in the identity token of this sign-in alone.
    pub nonce: String,
    begun_at: i64,
    pub choice: SignInChoice,
}

/// What is to be connected.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SignInChoice {
    /// The inbox's address; empty for that of the account.
    pub address: String,
    pub name: String,
    pub private_to: Option<UserId>,
    /// How much of the mail that is there is fetched, as the form says it.
    pub history: String,
    pub receive_only: bool,
    /// By Microsoft Graph instead of IMAP and SMTP.
    #[serde(default)]
    pub by_graph: bool,
    /// The form stood on the page of first steps.
    pub welcome: bool,
    /// The inbox that is signed in for again; its servers stay as they are.
    pub again: Option<MailboxId>,
}

/// A plan for a new sign-in, and its sealed form.
pub fn plan_sign_in(
    cx: &Cx<'_>,
    me: &SignedIn,
    provider: SignInProvider,
    choice: SignInChoice,
) -> Result<(SignInPlan, String)> {
    cx.actor.must_administer()?;
    let plan = SignInPlan {
        provider,
        verifier: cx.ids.token(VERIFIER_CHARS),
        nonce: cx.ids.token(NONCE_CHARS),
        begun_at: cx.now,
        choice,
    };
    let purpose = sealing::sign_in_purpose(cx.actor.ws, &me.session);
    let written = serde_json::to_string(&plan).map_err(std::io::Error::other)?;
    Ok((plan, sealing::seal(cx, &purpose, &written)))
}

/// The plan that this session made; `None` for a state of another session, or one that is too old.
pub fn planned_sign_in(cx: &Cx<'_>, me: &SignedIn, state: &str) -> Result<Option<SignInPlan>> {
    cx.actor.must_administer()?;
    let purpose = sealing::sign_in_purpose(cx.actor.ws, &me.session);
    let opened = cx.sealer.unseal(&purpose, state);
    let plan: Option<SignInPlan> = opened.and_then(|text| serde_json::from_str(&text).ok());
    Ok(plan.filter(|plan| cx.now - plan.begun_at < SIGN_IN_MS))
}

/// What an inbox that is signed in for again was connected with: the provider and the account.
pub fn grant_of_inbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
) -> Result<(SignInProvider, String)> {
    cx.actor.must_administer()?;
    mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    let found = tx.opt(
        "SELECT provider, account FROM mailbox_grants WHERE ws = ?1 AND mailbox = ?2",
        &[&cx.actor.ws, mailbox],
    )?;
    found.ok_or(Error::NotFound("inbox"))
}

/// True for an inbox whose grant is for Microsoft Graph.
pub fn is_by_graph(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<bool> {
    cx.actor.must_administer()?;
    let found: Option<(String,)> = tx.opt(
        "SELECT mailbox FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2 AND protocol = 'graph'
         UNION
         SELECT mailbox FROM outgoing_servers WHERE ws = ?1 AND mailbox = ?2 AND protocol = 'graph'",
        &[&cx.actor.ws, mailbox],
    )?;
    Ok(found.is_some())
}

/// Replaces the grant of an inbox by a new one for the same account. What waited for it goes on at
/// once: fetching, and mail that could not leave.
pub fn renew_grant(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    new: &NewGrant,
) -> Result<()> {
    let (provider, account) = grant_of_inbox(tx, cx, mailbox)?;
    if provider != new.provider || !account.eq_ignore_ascii_case(&new.account) {
        let rule = format!("belongs to {account}, and you signed in as {}", new.account);
        return Err(Error::invalid("account", rule));
    }
    mailbox_grants::set(tx, cx, mailbox, new)?;
    tx.exec(
        "UPDATE imap_accounts SET next_attempt_at = ?3, holder = '', failures = 0,
            failing_since = NULL, owners_told = FALSE, last_error = NULL
         WHERE ws = ?1 AND mailbox = ?2 AND auth = 'oauth'",
        &[&cx.actor.ws, mailbox, &cx.now],
    )?;
    tx.exec(
        "UPDATE outgoing_servers SET failing_since = NULL, last_error = NULL, owners_told = FALSE
         WHERE ws = ?1 AND mailbox = ?2 AND auth = 'oauth'",
        &[&cx.actor.ws, mailbox],
    )?;
    retry_waiting(tx, cx, &ServerScope::Inbox(mailbox.clone()))?;
    tx.wake(Queue::Imap);
    let inbox = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    let detail = format!("signed in again at {}", provider.name());
    audit_log::record(tx, cx, &inbox.circle, Action::MailboxConnected, &inbox.address, &detail)
}
