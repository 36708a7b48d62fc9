use db::{FromRow, Row, Tx};
use mail::Address;

use super::Worker;
use crate::actor::{Actor, Circle};
use crate::app::{App, Cx, PAGES};
use crate::blobs::Blob;
use crate::error::Result;
use crate::ids::{ConversationId, MailboxId, MessageId, WorkspaceId};
use crate::mailboxes;
use crate::receive::{Incoming, receive};
use crate::sandbox::{self, Answer};

/// Simulated answers given in one round.
const AT_ONCE: i64 = 20;

/// A simulated customer whose answer is due.
struct Due {
    ws: i64,
    workspace: WorkspaceId,
    message: MessageId,
    email: String,
    answer: Answer,
    mailbox: MailboxId,
    conversation: ConversationId,
    header_id: String,
    subject: String,
    contact_name: Option<String>,
    contact_email: String,
}

impl FromRow for Due {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(Due {
            ws: row.take()?,
            workspace: row.take()?,
            message: row.take()?,
            email: row.take()?,
            answer: row.take()?,
            mailbox: row.take()?,
            conversation: row.take()?,
            header_id: row.take()?,
            subject: row.take()?,
            contact_name: row.take()?,
            contact_email: row.take()?,
        })
    }
}

impl Worker {
    /// Files the simulated answers whose time has come; answers how many.
    pub(super) async fn give_sandbox_answers(&self) -> Result<usize> {
        let app = self.app.clone();
        // The one attachment there is, taken in before the transaction that names it.
        let invoice = app.blobs.put(&sandbox::invoice())?;
        let work = move |tx: &mut Tx<'_>| {
            let due = due_answers(tx, app.clock.now())?;
            if !due.is_empty() {
                tx.wake(PAGES);
            }
            for due in &due {
                give(tx, &app, due, &invoice)?;
            }
            Ok(due.len())
        };
        self.app.store.write(work).await
    }
}

fn due_answers(tx: &mut Tx<'_>, now: i64) -> Result<Vec<Due>> {
    let lock = tx.pick("", " FOR UPDATE OF a SKIP LOCKED");
    Ok(tx.all(
        &format!(
            "SELECT a.ws, w.id, a.message, a.email, a.kind, m.mailbox, m.conversation, m.header_id,
                    m.subject, c.contact_name, c.contact_email
             FROM sandbox_answers a
             JOIN messages m ON m.ws = a.ws AND m.id = a.message
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             JOIN workspaces w ON w.ws = a.ws
             WHERE a.due_at <= ?1 ORDER BY a.due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?)
}

fn give(tx: &mut Tx<'_>, app: &App, due: &Due, invoice: &Blob) -> Result<()> {
    let actor = Actor::system(due.ws, due.workspace.clone(), Circle::sandbox());
    let cx: Cx<'_> = app.cx(&actor);
    tx.exec(
        "DELETE FROM sandbox_answers WHERE ws = ?1 AND message = ?2 AND email = ?3",
        &[&due.ws, &due.message, &due.email],
    )?;
    let Some(mailbox) = mailboxes::seen_by(tx, &actor, &due.mailbox)? else { return Ok(()) };
    let is_contact = due.email == due.contact_email;
    let from =
        Address { name: due.contact_name.clone().filter(|_| is_contact), email: due.email.clone() };
    let mail =
        sandbox::answer_mail(due.answer, &due.header_id, from, &mailbox.address, &due.subject);
    let attachments = mail.attachments.iter().map(|_| invoice.clone()).collect();
    let joins = Some(due.conversation.clone());
    receive(tx, &cx, &mailbox, &Incoming { mail, raw: None, attachments, joins })?;
    Ok(())
}
