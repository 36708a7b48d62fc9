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
use db::{Json, StoreError, Tx};
use mail::{Address, AutoSubmission, CalendarEntry, ComposedMail};
use model::installation::{mail_secret, sealing};
use model::people::notifications::dispatch::{actor_of, seen_circle};
use reports::mailing::{ReportMail, ReportPeriod, report_mail};

use crate::outgoing::mail_branding::MailBranding;
use crate::outgoing::outgoing_mail::{self, ReturnMarkers, UnsignedMail};
use crate::outgoing::send_messages::RETRY_FOR_MS;
use crate::ports::relay::deliver;
use crate::runs::failures::{JobRule, send_no_notice, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::lease;
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime, LEASE_MS};
use crate::{Relay, RelayOutcome};

const ROWS: JobRows = job_rows!(outward "notices", "due_at", "id");

/// Reads of a notice: what has to be written before it leaves is written between two of them.
const READS: u32 = 5;

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

/// What a notice is when it is read.
enum DueNotice {
    Composed(Box<NoticeJob>),
    /// Nothing of it is left for its reader.
    Empty,
    /// Of what it is about, its reader may still see only these.
    Shortened(Vec<ConversationId>),
    /// Its workspace has no secret yet that signs the markers in its mail.
    WithoutSecret,
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
        let sending = self.compose_and_deliver(&job);
        match lease::hold_lease_during(sending, || self.renew_notice(&job)).await? {
            Some((claimed, outcome)) => self.record_notice(claimed, outcome).await,
            None => Ok(()),
        }
    }

    /// `None` for a notice of which nothing is left.
    async fn compose_and_deliver(&self, job: &DueJob) -> Result<Option<(NoticeJob, RelayOutcome)>> {
        let Some(claimed) = self.compose_notice(job).await? else { return Ok(None) };
        let outgoing = outgoing_mail::sign_whole(&claimed.unsigned).await?;
        let outcome = deliver(&*self.relay, &outgoing).await.pop();
        let unsaid = || RelayOutcome::Later("nothing was said of it".into());
        Ok(Some((claimed, outcome.unwrap_or_else(unsaid))))
    }

    /// The notice, as far as its reader may still see what it is about. One of which nothing is left is
    /// deleted; a digest of which something is left says how much, without names. A report is written now.
    async fn compose_notice(&self, job: &DueJob) -> Result<Option<NoticeJob>> {
        let store = &self.runtime.app.store;
        for _ in 0..READS {
            let (app, own) = (self.runtime.app.clone(), job.clone());
            let due = store.read(move |tx| read_notice(tx, &app, &own)).await?;
            let (app, own) = (self.runtime.app.clone(), job.clone());
            match due {
                DueNotice::Composed(claimed) => return Ok(Some(*claimed)),
                DueNotice::Empty => {
                    store.write(move |tx| delete_notice(tx, &own)).await?;
                    return Ok(None);
                }
                DueNotice::Shortened(seen) => {
                    store.write(move |tx| leave_out_names(tx, &app, &own, &seen)).await?;
                }
                DueNotice::WithoutSecret => {
                    store.write(move |tx| make_secret(tx, &app, &own)).await?;
                }
            }
        }
        Err(Error::Store(StoreError::Conflicts(READS)))
    }

    async fn renew_notice(&self, job: &DueJob) {
        let (ws, id) = (job.ws, job.key[0].clone());
        let lapses = self.runtime.app.clock.now() + LEASE_MS;
        let renewed = self.runtime.app.store.write(move |tx| {
            let sql = "UPDATE notices SET due_at = ?3 WHERE ws = ?1 AND id = ?2";
            tx.exec(sql, &[&ws, &id, &lapses])?;
            Ok::<_, Error>(())
        });
        if let Err(error) = renewed.await {
            tracing::error!(id = job.key[0], %error, "lease could not be renewed");
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
        report: Option<String>,
    }
}

