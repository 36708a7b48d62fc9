//! The final delivery outcome of each recipient of a message. A message with one recipient needs no
//! rows: it is tried, sent or failed as a whole.

use std::collections::BTreeSet;

use base::app::Cx;
use base::error::Result;
use base::ids::MessageId;
use db::Tx;
use model::messages::send_failure::SendFailure;

use crate::RelayOutcome;

/// Recipients without further attempts: delivered or permanently failed.
pub fn settled_recipients(
    tx: &mut Tx<'_>,
    ws: i64,
    message: &MessageId,
) -> Result<BTreeSet<String>> {
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
        if !outcome.is_temporary() {
            settle(tx, cx, message, email, last_failure(outcome).as_ref())?;
        }
    }
    Ok(())
}

/// Stores how a message ended for a recipient, unless that is known.
fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
    failure: Option<&SendFailure>,
) -> Result<()> {
    let code = failure.map(|failure| failure.code.as_str());
    let text = failure.map(|failure| failure.text.as_str());
    tx.exec_soon(
        "INSERT INTO recipient_outcomes (ws, message, email, refusal, code, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws, message, email) DO NOTHING",
        &[&cx.actor.ws, message, &email, &text, &code, &cx.now],
    )?;
    Ok(())
}

/// How a message ended for its recipients.
pub struct RecipientOutcome {
    arrived: BTreeSet<String>,
    /// The recipients with a permanent failure, in order.
    pub refused: Vec<String>,
    /// Why the first of them did not get it.
    pub failure: Option<SendFailure>,
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
        for (email, outcome) in recipients.iter().zip(outcomes) {
            settle(tx, cx, message, email, last_failure(outcome).as_ref())?;
        }
    }
    let kept: Vec<(String, Option<String>, Option<String>)> = tx.all(
        "SELECT email, refusal, code FROM recipient_outcomes WHERE ws = ?1 AND message = ?2
         ORDER BY at, email",
        &[&cx.actor.ws, message],
    )?;
    let (mut arrived, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let of_now = outcomes.iter().find_map(last_failure);
    let of_earlier = kept.iter().find_map(|(_, refusal, code)| {
        let (text, code) = (refusal.clone()?, code.clone()?);
        Some(SendFailure { code, text })
    });
    let earlier = kept.into_iter().map(|(email, refusal, _)| (email, refusal.is_none()));
    let now =
        recipients.iter().cloned().zip(outcomes.iter().map(|o| *o == RelayOutcome::Delivered));
    for (email, has_it) in earlier.chain(now) {
        match has_it {
            true => arrived.insert(email),
            false => refused.insert(email),
        };
    }
    let failure = of_earlier.or(of_now);
    Ok(RecipientOutcome { arrived, refused: refused.into_iter().collect(), failure })
}

/// Why a recipient without further attempts did not get a message.
fn last_failure(outcome: &RelayOutcome) -> Option<SendFailure> {
    let failure = outcome.reason()?.failure();
    Some(if outcome.is_temporary() { SendFailure::expiry(&failure) } else { failure })
}
