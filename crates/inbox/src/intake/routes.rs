use db::{FromRow, Row, Tx};

use crate::app::App;
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::mailboxes::Mailbox;

/// An inbox that mail comes to, and whose it is.
#[derive(Clone, Debug)]
pub struct Inbox {
    pub ws: i64,
    pub workspace: WorkspaceId,
    pub mailbox: Mailbox,
}

impl Inbox {
    pub(super) fn is(&self, other: &Inbox) -> bool {
        self.ws == other.ws && self.mailbox.id == other.mailbox.id
    }
}

impl FromRow for Inbox {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Inbox { ws: row.take()?, workspace: row.take()?, mailbox: Mailbox::from_row(row)? })
    }
}

/// The inbox that an address leads to, with or without a plus tag. The sandbox's is not among
/// them: no mail from outside reaches it (API section 8.3).
pub fn find_inbox(tx: &mut Tx<'_>, address: &str) -> Result<Option<Inbox>> {
    let (base, _) = mail::plus_tag(address);
    Ok(tx.opt(
        "SELECT m.ws, w.id, m.id, m.address, m.name, m.circle
         FROM mailboxes m JOIN workspaces w ON w.ws = m.ws
         WHERE m.address = ?1 AND m.circle <> 'sandbox'",
        &[&base],
    )?)
}

pub(super) async fn find_all(app: &App, recipients: &[String]) -> Result<Vec<Option<Inbox>>> {
    let recipients = recipients.to_vec();
    let find = move |tx: &mut Tx<'_>| {
        recipients.iter().map(|address| find_inbox(tx, address)).collect::<Result<Vec<_>>>()
    };
    app.store.read(find).await
}
