//! The nodes of one PostgreSQL: each takes its place in the list at its start, and refuses to run beside
//! others with which it would not work together.

use std::path::Path;
use std::time::Duration;

use base::app::App;
use metrics::gauge;
use model::installation::nodes::{self, Node};
use tokio_util::sync::CancellationToken;

/// How often a node says that it runs.
const RENEWED_EVERY: Duration = Duration::from_secs(15);
const ID_CHARS: usize = 16;

/// This process, in the list of nodes.
pub struct NodePlace {
    app: App,
    node: Node,
}

impl NodePlace {
    /// Takes this node into the list. On SQLite there is one process, and no list.
    pub async fn take(
        app: &App,
        data: &Path,
        named_url: Option<&str>,
    ) -> Result<Option<NodePlace>, String> {
        if !app.store.is_shared() {
            return Ok(None);
        }
        let now = app.clock.now();
        let node = Node {
            id: app.ids.token(ID_CHARS),
            name: node_name(data),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            public_url: app.public_url.to_string(),
            started_at: now,
            seen_at: now,
        };
        let (joining, is_named) = (node.clone(), named_url.is_some());
        let joined = app.store.write(move |tx| {
            let others = nodes::join(tx, &joining)?;
            let refusal = refusal(&joining, is_named, &others);
            if refusal.is_some() {
                nodes::leave(tx, &joining.id)?;
            }
            Ok::<_, base::error::Error>((others, refusal))
        });
        let (others, refusal) = joined.await.map_err(|error| error.to_string())?;
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        if !others.is_empty() {
            let others: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
            tracing::info!(node = node.name.as_str(), ?others, "joined the nodes of this database");
        }
        Ok(Some(NodePlace { app: app.clone(), node }))
    }

    /// Stays in the list until `stopping`.
    pub async fn hold(&self, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let (node, now) = (self.node.clone(), self.app.clock.now());
            match self.app.store.write(move |tx| nodes::renew(tx, &node, now)).await {
                Ok(running) => gauge!("mailroom_nodes").set(running as f64),
                Err(error) => tracing::debug!(%error, "the list of nodes was not renewed"),
            }
            tokio::select! {
                () = tokio::time::sleep(RENEWED_EVERY) => {}
                () = stopping.cancelled() => {}
            }
        }
    }

    /// Leaves the list. Without a database, the others notice within a minute.
    pub async fn leave(&self) {
        let id = self.node.id.clone();
        if let Err(error) = self.app.store.write(move |tx| nodes::leave(tx, &id)).await {
            tracing::debug!(%error, "the row of this node could not be deleted at shutdown");
        }
    }
}

/// The machine and the folder: a process that starts again has the same name.
fn node_name(data: &Path) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = machine.trim();
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    format!("{machine}:{}", data.display())
}

/// Why a node cannot run beside the others.
fn refusal(node: &Node, is_named: bool, others: &[Node]) -> Option<String> {
    let other = others.iter().find(|other| !is_named || other.public_url != node.public_url)?;
    let theirs = &other.public_url;
    let seconds = (node.seen_at - other.seen_at).max(0) / 1_000;
    Some(format!(
        "Another node of this database ({}, seen {seconds} seconds ago) says that the service is reached \
         at {theirs}, and this one at {}. Links and sign-ins of one would not lead to the other: give \
         every node the same MAILROOM_PUBLIC_URL, the address of the balancer before them. A node that \
         was killed counts for a minute.",
        other.name, node.public_url
    ))
}
