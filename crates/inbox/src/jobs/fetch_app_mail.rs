//! Reads the words of app mail that somebody answered, at the service that sent it.

use db::{FromRow, Row, Tx};

use super::app_mail_reader::{AppMailBody, WantedMail};
use super::failures::{DueJob, JobRule, tell_owners};
use super::send_messages::{RETRY_FOR_MS, retry_after};
use super::{LEASE_MS, Worker};
use crate::app::App;
use crate::base::error::Result;
use crate::base::limits::{APP_MAIL_TEXT_CHARS, HEADER_CHARS};
use crate::base::queue::Queue;
use crate::model::originals::cut;

/// Mails whose words are asked for in one round.
const AT_ONCE: i64 = 10;
/// A mail of the live side, as the first part of a job's key.
const LIVE: &str = "live";

const JOBS: JobRule = JobRule {
    queue: Queue::AppMail,
    put_off: Some(
        "UPDATE app_mail SET body_due_at = ?1
         WHERE ws = ?2 AND livemode = (CAST(?3 AS TEXT) = 'live') AND header_key = ?4",
    ),
    stop: "UPDATE app_mail SET body_due_at = NULL
           WHERE ws = ?1 AND livemode = (CAST(?2 AS TEXT) = 'live') AND header_key = ?3",
    tell: tell_owners,
};

struct Claimed {
    ws: i64,
    livemode: bool,
    header_key: String,
    attempts: i64,
    since: i64,
    wanted: WantedMail,
}

impl FromRow for Claimed {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::StoreError> {
        Ok(Claimed {
            ws: row.take()?,
            livemode: row.take()?,
            header_key: row.take()?,
            attempts: row.take()?,
            since: row.take()?,
            wanted: WantedMail {
                mail: row.take()?,
                connection: row.take()?,
                service: row.take()?,
                api_url: row.take()?,
                api_key: row.take()?,
            },
        })
    }
}

impl Worker {
    /// Asks for the words that are due; answers how many were taken on.
    pub(super) async fn fetch_app_mail(&self) -> Result<usize> {
        let app = self.app.clone();
        let jobs = self.app.store.write(move |tx| claim(tx, &app)).await?;
        let count = jobs.len();
        for job in jobs {
            let (worker, own) = (self.clone(), job.clone());
            let work = {
                let worker = self.clone();
                async move { worker.fetch_claimed(own).await }
            };
            self.tasks.spawn(async move { worker.run_claimed(&JOBS, job, work).await });
        }
        Ok(count)
    }

    /// What no connection is there for any more is given up.
    async fn fetch_claimed(&self, job: DueJob) -> Result<()> {
        let asked = job.clone();
        let claimed = self.app.store.read(move |tx| load(tx, &asked)).await?;
        match claimed {
            Some(claimed) => {
                let words = self.app_mail_reader.read(&claimed.wanted).await;
                self.record_body(claimed, words).await
            }
            None => self.app.store.write(move |tx| forget(tx, &job)).await,
        }
    }

    async fn record_body(&self, claimed: Claimed, words: AppMailBody) -> Result<()> {
        let now = self.app.clock.now();
        let record = move |tx: &mut Tx<'_>| {
            let key: [&dyn db::Arg; 3] = [&claimed.ws, &claimed.livemode, &claimed.header_key];
            let again =
                matches!(words, AppMailBody::Later(_)) && now - claimed.since < RETRY_FOR_MS;
            let next = again.then(|| now + retry_after(claimed.attempts));
            tx.exec(
                "UPDATE app_mail SET body_due_at = ?4
                 WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
                &[key[0], key[1], key[2], &next],
            )?;
            let error = match &words {
                AppMailBody::Found { subject, text, html } => {
                    fill(tx, &key, subject, text.as_deref(), html.as_deref())?;
                    tx.wake(Queue::Pages);
                    None
                }
                AppMailBody::Later(error) | AppMailBody::Never(error) => Some(error.clone()),
            };
            tx.exec(
                "UPDATE services SET last_error = ?3 WHERE ws = ?1 AND id = ?2",
                &[&claimed.ws, &claimed.wanted.connection, &error],
            )?;
            Ok(())
        };
        self.app.store.write(record).await
    }
}

/// Fills in what was missing, and nothing else (API section 4.13.3).
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

/// Claims what is due.
fn claim(tx: &mut Tx<'_>, app: &App) -> Result<Vec<DueJob>> {
    let now = app.clock.now();
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(i64, bool, String)> = tx.all(
        &format!(
            "SELECT ws, livemode, header_key FROM app_mail
             WHERE body_due_at <= ?1 ORDER BY body_due_at LIMIT ?2{lock}"
        ),
        &[&now, &AT_ONCE],
    )?;
    for (ws, livemode, key) in &due {
        tx.exec(
            "UPDATE app_mail SET body_since = coalesce(body_since, body_due_at),
                body_due_at = ?4, body_attempts = body_attempts + 1
             WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3",
            &[ws, livemode, key, &(now + LEASE_MS)],
        )?;
    }
    Ok(due.into_iter().map(|(ws, livemode, key)| job_of(ws, livemode, key)).collect())
}

fn job_of(ws: i64, livemode: bool, key: String) -> DueJob {
    let side = if livemode { LIVE } else { "test" };
    DueJob { ws, key: vec![side.to_owned(), key] }
}

fn load(tx: &mut Tx<'_>, job: &DueJob) -> Result<Option<Claimed>> {
    Ok(tx.opt(
        "SELECT m.ws, m.livemode, m.header_key, m.body_attempts,
                coalesce(m.body_since, m.body_due_at), m.service_mail, s.id, s.service,
                s.api_url, s.api_key
         FROM app_mail m JOIN services s ON s.ws = m.ws AND s.id = m.service
         WHERE m.ws = ?1 AND m.livemode = ?2 AND m.header_key = ?3",
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
