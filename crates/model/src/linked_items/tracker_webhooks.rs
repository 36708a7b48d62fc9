//! The calls that a workspace takes from issue trackers: an address for each, and the secret that proves them.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::Result;
use base::ids::WorkspaceId;
use base::limits::MINUTE_MS;
use base::security::secret_sealer::SecretSealer;
use base::workspaces::resting;
use db::Tx;

use super::Tracker;
use super::item_reports::{self, ItemReport};
use crate::installation::sealing;

/// Calls are written down once in so long.
const NOTED_EVERY_MS: i64 = MINUTE_MS;

db::row! {
    /// Whose calls an address takes.
    #[derive(Clone)]
    pub struct TrackerWebhook from "t" {
        pub ws: i64,
        workspace: WorkspaceId = "w.id",
        pub kind: Tracker,
        /// Sealed; `None` until it is set.
        secret: Option<String>,
    }
}

base::debug_without_secrets!(TrackerWebhook { ws, kind });

impl TrackerWebhook {
    /// Mailroom itself, at work for the workspace.
    pub fn actor(&self) -> Actor {
        Actor::system(self.ws, self.workspace.clone(), Circle::team())
    }

    /// The secret that proves its calls, where there is one.
    pub fn secret(&self, sealer: &dyn SecretSealer) -> Result<Option<String>> {
        let purpose = sealing::tracker_purpose(self.ws, self.kind.as_str());
        let kept = self.secret.clone();
        kept.map(|kept| sealing::unseal(sealer, &purpose, kept)).transpose()
    }
}

/// The webhook whose address holds this token.
pub fn with_token(
    tx: &mut Tx<'_>,
    tracker: Tracker,
    token: &str,
) -> Result<Option<TrackerWebhook>> {
    // No address has it, and PostgreSQL takes no text with it.
    if token.contains('\0') {
        return Ok(None);
    }
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM tracker_webhooks t JOIN workspaces w ON w.ws = t.ws
             WHERE t.token = ?1 AND t.kind = ?2",
            TrackerWebhook::COLUMNS
        ),
        &[&token, &tracker],
    )?)
}

/// Takes a call whose secret is right: that it came, and what it tells of an item.
pub fn note_call(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    tracker: Tracker,
    report: Option<&ItemReport>,
) -> Result<()> {
    resting::must_be_open(tx, cx.actor.ws)?;
    tx.exec(
        "UPDATE tracker_webhooks SET called_at = ?3
         WHERE ws = ?1 AND kind = ?2 AND (called_at IS NULL OR called_at <= ?4)",
        &[&cx.actor.ws, &tracker, &cx.now, &(cx.now - NOTED_EVERY_MS)],
    )?;
    match report {
        Some(report) => item_reports::note_report(tx, cx, report),
        None => Ok(()),
    }
}
