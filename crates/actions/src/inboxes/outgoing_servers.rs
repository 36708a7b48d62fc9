//! Setting and removing the servers that mail leaves through.

use base::actor::{Circle, Principal, Role};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::MailboxId;
use base::limits::{IMAP_WORD_CHARS, MINUTE_MS};
use base::time::Moment;
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::mailboxes;
use model::mailboxes::mailbox_grants::{self, MailAuth, SignInProvider};
use model::mailboxes::outgoing_servers::{
    self, ALL_INBOXES, SubmissionLogin, SubmissionProtocol, SubmissionSecurity, SubmissionServer,
};

/// A message that is being sent is due again within this long; one that is due later waits.
const BEING_SENT_MS: i64 = MINUTE_MS;

/// Whose server it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerScope {
    /// Every inbox of the workspace without a server of its own.
    All,
    Inbox(MailboxId),
}

impl ServerScope {
    fn mailbox(&self) -> &str {
        match self {
            ServerScope::All => ALL_INBOXES,
            ServerScope::Inbox(id) => id.as_str(),
        }
    }
}

/// A server as somebody typed it in.
#[derive(Clone)]
pub struct NewOutgoingServer {
    pub host: String,
    pub port: u16,
    pub security: SubmissionSecurity,
    /// Empty where the server asks for none.
    pub username: String,
    /// Empty to keep the one that is there.
    pub password: String,
}

db::row! {
    /// A server as the settings show it.
    #[derive(Clone, Debug)]
    pub struct OutgoingServerListing from "s" {
        /// The inbox, or empty for all.
        pub mailbox: String,
        pub host: String,
        pub port: i64,
        /// Mail leaves by Microsoft Graph instead of SMTP.
        pub by_graph: bool = "s.protocol = 'graph'",
        pub security: SubmissionSecurity,
        pub username: String,
        pub last_sent_at: Option<Moment>,
        pub failing_since: Option<Moment>,
        /// While it fails, a sentence without its subject.
        pub last_error: Option<String>,
        /// False where an admin set it: sign-in links do not leave through it.
        pub by_owner: bool,
        /// The provider that was signed in at, where that is no password.
        pub provider: Option<SignInProvider> = "g.provider",
        /// The provider ended the grant: somebody has to sign in again.
        pub sign_in_over: bool = "g.ended_at IS NOT NULL",
    }
}

