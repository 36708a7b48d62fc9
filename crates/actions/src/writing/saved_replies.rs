//! Saved replies of the team: Markdown with placeholders, in folders, with files.

use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::files::blobs;
use base::ids::{AnswerId, AttachmentId, SavedReplyId};
use base::limits::{
    ATTACHED_BYTES, ATTACHMENTS, SAVED_REPLIES, SAVED_REPLY_CHARS, SAVED_REPLY_NAME_CHARS,
    megabytes, thousands,
};
use db::Tx;
use knowledge::help_pages;
use model::fields::CustomField;
use model::messages::answers;
use model::messages::attachments::{self, NewAttachment, StoredAttachment};
use model::messages::markdown_values::escape_markdown;
use model::messages::placeholder_values::{FIELD_PLACEHOLDER, PlaceholderValues};
use model::messages::placeholders::{fill, first_word};
use model::{conversations, fields, mailboxes};

use crate::sign_in::sessions::own_id;
use crate::writing::autosaves::AutosaveKey;

/// The placeholder names and their values. A field is one as well, under its key: `field.plan`.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("first_name", "the customer's first name"),
    ("name", "the customer's name"),
    ("email", "the customer's address"),
    ("subject", "the conversation's subject"),
    ("inbox", "the inbox's name"),
    ("reference", "the reference of your app, such as an order number"),
    ("my_name", "your name"),
    ("my_first_name", "your first name"),
];

db::row! {
    #[derive(Clone, Debug)]
    pub struct SavedReply from "saved_replies" {
        pub id: SavedReplyId,
        pub name: String,
        /// Empty for those in no folder.
        pub folder: String,
        /// Markdown.
        pub body: String,
        pub changed_at: i64,
        /// How often people put it into a message, and when last.
        pub uses: i64,
        pub used_at: Option<i64>,
    } later {
        pub files: Vec<SavedReplyFile>,
    }
}

db::row! {
    /// A file that goes along with a saved reply.
    #[derive(Clone, Debug)]
    pub struct SavedReplyFile from "f" {
        pub id: AttachmentId,
        pub filename: String,
        pub size: i64,
        reply: SavedReplyId,
    }
}

/// A saved reply as a person enters it.
#[derive(Clone, Debug, Default)]
pub struct SavedReplyInput {
    pub name: String,
    pub folder: String,
    pub body: String,
}

/// Every saved reply, by folder and name.
pub fn list_saved_replies(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<SavedReply>> {
    let mut replies: Vec<SavedReply> = tx.all(
        &format!("SELECT {} FROM saved_replies WHERE ws = ?1 ORDER BY folded", SavedReply::COLUMNS),
        &[&cx.actor.ws],
    )?;
    let files: Vec<SavedReplyFile> = tx.all(
        &format!(
            "SELECT {} FROM saved_reply_files f WHERE f.ws = ?1 ORDER BY f.reply, f.id",
            SavedReplyFile::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    for file in files {
        if let Some(reply) = replies.iter_mut().find(|reply| reply.id == file.reply) {
            reply.files.push(file);
        }
    }
    replies.sort_by_cached_key(|reply| reply.folder.to_lowercase());
    Ok(replies)
}

/// What the composer offers to insert: the saved replies, then links to public help pages in a folder of their own.
pub fn list_insertable(tx: &mut Tx<'_>, cx: &Cx<'_>, folder: &str) -> Result<Vec<SavedReply>> {
    let mut replies = list_saved_replies(tx, cx)?;
    let pages = help_pages::offered_pages(tx, cx.actor.ws, (cx.public_url, cx.now))?;
    let links = pages.into_iter().filter_map(|page| {
        Some(SavedReply {
            id: page.answer.saved_reply()?,
            name: page.title,
            folder: folder.to_owned(),
            body: page.url,
            changed_at: 0,
            uses: 0,
            used_at: None,
            files: Vec::new(),
        })
    });
    replies.extend(links);
    Ok(replies)
}

/// A link to the public help page of an answer, as Markdown; `None` where it has none.
fn link_to_page(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SavedReplyId) -> Result<Option<String>> {
    let answer = AnswerId::of_saved_reply(id);
    let Some(found) = answers::load(tx, cx.actor, &answer)? else { return Ok(None) };
    let urls = help_pages::public_urls(
        tx,
        cx.actor.ws,
        (cx.public_url, cx.now),
        std::slice::from_ref(&answer),
    )?;
    let title = found.title.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
    Ok(urls.into_iter().next().map(|(_, url)| format!("[{title}]({url})")))
}

/// Keeps a text under a name.
pub fn save_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &SavedReplyInput,
    files: &[NewAttachment],
) -> Result<SavedReplyId> {
    let checked = check(tx, cx, input, None)?;
    let (count,): (i64,) = tx
        .one("SELECT CAST(count(*) AS BIGINT) FROM saved_replies WHERE ws = ?1", &[&cx.actor.ws])?;
    if count >= SAVED_REPLIES {
        let sentence = format!("There are {SAVED_REPLIES} saved replies; delete one first.");
        return Err(Error::invalid("name", sentence));
    }
    let id = SavedReplyId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO saved_replies (ws, id, name, folded, folder, body, created_at, changed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        &[&cx.actor.ws, &id, &checked.name, &checked.folded, &checked.folder, &input.body, &cx.now],
    )?;
    add_files(tx, cx, &id, files)?;
    Ok(id)
}

pub fn change_saved_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &SavedReplyId,
    input: &SavedReplyInput,
    files: &[NewAttachment],
) -> Result<()> {
    let checked = check(tx, cx, input, Some(id))?;
    let changed = tx.exec(
        "UPDATE saved_replies
         SET name = ?3, folded = ?4, folder = ?5, body = ?6, changed_at = ?7
         WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &checked.name, &checked.folded, &checked.folder, &input.body, &cx.now],
    )?;
    if changed == 0 {
        return Err(Error::NotFound("saved reply"));
    }
    add_files(tx, cx, id, files)
}

