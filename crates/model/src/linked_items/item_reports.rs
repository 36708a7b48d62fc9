//! What a tracker tells of an item: its links show it, and conversations are opened again when it closes.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use base::limits::{LINK_TITLE_CHARS, LINKED_CONVERSATIONS};
use base::states::Status;
use db::Tx;

use super::{ItemState, Tracker};
use crate::conversations;
use crate::conversations::timeline::{self, TimelineEvent, WokenBy};

/// How an item stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReport {
    pub tracker: Tracker,
    /// As [`super::item_key`] makes it.
    pub item: String,
    pub title: String,
    pub state: ItemState,
    /// True where the tracker tells of a change of the state itself. An item that was closed before it was linked
    /// does not close when its title is changed.
    pub is_change: bool,
}

/// Whether conversations are opened again when a linked item closes.
pub fn reopens_linked(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    let (reopens,): (bool,) =
        tx.one("SELECT reopens_linked FROM workspaces WHERE ws = ?1", &[&ws])?;
    Ok(reopens)
}

/// Writes down how an item stands. The actor is Mailroom itself, in any circle.
pub fn note_report(tx: &mut Tx<'_>, cx: &Cx<'_>, report: &ItemReport) -> Result<()> {
    let ws = cx.actor.ws;
    let links: Vec<ReportedLink> = tx.all(
        &format!(
            "SELECT {} FROM conversation_links l
             JOIN conversations c ON c.ws = l.ws AND c.id = l.conversation
             WHERE l.ws = ?1 AND l.kind = ?2 AND l.item = ?3 ORDER BY l.conversation LIMIT ?4",
            ReportedLink::COLUMNS
        ),
        &[&ws, &report.tracker, &report.item, &LINKED_CONVERSATIONS],
    )?;
    if links.is_empty() {
        return Ok(());
    }
    let plain = |c: &char| !c.is_control();
    let title: String = report.title.chars().filter(plain).take(LINK_TITLE_CHARS).collect();
    tx.exec(
        "UPDATE conversation_links SET title = ?4, state = ?5
         WHERE ws = ?1 AND kind = ?2 AND item = ?3",
        &[&ws, &report.tracker, &report.item, &title, &report.state],
    )?;
    let reopens = reopens_linked(tx, ws)?;
    for link in links.iter().filter(|link| link.closes_by(report)) {
        let actor = Actor::system(ws, cx.actor.workspace.clone(), link.circle.clone());
        note_closing(tx, &Cx { actor: &actor, ..*cx }, link, reopens)?;
    }
    Ok(())
}

db::row! {
    struct ReportedLink from "l" {
        conversation: ConversationId,
        circle: Circle = "c.circle",
        is_merged: bool = "c.merged_into IS NOT NULL",
        name: String,
        /// How the item stood before.
        state: Option<ItemState>,
    }
}

impl ReportedLink {
    fn closes_by(&self, report: &ItemReport) -> bool {
        let was_open = match self.state {
            Some(state) => state == ItemState::Open,
            None => report.is_change,
        };
        was_open && report.state == ItemState::Closed && !self.is_merged
    }
}

/// Tells in the timeline that a linked item was closed, and opens the conversation again where that is wanted. Held
/// mail, spam and what is in the trash stay where they are.
fn note_closing(tx: &mut Tx<'_>, cx: &Cx<'_>, link: &ReportedLink, reopens: bool) -> Result<()> {
    let mut conversation = conversations::load_itself(tx, cx.actor, link.conversation.as_str())?;
    let event = TimelineEvent::LinkedItemClosed { name: link.name.clone() };
    timeline::record(tx, cx, &conversation.id, &event)?;
    if !reopens || conversation.held || conversation.removed.is_some() {
        return Ok(());
    }
    conversations::wake(tx, cx, &mut conversation, WokenBy::LinkedItem)?;
    conversations::set_status(tx, cx, &mut conversation, Status::Open)
}
