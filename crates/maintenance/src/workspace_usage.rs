//! How much each workspace holds: conversations, messages, rows and the bytes of its blobs. It counts every row,
//! so it is for the command line and not for pages.

use std::collections::BTreeMap;

use base::error::Result;
use base::ids::WorkspaceId;
use base::workspaces::resting;
use db::Tx;
use serde::Serialize;

use super::dump::dumped_tables;

/// What one workspace holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceUsage {
    #[serde(skip)]
    pub ws: i64,
    pub id: WorkspaceId,
    pub slug: String,
    pub name: String,
    pub conversations: i64,
    pub messages: i64,
    /// Raw mails, attachments, uploads and previews. A file that several workspaces have is counted in each.
    pub blobs: i64,
    /// Their bytes as they came in; they are stored packed.
    pub blob_bytes: i64,
    /// Of all tables, without the search index.
    pub rows: i64,
    /// `suspended` or `quiet`; `None` for a workspace that works.
    pub rests: Option<&'static str>,
}

/// Counts what every workspace holds, on one consistent snapshot.
pub fn workspace_usage(tx: &mut Tx<'_>) -> Result<Vec<WorkspaceUsage>> {
    let workspaces: Vec<(i64, WorkspaceId, String, String)> = tx.all(
        "SELECT ws, id, slug, name FROM workspaces
         WHERE deleted_at IS NULL AND sample_of IS NULL ORDER BY ws",
        &[],
    )?;
    let mut rows: BTreeMap<i64, i64> = BTreeMap::new();
    let (mut conversations, mut messages) = (BTreeMap::new(), BTreeMap::new());
    for table in dumped_tables(tx)? {
        if !table.columns.iter().any(|column| column.name == "ws") {
            continue;
        }
        let counted: Vec<(i64, i64)> =
            tx.all(&format!("SELECT ws, count(*) FROM {} GROUP BY ws", table.name), &[])?;
        for (ws, count) in &counted {
            *rows.entry(*ws).or_default() += count;
        }
        match table.name.as_str() {
            "conversations" => conversations.extend(counted),
            "messages" => messages.extend(counted),
            _ => {}
        }
    }
    let blobs: Vec<(i64, i64, i64)> =
        tx.all("SELECT ws, count(*), CAST(sum(size) AS BIGINT) FROM blobs GROUP BY ws", &[])?;
    let blobs: BTreeMap<i64, (i64, i64)> =
        blobs.into_iter().map(|(ws, count, bytes)| (ws, (count, bytes))).collect();
    let resting: BTreeMap<i64, &str> = resting::list_resting(tx)?
        .into_iter()
        .map(|state| (state.ws, if state.suspended_at.is_some() { "suspended" } else { "quiet" }))
        .collect();
    let of = |counts: &BTreeMap<i64, i64>, ws| counts.get(&ws).copied().unwrap_or(0);
    let usage = workspaces.into_iter().map(|(ws, id, slug, name)| {
        let (blobs, blob_bytes) = blobs.get(&ws).copied().unwrap_or((0, 0));
        WorkspaceUsage {
            conversations: of(&conversations, ws),
            messages: of(&messages, ws),
            rows: of(&rows, ws),
            blobs,
            blob_bytes,
            rests: resting.get(&ws).copied(),
            ws,
            id,
            slug,
            name,
        }
    });
    Ok(usage.collect())
}