fn add_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &SavedReplyId,
    files: &[NewAttachment],
) -> Result<()> {
    let there = stored_files(tx, cx, id)?;
    let bytes: i64 = there.iter().map(|file| file.size).sum();
    let more: i64 = files.iter().map(|file| file.blob.size).sum();
    if there.len() + files.len() > ATTACHMENTS || bytes + more > ATTACHED_BYTES {
        let sentence = format!(
            "A saved reply has at most {ATTACHMENTS} files, of {} MB together.",
            megabytes(ATTACHED_BYTES)
        );
        return Err(Error::invalid("files", sentence));
    }
    for file in files {
        blobs::keep(tx, cx.actor.ws, &file.blob)?;
        tx.exec(
            "INSERT INTO saved_reply_files (ws, reply, id, filename, content_type, size, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                &cx.actor.ws,
                id,
                &file.id,
                &file.filename,
                &file.content_type,
                &file.blob.size,
                &file.blob.hash,
            ],
        )?;
    }
    Ok(())
}

fn stored_files(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SavedReplyId) -> Result<Vec<StoredAttachment>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM saved_reply_files stored
             WHERE stored.ws = ?1 AND stored.reply = ?2 ORDER BY stored.id",
            StoredAttachment::COLUMNS
        ),
        &[&cx.actor.ws, id],
    )?)
}

/// Takes a file off a saved reply.
pub fn remove_saved_reply_file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &SavedReplyId,
    file: &AttachmentId,
) -> Result<()> {
    let removed = tx.exec(
        "DELETE FROM saved_reply_files WHERE ws = ?1 AND reply = ?2 AND id = ?3",
        &[&cx.actor.ws, id, file],
    )?;
    if removed == 0 { Err(Error::NotFound("file")) } else { Ok(()) }
}

pub fn delete_saved_reply(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SavedReplyId) -> Result<()> {
    let deleted =
        tx.exec("DELETE FROM saved_replies WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    if deleted == 0 {
        return Err(Error::NotFound("saved reply"));
    }
    tx.exec("DELETE FROM saved_reply_files WHERE ws = ?1 AND reply = ?2", &[&cx.actor.ws, id])?;
    Ok(())
}

/// Adds the files of a saved reply to the actor's unsent text.
pub fn attach_saved_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    id: &SavedReplyId,
) -> Result<()> {
    let files = stored_files(tx, cx, id)?;
    attachments::add_stored(tx, cx, place.key(), own_id(cx)?, &files)
}

