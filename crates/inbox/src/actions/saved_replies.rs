//! Saved replies of the team, with placeholders.

use db::Tx;

use crate::app::Cx;
use crate::base::error::{Error, Result, ValidationError, ValidationErrors};
use crate::base::ids::SavedReplyId;
use crate::base::limits::{SAVED_REPLIES, SAVED_REPLY_CHARS, SAVED_REPLY_NAME_CHARS, thousands};
use crate::model::{conversations, mailboxes};

/// The placeholder names and their values.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("first_name", "the customer's first name"),
    ("name", "the customer's name"),
    ("email", "the customer's address"),
    ("subject", "the conversation's subject"),
    ("inbox", "the inbox's name"),
    ("my_name", "your name"),
    ("my_first_name", "your first name"),
];

db::row! {
    #[derive(Clone, Debug)]
    pub struct SavedReply from "saved_replies" {
        pub id: SavedReplyId,
        pub name: String,
        pub body: String,
        pub changed_at: i64,
    }
}

/// Every saved reply, by name.
pub fn list_saved_replies(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<SavedReply>> {
    Ok(tx.all(
        &format!("SELECT {} FROM saved_replies WHERE ws = ?1 ORDER BY folded", SavedReply::COLUMNS),
        &[&cx.actor.ws],
    )?)
}

/// The names alone, for a menu.
pub fn saved_reply_names(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<(SavedReplyId, String)>> {
    Ok(tx
        .all("SELECT id, name FROM saved_replies WHERE ws = ?1 ORDER BY folded", &[&cx.actor.ws])?)
}

/// Keeps a text under a name.
pub fn save_reply(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, body: &str) -> Result<SavedReplyId> {
    let (name, folded) = checked(tx, cx, name, body, None)?;
    let (count,): (i64,) = tx
        .one("SELECT CAST(count(*) AS BIGINT) FROM saved_replies WHERE ws = ?1", &[&cx.actor.ws])?;
    if count >= SAVED_REPLIES {
        let sentence = format!("There are {SAVED_REPLIES} saved replies; delete one first.");
        return Err(Error::invalid("name", sentence));
    }
    let id = SavedReplyId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO saved_replies (ws, id, name, folded, body, created_at, changed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        &[&cx.actor.ws, &id, &name, &folded, &body, &cx.now],
    )?;
    Ok(id)
}

pub fn change_saved_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &SavedReplyId,
    name: &str,
    body: &str,
) -> Result<()> {
    let (name, folded) = checked(tx, cx, name, body, Some(id))?;
    let changed = tx.exec(
        "UPDATE saved_replies SET name = ?3, folded = ?4, body = ?5, changed_at = ?6
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &name, &folded, &body, &cx.now],
    )?;
    if changed == 0 { Err(Error::NotFound("saved reply")) } else { Ok(()) }
}

pub fn delete_saved_reply(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SavedReplyId) -> Result<()> {
    let deleted =
        tx.exec("DELETE FROM saved_replies WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    if deleted == 0 { Err(Error::NotFound("saved reply")) } else { Ok(()) }
}

/// A saved reply as it reads in one conversation.
pub fn fill_saved_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &str,
    id: &SavedReplyId,
) -> Result<String> {
    let conversation = conversations::load(tx, cx.actor, conversation)?;
    let body: Option<(String,)> =
        tx.opt("SELECT body FROM saved_replies WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let (body,) = body.ok_or(Error::NotFound("saved reply"))?;
    let inbox = mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?;
    let name = conversation.contact_name.as_deref().unwrap_or("").trim();
    let filled = fill(&body, |placeholder| {
        Some(match placeholder {
            "first_name" => first_word(name).to_owned(),
            "name" => name.to_owned(),
            "email" => conversation.contact_email.to_string(),
            "subject" => conversation.subject.clone(),
            "inbox" => inbox.as_ref().map(|inbox| inbox.name.clone()).unwrap_or_default(),
            "my_name" => cx.actor.name().to_owned(),
            "my_first_name" => first_word(cx.actor.name()).to_owned(),
            _ => return None,
        })
    });
    Ok(filled)
}

fn first_word(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or("")
}

fn checked(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    name: &str,
    body: &str,
    own: Option<&SavedReplyId>,
) -> Result<(String, String)> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let folded = name.to_lowercase();
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    let taken: Option<(SavedReplyId,)> = tx.opt(
        "SELECT id FROM saved_replies WHERE ws = ?1 AND folded = ?2",
        &[&cx.actor.ws, &folded],
    )?;
    match name.chars().count() {
        1..=SAVED_REPLY_NAME_CHARS if !name.contains('\0') => {}
        _ => {
            add("name", format!("Give it a name of at most {SAVED_REPLY_NAME_CHARS} characters."));
        }
    }
    if taken.is_some_and(|(id,)| Some(&id) != own) {
        add("name", "Another saved reply has this name.".into());
    }
    if body.trim().is_empty() {
        add("body", "Write something first.".into());
    } else if body.contains('\0') || body.chars().count() > SAVED_REPLY_CHARS {
        let most = thousands(SAVED_REPLY_CHARS);
        add("body", format!("A saved reply has at most {most} characters."));
    }
    if let Some(unknown) = unknown_placeholder(body) {
        let known: Vec<&str> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        add("body", format!("There is no {{{{{unknown}}}}}. What can stand there: {known}."));
    }
    if problems.0.is_empty() { Ok((name, folded)) } else { Err(Error::Invalid(problems)) }
}

/// The first placeholder that means nothing.
fn unknown_placeholder(body: &str) -> Option<String> {
    let mut unknown = None;
    fill(body, |name| {
        let known = PLACEHOLDERS.iter().any(|(known, _)| *known == name);
        if !known && unknown.is_none() {
            unknown = Some(name.to_owned());
        }
        None
    });
    unknown
}

/// Replaces each `{{name}}` by its value; `{{name|words}}` has a default. Unknown placeholders stay
/// as they are.
fn fill(body: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((inside, left)) = after.split_once("}}") else {
            out.push_str("{{");
            rest = after;
            continue;
        };
        let (name, otherwise) = inside.split_once('|').unwrap_or((inside, ""));
        match value(name.trim()) {
            Some(found) if found.is_empty() => out.push_str(otherwise.trim()),
            Some(found) => out.push_str(&found),
            None => {
                out.push_str("{{");
                out.push_str(inside);
                out.push_str("}}");
            }
        }
        rest = left;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_what_means_nothing_stays() {
        let value = |name: &str| match name {
            "first_name" => Some("Ann".to_owned()),
            "name" => Some(String::new()),
            _ => None,
        };
        for (body, filled) in [
            ("Hello {{first_name}},", "Hello Ann,"),
            ("Hello {{ first_name | there }},", "Hello Ann,"),
            ("Hello {{name|there}},", "Hello there,"),
            ("Hello {{name}},", "Hello ,"),
            ("a {{b}} {c} {{d", "a {{b}} {c} {{d"),
            ("{{first_name}}{{first_name}}", "AnnAnn"),
            ("{{", "{{"),
            ("", ""),
        ] {
            assert_eq!(fill(body, value), filled, "{body}");
        }
    }

    #[test]
    fn a_value_is_not_read_for_placeholders_again() {
        assert_eq!(fill("{{name}}", |_| Some("{{name}}".into())), "{{name}}");
    }

    #[test]
    fn a_misspelled_placeholder_is_found() {
        assert_eq!(unknown_placeholder("{{first_name}} {{frist}}").as_deref(), Some("frist"));
        assert_eq!(unknown_placeholder("{{first_name|you}} {{email}}"), None);
    }
}
