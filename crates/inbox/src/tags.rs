//! Tags: names shared by the whole workspace, sandbox included.

use db::Tx;
use serde_json::json;

use crate::app::Cx;
use crate::conversations::Conversation;
use crate::error::Result;
use crate::ids::TagId;
use crate::tallies;

/// A tag as it is named: spelled as first typed, found whatever the case.
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

/// The tag of this name, made if there is none yet.
fn ensure(tx: &mut Tx<'_>, cx: &Cx<'_>, tag: &TagName) -> Result<(TagId, String)> {
    if let Some(found) = find(tx, cx, tag)? {
        return Ok(found);
    }
    let id = TagId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO tags (ws, id, name, folded, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[&cx.actor.ws, &id, &tag.name, &tag.folded, &cx.now],
    )?;
    Ok((id, tag.name.clone()))
}

fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, tag: &TagName) -> Result<Option<(TagId, String)>> {
    Ok(tx.opt(
        "SELECT id, name FROM tags WHERE ws = ?1 AND folded = ?2",
        &[&cx.actor.ws, &tag.folded],
    )?)
}

/// Puts a tag on a conversation; answers its name when it was not there before.
pub fn put_on(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    tag: &TagName,
) -> Result<Option<String>> {
    let (id, name) = ensure(tx, cx, tag)?;
    let added = tx.exec(
        "INSERT INTO conversation_tags (ws, tag, conversation) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, tag, conversation) DO NOTHING",
        &[&cx.actor.ws, &id, &conversation.id],
    )?;
    if added == 0 {
        return Ok(None);
    }
    conversation.tags.push(name.clone());
    count(tx, cx, conversation, &id, 1)?;
    Ok(Some(name))
}

/// Takes a tag off a conversation; answers its name when it was there.
pub fn take_off(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    tag: &TagName,
) -> Result<Option<String>> {
    let Some((id, name)) = find(tx, cx, tag)? else { return Ok(None) };
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

fn count(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    id: &TagId,
    change: i64,
) -> Result<()> {
    let what = format!("tag:{id}");
    tallies::add(tx, cx.actor.ws, &conversation.circle, &what, conversation.id.as_str(), change)
}

/// Writes the names that lists show.
pub fn save_names(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation) -> Result<()> {
    tx.exec(
        "UPDATE conversations SET tags = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, &json!(conversation.tags).to_string()],
    )?;
    Ok(())
}
