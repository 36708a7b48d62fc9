//! What a workspace may hold and do, what it holds and does, and what happens at its limits.
//!
//! A soft limit warns the owners once, by mail, and shows on their pages; a hard one ends what would go beyond it, with
//! a sentence: 403 for what is held, 429 for what is done in a time, and 452 for mail that comes in. Without rows in
//! `workspace_limits` nothing is limited. What is used is counted by `base::usage`.

mod limit_kind;
mod limit_words;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use base::limits::HOUR_MS;
use base::usage::{self, UsageKind};
use base::workspaces::resting;
use db::Tx;
use model::people::notices::{Notice, notify};

pub use limit_kind::{LimitInput, LimitKind};
pub use limit_words::{amount_words, reached_sentence, warning_sentence};

db::row! {
    /// A limit of a workspace.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WorkspaceLimit from "workspace_limits" {
        pub what: LimitKind,
        pub soft: Option<i64>,
        pub hard: Option<i64>,
        /// When the owners were warned, while the soft limit is passed.
        pub warned_at: Option<i64>,
    }
}

/// A limit with what is used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitUse {
    pub what: LimitKind,
    /// `None` for the calls of an hour, which only the nodes count.
    pub used: Option<i64>,
    pub soft: Option<i64>,
    pub hard: Option<i64>,
}

impl LimitUse {
    /// True past the soft limit or at the hard one.
    pub fn is_near(&self) -> bool {
        let Some(used) = self.used else { return false };
        self.soft.is_some_and(|soft| used > soft) || self.hard.is_some_and(|hard| used >= hard)
    }
}

