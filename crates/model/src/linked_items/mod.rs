//! Items of issue trackers that conversations are linked to: links are added and removed, and go along with a merge.

mod item_address;
pub mod item_reports;
pub mod tracker_webhooks;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, LinkId};
use base::limits::{LINKS, LINKS_READ};
use base::string_enum::string_enum;
use db::Tx;

use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{self, Conversation};
use crate::people::agent_limits::changes::ConversationAct;

pub use item_address::{ItemAddress, item_key};

string_enum! {
    /// Where a linked item is.
    Tracker { GitHub = "github", GitLab = "gitlab", Jira = "jira", Linear = "linear" }
}

impl Tracker {
    /// What people call it.
    pub fn label(self) -> &'static str {
        match self {
            Tracker::GitHub => "GitHub",
            Tracker::GitLab => "GitLab",
            Tracker::Jira => "Jira",
            Tracker::Linear => "Linear",
        }
    }
}

string_enum! {
    /// Whether there is something left to do of an item.
    ItemState { Open = "open", Closed = "closed" }
}

db::row! {
    /// A link of a conversation.
    #[derive(Clone, Debug)]
    pub struct LinkedItem from "conversation_links" {
        pub id: LinkId,
        pub kind: Tracker,
        pub url: String,
        /// Such as `acme/shop#12`.
        pub name: String,
        /// What its tracker said last; `None` until it said something.
        pub title: Option<String>,
        pub state: Option<ItemState>,
    }
}

/// The links of a conversation, oldest first.
pub fn of_conversation(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Vec<LinkedItem>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM conversation_links WHERE ws = ?1 AND conversation = ?2
             ORDER BY id LIMIT ?3",
            LinkedItem::COLUMNS
        ),
        &[&ws, id, &LINKS_READ],
    )?)
}

/// Links a conversation to the item at an address. One that is there already stays as it is.
pub fn link(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, url: &str) -> Result<LinkedItem> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let address = ItemAddress::parse(url).ok_or_else(|| {
        Error::invalid("url", "must be the page of an item of GitHub, GitLab, Jira or Linear")
    })?;
    conversations::admit_change(tx, cx, &conversation, ConversationAct::Change)?;
    if let Some(known) = find(tx, cx.actor.ws, &conversation, &address)? {
        return Ok(known);
    }
    let count = of_conversation(tx, cx.actor.ws, &conversation.id)?.len() as i64;
    if count >= LINKS {
        let sentence = format!("cannot be added: a conversation has at most {LINKS} links");
        return Err(Error::invalid("url", sentence));
    }
    let added = tx.exec(
        "INSERT INTO conversation_links (ws, id, conversation, kind, item, url, name)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (ws, conversation, item) DO NOTHING",
        &[
            &cx.actor.ws,
            &LinkId::new(cx.ids, cx.now),
            &conversation.id,
            &address.tracker,
            &address.item,
            &address.url,
            &address.name,
        ],
    )?;
    if added > 0 {
        let event = TimelineEvent::Linked { name: address.name.clone(), url: address.url.clone() };
        timeline::record(tx, cx, &conversation.id, &event)?;
    }
    find(tx, cx.actor.ws, &conversation, &address)?.ok_or(Error::NotFound("link"))
}

fn find(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    address: &ItemAddress,
) -> Result<Option<LinkedItem>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM conversation_links WHERE ws = ?1 AND conversation = ?2 AND item = ?3",
            LinkedItem::COLUMNS
        ),
        &[&ws, &conversation.id, &address.item],
    )?)
}

/// Removes a link of a conversation that the actor sees.
pub fn unlink(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &LinkId) -> Result<()> {
    let found: Option<(ConversationId, String, String)> = tx.opt(
        "SELECT conversation, name, url FROM conversation_links WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    let (conversation, name, url) = found.ok_or(Error::NotFound("link"))?;
    let conversation = match conversations::load_itself(tx, cx.actor, conversation.as_str()) {
        // The links of a merged one come back with it.
        Ok(conversation) if conversation.merged_into.is_none() => conversation,
        Ok(_) | Err(Error::NotFound(_)) => return Err(Error::NotFound("link")),
        Err(error) => return Err(error),
    };
    conversations::admit_change(tx, cx, &conversation, ConversationAct::Change)?;
    tx.exec("DELETE FROM conversation_links WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    timeline::record(tx, cx, &conversation.id, &TimelineEvent::Unlinked { name, url })
}

/// Gives a conversation the links of another one that it has not; returns their items.
pub fn lend(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<Vec<String>> {
    let ws = cx.actor.ws;
    let lent: Vec<(LinkId, String)> = tx.all(
        "SELECT l.id, l.item FROM conversation_links l
         WHERE l.ws = ?1 AND l.conversation = ?2 AND NOT EXISTS (
             SELECT 1 FROM conversation_links o
             WHERE o.ws = ?1 AND o.conversation = ?3 AND o.item = l.item
         )
         ORDER BY l.id LIMIT ?4",
        &[&ws, from, to, &LINKS_READ],
    )?;
    for (id, _) in &lent {
        tx.exec_soon(
            "INSERT INTO conversation_links (
                 ws, id, conversation, kind, item, url, name, title, state
             )
             SELECT ws, ?4, ?3, kind, item, url, name, title, state FROM conversation_links
             WHERE ws = ?1 AND id = ?2
             ON CONFLICT (ws, conversation, item) DO NOTHING",
            &[&ws, id, to, &LinkId::new(cx.ids, cx.now)],
        )?;
    }
    Ok(lent.into_iter().map(|(_, item)| item).collect())
}

/// Takes links back that were given to a conversation.
pub fn take_back(tx: &mut Tx<'_>, ws: i64, from: &ConversationId, items: &[String]) -> Result<()> {
    for item in items {
        tx.exec_soon(
            "DELETE FROM conversation_links WHERE ws = ?1 AND conversation = ?2 AND item = ?3",
            &[&ws, from, item],
        )?;
    }
    Ok(())
}
