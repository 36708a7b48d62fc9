//! Tags: names shared by the team and the sandbox. A name that is used only in a person's private
//! inbox is visible to that person alone, until the team uses it, too.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, TagId};
use db::{Json, Tx};

use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{Conversation, admit_change};
use crate::figures::counters::{self, Counter};
use crate::figures::report_facts::{self, ReportMeasure, ReportPlace};
use crate::indexing::search_index;
use crate::people::agent_limits::changes::ConversationAct;
use crate::rule_queue;

/// Conversations whose tag is renamed at once.
pub const RENAMED: i64 = 10_000;
/// People whose private tags of one name become the team's at once.
const PRIVATE_TWINS: i64 = 100;

/// A tag's name: spelled as first typed, compared case-insensitively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagName {
    pub name: String,
    pub folded: String,
}

impl TagName {
    pub fn new(name: &str) -> TagName {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        TagName { folded: name.to_lowercase(), name }
    }
}

/// A visible tag.
#[derive(Clone, Debug)]
pub struct TagListing {
    pub id: TagId,
    pub name: String,
    /// `team`, or the one person whose tag it is.
    pub circle: Circle,
}

/// A tag by its id, if the actor can see it.
pub fn seen_by(tx: &mut Tx<'_>, actor: &Actor, id: &TagId) -> Result<Option<TagListing>> {
    let (first, second) = actor.circles.pair();
    let found: Option<(String, Circle)> = tx.opt(
        "SELECT name, circle FROM tags WHERE ws = ?1 AND id = ?2 AND circle IN ('team', ?3, ?4)",
        &[&actor.ws, id, first, second],
    )?;
    Ok(found.map(|(name, circle)| TagListing { id: id.clone(), name, circle }))
}

/// The tag of this name in a circle: the team's, or else one that is private there.
pub fn find_by_name(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    folded: &str,
) -> Result<Option<TagListing>> {
    let found: Option<(TagId, String, Circle)> = tx.opt(
        "SELECT id, name, circle FROM tags
         WHERE ws = ?1 AND folded = ?2 AND circle IN ('team', ?3)
         ORDER BY CASE WHEN circle = 'team' THEN 0 ELSE 1 END LIMIT 1",
        &[&ws, &folded, circle],
    )?;
    Ok(found.map(|(id, name, circle)| TagListing { id, name, circle }))
}

