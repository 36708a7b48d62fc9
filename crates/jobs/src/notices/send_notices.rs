//! Sends the mail of the service itself to people of a workspace: see `model::people::notices`.

use std::sync::Arc;

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::backoff::retry_after;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, UserId};
use db::{Json, Tx};
use mail::{Address, AutoSubmission, CalendarEntry, ComposedMail};
use model::installation::sealing;
use model::people::notifications::dispatch::seen_circle;

use crate::outgoing::outgoing_mail::{self, ReturnMarkers, UnsignedMail};
use crate::outgoing::send_messages::RETRY_FOR_MS;
use crate::runs::failures::{JobRule, send_no_notice, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::lease;
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime, LEASE_MS};
use crate::{Relay, RelayOutcome};

const ROWS: JobRows = job_rows!("notices", "due_at", "id");

const CLAIM: ClaimRule = ClaimRule {
    due: ROWS.due,
    lease: "UPDATE notices SET due_at = ?1, attempts = attempts + 1 WHERE ws = ?2 AND id = ?3",
    at_once: 20,
};

/// A failed notice is reported by the log and the metrics, not by another notice.
pub(crate) const RULE: JobRule = ROWS.deleting(Queue::Notices, send_no_notice);

struct NoticeJob {
    ws: i64,
    id: String,
    attempts: i64,
    created_at: i64,
    unsigned: UnsignedMail,
}

#[derive(Clone)]
pub(crate) struct SendNotices {
    pub runtime: JobRuntime,
    pub relay: Arc<dyn Relay>,
}

impl BackgroundJob for SendNotices {
    fn queue(&self) -> Queue {
        Queue::Notices
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, String)>(&CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (this, own) = (self.clone(), job.clone());
                let work = async move { this.send_notice(own).await };
                self.runtime.start(&RULE, job, work, ());
            }
            Ok(claimed.into())
        })
    }
}

impl SendNotices {
    async fn send_notice(&self, job: DueJob) -> Result<()> {
        let app = self.runtime.app.clone();
        let load = move |tx: &mut Tx<'_>| load(tx, &app, &job);
        let Some(claimed) = self.runtime.app.store.write(load).await? else { return Ok(()) };
        let outgoing = outgoing_mail::sign_whole(&claimed.unsigned).await?;
        let mut outcomes =
            lease::hold_lease_during(self.relay.send(&outgoing), || self.renew_notice(&claimed))
                .await;
        let unsaid = || RelayOutcome::Later("nothing was said of it".into());
        let outcome = outcomes.pop().unwrap_or_else(unsaid);
        self.record_notice(claimed, outcome).await
    }

    async fn renew_notice(&self, claimed: &NoticeJob) {
        let (ws, id) = (claimed.ws, claimed.id.clone());
        let lapses = self.runtime.app.clock.now() + LEASE_MS;
        let renewed = self.runtime.app.store.write(move |tx| {
            let sql = "UPDATE notices SET due_at = ?3 WHERE ws = ?1 AND id = ?2";
            tx.exec(sql, &[&ws, &id, &lapses])?;
            Ok::<_, Error>(())
        });
        if let Err(error) = renewed.await {
            tracing::error!(id = claimed.id, %error, "lease could not be renewed");
        }
    }

    async fn record_notice(&self, claimed: NoticeJob, outcome: RelayOutcome) -> Result<()> {
        let now = self.runtime.app.clock.now();
        let again = outcome.is_temporary() && now - claimed.created_at < RETRY_FOR_MS;
        if let (
            RelayOutcome::Never(reason)
            | RelayOutcome::Later(reason)
            | RelayOutcome::Unavailable(reason),
            false,
        ) = (&outcome, again)
        {
            tracing::warn!(id = claimed.id, %reason, "notice could not be sent");
        }
        let work = move |tx: &mut Tx<'_>| {
            match again {
                true => tx.exec(
                    "UPDATE notices SET due_at = ?3 WHERE ws = ?1 AND id = ?2",
                    &[&claimed.ws, &claimed.id, &(now + retry_after(claimed.attempts))],
                )?,
                false => tx.exec(ROWS.delete, &[&claimed.ws, &claimed.id])?,
            };
            Ok(())
        };
        self.runtime.app.store.write(work).await
    }
}

db::row! {
    struct Due from "notices" {
        ws: i64,
        id: String,
        email: String,
        subject: String,
        text: String,
        attempts: i64,
        created_at: i64,
        mailbox: Option<MailboxId>,
        from_name: Option<String>,
        answers: Option<String>,
        calendar: Option<String>,
        calendar_method: Option<String>,
        conversation: Option<ConversationId>,
        person: Option<UserId>,
        about: Option<Json<Vec<ConversationId>>>,
    }
}

