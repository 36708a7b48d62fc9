//! The SMTP servers that mail leaves through, where an inbox or a workspace has its own. Mail of all
//! others takes the operator's relay.

use std::fmt;

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use base::limits::{MINUTE_MS, SENDING_FAILED_MS, duration};
use base::string_enum::string_enum;
use db::Tx;

use crate::installation::sealing;
use crate::mailboxes::mailbox_grants::{GrantKey, MailAuth};
use crate::people::notices::{Notice, notify_responsible};

/// The `mailbox` of the server that serves every inbox without its own.
pub const ALL_INBOXES: &str = "";
/// When mail last left is written down at most this often.
const SENT_NOTED_EVERY_MS: i64 = MINUTE_MS;

string_enum! {
    /// Encryption of a submission: TLS from the start, STARTTLS, or none.
    SubmissionSecurity { Tls = "tls", StartTls = "starttls", Plain = "none" }
}

string_enum! {
    /// What a server takes mail by: SMTP, or Microsoft Graph.
    SubmissionProtocol { Smtp = "smtp", Graph = "graph" }
}

/// A server that takes mail for delivery, ready to be used.
#[derive(Clone, PartialEq, Eq)]
pub struct SubmissionServer {
    pub ws: i64,
    /// The inbox whose server it is, or [`ALL_INBOXES`].
    pub mailbox: String,
    pub protocol: SubmissionProtocol,
    pub host: String,
    pub port: u16,
    pub security: SubmissionSecurity,
    pub login: Option<SubmissionLogin>,
}

/// What a server is signed in to with.
#[derive(Clone, PartialEq, Eq)]
pub enum SubmissionLogin {
    Password {
        username: String,
        password: String,
    },
    /// An access token of the inbox's grant.
    Grant {
        username: String,
        key: GrantKey,
    },
}

/// Passwords are in no log.
impl fmt::Debug for SubmissionLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubmissionLogin")
    }
}

impl SubmissionServer {
    /// One word for the server's row.
    pub fn key(&self) -> String {
        format!("{} {}", self.ws, self.mailbox)
    }
}

/// Passwords are in no log.
impl fmt::Debug for SubmissionServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {:?}", self.host, self.port, self.security)
    }
}

db::row! {
    pub struct OutgoingServerRow from "s" {
        pub mailbox: String,
        pub protocol: SubmissionProtocol,
        pub host: String,
        pub port: u16,
        pub security: SubmissionSecurity,
        pub username: String,
        pub auth: MailAuth,
        pub password: String,
        pub by_owner: bool,
    }
}

/// The server that an inbox sends through: its own, or the one of all inboxes. `None` for the
/// operator's relay.
pub fn server_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
) -> Result<Option<SubmissionServer>> {
    row_of(tx, cx.actor.ws, mailbox.as_str())?.map(|row| open(cx, row)).transpose()
}

/// What the server of an inbox takes mail by; `None` for the operator's relay.
pub fn protocol_of(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
) -> Result<Option<SubmissionProtocol>> {
    Ok(row_of(tx, ws, mailbox.as_str())?.map(|row| row.protocol))
}

fn row_of(tx: &mut Tx<'_>, ws: i64, mailbox: &str) -> Result<Option<OutgoingServerRow>> {
    match row(tx, ws, mailbox)? {
        Some(own) => Ok(Some(own)),
        None => row(tx, ws, ALL_INBOXES),
    }
}

/// The server in one row, with its password.
pub fn open(cx: &Cx<'_>, row: OutgoingServerRow) -> Result<SubmissionServer> {
    let ws = cx.actor.ws;
    let login = match (row.auth, row.username.is_empty()) {
        (MailAuth::OAuth, _) => Some(SubmissionLogin::Grant {
            username: row.username,
            key: GrantKey { ws, mailbox: row.mailbox.clone() },
        }),
        (MailAuth::Password, true) => None,
        (MailAuth::Password, false) => {
            let purpose = sealing::submission_purpose(ws, &row.mailbox);
            let password = sealing::unseal(cx.sealer, &purpose, row.password)?;
            Some(SubmissionLogin::Password { username: row.username, password })
        }
    };
    let OutgoingServerRow { mailbox, protocol, host, port, security, .. } = row;
    Ok(SubmissionServer { ws, mailbox, protocol, host, port, security, login })
}

pub fn row(tx: &mut Tx<'_>, ws: i64, mailbox: &str) -> Result<Option<OutgoingServerRow>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM outgoing_servers s WHERE s.ws = ?1 AND s.mailbox = ?2",
            OutgoingServerRow::COLUMNS
        ),
        &[&ws, &mailbox],
    )?)
}

/// True where any workspace has a server: a link may be mailed to somebody of it.
pub fn any(tx: &mut Tx<'_>) -> Result<bool> {
    let found: Option<(i64,)> = tx
        .opt("SELECT ws FROM outgoing_servers WHERE by_owner AND protocol = 'smtp' LIMIT 1", &[])?;
    Ok(found.is_some())
}