/// A saved reply as it reads in one conversation, or in a first mail, for whoever puts it in: that is
/// counted. A link to a help page is not.
pub fn put_in_saved_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    id: &SavedReplyId,
) -> Result<String> {
    let text = fill_saved_reply(tx, cx, place, id)?;
    tx.exec(
        "UPDATE saved_replies SET uses = uses + 1, used_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    Ok(text)
}

fn fill_saved_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    id: &SavedReplyId,
) -> Result<String> {
    let conversation = match place {
        AutosaveKey::Conversation(id) => Some(conversations::load(tx, cx.actor, id.as_str())?),
        AutosaveKey::New => None,
    };
    let body: Option<(String,)> =
        tx.opt("SELECT body FROM saved_replies WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let Some((body,)) = body else {
        let link = link_to_page(tx, cx, id)?;
        return link.ok_or(Error::NotFound("saved reply"));
    };
    let inbox = match &conversation {
        Some(conversation) => mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?,
        None => None,
    };
    let inbox = inbox.map(|inbox| inbox.name).unwrap_or_default();
    let values = match &conversation {
        Some(conversation) => PlaceholderValues::of(tx, cx.actor.ws, conversation, &inbox)?,
        None => PlaceholderValues::default(),
    };
    Ok(fill(&body, |placeholder| {
        let value = match placeholder {
            "my_name" => cx.actor.name().to_owned(),
            "my_first_name" => first_word(cx.actor.name()).to_owned(),
            other => values.value_of(other)?,
        };
        Some(escape_markdown(&value))
    }))
}

/// What is stored of the name and folder of a saved reply.
struct CheckedNames {
    name: String,
    folded: String,
    folder: String,
}

fn check(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &SavedReplyInput,
    own: Option<&SavedReplyId>,
) -> Result<CheckedNames> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, folder, body) = (plain(&input.name), plain(&input.folder), input.body.as_str());
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
    if folder.contains('\0') || folder.chars().count() > SAVED_REPLY_NAME_CHARS {
        add("folder", format!("A folder has at most {SAVED_REPLY_NAME_CHARS} characters."));
    }
    if body.trim().is_empty() {
        add("body", "Write something first.".into());
    } else if body.contains('\0') || body.chars().count() > SAVED_REPLY_CHARS {
        let most = thousands(SAVED_REPLY_CHARS);
        add("body", format!("A saved reply has at most {most} characters."));
    }
    if let Some(sentence) = objection_to_placeholders(tx, cx, body)? {
        add("body", sentence);
    }
    if problems.0.is_empty() {
        Ok(CheckedNames { name, folded, folder })
    } else {
        Err(Error::Invalid(problems))
    }
}

/// What is wrong with the placeholders of a text: the first that means nothing, and those that there are.
pub(crate) fn objection_to_placeholders(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    body: &str,
) -> Result<Option<String>> {
    let fields = fields::all(tx, cx.actor.ws)?;
    let Some(unknown) = unknown_placeholder(body, &fields) else { return Ok(None) };
    let known = PLACEHOLDERS.iter().map(|(name, _)| (*name).to_owned());
    let known: Vec<String> = known.chain(fields.iter().map(placeholder_of)).collect();
    let known = known.join(", ");
    Ok(Some(format!("There is no {{{{{unknown}}}}}. What can stand there: {known}.")))
}

/// The name of a field's placeholder.
pub fn placeholder_of(field: &CustomField) -> String {
    format!("{FIELD_PLACEHOLDER}{}", field.key)
}

/// The first placeholder that means nothing.
fn unknown_placeholder(body: &str, fields: &[CustomField]) -> Option<String> {
    let mut unknown = None;
    fill(body, |name| {
        let known = match name.strip_prefix(FIELD_PLACEHOLDER) {
            Some(key) => fields.iter().any(|field| field.key == key),
            None => PLACEHOLDERS.iter().any(|(known, _)| *known == name),
        };
        if !known && unknown.is_none() {
            unknown = Some(name.to_owned());
        }
        None
    });
    unknown
}

#[cfg(test)]
mod tests {
    use db::Json;
    use model::fields::{FieldKind, FieldOwner};

    use super::*;

    #[test]
    fn a_misspelled_placeholder_is_found() {
        let plan = CustomField {
            key: "plan".into(),
            owner: FieldOwner::Contact,
            kind: FieldKind::Text,
            choices: Json(Vec::new()),
        };
        let unknown = |body| unknown_placeholder(body, std::slice::from_ref(&plan));
        assert_eq!(unknown("{{first_name}} {{frist}}").as_deref(), Some("frist"));
        assert_eq!(unknown("{{first_name|you}} {{email}} {{ reference }}"), None);
        assert_eq!(unknown("{{field.plan|none}}"), None);
        assert_eq!(unknown("{{field.order}}").as_deref(), Some("field.order"));
        assert_eq!(unknown("{{plan}}").as_deref(), Some("plan"));
    }
}
