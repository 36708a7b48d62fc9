//! The row of a fetched mailbox: the server to fetch from, and the cursor.

use std::fmt;
use std::ops::Deref;

use base::actor::{Actor, Circle};
use base::email_address::EmailAddress;
use base::ids::{MailboxId, WorkspaceId};
use base::string_enum::string_enum;
use db::{Column, FromColumn};
use model::mailboxes::Mailbox;
use model::mailboxes::mailbox_grants::{GrantKey, MailAuth};

use crate::RecipientInbox;

/// A folder on an IMAP server, without the password that opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImapServer {
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub username: String,
    pub folder: String,
    /// The operator named it, so it may be in a private network.
    pub by_operator: bool,
}

/// An inbox with the account that its mail is fetched from.
#[derive(Clone)]
pub struct ImapAccount {
    pub inbox: RecipientInbox,
    pub protocol: FetchProtocol,
    pub server: ImapServer,
    pub auth: MailAuth,
    /// Sealed: only the server can open it. Empty where a grant is used.
    pub password: String,
    pub after: PostFetchAction,
    /// The authserv-id under which the mailbox's server writes Authentication-Results.
    pub trusts: Option<String>,
    /// Mail that was there before this moment is left alone.
    pub new_since: Option<i64>,
    pub created_at: i64,
    /// `None` before the first round.
    pub cursor: Option<FolderCursor>,
    /// The UID of a mail whose download failed, and the number of attempts.
    pub stuck: (i64, i64),
    /// Identifies the lease.
    pub holder: String,
}

/// How far a folder has been fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderCursor {
    /// Numbers mean the same mails only while this stays the same (RFC 9051, UIDVALIDITY).
    pub validity: i64,
    pub last_uid: i64,
    /// Mails up to this UID may have been fetched under an older UIDVALIDITY.
    pub seen_to: i64,
}

string_enum! {
    /// What mail is fetched by. With Microsoft Graph, `username` is the mailbox, and `folder`, the cursor
    /// and what follows a fetch mean nothing: how far each folder was read is in `graph_folders`.
    FetchProtocol { Imap = "imap", Graph = "graph" }
}

string_enum! {
    /// Encryption of the connection: TLS from the start, or STARTTLS.
    Security { Tls = "tls", StartTls = "starttls" }
}

/// What happens to a filed mail in the mailbox that it was fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostFetchAction {
    Nothing,
    Seen,
    Move(String),
}

impl PostFetchAction {
    /// `nothing`, `seen` or `move:FOLDER`.
    pub fn parse(text: &str) -> Option<PostFetchAction> {
        match text.split_once(':') {
            None if text == "nothing" => Some(PostFetchAction::Nothing),
            None if text == "seen" => Some(PostFetchAction::Seen),
            Some(("move", folder)) if !folder.trim().is_empty() => {
                Some(PostFetchAction::Move(folder.trim().to_owned()))
            }
            _ => None,
        }
    }
}

impl fmt::Display for PostFetchAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PostFetchAction::Nothing => f.write_str("nothing"),
            PostFetchAction::Seen => f.write_str("seen"),
            PostFetchAction::Move(folder) => write!(f, "move:{folder}"),
        }
    }
}

impl FromColumn for PostFetchAction {
    const WANTED: &'static str = "what is done with a fetched mail";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => PostFetchAction::parse(text),
            _ => None,
        }
    }
}

impl Deref for ImapAccount {
    type Target = ImapServer;

    fn deref(&self) -> &ImapServer {
        &self.server
    }
}

impl ImapAccount {
    /// The system actor, limited to this inbox's circle.
    pub fn actor(&self) -> Actor {
        let RecipientInbox { ws, workspace, mailbox } = &self.inbox;
        Actor::system(*ws, workspace.clone(), mailbox.circle.clone())
    }

    /// The grant that it is signed in with, where it is no password.
    pub fn grant(&self) -> Option<GrantKey> {
        match self.auth {
            MailAuth::Password => None,
            MailAuth::OAuth => {
                let mailbox = self.inbox.mailbox.id.to_string();
                Some(GrantKey { ws: self.inbox.ws, mailbox })
            }
        }
    }

    /// True for a mail that may have been fetched under an older UIDVALIDITY.
    pub fn may_be_known(&self, uid: i64) -> bool {
        self.cursor.is_some_and(|cursor| uid <= cursor.seen_to)
    }
}

/// A secret is never printed, not even sealed.
impl fmt::Debug for ImapAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Account({} at {}:{})", self.inbox.mailbox.id, self.host, self.port)
    }
}

/// The tables of an [`AccountRow`].
pub(super) const FROM: &str = "imap_accounts a
    JOIN mailboxes m ON m.ws = a.ws AND m.id = a.mailbox
    JOIN workspaces w ON w.ws = a.ws";

db::row! {
    pub(super) struct AccountRow from "a" {
        ws: i64,
        workspace: WorkspaceId = "w.id",
        mailbox: MailboxId,
        address: EmailAddress = "m.address",
        name: String = "m.name",
        circle: Circle = "m.circle",
        protocol: FetchProtocol,
        host: String,
        port: u16,
        security: Security,
        username: String,
        auth: MailAuth,
        password: String,
        folder: String,
        afterwards: PostFetchAction,
        trusts: Option<String>,
        new_since: Option<i64>,
        created_at: i64,
        by_operator: bool,
        uid_validity: Option<i64>,
        last_uid: i64,
        seen_to: i64,
        stuck_uid: i64,
        stuck_attempts: i64,
        holder: String,
    }
}

impl From<AccountRow> for ImapAccount {
    fn from(row: AccountRow) -> ImapAccount {
        let (id, address, name, circle) = (row.mailbox, row.address, row.name, row.circle);
        let mailbox = Mailbox { id, address, name, circle };
        let (last_uid, seen_to) = (row.last_uid, row.seen_to);
        ImapAccount {
            inbox: RecipientInbox { ws: row.ws, workspace: row.workspace, mailbox },
            protocol: row.protocol,
            server: ImapServer {
                host: row.host,
                port: row.port,
                security: row.security,
                username: row.username,
                folder: row.folder,
                by_operator: row.by_operator,
            },
            auth: row.auth,
            password: row.password,
            after: row.afterwards,
            trusts: row.trusts,
            new_since: row.new_since,
            created_at: row.created_at,
            cursor: row.uid_validity.map(|validity| FolderCursor { validity, last_uid, seen_to }),
            stuck: (row.stuck_uid, row.stuck_attempts),
            holder: row.holder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_fetch_is_one_of_three_things() {
        for (text, after) in [
            ("nothing", PostFetchAction::Nothing),
            ("seen", PostFetchAction::Seen),
            ("move:In Mailroom", PostFetchAction::Move("In Mailroom".into())),
            ("move:a:b", PostFetchAction::Move("a:b".into())),
        ] {
            assert_eq!(PostFetchAction::parse(text), Some(after.clone()));
            assert_eq!(after.to_string(), text);
        }
        for bad in ["", "delete", "move", "move:", "move: ", "Seen"] {
            assert_eq!(PostFetchAction::parse(bad), None, "{bad}");
        }
    }
}
