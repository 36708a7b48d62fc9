//! Mail that an app sent by itself and told us of (API section 4.13).

use db::{FromRow, Row, Tx};

use crate::actor::Circle;
use crate::conversations::names;
use crate::error::Result;
use crate::ids::ConversationId;
use crate::limits::{APP_MAIL_KEPT, APP_MAIL_KEPT_MS};
use crate::messages::header_key;
use crate::tallies;
use crate::time::Moment;
use crate::wire::AppSent;

/// The tally of records without an answer.
const UNANSWERED: &str = "app-mail:unanswered";
/// Records looked at when a new one comes in: more than one, so that old ones run out.
const FORGOTTEN_AT_ONCE: i64 = 5;

pub struct AppMail {
    pub header_id: String,
    pub reference: String,
    pub to: Vec<String>,
    pub subject: String,
    pub text: Option<String>,
    pub conversation: Option<ConversationId>,
    pub recorded_at: i64,
}

const COLUMNS: &str = "header_id, reference, to_list, subject, text, conversation, recorded_at";

impl FromRow for AppMail {
    fn from_row(row: &mut Row<'_>) -> Result<Self, db::Error> {
        Ok(AppMail {
            header_id: row.take()?,
            reference: row.take()?,
            to: names(&row.take::<String>()?),
            subject: row.take()?,
            text: row.take()?,
            conversation: row.take()?,
            recorded_at: row.take()?,
        })
    }
}

/// The recorded mail with this Message-ID. One that nobody answered within 30 days is forgotten.
pub fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    livemode: bool,
    header_id: &str,
    now: i64,
) -> Result<Option<AppMail>> {
    Ok(tx.opt(
        &format!(
            "SELECT {COLUMNS} FROM app_mail
             WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3
               AND (conversation IS NOT NULL OR recorded_at > ?4)"
        ),
        &[&ws, &livemode, &header_key(header_id), &(now - APP_MAIL_KEPT_MS)],
    )?)
}

/// The recorded mail that a conversation answers, the latest first.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Option<AppSent>> {
    let found: Option<AppMail> = tx.opt(
        &format!(
            "SELECT {COLUMNS} FROM app_mail WHERE ws = ?1 AND conversation = ?2
             ORDER BY recorded_at DESC, header_id LIMIT 1"
        ),
        &[&ws, conversation],
    )?;
    Ok(found.map(|mail| AppSent {
        message_id: mail.header_id,
        to: mail.to,
        subject: mail.subject,
        sent_at: Moment(mail.recorded_at),
        text: mail.text,
    }))
}

/// Ties a recorded mail to the conversation that answers it; from now on it stays.
pub fn answered_by(
    tx: &mut Tx<'_>,
    ws: i64,
    livemode: bool,
    header_id: &str,
    conversation: &ConversationId,
) -> Result<()> {
    let tied = tx.exec(
        "UPDATE app_mail SET conversation = ?4
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3 AND conversation IS NULL",
        &[&ws, &livemode, &header_key(header_id), conversation],
    )?;
    count_unanswered(tx, ws, &header_key(header_id), -(tied as i64))
}

/// Keeps the number of records that nobody answered yet.
pub fn count_unanswered(tx: &mut Tx<'_>, ws: i64, header_id: &str, change: i64) -> Result<()> {
    tallies::add(tx, ws, &Circle::team(), UNANSWERED, header_id, change)
}

/// Forgets what is too old or too much, oldest first, a bounded number at a time.
pub fn forget_old(tx: &mut Tx<'_>, ws: i64, now: i64) -> Result<()> {
    let over = tallies::sum(tx, ws, &Circle::team(), UNANSWERED)? - APP_MAIL_KEPT;
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

/// Forgets a record that nobody answered, by its key.
pub fn forget(tx: &mut Tx<'_>, ws: i64, livemode: bool, key: &str) -> Result<()> {
    let forgotten = tx.exec(
        "DELETE FROM app_mail
         WHERE ws = ?1 AND livemode = ?2 AND header_key = ?3 AND conversation IS NULL",
        &[&ws, &livemode, &key],
    )?;
    count_unanswered(tx, ws, key, -(forgotten as i64))
}
