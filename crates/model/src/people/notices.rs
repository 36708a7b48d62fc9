//! Mail of the service itself to people of a workspace: a subject and a text, queued in the
//! transaction of the change that it reports, and sent by `jobs/send_notices.rs` from the
//! workspace's first inbox.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, UserId};
use db::{Json, Tx};

use crate::installation::sealing;
use crate::mailboxes;

const ID_CHARS: usize = 24;

/// The content of a notice.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    pub subject: &'a str,
    /// Plain text; addresses that start `https://` can be followed.
    pub text: &'a str,
}

/// Mail of the service to a customer, in the name of the firm, from one of its inboxes.
#[derive(Clone, Copy, Debug)]
pub struct CustomerNotice<'a> {
    pub mailbox: &'a MailboxId,
    pub from_name: &'a str,
    pub email: &'a str,
    /// The Message-ID of the mail that it stands below in the customer's mailbox.
    pub answers: Option<&'a str>,
    /// The conversation that an answer to it joins.
    pub conversation: Option<&'a ConversationId>,
    pub calendar: Option<NoticeCalendar<'a>>,
    pub notice: Notice<'a>,
}

/// An entry for the recipient's calendar (RFC 5546).
#[derive(Clone, Copy, Debug)]
pub struct NoticeCalendar<'a> {
    pub method: &'a str,
    pub text: &'a str,
}

/// Queues mail to a customer. Nothing leaves the sandbox, or an inbox that is being deleted.
pub fn write_to_customer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    mail: &CustomerNotice<'_>,
) -> Result<()> {
    if circle.is_sandbox() || mailboxes::is_deleted(tx, cx.actor.ws, mail.mailbox)? {
        return Ok(());
    }
    let id = cx.ids.token(ID_CHARS);
    let purpose = sealing::notice_purpose(cx.actor.ws, &id);
    let text = sealing::seal(cx, &purpose, mail.notice.text);
    let calendar = mail.calendar.map(|entry| sealing::seal(cx, &purpose, entry.text));
    tx.exec(
        "INSERT INTO notices (
            ws, id, email, subject, text, due_at, attempts, created_at, mailbox, from_name, answers,
            calendar, calendar_method, conversation
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        &[
            &cx.actor.ws,
            &id,
            &mail.email,
            &mail.notice.subject,
            &text,
            &cx.now,
            mail.mailbox,
            &mail.from_name,
            &mail.answers,
            &calendar,
            &mail.calendar.map(|entry| entry.method),
            &mail.conversation,
        ],
    )?;
    tx.wake(Queue::Notices);
    Ok(())
}

/// Queues a notice to a person of the workspace. It is sent after the commit, retried for two days,
/// and marked as automatic, so that autoresponders ignore it. Nothing is sent to an address that is
/// an inbox here or that receives no mail.
pub fn notify(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, notice: &Notice<'_>) -> Result<()> {
    queue(tx, cx, person, notice, &NoticeMatter::Itself)?;
    Ok(())
}

/// The same for a notice about conversations: it leaves as it is while the person may see all of them,
/// without names while they see some, and not at all when they see none.
pub fn notify_about(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    notice: &Notice<'_>,
    about: &[&ConversationId],
) -> Result<()> {
    queue(tx, cx, person, notice, &NoticeMatter::Conversations(Json(about)))?;
    Ok(())
}

/// Queues the report of a period to a person. Its words are written when it leaves, with what the person may see
/// then; it does not leave once they are no longer in the team. False where nothing is sent to their address.
pub fn notify_of_report(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    subject: &str,
    period: &str,
) -> Result<bool> {
    queue(tx, cx, person, &Notice { subject, text: "" }, &NoticeMatter::Report(period))
}

/// True while a report is on its way to a person.
pub fn has_report_under_way(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT id FROM notices WHERE ws = ?1 AND person = ?2 AND report IS NOT NULL LIMIT 1",
        &[&ws, person],
    )?;
    Ok(found.is_some())
}

/// What of a notice is looked at again when it leaves.
enum NoticeMatter<'a> {
    /// Nothing: its words stand.
    Itself,
    Conversations(Json<&'a [&'a ConversationId]>),
    /// The report of a period.
    Report(&'a str),
}

/// False where nothing is sent to the person's address.
fn queue(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    notice: &Notice<'_>,
    matter: &NoticeMatter<'_>,
) -> Result<bool> {
    let found: Option<(String,)> =
        tx.opt("SELECT email FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, person])?;
    let (email,) = found.ok_or(Error::NotFound("person"))?;
    if is_unread(tx, &email)? {
        tracing::debug!(%person, "a notice is not sent to an address that nobody reads");
        return Ok(false);
    }
    let id = cx.ids.token(ID_CHARS);
    let text = sealing::seal(cx, &sealing::notice_purpose(cx.actor.ws, &id), notice.text);
    let (about, report) = match matter {
        NoticeMatter::Itself => (None, None),
        NoticeMatter::Conversations(about) => (Some(about), None),
        NoticeMatter::Report(period) => (None, Some(*period)),
    };
    let reader = (about.is_some() || report.is_some()).then_some(person);
    tx.exec(
        "INSERT INTO notices (
            ws, id, email, subject, text, due_at, attempts, created_at, person, about, report
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?6, ?7, ?8, ?9)",
        &[&cx.actor.ws, &id, &email, &notice.subject, &text, &cx.now, &reader, &about, &report],
    )?;
    tx.wake(Queue::Notices);
    Ok(true)
}

/// Queues a notice to those who look after something of this circle: the owners, or the person of a
/// private inbox.
pub fn notify_responsible(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    notice: &Notice<'_>,
) -> Result<()> {
    let people: Vec<(UserId,)> = match circle.person() {
        Some(person) => vec![(person,)],
        None => tx.all(
            "SELECT id FROM users WHERE ws = ?1 AND role = 'owner' ORDER BY created_at, id",
            &[&cx.actor.ws],
        )?,
    };
    for (person,) in people {
        notify(tx, cx, &person, notice)?;
    }
    Ok(())
}

/// True for an address that nobody reads, or that is an inbox here.
pub fn is_unread(tx: &mut Tx<'_>, email: &str) -> Result<bool> {
    Ok(mail::is_unattended(email) || is_inbox(tx, email)?)
}

/// True for the address of an inbox of any workspace here, with a plus tag or without.
pub fn is_inbox(tx: &mut Tx<'_>, email: &str) -> Result<bool> {
    let address = EmailAddress::new(email).without_tag();
    let found: Option<(String,)> =
        tx.opt("SELECT id FROM mailboxes WHERE address = ?1", &[&address])?;
    Ok(found.is_some())
}