/// The tags of a name that the actor may see: the team's, and one of a private inbox of theirs.
pub fn visible(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<Vec<TagId>> {
    let (first, second) = actor.circles.pair();
    let found: Vec<(TagId,)> = tx.all(
        "SELECT id FROM tags WHERE ws = ?1 AND folded = ?2 AND circle IN ('team', ?3, ?4)",
        &[&actor.ws, &TagName::new(name).folded, first, second],
    )?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// The tag of this name, made if there is none yet.
fn ensure(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, tag: &TagName) -> Result<TagListing> {
    if let Some(found) = find_by_name(tx, cx.actor.ws, circle, &tag.folded)? {
        return Ok(found);
    }
    let circle = if circle.is_closed() { circle.clone() } else { Circle::team() };
    let made = TagListing { id: TagId::new(cx.ids, cx.now), name: tag.name.clone(), circle };
    tx.exec_soon(
        "INSERT INTO tags (ws, id, name, folded, created_at, circle)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&cx.actor.ws, &made.id, &made.name, &tag.folded, &cx.now, &made.circle],
    )?;
    absorb_private(tx, cx, &made)?;
    Ok(made)
}

/// Merges people's private tags into the team's tag of the same name, so that nobody sees the name
/// twice. The team's id and spelling stay, so the merge reveals nothing.
pub fn absorb_private(tx: &mut Tx<'_>, cx: &Cx<'_>, tag: &TagListing) -> Result<()> {
    if !tag.circle.is_team() {
        return Ok(());
    }
    let twins: Vec<(TagId, String)> = tx.all(
        "SELECT id, name FROM tags WHERE ws = ?1 AND folded = ?2 AND circle <> 'team' LIMIT ?3",
        &[&cx.actor.ws, &TagName::new(&tag.name).folded, &PRIVATE_TWINS],
    )?;
    for (id, name) in twins {
        merge(tx, cx, (&id, &name), (&tag.id, &tag.name))?;
    }
    Ok(())
}

/// Adds a tag to a conversation; returns its name when it is new there.
pub fn put_on(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    tag: &TagName,
) -> Result<Option<String>> {
    admit_change(tx, cx, conversation, ConversationAct::Change)?;
    let TagListing { id, name, .. } = ensure(tx, cx, &conversation.circle, tag)?;
    let added = tx.exec(
        "INSERT INTO conversation_tags (ws, tag, conversation) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, tag, conversation) DO NOTHING",
        &[&cx.actor.ws, &id, &conversation.id],
    )?;
    if added == 0 {
        return Ok(None);
    }
    if !conversation.tags.contains(&name) {
        conversation.tags.push(name.clone());
    }
    count(tx, cx, conversation, &id, 1)?;
    rule_queue::enqueue_tagged(tx, cx, conversation)?;
    Ok(Some(name))
}

/// Removes a tag from a conversation; returns its name when it was there.
pub fn take_off(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    tag: &TagName,
) -> Result<Option<String>> {
    let found = find_by_name(tx, cx.actor.ws, &conversation.circle, &tag.folded)?;
    let Some(TagListing { id, name, .. }) = found else { return Ok(None) };
    admit_change(tx, cx, conversation, ConversationAct::Change)?;
    let removed = tx.exec(
        "DELETE FROM conversation_tags WHERE ws = ?1 AND tag = ?2 AND conversation = ?3",
        &[&cx.actor.ws, &id, &conversation.id],
    )?;
    if removed == 0 {
        return Ok(None);
    }
    conversation.tags.retain(|had| *had != name);
    count(tx, cx, conversation, &id, -1)?;
    Ok(Some(name))
}

/// Names as tags in the order of their names, each once, so that two callers never wait for each other in
/// a circle.
pub fn sort_names(names: &[String]) -> Vec<TagName> {
    let mut tags: Vec<TagName> = names.iter().map(|name| TagName::new(name)).collect();
    tags.sort_by(|a, b| a.folded.cmp(&b.folded));
    tags.dedup_by(|a, b| a.folded == b.folded);
    tags
}

/// Takes tags off and puts others on, and tells it in the timeline. Removes first, so that a name in both
/// lists ends up on the conversation. Returns the names that are new there.
pub fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    add: &[TagName],
    remove: &[TagName],
) -> Result<Vec<String>> {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for tag in remove {
        removed.extend(take_off(tx, cx, conversation, tag)?);
    }
    for tag in add {
        added.extend(put_on(tx, cx, conversation, tag)?);
    }
    if !added.is_empty() || !removed.is_empty() {
        save_names(tx, cx, conversation)?;
        let tagged = TimelineEvent::Tagged { added: added.clone(), removed };
        timeline::record(tx, cx, &conversation.id, &tagged)?;
    }
    Ok(added)
}

fn count(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    id: &TagId,
    change: i64,
) -> Result<()> {
    let labelled = (&conversation.report_place(), &conversation.id, conversation.created_at);
    report_facts::count_label(tx, cx, labelled, ReportMeasure::Tagged, id.as_str(), change)?;
    let (circle, counter) = (&conversation.circle, Counter::Tagged(id));
    counters::add(tx, cx.actor.ws, circle, counter, conversation.id.as_str(), change)
}

/// Writes the names that lists show.
pub fn save_names(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    search_index::tags(tx, cx, &conversation.id, &conversation.tags)?;
    tx.exec_soon(
        "UPDATE conversations SET tags = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &conversation.tags],
    )?;
    Ok(())
}

type TaggedConversation = (ConversationId, Circle, Json<Vec<String>>, MailboxId, i64);

/// The conversations that have a tag; `None` when they are too many to change at once.
fn list_tagged(tx: &mut Tx<'_>, ws: i64, id: &TagId) -> Result<Option<Vec<TaggedConversation>>> {
    let tagged: Vec<TaggedConversation> = tx.all(
        "SELECT c.id, c.circle, c.tags, c.mailbox, c.created_at
         FROM conversation_tags t JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation
         WHERE t.ws = ?1 AND t.tag = ?2 LIMIT ?3",
        &[&ws, id, &(RENAMED + 1)],
    )?;
    Ok((tagged.len() as i64 <= RENAMED).then_some(tagged))
}

/// Writes a tag's new name on every conversation that has it. `false` when they are too many.
pub fn respell(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TagId, old: &str, new: &str) -> Result<bool> {
    let Some(tagged) = list_tagged(tx, cx.actor.ws, id)? else { return Ok(false) };
    for (conversation, _, tags, ..) in &tagged {
        write_name(tx, cx, conversation, tags, old, new)?;
    }
    Ok(true)
}

/// Puts a tag in the place of another, which ends. `false` when too many conversations have it.
pub fn merge(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (from, old): (&TagId, &str),
    (into, new): (&TagId, &str),
) -> Result<bool> {
    let ws = cx.actor.ws;
    let Some(tagged) = list_tagged(tx, ws, from)? else { return Ok(false) };
    for (conversation, circle, tags, mailbox, began) in &tagged {
        let labelled = (&ReportPlace { circle, mailbox }, conversation, *began);
        let added = move_over(tx, ws, conversation, circle, from, into)?;
        for (tag, change) in [(from, -1), (into, added)] {
            let tag = tag.as_str();
            report_facts::count_label(tx, cx, labelled, ReportMeasure::Tagged, tag, change)?;
        }
        write_name(tx, cx, conversation, tags, old, new)?;
    }
    tx.exec_soon("DELETE FROM tags WHERE ws = ?1 AND id = ?2", &[&ws, from])?;
    Ok(true)
}

fn write_name(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    tags: &[String],
    old: &str,
    new: &str,
) -> Result<()> {
    let mut renamed: Vec<String> = Vec::new();
    for tag in tags {
        let tag = if tag == old { new } else { tag };
        if !renamed.iter().any(|known| known == tag) {
            renamed.push(tag.to_owned());
        }
    }
    search_index::tags(tx, cx, conversation, &renamed)?;
    tx.exec_soon(
        "UPDATE conversations SET tags = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, conversation, &Json(&renamed)],
    )?;
    Ok(())
}

/// 1 when the conversation did not have the other tag yet, otherwise 0.
fn move_over(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    circle: &Circle,
    from: &TagId,
    to: &TagId,
) -> Result<i64> {
    tx.exec_soon(
        "DELETE FROM conversation_tags WHERE ws = ?1 AND tag = ?2 AND conversation = ?3",
        &[&ws, from, conversation],
    )?;
    counters::add(tx, ws, circle, Counter::Tagged(from), conversation.as_str(), -1)?;
    let added = tx.exec(
        "INSERT INTO conversation_tags (ws, tag, conversation) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, tag, conversation) DO NOTHING",
        &[&ws, to, conversation],
    )?;
    let added = added as i64;
    counters::add(tx, ws, circle, Counter::Tagged(to), conversation.as_str(), added)?;
    Ok(added)
}