/// The server of the workspace that mail of the service itself leaves through, where the operator's
/// relay reaches nobody. It comes from the first inbox and may hold sign-in links, so only a server
/// that an owner set is used: whoever sets one can read what passes through it. Microsoft Graph keeps what
/// it sends, which everybody who uses a shared mailbox can read, so it is not used.
pub fn server_of_service(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<SubmissionServer>> {
    service_row(tx, cx.actor.ws)?.map(|row| open(cx, row)).transpose()
}

/// True where there is such a server.
pub fn carries_notices(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    Ok(service_row(tx, ws)?.is_some())
}

fn service_row(tx: &mut Tx<'_>, ws: i64) -> Result<Option<OutgoingServerRow>> {
    let first: Option<(String,)> = tx.opt(
        "SELECT id FROM mailboxes WHERE ws = ?1 AND circle = 'team' ORDER BY created_at, id LIMIT 1",
        &[&ws],
    )?;
    let Some((first,)) = first else { return Ok(None) };
    let found = row_of(tx, ws, &first)?;
    Ok(found.filter(|row| row.by_owner && row.protocol == SubmissionProtocol::Smtp))
}

/// True where an inbox's mail leaves through a server of its own or of the workspace.
pub fn carries(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<bool> {
    Ok(row(tx, ws, mailbox.as_str())?.is_some() || row(tx, ws, ALL_INBOXES)?.is_some())
}

/// An inbox with a server of its own, or all inboxes that have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLane {
    pub mailbox: String,
    /// Its server could not be used the last time.
    pub failing: bool,
}

impl OwnLane {
    /// True for the server of all inboxes that have none of their own.
    pub fn is_for_all(&self) -> bool {
        self.mailbox == ALL_INBOXES
    }
}

/// The servers of a workspace.
pub fn own_lanes(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<OwnLane>> {
    let rows: Vec<(String, bool)> = tx.all(
        "SELECT mailbox, failing_since IS NOT NULL FROM outgoing_servers
         WHERE ws = ?1 ORDER BY mailbox",
        &[&ws],
    )?;
    Ok(rows.into_iter().map(|(mailbox, failing)| OwnLane { mailbox, failing }).collect())
}

db::row! {
    struct ServerHealth from "s" {
        host: String,
        last_sent_at: Option<i64>,
        failing_since: Option<i64>,
        owners_told: bool,
        /// `None` for the server of all inboxes.
        address: Option<String> = "m.address",
        circle: Option<Circle> = "m.circle",
        /// The owners know from the fetching of the same inbox that somebody has to sign in again.
        told_of_sign_in: bool = "s.auth = 'oauth' AND coalesce(a.owners_told, FALSE)",
    }
}

/// Records that a server took a mail, or refused one recipient: it works.
pub fn note_working(tx: &mut Tx<'_>, cx: &Cx<'_>, server: &SubmissionServer) -> Result<()> {
    let Some(health) = health(tx, server)? else { return Ok(()) };
    let is_noted = health.last_sent_at.is_some_and(|at| at >= cx.now - SENT_NOTED_EVERY_MS);
    if health.failing_since.is_none() && is_noted {
        return Ok(());
    }
    tx.exec(
        "UPDATE outgoing_servers SET last_sent_at = ?3, failing_since = NULL, last_error = NULL,
            owners_told = FALSE
         WHERE ws = ?1 AND mailbox = ?2",
        &[&server.ws, &server.mailbox, &cx.now],
    )?;
    if !health.owners_told {
        return Ok(());
    }
    let text = format!(
        "{} takes mail again, and what waited leaves now.\n\nService: {}\n",
        health.host, cx.public_url
    );
    health.tell(tx, cx, &format!("Mail from {} leaves again", health.from()), &text)
}

/// Records why a server could not be used. After an hour of failures the owners get one notice.
pub fn note_failing(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    server: &SubmissionServer,
    sentence: &str,
) -> Result<()> {
    let Some(health) = health(tx, server)? else { return Ok(()) };
    let since = health.failing_since.unwrap_or(cx.now);
    let tell_now =
        !health.owners_told && !health.told_of_sign_in && cx.now - since >= SENDING_FAILED_MS;
    tx.exec(
        "UPDATE outgoing_servers SET failing_since = ?3, last_error = ?4, owners_told = ?5
         WHERE ws = ?1 AND mailbox = ?2",
        &[&server.ws, &server.mailbox, &since, &sentence, &(health.owners_told || tell_now)],
    )?;
    if !tell_now {
        return Ok(());
    }
    let page = match server.mailbox.as_str() {
        ALL_INBOXES => format!("{}/settings/outgoing", cx.public_url),
        mailbox => format!("{}/settings/inboxes/{mailbox}/outgoing", cx.public_url),
    };
    let text = format!(
        "For {time} now no mail from {from} could leave through {host}.\n\nThe reason: \
         {reason}.\n\nIt is tried again for two days; mail waits until then. To change the server: \
         {page}\n\nService: {service}\n",
        time = duration(SENDING_FAILED_MS),
        from = health.from(),
        host = health.host,
        reason = sentence.trim_start_matches("relay: ").trim_end_matches('.'),
        service = cx.public_url,
    );
    health.tell(tx, cx, &format!("Mail from {} cannot leave", health.from()), &text)
}

impl ServerHealth {
    fn from(&self) -> &str {
        self.address.as_deref().unwrap_or("your inboxes")
    }

    fn tell(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, subject: &str, text: &str) -> Result<()> {
        let circle = self.circle.clone().unwrap_or_else(Circle::team);
        notify_responsible(tx, cx, &circle, &Notice { subject, text })
    }
}

fn health(tx: &mut Tx<'_>, server: &SubmissionServer) -> Result<Option<ServerHealth>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM outgoing_servers s
             LEFT JOIN mailboxes m ON m.ws = s.ws AND m.id = s.mailbox
             LEFT JOIN imap_accounts a ON a.ws = s.ws AND a.mailbox = s.mailbox
             WHERE s.ws = ?1 AND s.mailbox = ?2",
            ServerHealth::COLUMNS
        ),
        &[&server.ws, &server.mailbox],
    )?)
}
