//! Files the answers of simulated customers.

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::ids::{ConversationId, MailboxId, MessageId};
use bookings::booking::{self, BookingGuest, NewBooking};
use bookings::{BookingFilter, BookingStatus, availability, offers, types};
use db::Tx;
use inbound::guest_pages::secure_answer::{SecureAnswer, receive_answer};
use inbound::incoming_mail::IncomingMail;
use inbound::receive::receive;
use inbound::sandbox::{self, Answer};
use mail::Address;
use model::guests::secure;
use model::{conversations, mailboxes};

use crate::runs::failures::{JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Simulated replies filed in one round.
const AT_ONCE: i64 = 20;
/// Bookings of a conversation among which the one to cancel is looked for.
const BOOKINGS_SEEN: i64 = 20;

const ROWS: JobRows = job_rows!("sandbox_replies", "due_at", "message", "email");

pub(crate) const RULE: JobRule = ROWS.deleting(Queue::SandboxReplies, notify_owners);

db::row! {
    /// The reply of a simulated customer.
    struct Due from "m" {
        mailbox: MailboxId,
        conversation: ConversationId,
        header_id: String,
        subject: String,
        secure: bool,
        contact_name: Option<String> = "c.contact_name",
        contact_email: EmailAddress = "c.contact_email",
    }
}

pub(crate) struct SandboxReplies {
    pub runtime: JobRuntime,
}

impl BackgroundJob for SandboxReplies {
    fn queue(&self) -> Queue {
        Queue::SandboxReplies
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            // The one attachment there is, stored before the transaction that names it.
            let invoice = self.runtime.app.blobs.put(&sandbox::invoice())?;
            let due = self.runtime.due_rows::<(i64, String, String)>(ROWS.due, AT_ONCE).await?;
            let reply =
                move |tx: &mut Tx<'_>, app: &App, job: &DueJob| file_reply(tx, app, job, &invoice);
            Ok(self.runtime.run_each(&RULE, due, reply).await.into())
        })
    }
}

fn file_reply(tx: &mut Tx<'_>, app: &App, job: &DueJob, invoice: &Blob) -> Result<bool> {
    let (now, message, email) = (app.clock.now(), &job.key[0], &job.key[1]);
    let taken: Option<(Answer,)> = tx.opt(
        "DELETE FROM sandbox_replies
         WHERE ws = ?1 AND message = ?2 AND email = ?3 AND due_at <= ?4
         RETURNING kind",
        &[&job.ws, message, email, &now],
    )?;
    let Some((answer,)) = taken else { return Ok(false) };
    let due: Due = tx.one(
        &format!(
            "SELECT {} FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
             WHERE m.ws = ?1 AND m.id = ?2",
            Due::COLUMNS
        ),
        &[&job.ws, message],
    )?;
    let actor = system(tx, job.ws, Circle::sandbox())?;
    let cx = Cx { now, ..app.cx(&actor) };
    if due.secure && matches!(answer, Answer::Reply | Answer::Opens) {
        tx.wake(Queue::Pages);
        return answer_on_page(tx, &cx, message, email, answer);
    }
    if matches!(answer, Answer::Book | Answer::BookCancel | Answer::CancelBooking) {
        tx.wake(Queue::Pages);
        let message = MessageId::parse(message).ok_or(Error::NotFound("message"))?;
        return pick_time(tx, &cx, &message, email, answer);
    }
    let Some(mailbox) = mailboxes::seen_by(tx, &actor, &due.mailbox)? else { return Ok(true) };
    let is_contact = due.contact_email == email.as_str();
    let from =
        Address { name: due.contact_name.clone().filter(|_| is_contact), email: email.clone() };
    let mail = sandbox::answer_mail(answer, &due.header_id, from, &mailbox.address, &due.subject);
    let attachments = mail.attachments.iter().map(|_| invoice.clone()).collect();
    let joins = Some(due.conversation.clone());
    receive(
        tx,
        &cx,
        &mailbox,
        &IncomingMail {
            mail,
            raw: None,
            authentication: None,
            attachments,
            joins,
            content_hash: None,
        },
    )?;
    tx.wake(Queue::Pages);
    Ok(true)
}

/// A simulated reader opens the page of a secure message, and `reply@…` answers there.
fn answer_on_page(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &str,
    email: &str,
    answer: Answer,
) -> Result<bool> {
    let message = MessageId::parse(message).ok_or(Error::NotFound("message"))?;
    let link = match secure::link_of(tx, cx, &message, email) {
        Err(Error::NotFound(_)) => return Ok(true),
        link => link?,
    };
    if link.state != secure::LinkState::Open {
        return Ok(true);
    }
    secure::mark_opened(tx, cx, &link)?;
    if answer == Answer::Reply {
        let answer = SecureAnswer { text: sandbox::REPLY.into(), files: Vec::new(), form: None };
        receive_answer(tx, cx, &link, &answer)?;
    }
    Ok(true)
}

/// A simulated guest books the first offered time, or the first free one; `book-cancel@…` calls it off
/// a little later.
fn pick_time(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
    answer: Answer,
) -> Result<bool> {
    let Some(offer) = offers::of_message(tx, cx.actor.ws, message)? else { return Ok(true) };
    if answer == Answer::CancelBooking {
        let filter = BookingFilter {
            conversation: Some(&offer.conversation),
            status: Some(BookingStatus::Booked),
            from: Some(cx.now),
            ..BookingFilter::default()
        };
        let booked = bookings::list(tx, cx.actor, &filter, BOOKINGS_SEEN)?;
        if let Some(booking) = booked.iter().find(|booking| booking.starts_at > cx.now) {
            booking::cancel(tx, cx, booking, "")?;
        }
        return Ok(true);
    }
    let kind = types::of_booking(tx, cx.actor.ws, &offer.type_id)?;
    let mut starts: Vec<i64> = offer.times.iter().copied().filter(|at| *at > cx.now).collect();
    starts.extend(
        availability::next_free(tx, cx, &kind, cx.now, 1, None)?.iter().map(|free| free.starts_at),
    );
    let conversation = conversations::load(tx, cx.actor, offer.conversation.as_str())?;
    for starts_at in starts {
        let guest =
            BookingGuest { name: offer.guest_name.as_deref().unwrap_or(email), email, zone: None };
        let new = NewBooking { starts_at, guest, answers: &[], conversation: Some(&conversation) };
        match booking::book(tx, cx, &kind, &new) {
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                if answer == Answer::BookCancel {
                    sandbox::plan_answer(tx, cx, message, email, Answer::CancelBooking)?;
                }
                return Ok(true);
            }
        }
    }
    Ok(true)
}
