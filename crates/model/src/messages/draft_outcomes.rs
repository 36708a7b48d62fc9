//! What becomes of the helper's drafts, and the pause of an inbox where too few are right.

use base::app::Cx;
use base::error::Result;
use base::ids::{MailboxId, MessageId};
use base::limits::{DAY_MS, DRAFTS_AS_THEY_WERE, DRAFTS_MEASURED, OUTCOME_DAYS};
use base::string_enum::string_enum;
use db::Tx;

use crate::messages::answers::words;

/// Decided drafts that are counted for the settings.
const COUNTED: i64 = 10_000;

string_enum! {
    /// What became of a draft. `overtaken`: the team wrote something else; `retired`: the customer
    /// wrote again.
    DraftOutcome {
        AsItWas = "as-is",
        Edited = "edited",
        Discarded = "discarded",
        Overtaken = "overtaken",
        Retired = "retired",
    }
}

/// The drafts of an inbox in the last days, by what became of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeTally {
    pub as_it_was: i64,
    pub edited: i64,
    pub discarded: i64,
    pub overtaken: i64,
    pub retired: i64,
    /// The mean share of words that people changed in edited ones.
    pub changed: f64,
}

impl OutcomeTally {
    pub fn all(&self) -> i64 {
        self.as_it_was + self.edited + self.discarded + self.overtaken + self.retired
    }
}

/// Writes down what became of a draft, and pauses the inbox where too few are approved as they were.
/// The text of a draft that was given up is kept no longer.
pub fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    outcome: DraftOutcome,
    changed: f64,
) -> Result<()> {
    let is_sent = matches!(outcome, DraftOutcome::AsItWas | DraftOutcome::Edited);
    let noted: Option<(MailboxId,)> = tx.opt(
        "UPDATE helper_drafts
         SET outcome = ?3, changed = ?4, decided_at = ?5,
             drafted_text = CASE WHEN ?6 THEN drafted_text ELSE NULL END
         WHERE ws = ?1 AND message = ?2 AND outcome IS NULL RETURNING mailbox",
        &[&cx.actor.ws, message, &outcome, &changed, &cx.now, &is_sent],
    )?;
    match noted {
        Some((mailbox,)) => pause_if_poor(tx, cx, &mailbox),
        None => Ok(()),
    }
}

/// Pauses drafting when fewer than a fifth of the last drafts were approved as they were. Drafts that
/// the customer overtook by writing again say nothing about the helper and do not count.
fn pause_if_poor(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<()> {
    let (since,): (i64,) = tx.one(
        "SELECT drafting_since FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, mailbox],
    )?;
    let decided: Vec<(DraftOutcome,)> = tx.all(
        "SELECT outcome FROM helper_drafts
         WHERE ws = ?1 AND mailbox = ?2 AND decided_at IS NOT NULL AND decided_at > ?3
           AND outcome <> 'retired'
         ORDER BY decided_at DESC LIMIT ?4",
        &[&cx.actor.ws, mailbox, &since, &DRAFTS_MEASURED],
    )?;
    let right =
        decided.iter().filter(|(outcome,)| *outcome == DraftOutcome::AsItWas).count() as i64;
    let is_poor = decided.len() as i64 == DRAFTS_MEASURED
        && right * 100 < DRAFTS_AS_THEY_WERE * DRAFTS_MEASURED;
    if is_poor {
        tx.exec_soon(
            "UPDATE mailboxes SET drafting_paused_at = ?3
             WHERE ws = ?1 AND id = ?2 AND drafting_paused_at IS NULL AND drafting <> 'off'",
            &[&cx.actor.ws, mailbox, &cx.now],
        )?;
    }
    Ok(())
}

/// What became of an inbox's drafts in the last days.
pub fn tally(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<OutcomeTally> {
    let since = cx.now - OUTCOME_DAYS * DAY_MS;
    let decided: Vec<(DraftOutcome, Option<f64>)> = tx.all(
        "SELECT outcome, changed FROM helper_drafts
         WHERE ws = ?1 AND mailbox = ?2 AND decided_at IS NOT NULL AND decided_at >= ?3
         ORDER BY decided_at DESC LIMIT ?4",
        &[&cx.actor.ws, mailbox, &since, &COUNTED],
    )?;
    let mut tally = OutcomeTally::default();
    for (outcome, changed) in decided {
        let count = match outcome {
            DraftOutcome::AsItWas => &mut tally.as_it_was,
            DraftOutcome::Edited => {
                tally.changed += changed.unwrap_or(0.0);
                &mut tally.edited
            }
            DraftOutcome::Discarded => &mut tally.discarded,
            DraftOutcome::Overtaken => &mut tally.overtaken,
            DraftOutcome::Retired => &mut tally.retired,
        };
        *count += 1;
    }
    tally.changed /= tally.edited.max(1) as f64;
    Ok(tally)
}

/// The share of words that differ between a draft and what was sent, from 0 to 1.
pub fn changed_share(drafted: &str, sent: &str) -> f64 {
    let (mut drafted, mut sent) = (words(drafted), words(sent));
    let all = (drafted.len() + sent.len()) as f64;
    drafted.sort_unstable();
    sent.sort_unstable();
    let (mut first, mut second, mut shared) = (0, 0, 0);
    while first < drafted.len() && second < sent.len() {
        match drafted[first].cmp(&sent[second]) {
            std::cmp::Ordering::Less => first += 1,
            std::cmp::Ordering::Greater => second += 1,
            std::cmp::Ordering::Equal => {
                (first, second, shared) = (first + 1, second + 1, shared + 1)
            }
        }
    }
    if all == 0.0 { 0.0 } else { 1.0 - 2.0 * f64::from(shared) / all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_changed_words_is_counted() {
        assert_eq!(changed_share("one two three four", "one two three four"), 0.0);
        assert_eq!(changed_share("one two three four", "one two three five"), 0.25);
        assert_eq!(changed_share("one", "two"), 1.0);
        assert_eq!(changed_share("", ""), 0.0);
    }
}
