//! Topics: what mail can be about, in the team's words. The whole workspace shares them.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::TopicId;
use base::limits::{TOPIC_CHARS, TOPIC_WORDS_CHARS, TOPICS};
use db::Tx;

use crate::conversations::sorter_examples;

db::row! {
    /// A topic.
    #[derive(Clone, Debug)]
    pub struct Topic from "topics" {
        pub id: TopicId,
        pub name: String,
        /// Words that describe it, from which it is suggested before anybody decided.
        pub words: String,
    }
}

/// The topics of a workspace by name.
pub fn all(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<Topic>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM topics WHERE ws = ?1 ORDER BY folded, id LIMIT ?2",
            Topic::COLUMNS
        ),
        &[&ws, &TOPICS],
    )?)
}

/// The topic of this name, whatever its case.
pub fn find_by_name(tx: &mut Tx<'_>, ws: i64, name: &str) -> Result<Option<Topic>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM topics WHERE ws = ?1 AND folded = ?2", Topic::COLUMNS),
        &[&ws, &fold_name(&tidy(name))],
    )?)
}

pub fn by_id(tx: &mut Tx<'_>, ws: i64, id: &TopicId) -> Result<Topic> {
    find(tx, ws, id)?.ok_or(Error::NotFound("topic"))
}

/// A topic that may have been removed.
pub fn find(tx: &mut Tx<'_>, ws: i64, id: &TopicId) -> Result<Option<Topic>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM topics WHERE ws = ?1 AND id = ?2", Topic::COLUMNS),
        &[&ws, id],
    )?)
}

/// Adds a topic of a new name.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, words: &str) -> Result<Topic> {
    let (name, words) = check(name, words)?;
    let ws = cx.actor.ws;
    refuse_twin(tx, ws, &name, None)?;
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM topics WHERE ws = ?1", &[&ws])?;
    if count >= TOPICS {
        let sentence = format!("A workspace has at most {TOPICS} topics. Remove one first.");
        return Err(Error::invalid("name", sentence));
    }
    let topic = Topic { id: TopicId::new(cx.ids, cx.now), name, words };
    tx.exec_soon(
        "INSERT INTO topics (ws, id, name, folded, words, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&ws, &topic.id, &topic.name, &fold_name(&topic.name), &topic.words, &cx.now],
    )?;
    sorter_examples::topics_changed(tx, ws)?;
    Ok(topic)
}

/// Gives a topic another name or other words; its conversations and examples stay.
pub fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &TopicId,
    name: &str,
    words: &str,
) -> Result<Topic> {
    let ws = cx.actor.ws;
    by_id(tx, ws, id)?;
    let (name, words) = check(name, words)?;
    refuse_twin(tx, ws, &name, Some(id))?;
    tx.exec_soon(
        "UPDATE topics SET name = ?3, folded = ?4, words = ?5 WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &name, &fold_name(&name), &words],
    )?;
    sorter_examples::topics_changed(tx, ws)?;
    Ok(Topic { id: id.clone(), name, words })
}

/// Removes a topic and what was learned about it. Its conversations have no topic from then on.
pub fn remove(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TopicId) -> Result<Topic> {
    let ws = cx.actor.ws;
    let topic = by_id(tx, ws, id)?;
    tx.exec_soon("DELETE FROM topics WHERE ws = ?1 AND id = ?2", &[&ws, id])?;
    sorter_examples::forget_topic(tx, ws, id)?;
    Ok(topic)
}

fn check(name: &str, words: &str) -> Result<(String, String)> {
    let (name, words) = (tidy(name), tidy(words));
    let chars = name.chars().count();
    if chars == 0 || chars > TOPIC_CHARS || name.contains('\0') {
        let sentence = format!("A topic's name has 1 to {TOPIC_CHARS} characters.");
        return Err(Error::invalid("name", sentence));
    }
    if words.chars().count() > TOPIC_WORDS_CHARS || words.contains('\0') {
        let sentence = format!("The words are at most {TOPIC_WORDS_CHARS} characters.");
        return Err(Error::invalid("words", sentence));
    }
    Ok((name, words))
}

fn refuse_twin(tx: &mut Tx<'_>, ws: i64, name: &str, own: Option<&TopicId>) -> Result<()> {
    match find_by_name(tx, ws, name)?.filter(|twin| Some(&twin.id) != own) {
        Some(twin) => {
            let sentence = format!("There is a topic “{}” already.", twin.name);
            Err(Error::invalid("name", sentence))
        }
        None => Ok(()),
    }
}

fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fold_name(name: &str) -> String {
    name.to_lowercase()
}
