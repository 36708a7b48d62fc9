//! Reading who changed what.

use db::Tx;

use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::AuditId;
use crate::model::audit_log::Action;

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
    for circle in &cx.actor.circles {
        // Each circle is read in the order of its key; two short lists are put together here.
        entries.extend(tx.all::<AuditEntry>(
            &format!(
                "SELECT {} FROM audit_log
                 WHERE ws = ?1 AND circle = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4",
                AuditEntry::COLUMNS
            ),
            &[&cx.actor.ws, circle, &before, &AUDIT_LISTED],
        )?);
    }
    entries.sort_by(|a, b| b.id.cmp(&a.id));
    entries.truncate(AUDIT_LISTED as usize);
    Ok(entries)
}
