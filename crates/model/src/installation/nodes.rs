//! The processes that serve one database. Each writes a row when it starts and renews it while it runs.

use base::error::Result;
use base::limits::MINUTE_MS;
use db::Tx;

/// A node that was not seen for so long is gone; so is one whose sign is so far ahead, because its clock
/// or ours was wrong.
pub const NODE_GONE_MS: i64 = MINUTE_MS;
/// Nodes that are listed.
pub const NODES_LISTED: i64 = 100;

db::row! {
    /// One process.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Node from "nodes" {
        pub id: String,
        /// The machine and the data folder, which stay the same when it starts again.
        pub name: String,
        pub version: String,
        /// Where it says that the service is reached.
        pub public_url: String,
        pub started_at: i64,
        pub seen_at: i64,
    }
}

/// The nodes that run at a moment.
pub fn running(tx: &mut Tx<'_>, now: i64) -> Result<Vec<Node>> {
    let all: Vec<Node> = tx.all(
        &format!("SELECT {} FROM nodes ORDER BY id LIMIT ?1", Node::COLUMNS),
        &[&NODES_LISTED],
    )?;
    Ok(all.into_iter().filter(|node| (now - node.seen_at).abs() < NODE_GONE_MS).collect())
}

/// Takes a node into the list, in the place of its earlier process; answers the others that run.
pub fn join(tx: &mut Tx<'_>, node: &Node) -> Result<Vec<Node>> {
    let others: Vec<Node> = running(tx, node.seen_at)?;
    let others = others.into_iter().filter(|other| other.name != node.name).collect();
    tx.exec(
        "DELETE FROM nodes WHERE name = ?1 OR seen_at < ?2 OR seen_at > ?3",
        &[&node.name, &(node.seen_at - NODE_GONE_MS), &(node.seen_at + NODE_GONE_MS)],
    )?;
    tx.exec(
        "INSERT INTO nodes (id, name, version, public_url, started_at, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&node.id, &node.name, &node.version, &node.public_url, &node.started_at, &node.seen_at],
    )?;
    Ok(others)
}

/// Renews a node's row; answers how many run.
pub fn renew(tx: &mut Tx<'_>, node: &Node, now: i64) -> Result<usize> {
    let renewed = tx.exec("UPDATE nodes SET seen_at = ?2 WHERE id = ?1", &[&node.id, &now])?;
    if renewed == 0 {
        // It counted as gone while it was paused.
        join(tx, &Node { seen_at: now, ..node.clone() })?;
    }
    Ok(running(tx, now)?.len())
}

pub fn leave(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.exec("DELETE FROM nodes WHERE id = ?1", &[&id])?;
    Ok(())
}
