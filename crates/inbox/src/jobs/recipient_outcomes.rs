//! The final delivery outcome of each recipient of a message. A message with one recipient needs no
//! rows: it is tried, sent or failed as a whole.

use std::collections::BTreeSet;

use db::Tx;

use super::RelayOutcome;
use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::MessageId;

/// Recipients without further attempts: delivered or permanently failed.
pub fn settled(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<BTreeSet<String>> {
    let rows: Vec<(String,)> = tx.all(
        "SELECT email FROM recipient_outcomes WHERE ws = ?1 AND message = ?2",
        &[&ws, message],
    )?;
    Ok(rows.into_iter().map(|(email,)| email).collect())
}

/// Stores the final outcomes of an attempt, before the remaining recipients are retried.
pub fn keep(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    recipients: &[String],
    outcomes: &[RelayOutcome],
) -> Result<()> {
    for (email, outcome) in recipients.iter().zip(outcomes) {
        let refusal = match outcome {
            RelayOutcome::Delivered => None,
            RelayOutcome::Never(reason) => Some(reason),
            RelayOutcome::Later(_) | RelayOutcome::Unavailable(_) => continue,
        };
        tx.exec(
            "INSERT INTO recipient_outcomes (ws, message, email, refusal, at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (ws, message, email) DO NOTHING",
            &[&cx.actor.ws, message, email, &refusal, &cx.now],
        )?;
    }
    Ok(())
}

/// How a message ended for its recipients.
pub struct RecipientOutcome {
    arrived: BTreeSet<String>,
    /// The recipients with a permanent failure, in order.
    pub refused: Vec<String>,
}

impl RecipientOutcome {
    pub fn has_it(&self, email: &str) -> bool {
        self.arrived.contains(email)
    }
}

/// Ends a message after its last attempt: deferred recipients become failed.
pub fn end(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    recipients: &[String],
    outcomes: &[RelayOutcome],
) -> Result<RecipientOutcome> {
    if recipients.len() > 1 {
        let last: Vec<RelayOutcome> = outcomes.iter().cloned().map(given_up).collect();
        keep(tx, cx, message, recipients, &last)?;
    }
    let kept: Vec<(String, Option<String>)> = tx.all(
        "SELECT email, refusal FROM recipient_outcomes WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message],
    )?;
    let (mut arrived, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let earlier = kept.into_iter().map(|(email, refusal)| (email, refusal.is_none()));
    let now =
        recipients.iter().cloned().zip(outcomes.iter().map(|o| *o == RelayOutcome::Delivered));
    for (email, has_it) in earlier.chain(now) {
        match has_it {
            true => arrived.insert(email),
            false => refused.insert(email),
        };
    }
    Ok(RecipientOutcome { arrived, refused: refused.into_iter().collect() })
}

fn given_up(outcome: RelayOutcome) -> RelayOutcome {
    match outcome {
        RelayOutcome::Later(reason) | RelayOutcome::Unavailable(reason) => {
            RelayOutcome::Never(reason)
        }
        settled => settled,
    }
}
