//! What a conversation's row says about its messages, counted from them anew.

use base::error::Result;
use base::ids::ConversationId;
use base::states::{Direction, Status};
use db::Tx;

use crate::conversations::leaving;
use crate::figures::counted_mail::snippet;

db::row! {
    /// A message that was received or has left.
    struct MailFacts from "m" {
        counted_at: i64,
        direction: Direction,
        automatic: bool,
        auto_reply: bool,
        secure: bool,
        forwarded: bool = "m.forwards IS NOT NULL",
    }
}

/// The state of a conversation that follows from its messages.
#[derive(Default)]
struct Recount {
    count: i64,
    newest: Option<(i64, Direction)>,
    waiting_since: Option<i64>,
    first_answered_at: Option<i64>,
    secure_answer: bool,
}

impl Recount {
    /// Counts a message; they come in their order.
    fn add(&mut self, mail: &MailFacts) {
        self.count += 1;
        self.newest = Some((mail.counted_at, mail.direction));
        match mail.direction {
            Direction::Inbound => {
                self.waiting_since = self.waiting_since.or(Some(mail.counted_at));
                if !mail.auto_reply {
                    self.secure_answer = mail.secure;
                }
            }
            Direction::Outbound if mail.automatic => {}
            Direction::Outbound => {
                let is_answer = self.waiting_since.is_some() && !mail.forwarded;
                if is_answer && self.first_answered_at.is_none() {
                    self.first_answered_at = Some(mail.counted_at);
                }
                self.waiting_since = None;
            }
        }
    }
}

/// Counts the messages of a conversation anew. One that has none keeps its place in lists.
pub fn recount(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<()> {
    let mails: Vec<MailFacts> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.counted_at IS NOT NULL
             ORDER BY m.counted_at, m.serial",
            MailFacts::COLUMNS
        ),
        &[&ws, id],
    )?;
    let mut counted = Recount::default();
    for mail in &mails {
        counted.add(mail);
    }
    let newest: Option<(String,)> = tx.opt(
        "SELECT text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY counted_at DESC, serial DESC LIMIT 1",
        &[&ws, id],
    )?;
    let (status,): (Status,) =
        tx.one("SELECT status FROM conversations WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    let waiting_since = counted.waiting_since.filter(|_| status != Status::Closed);
    tx.exec_soon(
        "UPDATE conversations
         SET message_count = ?3, snippet = ?4, last_message_at = coalesce(?5, last_message_at),
             last_direction = ?6, waiting_since = ?7, first_answered_at = ?8, secure_answer = ?9,
             has_secure = EXISTS (
                 SELECT 1 FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2 AND m.secure
             ), has_draft = EXISTS (
                 SELECT 1 FROM messages m
                 WHERE m.ws = ?1 AND m.conversation = ?2 AND m.status = 'draft'
                   AND m.discarded_at IS NULL
             )
         WHERE ws = ?1 AND id = ?2",
        &[
            &ws,
            id,
            &counted.count,
            &snippet(&newest.map(|(text,)| text).unwrap_or_default()),
            &counted.newest.map(|(at, _)| at),
            &counted.newest.map(|(_, direction)| direction),
            &waiting_since,
            &counted.first_answered_at,
            &counted.secure_answer,
        ],
    )?;
    leaving::count(tx, ws, id)
}
