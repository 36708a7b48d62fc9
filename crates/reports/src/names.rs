//! The names of what counters name by id, as far as the actor may see them.

use std::collections::HashMap;

use base::app::Cx;
use base::error::Result;
use base::ids::{AgentId, MailboxId, TagId};
use db::Tx;
use model::conversations::topics;
use model::mailboxes;
use model::people::members;

pub(super) struct ReportNames {
    pub inboxes: Vec<(MailboxId, String)>,
    pub topics: HashMap<String, String>,
    pub tags: HashMap<String, String>,
    /// People, and agents, those that were revoked included.
    pub members: HashMap<String, String>,
}

pub(super) fn report_names(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<ReportNames> {
    let ws = cx.actor.ws;
    let (first, second) = cx.actor.circles.pair();
    let inboxes = mailboxes::all_seen_by(tx, cx.actor)?;
    let topics = topics::all(tx, ws)?;
    let tags: Vec<(TagId, String)> = tx.all(
        "SELECT id, name FROM tags WHERE ws = ?1 AND circle IN ('team', ?2, ?3)",
        &[&ws, first, second],
    )?;
    let people = members::people(tx, ws)?;
    let agents: Vec<(AgentId, String)> =
        tx.all("SELECT id, name FROM agents WHERE ws = ?1", &[&ws])?;
    let people = people.into_iter().map(|person| (person.id.to_string(), person.name));
    let agents = agents.into_iter().map(|(id, name)| (id.to_string(), name));
    Ok(ReportNames {
        inboxes: inboxes.into_iter().map(|inbox| (inbox.id, inbox.name)).collect(),
        topics: topics.into_iter().map(|topic| (topic.id.to_string(), topic.name)).collect(),
        tags: tags.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        members: people.chain(agents).collect(),
    })
}
