//! IMAP accounts of inboxes: setting them up, removing them, and their health.

use base::actor::Actor;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::MailboxId;
use base::limits::{DAY_MS, IMAP_WORD_CHARS};
use base::time::Moment;
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use inbound::imap::{FetchProtocol, PostFetchAction, Security};
use model::mailboxes::mailbox_grants::{self, MailAuth, SignInProvider};
use model::mailboxes::plus_tags;
use serde::Serialize;

/// Where an inbox's mail is fetched from.
#[derive(Clone)]
pub struct FetchFrom {
    pub protocol: FetchProtocol,
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub username: String,
    pub auth: MailAuth,
    /// Already sealed: only the server can open it. Empty where a grant is used.
    pub sealed_password: String,
    pub folder: String,
    pub after: PostFetchAction,
    pub trusts: Option<String>,
    pub history: MailHistory,
    /// Set up at the machine: the server may be in a private network.
    pub by_operator: bool,
}

/// How much of the mail that is in the folder now is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailHistory {
    Everything,
    /// What the mailbox took in the last days.
    Days(i64),
    Nothing,
}

impl MailHistory {
    fn since(self, now: i64) -> Option<i64> {
        match self {
            MailHistory::Everything => None,
            MailHistory::Days(days) => Some(now - days * DAY_MS),
            MailHistory::Nothing => Some(now),
        }
    }
}

/// Sets or replaces an inbox's IMAP account. The cursor is kept when protocol, server, user and folder
/// stay the same, and what is known about plus tags when server and user do.
pub fn fetch_mail_from(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: &str,
    from: &FetchFrom,
) -> Result<MailboxId> {
    cx.actor.must_administer()?;
    refuse_in_sample(tx, cx.actor.ws)?;
    check(from)?;
    let mailbox = inbox_at(tx, cx, address)?;
    keep(tx, cx, &mailbox, from)?;
    mailbox_grants::forget_unused(tx, cx.actor.ws, mailbox.as_str())?;
    Ok(mailbox)
}

fn keep(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId, from: &FetchFrom) -> Result<()> {
    let known: Option<(String, String, String, FetchProtocol)> = tx.opt(
        "SELECT host, username, folder, protocol FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2",
        &[&cx.actor.ws, mailbox],
    )?;
    let is_account = |(host, username, _, _): &(String, String, String, FetchProtocol)| {
        *host == from.host && *username == from.username
    };
    let known = known.filter(is_account);
    if known.is_none() {
        plus_tags::begin_fetching(tx, cx.actor.ws, mailbox)?;
    }
    let same = known
        .is_some_and(|(_, _, folder, protocol)| folder == from.folder && protocol == from.protocol);
    if !same {
        tx.exec(
            "DELETE FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2",
            &[&cx.actor.ws, mailbox],
        )?;
        forget_graph_folders(tx, cx, mailbox)?;
    }
    tx.exec(
        "INSERT INTO imap_accounts (
            ws, mailbox, host, port, security, username, password, folder, afterwards, trusts,
            new_since, last_uid, seen_to, stuck_uid, stuck_attempts, next_attempt_at, holder, failures,
            owners_told, fetched, skipped, created_at, by_operator, auth, protocol
         ) VALUES (
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, 0, 0, 0, ?12, '', 0, FALSE, 0, 0, ?12,
            ?13, ?14, ?15
         )
         ON CONFLICT (ws, mailbox) DO UPDATE SET
            port = excluded.port, security = excluded.security, password = excluded.password,
            afterwards = excluded.afterwards, trusts = excluded.trusts,
            by_operator = excluded.by_operator, auth = excluded.auth,
            protocol = excluded.protocol,
            next_attempt_at = excluded.next_attempt_at, holder = '', failures = 0,
            failing_since = NULL, owners_told = FALSE, last_error = NULL",
        &[
            &cx.actor.ws,
            mailbox,
            &from.host,
            &i64::from(from.port),
            &from.security,
            &from.username,
            &from.sealed_password,
            &from.folder,
            &from.after.to_string(),
            &from.trusts,
            &from.history.since(cx.now),
            &cx.now,
            &from.by_operator,
            &from.auth,
            &from.protocol,
        ],
    )?;
    tx.wake(Queue::Imap);
    Ok(())
}

/// Removes an inbox's IMAP account; fetched mail stays.
pub fn stop_fetching(tx: &mut Tx<'_>, cx: &Cx<'_>, address: &str) -> Result<MailboxId> {
    cx.actor.must_administer()?;
    let mailbox = inbox_at(tx, cx, address)?;
    let stopped = tx.exec(
        "DELETE FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2",
        &[&cx.actor.ws, &mailbox],
    )?;
    tx.exec("DELETE FROM sent_copies WHERE ws = ?1 AND mailbox = ?2", &[&cx.actor.ws, &mailbox])?;
    forget_graph_folders(tx, cx, &mailbox)?;
    if stopped > 0 {
        plus_tags::end_fetching(tx, cx.actor.ws, &mailbox)?;
    }
    mailbox_grants::forget_unused(tx, cx.actor.ws, mailbox.as_str())?;
    match stopped {
        0 => Err(Error::invalid("address", "is not fetched by IMAP")),
        _ => Ok(mailbox),
    }
}

