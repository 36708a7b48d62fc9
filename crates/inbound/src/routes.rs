//! Finds the inbox that a recipient's address belongs to.

use base::actor::{Actor, Circle};
use base::app::App;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{MailboxId, WorkspaceId};
use db::Tx;
use model::mailboxes::Mailbox;

/// The local part of the postmaster address, matched case-insensitively.
const POSTMASTER: &str = "postmaster";

/// The inbox of a recipient, with its workspace.
#[derive(Clone, Debug)]
pub struct RecipientInbox {
    pub ws: i64,
    pub workspace: WorkspaceId,
    pub mailbox: Mailbox,
}

impl RecipientInbox {
    pub(super) fn is(&self, other: &RecipientInbox) -> bool {
        self.ws == other.ws && self.mailbox.id == other.mailbox.id
    }
}

db::row! {
    struct InboxRow from "m" {
        ws: i64,
        workspace: WorkspaceId = "w.id",
        id: MailboxId,
        address: EmailAddress,
        name: String,
        circle: Circle,
    }
}

impl From<InboxRow> for RecipientInbox {
    fn from(row: InboxRow) -> RecipientInbox {
        let InboxRow { ws, workspace, id, address, name, circle } = row;
        RecipientInbox { ws, workspace, mailbox: Mailbox { id, address, name, circle } }
    }
}

/// The inbox that an address leads to, with or without a plus tag. The sandbox's is not among
/// them: no mail from outside reaches it (API section 8.3).
pub fn find_inbox(tx: &mut Tx<'_>, address: &str) -> Result<Option<RecipientInbox>> {
    let found: Option<InboxRow> = tx.opt(
        &format!(
            "SELECT {} FROM mailboxes m JOIN workspaces w ON w.ws = m.ws
             WHERE m.address = ?1 AND m.circle <> 'sandbox'",
            InboxRow::COLUMNS
        ),
        &[&EmailAddress::new(address).without_tag()],
    )?;
    Ok(found.map(RecipientInbox::from))
}

/// Resolves a recipient's inbox. Mail to the postmaster of this server or of a hosted domain must
/// be accepted (RFC 5321, section 4.5.1): without an inbox of that name it goes to the domain's
/// oldest team inbox, or to that of the server's first workspace, never to a private one.
pub fn find_recipient(tx: &mut Tx<'_>, recipient: &str) -> Result<Option<RecipientInbox>> {
    if let Some(inbox) = find_inbox(tx, recipient)? {
        return Ok(Some(inbox));
    }
    let base = EmailAddress::new(recipient).without_tag();
    let found: Option<InboxRow> = match base.strip_prefix(POSTMASTER) {
        Some("") => tx.opt(
            &format!(
                "SELECT {} FROM workspaces w JOIN mailboxes m ON m.ws = w.ws
                 WHERE w.ws = (SELECT min(ws) FROM workspaces WHERE deleted_at IS NULL)
                   AND m.circle = 'team'
                 ORDER BY m.created_at, m.id
                 LIMIT 1",
                InboxRow::COLUMNS
            ),
            &[],
        )?,
        Some(domain) if domain.starts_with('@') => {
            let place = tx.pick("instr", "strpos");
            tx.opt(
                &format!(
                    "SELECT {} FROM mailboxes m JOIN workspaces w ON w.ws = m.ws
                     WHERE substr(m.address, {place}(m.address, '@')) = ?1 AND m.circle = 'team'
                     ORDER BY m.created_at, m.id
                     LIMIT 1",
                    InboxRow::COLUMNS
                ),
                &[&domain],
            )?
        }
        _ => None,
    };
    Ok(found.map(RecipientInbox::from))
}

pub(super) async fn find_all(
    app: &App,
    recipients: &[String],
) -> Result<Vec<Option<RecipientInbox>>> {
    let recipients = recipients.to_vec();
    let find = move |tx: &mut Tx<'_>| {
        recipients.iter().map(|address| find_recipient(tx, address)).collect::<Result<Vec<_>>>()
    };
    app.store.read(find).await
}

/// The inbox as it is now, and Mailroom at work for those who see it; `None` when it was deleted. It is
/// not opened, closed or deleted before the transaction ends.
pub(super) fn as_it_is(
    tx: &mut Tx<'_>,
    actor: &Actor,
    mailbox: &Mailbox,
) -> Result<Option<(Mailbox, Actor)>> {
    let lock = tx.pick("", " FOR SHARE");
    let found: Option<(Circle,)> = tx.opt(
        &format!("SELECT circle FROM mailboxes WHERE ws = ?1 AND id = ?2{lock}"),
        &[&actor.ws, &mailbox.id],
    )?;
    let Some((circle,)) = found.filter(|(circle,)| !circle.is_deleted()) else { return Ok(None) };
    let actor = Actor::system(actor.ws, actor.workspace.clone(), circle.clone());
    Ok(Some((Mailbox { circle, ..mailbox.clone() }, actor)))
}
