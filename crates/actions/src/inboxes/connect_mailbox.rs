//! Connecting a mailbox elsewhere to an inbox: its mail is fetched, and replies leave through it.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{MailboxId, UserId};
use base::limits::IMAP_WORD_CHARS;
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use inbound::imap::FetchProtocol;
use model::installation::audit_log::{self, Action};
use model::installation::sealing::{self, imap_purpose};
use model::mailboxes;
use model::mailboxes::mailbox_grants::{self, GrantKey, MailAuth, NewGrant};
use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionProtocol, SubmissionServer};

use crate::inboxes::imap_accounts::{FetchFrom, fetch_mail_from, stop_fetching};
use crate::inboxes::outgoing_servers::{
    NewOutgoingServer, ServerScope, check as check_server, retry_waiting, write_server,
};
use crate::inboxes::setup::add_mailbox;

/// A mailbox that was tried out and is to be connected.
#[derive(Clone)]
pub struct NewConnection {
    pub address: String,
    /// The name of the inbox, where there is none yet.
    pub name: String,
    pub private_to: Option<UserId>,
    /// Its password is not sealed yet.
    pub fetch: FetchFrom,
    /// What the provider granted, where somebody signed in there instead of giving a password.
    pub grant: Option<NewGrant>,
    /// `None` where the mailbox is only read.
    pub send: Option<NewOutgoingServer>,
}

/// Connects a mailbox to the inbox of its address, which is made if there is none.
pub fn connect_mailbox(tx: &mut Tx<'_>, cx: &Cx<'_>, new: &NewConnection) -> Result<MailboxId> {
    cx.actor.must_administer()?;
    refuse_in_sample(tx, cx.actor.ws)?;
    let address = mail::normal_address(&new.address);
    let password = &new.fetch.sealed_password;
    let fits = (1..=IMAP_WORD_CHARS).contains(&password.chars().count());
    if new.grant.is_none() && !fits {
        let sentence = format!("must be 1 to {IMAP_WORD_CHARS} characters");
        return Err(Error::invalid("password", sentence));
    }
    let known = mailboxes::find(tx, cx.actor, &address)?;
    let id = match &known {
        Some(inbox) => inbox.id.clone(),
        None => add_mailbox(tx, cx, &address, &new.name, new.private_to.as_ref())?,
    };
    let fetch = match &new.grant {
        None => FetchFrom {
            sealed_password: sealing::seal(cx, &imap_purpose(&address), password),
            auth: MailAuth::Password,
            by_operator: false,
            ..new.fetch.clone()
        },
        // The operator's settings name the servers of a provider.
        Some(grant) => {
            mailbox_grants::set(tx, cx, &id, grant)?;
            let sealed_password = String::new();
            FetchFrom {
                sealed_password,
                auth: MailAuth::OAuth,
                by_operator: true,
                ..new.fetch.clone()
            }
        }
    };
    let protocol = submission_protocol(fetch.protocol);
    if new.grant.is_some() {
        forget_other_protocol(tx, cx, &id, protocol)?;
    }
    fetch_mail_from(tx, cx, &address, &fetch)?;
    let circle = match &known {
        Some(inbox) => inbox.circle.clone(),
        None => new.private_to.as_ref().map_or_else(Circle::team, Circle::of),
    };
    if let Some(send) = &new.send {
        check_server(send)?;
        let server = SubmissionServer {
            ws: cx.actor.ws,
            mailbox: id.to_string(),
            protocol,
            host: send.host.clone(),
            port: send.port,
            security: send.security,
            login: Some(match &new.grant {
                None => SubmissionLogin::Password {
                    username: send.username.clone(),
                    password: send.password.clone(),
                },
                Some(_) => SubmissionLogin::Grant {
                    username: send.username.clone(),
                    key: GrantKey { ws: cx.actor.ws, mailbox: id.to_string() },
                },
            }),
        };
        write_server(tx, cx, &server, (&circle, &address))?;
        retry_waiting(tx, cx, &ServerScope::Inbox(id.clone()))?;
    }
    let detail = match &new.grant {
        None => format!("read from {}", fetch.host),
        Some(grant) => format!("read from {}, signed in at {}", fetch.host, grant.provider.name()),
    };
    audit_log::record(tx, cx, &circle, Action::MailboxConnected, &address, &detail)?;
    Ok(id)
}

/// What mail leaves by, where it is fetched by this.
fn submission_protocol(fetched: FetchProtocol) -> SubmissionProtocol {
    match fetched {
        FetchProtocol::Imap => SubmissionProtocol::Smtp,
        FetchProtocol::Graph => SubmissionProtocol::Graph,
    }
}

/// Removes the server of an inbox that a grant for another protocol was used at: the new one does not
/// open it.
fn forget_other_protocol(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
    protocol: SubmissionProtocol,
) -> Result<()> {
    tx.exec(
        "DELETE FROM outgoing_servers
         WHERE ws = ?1 AND mailbox = ?2 AND auth = 'oauth' AND protocol <> ?3",
        &[&cx.actor.ws, mailbox, &protocol],
    )?;
    Ok(())
}

/// Fetches no more mail into an inbox; what was fetched stays.
pub fn disconnect_mailbox(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<()> {
    cx.actor.must_administer()?;
    let inbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    stop_fetching(tx, cx, &inbox.address)?;
    let (circle, address) = (&inbox.circle, &inbox.address);
    audit_log::record(tx, cx, circle, Action::MailboxDisconnected, address, "")
}
