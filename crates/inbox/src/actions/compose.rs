//! Composing a reply in the app: recipients, the check for newer messages, attachments and
//! autosave.

use db::Tx;

use super::sessions::own_id;
use crate::app::Cx;
use crate::base::actor::Principal;
use crate::base::email_address::EmailAddress;
use crate::base::error::{Error, Result, ValidationError, ValidationErrors};
use crate::base::ids::{AttachmentId, ConversationId, MessageId};
use crate::base::limits::{REPLY_CHARS, thousands};
use crate::base::states::{Direction, Status};
use crate::base::string_enum::string_enum;
use crate::model::attachments::{self, NewAttachment, OutgoingAttachment};
use crate::model::conversations;
use crate::model::drafts::ReplyResult;
use crate::model::drafts::{self, DraftContent};
use crate::model::recipients::{Party, RecipientList};

/// A reply as a person wrote it.
#[derive(Clone, Debug)]
pub struct NewReply {
    pub body: String,
    pub recipients: RecipientList,
    /// True when the conversation is done with it.
    pub close: bool,
    /// False keeps it as a draft.
    pub send: bool,
}

/// Sends a reply after the undo window, or keeps it as a draft for the team.
pub fn send_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    message: &NewReply,
) -> Result<ReplyResult> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    check(message)?;
    let draft = DraftContent {
        recipients: message.recipients.clone(),
        text: &message.body,
        summary: None,
        documents: &[],
        due_date: None,
    };
    let result = match message.send {
        true => drafts::send(tx, cx, &conversation, &draft)?,
        false => drafts::keep_as_draft(tx, cx, &conversation, &draft)?,
    };
    if let Principal::Person { id: me, .. } = &cx.actor.who {
        attachments::attach_to_message(tx, cx.actor.ws, &conversation.id, me, &result.message_id)?;
    }
    if message.send && message.close {
        conversations::set_status(tx, cx, &mut conversation, Status::Closed)?;
    }
    forget_autosave(tx, cx, &conversation.id)?;
    Ok(result)
}

fn check(message: &NewReply) -> Result<()> {
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    if message.body.trim().is_empty() {
        add("body", "Write something first.".into());
    } else if message.body.contains('\0') || message.body.chars().count() > REPLY_CHARS {
        add("body", too_long());
    }
    if let Some(sentence) = message.recipients.problem() {
        add("to", sentence);
    }
    if problems.0.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

fn too_long() -> String {
    format!("A message has at most {} characters.", thousands(REPLY_CHARS))
}

/// Reads a line of addresses with commas between them: `ann@example.com, Bo Li <bo@example.com>`.
/// The error is the part that is no address.
pub fn parties(line: &str) -> Result<Vec<Party>, String> {
    let mut parties: Vec<Party> = Vec::new();
    for part in line.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
        let (name, email) = match part.strip_suffix('>').and_then(|part| part.rsplit_once('<')) {
            Some((name, email)) => (Some(name.trim().trim_matches('"')), email.trim()),
            None => (None, part),
        };
        if !mail::is_address(email) || name.is_some_and(|name| name.contains(char::is_control)) {
            return Err(part.to_owned());
        }
        let email = String::from(EmailAddress::new(email));
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        if !parties.iter().any(|known| known.email == email) {
            parties.push(Party { name, email });
        }
    }
    Ok(parties)
}

/// A message by someone else that is newer than the page the actor decides from.
pub struct NewerMessage {
    pub id: MessageId,
    pub at: i64,
    pub direction: Direction,
    pub by: String,
}

/// The first unseen message, if there is one: mail from the customer, or a message of another team
/// member.
pub fn newer_than(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    seen: i64,
) -> Result<Option<NewerMessage>> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let me = cx.actor.member();
    let me = me.as_ref().map_or("", |me| me.as_str());
    let found: Option<(MessageId, i64, Direction, Option<String>, String)> = tx.opt(
        "SELECT id, at, direction, from_name, from_email FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND serial >= ?3 AND discarded_at IS NULL
           AND coalesce(author, '') <> ?4
           AND (direction = 'inbound' OR status <> 'draft')
         ORDER BY serial LIMIT 1",
        &[&cx.actor.ws, &conversation.id, &seen, &me],
    )?;
    Ok(found.map(|(id, at, direction, name, email)| NewerMessage {
        id,
        at,
        direction,
        by: name.unwrap_or(email),
    }))
}

