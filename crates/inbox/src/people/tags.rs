//! Renaming a tag everywhere, or merging it with another.

use db::Tx;
use serde_json::json;

use crate::actor::Circle;
use crate::app::Cx;
use crate::audit::{self, Action};
use crate::conversations::names;
use crate::error::{Error, Result};
use crate::ids::{ConversationId, TagId};
use crate::limits::TAG_CHARS;
use crate::tags::TagName;
use crate::tallies;

/// Conversations whose tag is renamed at once.
const RENAMED: i64 = 10_000;

/// Gives a tag another name on every conversation that has it. If another tag has that name, the
/// two become one.
pub fn rename_tag(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TagId, name: &str) -> Result<()> {
    cx.actor.must_administer()?;
    let old: Option<(String,)> =
        tx.opt("SELECT name FROM tags WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let (old,) = old.ok_or(Error::NotFound("tag"))?;
    let wanted = TagName::new(name);
    let chars = wanted.name.chars().count();
    if chars == 0 || chars > TAG_CHARS || wanted.name.contains('\0') {
        return Err(Error::invalid("name", "A tag has 1 to 40 characters."));
    }
    let twin: Option<(TagId, String)> = tx.opt(
        "SELECT id, name FROM tags WHERE ws = ?1 AND folded = ?2",
        &[&cx.actor.ws, &wanted.folded],
    )?;
    let twin = twin.filter(|(twin, _)| twin != id);
    let new = twin.as_ref().map_or(wanted.name.as_str(), |(_, name)| name);
    let tagged = tagged(tx, cx, id)?;
    for (conversation, circle, tags) in &tagged {
        if let Some((twin, _)) = &twin {
            move_over(tx, cx, conversation, circle, id, twin)?;
        }
        let mut renamed: Vec<String> = Vec::new();
        for tag in names(tags) {
            let tag = if tag == old { new.to_owned() } else { tag };
            if !renamed.contains(&tag) {
                renamed.push(tag);
            }
        }
        tx.exec(
            "UPDATE conversations SET tags = ?3 WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, conversation, &json!(renamed).to_string()],
        )?;
    }
    let action = match &twin {
        Some(_) => {
            tx.exec("DELETE FROM tags WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
            Action::TagsMerged
        }
        None => {
            tx.exec(
                "UPDATE tags SET name = ?3, folded = ?4 WHERE ws = ?1 AND id = ?2",
                &[&cx.actor.ws, id, &wanted.name, &wanted.folded],
            )?;
            Action::TagRenamed
        }
    };
    audit::record(tx, cx, &Circle::team(), action, &old, new)
}

type Tagged = (ConversationId, Circle, String);

fn tagged(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TagId) -> Result<Vec<Tagged>> {
    let tagged: Vec<Tagged> = tx.all(
        "SELECT c.id, c.circle, c.tags
         FROM conversation_tags t JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation
         WHERE t.ws = ?1 AND t.tag = ?2 LIMIT ?3",
        &[&cx.actor.ws, id, &(RENAMED + 1)],
    )?;
    if tagged.len() as i64 > RENAMED {
        let sentence = "A tag on more than 10,000 conversations cannot be renamed.";
        return Err(Error::invalid("name", sentence));
    }
    Ok(tagged)
}

/// Puts the twin on a conversation in the place of the tag.
fn move_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    circle: &Circle,
    from: &TagId,
    to: &TagId,
) -> Result<()> {
    let ws = cx.actor.ws;
    tx.exec(
        "DELETE FROM conversation_tags WHERE ws = ?1 AND tag = ?2 AND conversation = ?3",
        &[&ws, from, conversation],
    )?;
    tallies::add(tx, ws, circle, &format!("tag:{from}"), conversation.as_str(), -1)?;
    let added = tx.exec(
        "INSERT INTO conversation_tags (ws, tag, conversation) VALUES (?1, ?2, ?3)
         ON CONFLICT (ws, tag, conversation) DO NOTHING",
        &[&ws, to, conversation],
    )?;
    tallies::add(tx, ws, circle, &format!("tag:{to}"), conversation.as_str(), added as i64)
}