/// The notice, as far as its reader may still see what it is about. One of which nothing is left is
/// deleted; a digest of which something is left says how much, without names.
fn load(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<Option<NoticeJob>> {
    let mut due: Due = tx.one(
        &format!("SELECT {} FROM notices WHERE ws = ?1 AND id = ?2", Due::COLUMNS),
        &[&job.ws, &job.key[0]],
    )?;
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = &app.cx(&actor);
    if let (Some(person), Some(about)) = (&due.person, &due.about) {
        let mut seen: Vec<ConversationId> = Vec::new();
        for conversation in about.iter() {
            if seen_circle(tx, cx, person, conversation)?.is_some() {
                seen.push(conversation.clone());
            }
        }
        if seen.is_empty() && !about.is_empty() {
            tx.exec(RULE.abandon, &job.args(&[]))?;
            return Ok(None);
        }
        if seen.len() < about.len() {
            leave_out_names(tx, cx, &mut due, &seen)?;
        }
    }
    Ok(Some(NoticeJob {
        ws: due.ws,
        id: due.id.clone(),
        attempts: due.attempts,
        created_at: due.created_at,
        unsigned: compose(tx, cx, due)?,
    }))
}

/// Replaces the text of a digest by how many conversations are left of it, for this attempt and the next.
fn leave_out_names(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    due: &mut Due,
    seen: &[ConversationId],
) -> Result<()> {
    let (subject, them) = match seen.len() {
        1 => ("1 conversation has news for you".to_owned(), "it"),
        many => (format!("{many} conversations have news for you"), "them"),
    };
    let text = format!(
        "Open Mailroom to see {them}: {url}/inbox\n\nWhat you are told of, and how: \
         {url}/settings/notifications\n",
        url = cx.public_url
    );
    due.subject = subject;
    due.text = sealing::seal(cx, &sealing::notice_purpose(due.ws, &due.id), &text);
    tx.exec(
        "UPDATE notices SET subject = ?3, text = ?4, about = ?5 WHERE ws = ?1 AND id = ?2",
        &[&due.ws, &due.id, &due.subject, &due.text, &Json(seen)],
    )?;
    Ok(())
}

/// The notice as mail from the workspace's first inbox, or to a customer from their own.
fn compose(tx: &mut Tx<'_>, cx: &Cx<'_>, due: Due) -> Result<UnsignedMail> {
    let (address,): (EmailAddress,) = match &due.mailbox {
        Some(mailbox) => {
            tx.one("SELECT address FROM mailboxes WHERE ws = ?1 AND id = ?2", &[&due.ws, mailbox])?
        }
        None => tx.one(
            "SELECT address FROM mailboxes WHERE ws = ?1 AND circle IN ('team', id)
             ORDER BY CASE WHEN circle = 'team' THEN 0 ELSE 1 END, created_at, id LIMIT 1",
            &[&due.ws],
        )?,
    };
    let purpose = sealing::notice_purpose(due.ws, &due.id);
    let text = sealing::unseal(cx.sealer, &purpose, due.text)?;
    let mut mail = service_mail(&due.id, &address, &due.email, &due.subject, text, due.created_at);
    if let (Some(text), Some(method)) = (due.calendar, due.calendar_method) {
        let text = sealing::unseal(cx.sealer, &purpose, text)?;
        mail.calendar = Some(CalendarEntry { method, text });
    }
    let message = format!("msg_{}", due.id);
    let markers = ReturnMarkers { message: &message, conversation: due.conversation.as_ref() };
    if due.mailbox.is_some() {
        mail.from.name = due.from_name;
        mail.answers = due.answers.into_iter().collect();
        return UnsignedMail::new(tx, cx, mail, &markers, vec![due.email]);
    }
    UnsignedMail::new(tx, cx, mail, &markers, vec![due.email])?.of_service(tx, cx)
}

/// Mail of the service itself.
pub(crate) fn service_mail(
    id: &str,
    from: &EmailAddress,
    to: &str,
    subject: &str,
    text: String,
    at: i64,
) -> ComposedMail {
    ComposedMail {
        message_id: format!("notice.{id}@{}", from.message_id_domain()),
        answers: Vec::new(),
        from: Address::new(Some("Mailroom"), from),
        reply_to: None,
        to: vec![Address::new(None, to)],
        cc: Vec::new(),
        subject: subject.to_owned(),
        text,
        html: None,
        inline: Vec::new(),
        attachments: Vec::new(),
        calendar: None,
        at,
        submission: AutoSubmission::Generated,
        loop_mark: None,
        unsubscribe: None,
    }
}