fn read_notice(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<DueNotice> {
    let due: Due = tx.one(
        &format!("SELECT {} FROM notices WHERE ws = ?1 AND id = ?2", Due::COLUMNS),
        &[&job.ws, &job.key[0]],
    )?;
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = &app.cx(&actor);
    if mail_secret::load(tx, cx)?.is_none() {
        return Ok(DueNotice::WithoutSecret);
    }
    if let (Some(person), Some(about)) = (&due.person, &due.about) {
        let mut seen: Vec<ConversationId> = Vec::new();
        for conversation in about.iter() {
            if seen_circle(tx, cx, person, conversation)?.is_some() {
                seen.push(conversation.clone());
            }
        }
        if seen.is_empty() && !about.is_empty() {
            return Ok(DueNotice::Empty);
        }
        if seen.len() < about.len() {
            return Ok(DueNotice::Shortened(seen));
        }
    }
    let mut report = None;
    if let (Some(person), Some(period)) = (&due.person, &due.report) {
        report = write_report(tx, app, cx, person, period)?;
        if report.is_none() {
            return Ok(DueNotice::Empty);
        }
    }
    Ok(DueNotice::Composed(Box::new(NoticeJob {
        ws: due.ws,
        id: due.id.clone(),
        attempts: due.attempts,
        created_at: due.created_at,
        unsigned: compose(tx, cx, due, report)?,
    })))
}

/// The report of a period as a person may see it now; `None` for somebody who is not in the team.
fn write_report(
    tx: &mut Tx<'_>,
    app: &App,
    cx: &Cx<'_>,
    person: &UserId,
    period: &str,
) -> Result<Option<ReportMail>> {
    let Some(reader) = actor_of(tx, cx, person)? else { return Ok(None) };
    match ReportPeriod::parse(period) {
        Some(period) => Ok(Some(report_mail(tx, &app.cx(&reader), person, &period)?)),
        None => Ok(None),
    }
}

fn delete_notice(tx: &mut Tx<'_>, job: &DueJob) -> Result<()> {
    tx.exec(RULE.abandon, &job.args(&[]))?;
    Ok(())
}

fn make_secret(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<()> {
    let actor = system(tx, job.ws, Circle::team())?;
    mail_secret::mail_secret(tx, &app.cx(&actor))?;
    Ok(())
}

/// Replaces the text of a digest by how many conversations are left of it, for this attempt and the next.
fn leave_out_names(
    tx: &mut Tx<'_>,
    app: &App,
    job: &DueJob,
    seen: &[ConversationId],
) -> Result<()> {
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = &app.cx(&actor);
    let id = &job.key[0];
    let (subject, them) = match seen.len() {
        1 => ("1 conversation has news for you".to_owned(), "it"),
        many => (format!("{many} conversations have news for you"), "them"),
    };
    let text = format!(
        "Open Mailroom to see {them}: {url}/inbox\n\nWhat you are told of, and how: \
         {url}/settings/notifications\n",
        url = cx.public_url
    );
    let text = sealing::seal(cx, &sealing::notice_purpose(job.ws, id), &text);
    tx.exec(
        "UPDATE notices SET subject = ?3, text = ?4, about = ?5 WHERE ws = ?1 AND id = ?2",
        &[&job.ws, id, &subject, &text, &Json(seen)],
    )?;
    Ok(())
}

/// The notice as mail from the workspace's first inbox, or to a customer from their own.
fn compose(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    due: Due,
    report: Option<ReportMail>,
) -> Result<UnsignedMail> {
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
        let branding = MailBranding::load(tx, due.ws, address.message_id_domain())?;
        mail.html = Some(branding.html(&mail.text));
        mail.inline = branding.files();
        mail.from.name = due.from_name;
        mail.answers = due.answers.into_iter().collect();
        return UnsignedMail::new(tx, cx, mail, &markers, vec![due.email]);
    }
    if let Some(report) = report {
        (mail.text, mail.html) = (report.text, Some(report.html));
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
