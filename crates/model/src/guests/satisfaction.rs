//! Whether the customers of an inbox are asked how a closed conversation was, and when.
//!
//! Customers read these texts.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use base::limits::SATISFACTION_AFTER_MS;
use base::string_enum::string_enum;
use db::Tx;
use translation::t;

string_enum! {
    /// Whether an inbox asks, and how many choices it gives.
    SatisfactionMode { Off = "off", Two = "two", Five = "five" }
}

impl SatisfactionMode {
    /// The scores to choose from, the best first.
    pub fn scores(self) -> &'static [i64] {
        match self {
            SatisfactionMode::Off => &[],
            SatisfactionMode::Two => &[5, 1],
            SatisfactionMode::Five => &[5, 4, 3, 2, 1],
        }
    }

    /// A score in the customer's words.
    pub fn word(self, score: i64) -> &'static str {
        match (self, score) {
            (SatisfactionMode::Two, 5) => t!("It was good"),
            (SatisfactionMode::Two, _) => t!("It was not good"),
            (_, 5) => t!("It was very good"),
            (_, 4) => t!("It was good"),
            (_, 3) => t!("It was all right"),
            (_, 2) => t!("It was not good"),
            _ => t!("It was bad"),
        }
    }
}

/// Whether an inbox asks.
pub fn mode_of(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<SatisfactionMode> {
    let found: Vec<(SatisfactionMode,)> = tx.read_once(
        "mailboxes",
        "SELECT satisfaction FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&ws, mailbox],
    )?;
    Ok(found.first().map_or(SatisfactionMode::Off, |(mode,)| *mode))
}

/// Sets whether an inbox asks. What is closed already is not asked about.
pub fn set_mode(
    tx: &mut Tx<'_>,
    ws: i64,
    mailbox: &MailboxId,
    mode: SatisfactionMode,
) -> Result<()> {
    tx.exec(
        "UPDATE mailboxes SET satisfaction = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, mailbox, &mode],
    )?;
    Ok(())
}

/// Plans the question about a conversation that is being closed, where its inbox asks and the customer
/// was not asked about it before. Whether they are asked is decided when it is due.
pub fn plan_question(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    mailbox: &MailboxId,
) -> Result<()> {
    if mode_of(tx, cx.actor.ws, mailbox)? == SatisfactionMode::Off {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET satisfaction_due_at = ?3
         WHERE ws = ?1 AND id = ?2 AND circle <> 'sandbox' AND NOT EXISTS (
             SELECT 1 FROM ratings r WHERE r.ws = ?1 AND r.conversation = ?2
         )",
        &[&cx.actor.ws, conversation, &(cx.now + SATISFACTION_AFTER_MS)],
    )?;
    tx.wake(Queue::Satisfaction);
    Ok(())
}

/// Takes the question about a conversation out of the queue.
pub fn end_question(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<()> {
    tx.exec_soon(
        "UPDATE conversations SET satisfaction_due_at = NULL WHERE ws = ?1 AND id = ?2",
        &[&ws, conversation],
    )?;
    Ok(())
}