/// What is fetched anew is listed from its beginning.
fn forget_graph_folders(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<()> {
    tx.exec("DELETE FROM graph_folders WHERE ws = ?1 AND mailbox = ?2", &[&cx.actor.ws, mailbox])?;
    Ok(())
}

/// An inbox of this workspace, private ones included: administrators set up every inbox, which does
/// not let them read its mail.
fn inbox_at(tx: &mut Tx<'_>, cx: &Cx<'_>, address: &str) -> Result<MailboxId> {
    let found: Option<(MailboxId,)> = tx.opt(
        "SELECT id FROM mailboxes WHERE ws = ?1 AND address = ?2 AND circle <> 'sandbox'",
        &[&cx.actor.ws, &EmailAddress::new(address)],
    )?;
    found.map(|(id,)| id).ok_or_else(|| {
        Error::invalid("address", "is no inbox; add it first with `mailroom mailbox add`")
    })
}

fn check(from: &FetchFrom) -> Result<()> {
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: &str| {
        problems.0.push(ValidationError { field: field.into(), sentence: sentence.into() });
    };
    let most = IMAP_WORD_CHARS;
    let plain = |text: &str| {
        (1..=IMAP_WORD_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control)
    };
    let host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if !plain(&from.host) || !from.host.chars().all(host) || from.port == 0 {
        add("server", "must be such as imaps://user@imap.example.com");
    }
    if !plain(&from.username) {
        let rule =
            format!("must name the user before the @ of the host, in at most {most} characters");
        add("server", &rule);
    }
    if !plain(&from.folder) {
        add("folder", &format!("must be 1 to {most} characters"));
    }
    match &from.after {
        PostFetchAction::Move(folder) if !plain(folder) => {
            add("after", "must name a folder to move to")
        }
        PostFetchAction::Move(folder) if *folder == from.folder => {
            add("after", "must move to another folder than the one that mail is fetched from");
        }
        _ => {}
    }
    if from.trusts.as_ref().is_some_and(|name| !plain(name)) {
        add("trust", "must be a host name such as mx.example.com");
    }
    if problems.0.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

db::row! {
    /// The health of an inbox's fetching.
    #[derive(Clone, Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct FetchedInbox from "a" {
        #[serde(skip)]
        pub mailbox: MailboxId,
        pub host: String,
        pub port: i64,
        /// As it is stored, so that an account whose word is unknown is still listed.
        #[serde(skip)]
        pub security: String,
        pub username: String,
        pub folder: String,
        /// It is fetched by Microsoft Graph instead of IMAP.
        #[serde(skip)]
        pub by_graph: bool = "a.protocol = 'graph'",
        pub after: String = "a.afterwards",
        /// True while the latest round went well or none has ended yet.
        pub ok: bool = "a.failing_since IS NULL",
        pub last_fetched_at: Option<Moment>,
        pub failing_since: Option<Moment>,
        /// The last error as a sentence, while fetching fails.
        pub last_error: Option<String>,
        /// While it fails and is tried again.
        pub next_attempt_at: Option<Moment> =
            "CASE WHEN a.failing_since IS NOT NULL AND g.ended_at IS NULL
             THEN a.next_attempt_at END",
        /// When its next round is due, or the current lease expires.
        #[serde(skip)]
        pub due_at: Moment = "a.next_attempt_at",
        pub fetched: i64,
        /// Mails that could not be downloaded.
        pub skipped: i64,
        pub last_skipped: Option<String>,
        /// The provider that was signed in at, where that is no password.
        #[serde(rename = "signsInAt")]
        pub provider: Option<SignInProvider> = "g.provider",
        /// The provider ended the grant: somebody has to sign in again.
        pub sign_in_over: bool = "g.ended_at IS NOT NULL",
    }
}

/// The health of each IMAP account whose inbox the actor sees.
pub fn list_fetched(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<FetchedInbox>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM imap_accounts a
             JOIN mailboxes m ON m.ws = a.ws AND m.id = a.mailbox
             LEFT JOIN mailbox_grants g ON g.ws = a.ws AND g.mailbox = a.mailbox AND a.auth = 'oauth'
             WHERE a.ws = ?1 AND m.circle IN (?2, ?3) ORDER BY m.name, m.id",
            FetchedInbox::COLUMNS
        ),
        &[&actor.ws, first, second],
    )?)
}
