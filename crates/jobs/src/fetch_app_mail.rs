//! Fetches the text of app mail that got a reply, from the service that sent it.

use std::sync::Arc;

use base::concurrency::backoff::retry_after;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::ServiceId;
use base::limits::{APP_MAIL_TEXT_CHARS, HEADER_CHARS};
use base::unless_resting;
use db::Tx;
use model::messages::originals::cut;
use outbound::services::Service;

use crate::outgoing::send_messages::RETRY_FOR_MS;
use crate::ports::app_mail_reader::{AppMailBody, AppMailReader, AppMailRequest};
use crate::runs::failures::{JobRevival, JobRule, notify_owners};
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime};

/// A mail of the live side, as the first part of a job's key.
const LIVE: &str = "live";

const CLAIM: ClaimRule = ClaimRule {
    due: concat!(
        "SELECT ws, livemode, header_key FROM app_mail WHERE body_due_at <= ?1 AND ",
        unless_resting!(),
        " ORDER BY body_due_at LIMIT ?2"
    ),
    lease: "UPDATE app_mail SET body_since = coalesce(body_since, body_due_at),
                body_due_at = ?1, body_attempts = body_attempts + 1
            WHERE ws = ?2 AND livemode = (CAST(?3 AS TEXT) = 'live') AND header_key = ?4",
    at_once: 10,
};

pub(super) const RULE: JobRule = JobRule {
    queue: Queue::AppMail,
    retry_at: Some(
        "UPDATE app_mail SET body_due_at = ?1
         WHERE ws = ?2 AND livemode = (CAST(?3 AS TEXT) = 'live') AND header_key = ?4",
    ),
    abandon: "UPDATE app_mail SET body_due_at = NULL
           WHERE ws = ?1 AND livemode = (CAST(?2 AS TEXT) = 'live') AND header_key = ?3",
    revival: JobRevival::Retry,
    report: notify_owners,
};

db::row! {
    struct AppMailJob from "m" {
        ws: i64,
        livemode: bool,
        header_key: String,
        attempts: i64 = "m.body_attempts",
        since: i64 = "coalesce(m.body_since, m.body_due_at)",
        service_mail: String,
        connection: ServiceId = "s.id",
        service: Service = "s.service",
        api_url: String = "s.api_url",
        api_key: String = "s.api_key",
    }
}

impl AppMailJob {
    fn request(&self) -> AppMailRequest {
        AppMailRequest {
            connection: self.connection.clone(),
            service: self.service,
            api_url: self.api_url.clone(),
            api_key: self.api_key.clone(),
            mail: self.service_mail.clone(),
        }
    }
}

#[derive(Clone)]
pub(super) struct FetchAppMail {
    pub runtime: JobRuntime,
    pub app_mail_reader: Arc<dyn AppMailReader>,
}

impl BackgroundJob for FetchAppMail {
    fn queue(&self) -> Queue {
        Queue::AppMail
    }

    fn earliest(&self) -> &'static str {
        concat!(
            "SELECT (SELECT body_due_at FROM app_mail WHERE body_due_at IS NOT NULL AND ",
            unless_resting!(),
            " ORDER BY body_due_at LIMIT 1)"
        )
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, bool, String)>(&CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (this, own) = (self.clone(), job.clone());
                let work = async move { this.fetch_claimed(own).await };
                self.runtime.start(&RULE, job, work, ());
            }
            Ok(claimed.into())
        })
    }
}

impl FetchAppMail {
    /// Mail whose service connection was removed is given up.
    async fn fetch_claimed(&self, job: DueJob) -> Result<()> {
        let asked = job.clone();
        let claimed = self.runtime.app.store.read(move |tx| load(tx, &asked)).await?;
        match claimed {
            Some(claimed) => {
                let body = self.app_mail_reader.read(&claimed.request()).await;
                self.record_body(claimed, body).await
            }
            None => self.runtime.app.store.write(move |tx| forget(tx, &job)).await,
        }
    }

    async fn record_body(&self, claimed: AppMailJob, body: AppMailBody) -> Result<()> {
        let now = self.runtime.app.clock.now();
        let record = move |tx: &mut Tx<'_>| {
            let key: [&dyn db::Arg; 3] = [&claimed.ws, &claimed.livemode, &claimed.header_key];
            let again = matches!(body, AppMailBody::Later(_)) && now - claimed.since < RETRY_FOR_MS;
            let next = again.then(|| now + retry_after(claimed.attempts));
            tx.exec(
                "UPDATE app_mail SET body_due_at = ?4
                 WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                &[key[0], key[1], key[2], &next],
            )?;
            let error = match &body {
                AppMailBody::Found { subject, text, html } => {
                    fill(tx, &key, subject, text.as_deref(), html.as_deref())?;
                    tx.wake(Queue::Pages);
                    None
                }
                AppMailBody::Later(error) | AppMailBody::Never(error) => Some(error.clone()),
            };
            tx.exec(
                "UPDATE services SET last_error = ?3 WHERE ws = ?1 AND id = ?2",
                &[&claimed.ws, &claimed.connection, &error],
            )?;
            Ok(())
        };
        self.runtime.app.store.write(record).await
    }
}

/// Fills in missing values and changes no others (API section 4.13.3).
fn fill(
    tx: &mut Tx<'_>,
    key: &[&dyn db::Arg; 3],
    subject: &str,
    text: Option<&str>,
    html: Option<&str>,
) -> Result<()> {
    let plain = |text: &str, most: usize| cut(text.replace('\0', ""), most);
    let html = html.map(|html| plain(html, APP_MAIL_TEXT_CHARS));
    let text = match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(plain(text, APP_MAIL_TEXT_CHARS)),
        None => html.as_deref().map(mail::text_of_html),
    };
    tx.exec(
        "UPDATE app_mail SET text = coalesce(text, ?4), html = coalesce(html, ?5),
            subject = CASE WHEN subject = '' THEN ?6 ELSE subject END
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
        &[key[0], key[1], key[2], &text, &html, &plain(subject, HEADER_CHARS)],
    )?;
    Ok(())
}

impl From<(i64, bool, String)> for DueJob {
    fn from((ws, livemode, key): (i64, bool, String)) -> DueJob {
        let side = if livemode { LIVE } else { "test" };
        DueJob { ws, key: vec![side.to_owned(), key] }
    }
}

fn load(tx: &mut Tx<'_>, job: &DueJob) -> Result<Option<AppMailJob>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM app_mail m JOIN services s ON s.ws = m.ws AND s.id = m.service
             WHERE m.ws = ?1 AND m.livemode = ?2 AND m.header_key = ?3",
            AppMailJob::COLUMNS
        ),
        &[&job.ws, &(job.key[0] == LIVE), &job.key[1]],
    )?)
}

fn forget(tx: &mut Tx<'_>, job: &DueJob) -> Result<()> {
    tx.exec(
        "UPDATE app_mail SET body_due_at = NULL
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
        &[&job.ws, &(job.key[0] == LIVE), &job.key[1]],
    )?;
    Ok(())
}
