//! Reading who changed what.

use base::actor::{Circle, Principal, Role};
use base::app::Cx;
use base::error::Result;
use base::ids::AuditId;
use base::limits::RESTRICTED_INBOXES;
use db::Tx;
use model::installation::audit_log::Action;

/// Entries on one page.
pub const AUDIT_LISTED: i64 = 50;

db::row! {
    pub struct AuditEntry from "audit_log" {
        pub id: AuditId,
        pub at: i64,
        /// The id of the person; empty for the command line.
        pub actor: String,
        pub actor_name: String,
        pub action: Action,
        pub thing: String,
        pub detail: String,
    }
}

/// What was changed, newest first; what was changed before `before`, where it is given. What
/// concerns a private inbox is told to its person alone.
pub fn list_audit(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    before: Option<&AuditId>,
) -> Result<Vec<AuditEntry>> {
    cx.actor.must_administer()?;
    let before = before.map_or("~", |id| id.as_str());
    let mut entries: Vec<AuditEntry> = Vec::new();
    for circle in listed_circles(tx, cx)? {
        // Each circle is read in the order of its key; the short lists are put together here.
        entries.extend(tx.all::<AuditEntry>(
            &format!(
                "SELECT {} FROM audit_log
                 WHERE ws = ?1 AND circle = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4",
                AuditEntry::COLUMNS
            ),
            &[&cx.actor.ws, &circle, &before, &AUDIT_LISTED],
        )?);
    }
    entries.sort_by(|a, b| b.id.cmp(&a.id));
    entries.truncate(AUDIT_LISTED as usize);
    Ok(entries)
}

/// The circles of the actor, and for owners those of every inbox for some: they may change who sees it.
fn listed_circles(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<Circle>> {
    let mut circles: Vec<Circle> = cx.actor.circles.distinct().cloned().collect();
    if matches!(cx.actor.who, Principal::Person { role: Role::Owner, .. }) {
        let restricted: Vec<(Circle,)> = tx.all(
            "SELECT circle FROM mailboxes WHERE ws = ?1 AND circle = id LIMIT ?2",
            &[&cx.actor.ws, &RESTRICTED_INBOXES],
        )?;
        let others = restricted.into_iter().map(|(circle,)| circle);
        circles.extend(others.filter(|circle| !cx.actor.sees(circle)));
    }
    Ok(circles)
}