/// The servers of the workspace and of the inboxes that the actor sees.
pub fn list_outgoing_servers(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<OutgoingServerListing>> {
    cx.actor.must_administer()?;
    let seen = mailboxes::all_seen_by(tx, cx.actor)?;
    let all: Vec<OutgoingServerListing> = tx.all(
        &format!(
            "SELECT {} FROM outgoing_servers s
             LEFT JOIN mailbox_grants g ON g.ws = s.ws AND g.mailbox = s.mailbox AND s.auth = 'oauth'
             WHERE s.ws = ?1 ORDER BY s.mailbox",
            OutgoingServerListing::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    let is_seen = |listed: &OutgoingServerListing| {
        listed.mailbox == ALL_INBOXES
            || seen.iter().any(|inbox| inbox.id.as_str() == listed.mailbox)
    };
    Ok(all.into_iter().filter(is_seen).collect())
}

/// The server that would be used with these settings, to try it out. A password that was not typed
/// is the one that is there, but only for the same host and user: nobody is shown a password by
/// naming another host.
pub fn proposed_server(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    scope: &ServerScope,
    new: &NewOutgoingServer,
) -> Result<SubmissionServer> {
    cx.actor.must_administer()?;
    circle_of(tx, cx, scope)?;
    check(new)?;
    let mailbox = scope.mailbox();
    let login = match (new.username.is_empty(), new.password.is_empty()) {
        (true, _) => None,
        (false, typed) => Some(SubmissionLogin::Password {
            username: new.username.clone(),
            password: match typed {
                false => new.password.clone(),
                true => kept_password(tx, cx, mailbox, new)?,
            },
        }),
    };
    Ok(SubmissionServer {
        ws: cx.actor.ws,
        mailbox: mailbox.to_owned(),
        protocol: SubmissionProtocol::Smtp,
        host: new.host.clone(),
        port: new.port,
        security: new.security,
        login,
    })
}

fn kept_password(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &str,
    new: &NewOutgoingServer,
) -> Result<String> {
    let kept = outgoing_servers::row(tx, cx.actor.ws, mailbox)?
        .filter(|row| row.host == new.host && row.username == new.username);
    let missing = || Error::invalid("password", "must be given for another server or user");
    let server = outgoing_servers::open(cx, kept.ok_or_else(missing)?)?;
    match server.login {
        Some(SubmissionLogin::Password { password, .. }) => Ok(password),
        Some(SubmissionLogin::Grant { .. }) | None => Err(missing()),
    }
}

/// Sets or replaces a server. Mail that waited for the old one leaves at once.
pub fn set_outgoing_server(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    scope: &ServerScope,
    new: &NewOutgoingServer,
) -> Result<()> {
    let server = proposed_server(tx, cx, scope, new)?;
    refuse_in_sample(tx, cx.actor.ws)?;
    let circle = circle_of(tx, cx, scope)?;
    let thing = name_of(tx, cx, scope)?;
    write_server(tx, cx, &server, (&circle, &thing))?;
    retry_waiting(tx, cx, scope)
}

/// Writes a server's row and the line of the audit log: in which circle, and of what.
pub(crate) fn write_server(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    server: &SubmissionServer,
    (circle, thing): (&Circle, &str),
) -> Result<()> {
    let purpose = sealing::submission_purpose(cx.actor.ws, &server.mailbox);
    let (auth, username, password) = match &server.login {
        Some(SubmissionLogin::Password { username, password }) => {
            (MailAuth::Password, username.as_str(), sealing::seal(cx, &purpose, password))
        }
        Some(SubmissionLogin::Grant { username, .. }) => {
            (MailAuth::OAuth, username.as_str(), String::new())
        }
        None => (MailAuth::Password, "", String::new()),
    };
    let by_owner =
        matches!(cx.actor.who, Principal::Person { role: Role::Owner, .. } | Principal::System);
    tx.exec(
        "INSERT INTO outgoing_servers (ws, mailbox, host, port, security, username, password, by_owner,
            changed_at, auth, protocol)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (ws, mailbox) DO UPDATE SET
            host = excluded.host, port = excluded.port, security = excluded.security,
            username = excluded.username, password = excluded.password, by_owner = excluded.by_owner,
            changed_at = excluded.changed_at, auth = excluded.auth,
            protocol = excluded.protocol, last_sent_at = NULL, failing_since = NULL,
            last_error = NULL, owners_told = FALSE",
        &[
            &cx.actor.ws,
            &server.mailbox,
            &server.host,
            &i64::from(server.port),
            &server.security,
            &username,
            &password,
            &by_owner,
            &cx.now,
            &auth,
            &server.protocol,
        ],
    )?;
    mailbox_grants::forget_unused(tx, cx.actor.ws, &server.mailbox)?;
    let detail = format!("{}, port {}", server.host, server.port);
    audit_log::record(tx, cx, circle, Action::OutgoingServerSet, thing, &detail)
}

/// Removes a server: mail leaves by the workspace's or the operator's from now on.
pub fn remove_outgoing_server(tx: &mut Tx<'_>, cx: &Cx<'_>, scope: &ServerScope) -> Result<()> {
    cx.actor.must_administer()?;
    let circle = circle_of(tx, cx, scope)?;
    let removed = tx.exec(
        "DELETE FROM outgoing_servers WHERE ws = ?1 AND mailbox = ?2",
        &[&cx.actor.ws, &scope.mailbox()],
    )?;
    if removed == 0 {
        return Ok(());
    }
    mailbox_grants::forget_unused(tx, cx.actor.ws, scope.mailbox())?;
    retry_waiting(tx, cx, scope)?;
    let thing = name_of(tx, cx, scope)?;
    audit_log::record(tx, cx, &circle, Action::OutgoingServerRemoved, &thing, "")
}

/// Messages that wait for another attempt are due now.
pub(crate) fn retry_waiting(tx: &mut Tx<'_>, cx: &Cx<'_>, scope: &ServerScope) -> Result<()> {
    let later = cx.now + BEING_SENT_MS;
    match scope {
        ServerScope::All => tx.exec(
            "UPDATE messages SET sends_at = ?2
             WHERE ws = ?1 AND sends_at > ?3 AND status = 'sending'",
            &[&cx.actor.ws, &cx.now, &later],
        )?,
        ServerScope::Inbox(id) => tx.exec(
            "UPDATE messages SET sends_at = ?3
             WHERE ws = ?1 AND mailbox = ?2 AND sends_at > ?4 AND status = 'sending'",
            &[&cx.actor.ws, id, &cx.now, &later],
        )?,
    };
    tx.exec(
        "UPDATE notices SET due_at = ?2 WHERE ws = ?1 AND due_at > ?3",
        &[&cx.actor.ws, &cx.now, &later],
    )?;
    tx.wake(Queue::Messages);
    tx.wake(Queue::Notices);
    Ok(())
}

fn circle_of(tx: &mut Tx<'_>, cx: &Cx<'_>, scope: &ServerScope) -> Result<Circle> {
    match scope {
        ServerScope::All => Ok(Circle::team()),
        ServerScope::Inbox(id) => {
            let found = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
            Ok(found.circle)
        }
    }
}

fn name_of(tx: &mut Tx<'_>, cx: &Cx<'_>, scope: &ServerScope) -> Result<String> {
    match scope {
        ServerScope::All => Ok("all inboxes".into()),
        ServerScope::Inbox(id) => {
            Ok(mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?.name)
        }
    }
}

pub(crate) fn check(new: &NewOutgoingServer) -> Result<()> {
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    let short = |text: &str| text.chars().count() <= IMAP_WORD_CHARS;
    let plain = |text: &str| short(text) && !text.chars().any(char::is_control);
    let host = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    if new.host.is_empty() || !short(&new.host) || !new.host.chars().all(host) {
        add("host", "must be a name such as smtp.example.com".into());
    }
    if new.port == 0 {
        add("port", "must be a number from 1 to 65535, usually 465 or 587".into());
    }
    if !plain(&new.username) {
        add("username", format!("must be at most {IMAP_WORD_CHARS} characters in one line"));
    }
    if !plain(&new.password) {
        add("password", format!("must be at most {IMAP_WORD_CHARS} characters in one line"));
    }
    if new.security == SubmissionSecurity::Plain && !new.username.is_empty() {
        add("security", "must be TLS or STARTTLS where there is a password".into());
    }
    if problems.0.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}