/// The limits of a workspace, in the order of their names.
pub fn limits(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<WorkspaceLimit>> {
    let sql = format!(
        "SELECT {} FROM workspace_limits WHERE ws = ?1 ORDER BY what",
        WorkspaceLimit::COLUMNS
    );
    Ok(tx.all(&sql, &[&ws])?)
}

fn limit(tx: &mut Tx<'_>, ws: i64, what: LimitKind) -> Result<Option<WorkspaceLimit>> {
    let sql = format!(
        "SELECT {} FROM workspace_limits WHERE ws = ?1 AND what = ?2",
        WorkspaceLimit::COLUMNS
    );
    Ok(tx.opt(&sql, &[&ws, &what])?)
}

/// Sets a limit or takes it away, and warns anew where it is passed.
pub fn set(tx: &mut Tx<'_>, ws: i64, what: LimitKind, input: LimitInput) -> Result<()> {
    if input == LimitInput::default() {
        tx.exec("DELETE FROM workspace_limits WHERE ws = ?1 AND what = ?2", &[&ws, &what])?;
        return Ok(());
    }
    tx.exec(
        "INSERT INTO workspace_limits (ws, what, soft, hard) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ws, what)
         DO UPDATE SET soft = excluded.soft, hard = excluded.hard, warned_at = NULL",
        &[&ws, &what, &input.soft, &input.hard],
    )?;
    Ok(())
}

/// Every kind of limit with what is used of it, limited or not.
pub fn all_uses(tx: &mut Tx<'_>, ws: i64, now: i64) -> Result<Vec<LimitUse>> {
    let limits = limits(tx, ws)?;
    let mut uses = Vec::new();
    for what in LimitKind::ALL.iter().copied() {
        let limit = limits.iter().find(|limit| limit.what == what);
        let used = amount_used(tx, ws, what, now)?;
        let (soft, hard) = limit.map_or((None, None), |limit| (limit.soft, limit.hard));
        uses.push(LimitUse { what, used, soft, hard });
    }
    Ok(uses)
}

/// The limits that are passed or nearly reached, for the pages of owners and admins.
pub fn near_limits(tx: &mut Tx<'_>, ws: i64, now: i64) -> Result<Vec<LimitUse>> {
    let mut near = Vec::new();
    for WorkspaceLimit { what, soft, hard, .. } in limits(tx, ws)? {
        let used = amount_used(tx, ws, what, now)?;
        let one = LimitUse { what, used, soft, hard };
        near.extend(one.is_near().then_some(one));
    }
    Ok(near)
}

fn amount_used(tx: &mut Tx<'_>, ws: i64, what: LimitKind, now: i64) -> Result<Option<i64>> {
    Ok(match (what.held_kind(), what.hours()) {
        (Some(kind), _) => Some(usage::amount_held(tx, ws, kind)?),
        (None, Some(hours)) => Some(usage::count_done(tx, ws, UsageKind::Mails, hours, now)?),
        (None, None) if what == LimitKind::People => {
            // A team, not a history.
            let (people,): (i64,) =
                tx.one("SELECT CAST(count(*) AS BIGINT) FROM users WHERE ws = ?1", &[&ws])?;
            Some(people)
        }
        (None, None) => None,
    })
}

/// Lets so much more be held or done, or refuses it with a sentence. The owners are warned when it passes the soft
/// limit.
pub fn admit(tx: &mut Tx<'_>, cx: &Cx<'_>, what: LimitKind, more: i64) -> Result<()> {
    let ws = cx.actor.ws;
    let Some(limit) = limit(tx, ws, what)? else { return Ok(()) };
    let Some(used) = amount_used(tx, ws, what, cx.now)? else { return Ok(()) };
    if let Some(hard) = limit.hard.filter(|hard| used + more > *hard) {
        return Err(refusal(what, hard, cx.now));
    }
    let is_passed = limit.soft.is_some_and(|soft| used + more > soft);
    match (is_passed, limit.warned_at) {
        (true, None) => warn_owners(tx, cx, &limit, used + more),
        (false, Some(_)) => mark_warned(tx, ws, what, None),
        _ => Ok(()),
    }
}

/// What a call, a form or a mail is refused with.
fn refusal(what: LimitKind, hard: i64, now: i64) -> Error {
    let sentence = reached_sentence(what, hard);
    match what.hours() {
        None => Error::LimitReached(sentence),
        Some(_) => Error::Throttled { sentence, resets_in: seconds_to_next_hour(now) },
    }
}

fn seconds_to_next_hour(now: i64) -> i64 {
    (HOUR_MS - now.rem_euclid(HOUR_MS) + 999) / 1_000
}

/// The refusal of a call beyond those of an hour.
pub fn too_many_calls(hard: i64, resets_in: i64) -> Error {
    Error::Throttled { sentence: reached_sentence(LimitKind::CallsPerHour, hard), resets_in }
}

/// False while a workspace takes no mail that comes in: it is suspended, or has no room.
pub fn takes_mail(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    Ok(!resting::is_suspended(tx, ws)?
        && usage::has_room(tx, ws, UsageKind::Messages)?
        && usage::has_room(tx, ws, UsageKind::Bytes)?)
}

/// Notes that mail came in, for the warnings about what is held.
pub fn warn_of_mail(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for limit in limits(tx, cx.actor.ws)? {
        let (Some(soft), Some(kind)) = (limit.soft, limit.what.for_mail()) else { continue };
        let held = usage::amount_held(tx, cx.actor.ws, kind)?;
        match (held > soft, limit.warned_at) {
            (true, None) => warn_owners(tx, cx, &limit, held)?,
            (false, Some(_)) => mark_warned(tx, cx.actor.ws, limit.what, None)?,
            _ => {}
        }
    }
    Ok(())
}

fn warn_owners(tx: &mut Tx<'_>, cx: &Cx<'_>, limit: &WorkspaceLimit, used: i64) -> Result<()> {
    let ws = cx.actor.ws;
    mark_warned(tx, ws, limit.what, Some(cx.now))?;
    let (workspace,): (String,) = tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let owners: Vec<(UserId,)> =
        tx.all("SELECT id FROM users WHERE ws = ?1 AND role = 'owner' ORDER BY id", &[&ws])?;
    let subject = format!("{workspace}: a limit is near");
    let text = format!(
        "{}\n\nWhat is used, and what the limits are:\n\n{}/settings/plan\n",
        warning_sentence(limit.what, used, limit.hard),
        cx.public_url
    );
    for (owner,) in owners {
        notify(tx, cx, &owner, &Notice { subject: &subject, text: &text })?;
    }
    Ok(())
}

fn mark_warned(tx: &mut Tx<'_>, ws: i64, what: LimitKind, at: Option<i64>) -> Result<()> {
    tx.exec(
        "UPDATE workspace_limits SET warned_at = ?3 WHERE ws = ?1 AND what = ?2",
        &[&ws, &what, &at],
    )?;
    Ok(())
}
