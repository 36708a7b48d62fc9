//! App mail: mail that an app sent itself and recorded here (API section 4.13).

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, ServiceId};
use base::limits::{APP_MAIL_KEPT, APP_MAIL_KEPT_MS, APP_MAIL_RECIPIENTS};
use db::{Json, Tx};
use model::figures::counters::{self, Counter};

use crate::messages::header_key;

/// Records checked for expiry when a new one arrives: more than one, so that the number of old ones
/// shrinks.
const FORGOTTEN_AT_ONCE: i64 = 5;

db::row! {
    pub struct AppMail from "app_mail" {
        pub header_id: String,
        /// `None` when whoever told of it did not know one.
        pub reference: Option<String> = "nullif(app_mail.reference, '')",
        pub to: Json<Vec<EmailAddress>> = "app_mail.to_list",
        pub subject: String,
        pub text: Option<String>,
        pub conversation: Option<ConversationId>,
        pub recorded_at: i64,
    }
}

/// The recorded mail with this Message-ID. One without a reply is deleted after 30 days.
pub fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    livemode: bool,
    header_id: &str,
    now: i64,
) -> Result<Option<AppMail>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM app_mail
             WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3
               AND (conversation IS NOT NULL OR recorded_at > ?4)",
            AppMail::COLUMNS
        ),
        &[&ws, &livemode, &header_key(header_id), &(now - APP_MAIL_KEPT_MS)],
    )?)
}

/// The recorded mail that a conversation replies to, the latest first.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Option<AppMail>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM app_mail WHERE ws = ?1 AND conversation = ?2
             ORDER BY recorded_at DESC, header_id LIMIT 1",
            AppMail::COLUMNS
        ),
        &[&ws, conversation],
    )?)
}

/// Links a recorded mail to the conversation that replies to it. From now on it does not expire,
/// and the text of one sent by a service is fetched.
pub fn answered_by(
    tx: &mut Tx<'_>,
    ws: i64,
    livemode: bool,
    header_id: &str,
    conversation: &ConversationId,
    now: i64,
) -> Result<()> {
    let tied = tx.exec(
        "UPDATE app_mail SET conversation = ?4,
            body_due_at = CASE WHEN service IS NOT NULL AND text IS NULL THEN CAST(?5 AS BIGINT) END
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3 AND conversation IS NULL",
        &[&ws, &livemode, &header_key(header_id), conversation, &now],
    )?;
    tx.wake(Queue::AppMail);
    count_unanswered(tx, ws, &header_key(header_id), -(tied as i64))
}

/// The data that a sending service reports about a mail.
pub struct ReportedMail<'a> {
    /// Without angle brackets.
    pub header_id: &'a str,
    pub to: &'a [EmailAddress],
    /// Empty when unknown, as is the reference.
    pub subject: &'a str,
    pub reference: &'a str,
    pub service: &'a ServiceId,
    pub service_mail: &'a str,
}

/// Notes a mail that a service sent. Services report a mail more than once, and the app may have
/// recorded it itself: known values stay, and missing ones are filled in, such as another
/// recipient.
pub fn note(tx: &mut Tx<'_>, cx: &Cx<'_>, outline: &ReportedMail<'_>) -> Result<()> {
    let (ws, key) = (cx.actor.ws, header_key(outline.header_id));
    let mut known: Option<(Json<Vec<EmailAddress>>, Option<ConversationId>, i64)> = tx.opt(
        "SELECT to_list, conversation, recorded_at FROM app_mail
         WHERE ws = ?1 AND livemode = TRUE AND header_key = ?2",
        &[&ws, &key],
    )?;
    if matches!(known, Some((_, None, at)) if at <= cx.now - APP_MAIL_KEPT_MS) {
        forget(tx, ws, true, &key)?;
        known = None;
    }
    let Some((mut to, ..)) = known else {
        tx.exec_soon(
            "INSERT INTO app_mail (
                ws, livemode, header_key, header_id, reference, to_list, subject, service,
                service_mail, recorded_at
             ) VALUES (?1, TRUE, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            &[
                &ws,
                &key,
                &outline.header_id,
                &outline.reference,
                &Json(outline.to),
                &outline.subject,
                outline.service,
                &outline.service_mail,
                &cx.now,
            ],
        )?;
        count_unanswered(tx, ws, &key, 1)?;
        return forget_old(tx, ws, cx.now);
    };
    let more = outline.to.iter().filter(|email| !to.contains(email)).cloned();
    let more: Vec<EmailAddress> = more.collect();
    to.extend(more);
    to.truncate(APP_MAIL_RECIPIENTS);
    tx.exec_soon(
        "UPDATE app_mail SET to_list = ?3,
            reference = CASE WHEN reference = '' THEN ?4 ELSE reference END,
            subject = CASE WHEN subject = '' THEN ?5 ELSE subject END,
            service = coalesce(service, ?6), service_mail = coalesce(service_mail, ?7),
            body_due_at = CASE
                WHEN conversation IS NOT NULL AND service IS NULL AND text IS NULL THEN ?8
                ELSE body_due_at
            END
         WHERE ws = ?1 AND livemode = TRUE AND header_key = ?2",
        &[
            &ws,
            &key,
            &to,
            &outline.reference,
            &outline.subject,
            outline.service,
            &outline.service_mail,
            &cx.now,
        ],
    )?;
    tx.wake(Queue::AppMail);
    Ok(())
}

/// Updates the counter of records without a reply.
pub fn count_unanswered(tx: &mut Tx<'_>, ws: i64, header_id: &str, change: i64) -> Result<()> {
    counters::add(tx, ws, &Circle::team(), Counter::UnansweredAppMail, header_id, change)
}

/// Deletes expired and surplus records, oldest first, a bounded number at a time.
pub fn forget_old(tx: &mut Tx<'_>, ws: i64, now: i64) -> Result<()> {
    let unanswered = counters::sum(tx, ws, &Circle::team(), Counter::UnansweredAppMail)?;
    let over = unanswered - APP_MAIL_KEPT;
    let oldest: Vec<(bool, String, i64)> = tx.all(
        "SELECT livemode, header_key, recorded_at FROM app_mail
         WHERE ws = ?1 AND conversation IS NULL ORDER BY recorded_at LIMIT ?2",
        &[&ws, &FORGOTTEN_AT_ONCE],
    )?;
    for (place, (livemode, key, recorded_at)) in oldest.iter().enumerate() {
        if place as i64 >= over && *recorded_at > now - APP_MAIL_KEPT_MS {
            break;
        }
        forget(tx, ws, *livemode, key)?;
    }
    Ok(())
}

/// Deletes a record without a reply, by its key.
pub fn forget(tx: &mut Tx<'_>, ws: i64, livemode: bool, key: &str) -> Result<()> {
    let forgotten = tx.exec(
        "DELETE FROM app_mail
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3 AND conversation IS NULL",
        &[&ws, &livemode, &key],
    )?;
    count_unanswered(tx, ws, key, -(forgotten as i64))
}
