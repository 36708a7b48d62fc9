//! The targets that the answer times of a report are held against.

use std::collections::BTreeSet;

use base::app::Cx;
use base::error::Result;
use base::ids::MailboxId;
use db::Tx;
use model::mailboxes;
use model::mailboxes::office_hours;

/// Targets that a plot shows, the shortest first.
const TARGETS_SHOWN: usize = 3;

/// The targets of the inboxes of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportTargets {
    /// Whether an inbox has any, for answers or for closing.
    pub has_any: bool,
    /// Seconds to the first answer, each once and the shortest first; those of urgent conversations are left out.
    pub answers: Vec<i64>,
}

/// The targets of one inbox, or of all that the actor sees.
pub fn report_targets(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: Option<&MailboxId>,
) -> Result<ReportTargets> {
    let (mut has_any, mut answers) = (false, BTreeSet::new());
    for inbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let Some(hours) = office_hours::of(tx, cx.actor.ws, &inbox.id)? else { continue };
        has_any |= hours.has_targets();
        if mailbox.is_none_or(|wanted| *wanted == inbox.id) {
            answers.extend(hours.answer_minutes.map(|minutes| minutes * 60));
        }
    }
    Ok(ReportTargets { has_any, answers: answers.into_iter().take(TARGETS_SHOWN).collect() })
}