string_enum! {
    /// The kind of message that an unsent text becomes.
    AutosaveKind { Reply = "reply", Note = "note" }
}

db::row! {
    /// An unsent text.
    #[derive(Clone, Debug)]
    pub struct Autosave from "autosaves" {
        pub kind: AutosaveKind,
        pub body: String,
        pub to: String = "autosaves.to_line",
        pub cc: String = "autosaves.cc_line",
        pub bcc: String = "autosaves.bcc_line",
        pub saved_at: i64,
    }
}

pub(super) fn load_autosave(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
) -> Result<Option<Autosave>> {
    let Some(me) = cx.actor.member() else { return Ok(None) };
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM autosaves WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
            Autosave::COLUMNS
        ),
        &[&cx.actor.ws, &me, id],
    )?)
}

/// Saves an unsent text; an empty one is deleted.
pub fn autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, autosave: &Autosave) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let Some(me) = cx.actor.member() else { return Ok(()) };
    if autosave.body.trim().is_empty() {
        return forget_autosave(tx, cx, &conversation.id);
    }
    let texts = [&autosave.body, &autosave.to, &autosave.cc, &autosave.bcc];
    let is_too_long = |text: &&String| text.contains('\0') || text.chars().count() > REPLY_CHARS;
    if texts.iter().any(is_too_long) {
        return Err(Error::invalid("body", too_long()));
    }
    tx.exec(
        "INSERT INTO autosaves (
            ws, person, conversation, kind, body, to_line, cc_line, bcc_line, saved_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (ws, person, conversation) DO UPDATE
         SET kind = excluded.kind, body = excluded.body, to_line = excluded.to_line,
             cc_line = excluded.cc_line, bcc_line = excluded.bcc_line,
             saved_at = excluded.saved_at",
        &[
            &cx.actor.ws,
            &me,
            &conversation.id,
            &autosave.kind,
            &autosave.body,
            &autosave.to,
            &autosave.cc,
            &autosave.bcc,
            &cx.now,
        ],
    )?;
    Ok(())
}

pub fn forget_autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<()> {
    let Some(me) = cx.actor.member() else { return Ok(()) };
    tx.exec(
        "DELETE FROM autosaves WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&cx.actor.ws, &me, id],
    )?;
    Ok(())
}

/// Adds files to the actor's unsent text.
pub fn attach(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, files: &[NewAttachment]) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    attachments::add(tx, cx.actor.ws, cx.now, &conversation.id, own_id(cx)?, files)
}

/// Takes one of these files off again.
pub fn take_out(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, file: &AttachmentId) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    attachments::remove(tx, cx.actor.ws, &conversation.id, own_id(cx)?, file)
}

/// The files of the actor's unsent text.
pub fn attached(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
) -> Result<Vec<OutgoingAttachment>> {
    match &cx.actor.who {
        Principal::Person { id: me, .. } => attachments::unsent(tx, cx.actor.ws, id, me),
        _ => Ok(Vec::new()),
    }
}

/// Deletes the actor's unsent text and its files.
pub fn discard_autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    attachments::remove_all(tx, cx.actor.ws, &conversation.id, own_id(cx)?)?;
    forget_autosave(tx, cx, &conversation.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_addresses_names_each_once_or_says_what_is_wrong() {
        let read = |line| {
            parties(line).map(|parties| {
                let shown = parties.iter().map(|party| {
                    format!("{}/{}", party.name.as_deref().unwrap_or("-"), party.email)
                });
                shown.collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(read("ann@example.com").as_deref(), Ok("-/ann@example.com"));
        assert_eq!(
            read("Bo Li <Bo@Example.com>; \"Cy\" <cy@example.com>, bo@example.com,").as_deref(),
            Ok("Bo Li/bo@example.com Cy/cy@example.com")
        );
        assert_eq!(read("").as_deref(), Ok(""));
        assert_eq!(read("ann@example.com, nonsense"), Err("nonsense".into()));
        assert_eq!(read("a\u{7}b <ann@example.com>"), Err("a\u{7}b <ann@example.com>".into()));
    }
}
