//! Unsent texts, which are kept while somebody writes.

use db::Tx;

use crate::app::Cx;
use crate::base::error::{Error, Result};
use crate::base::ids::{ConversationId, MessageId};
use crate::base::limits::{REPLY_CHARS, thousands};
use crate::base::string_enum::string_enum;
use crate::model::{conversations, sealing};

string_enum! {
    /// The kind of message that an unsent text becomes.
    AutosaveKind { Reply = "reply", Note = "note", Forward = "forward", New = "new" }
}

/// What an unsent text belongs to. Everybody has one in each conversation, and one first mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsentPlace {
    Conversation(ConversationId),
    /// A first mail, which has no conversation yet.
    New,
}

impl UnsentPlace {
    /// That of a conversation that the actor may see; without an id, that of a first mail.
    pub fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: Option<&str>) -> Result<UnsentPlace> {
        Ok(match conversation {
            Some(id) => UnsentPlace::Conversation(conversations::load(tx, cx.actor, id)?.id),
            None => UnsentPlace::New,
        })
    }

    /// As the column `conversation` has it.
    pub(super) fn key(&self) -> &str {
        match self {
            UnsentPlace::Conversation(id) => id.as_str(),
            UnsentPlace::New => "",
        }
    }
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
        /// Of a first mail; empty in a conversation.
        pub mailbox: String,
        pub subject: String,
        /// The message that is passed on.
        pub forwards: Option<MessageId>,
        /// It becomes a secure message.
        pub secure: bool,
        pub saved_at: i64,
    }
}

impl Autosave {
    pub fn new(kind: AutosaveKind, body: String) -> Autosave {
        Autosave {
            kind,
            body,
            to: String::new(),
            cc: String::new(),
            bcc: String::new(),
            mailbox: String::new(),
            subject: String::new(),
            forwards: None,
            secure: false,
            saved_at: 0,
        }
    }

    /// True when nothing of it is worth keeping.
    fn is_empty(&self) -> bool {
        let typed = [&self.body, &self.subject];
        let is_first = self.kind == AutosaveKind::New;
        typed.iter().all(|text| text.trim().is_empty()) && (!is_first || self.to.trim().is_empty())
    }
}

/// The actor's unsent text.
pub fn load_autosave(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &UnsentPlace,
) -> Result<Option<Autosave>> {
    let Some(me) = cx.actor.member() else { return Ok(None) };
    let found: Option<Autosave> = tx.opt(
        &format!(
            "SELECT {} FROM autosaves WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
            Autosave::COLUMNS
        ),
        &[&cx.actor.ws, &me, &place.key()],
    )?;
    let Some(mut saved) = found else { return Ok(None) };
    let purpose = sealing::autosave_purpose(cx.actor.ws, me.as_str(), place.key());
    saved.body = sealing::unseal(cx.sealer, &purpose, saved.body)?;
    Ok(Some(saved))
}

/// Saves an unsent text; an empty one is deleted. It is kept sealed, because any text may become a secure
/// message until it is sent.
pub fn autosave(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &UnsentPlace,
    autosave: &Autosave,
) -> Result<()> {
    let Some(me) = cx.actor.member() else { return Ok(()) };
    if autosave.is_empty() {
        return forget_autosave(tx, cx, place);
    }
    let texts = [&autosave.body, &autosave.to, &autosave.cc, &autosave.bcc, &autosave.subject];
    let is_too_long = |text: &&String| text.contains('\0') || text.chars().count() > REPLY_CHARS;
    if texts.iter().any(is_too_long) || autosave.mailbox.len() > REPLY_CHARS {
        return Err(Error::invalid("body", too_long()));
    }
    let purpose = sealing::autosave_purpose(cx.actor.ws, me.as_str(), place.key());
    let body = sealing::seal(cx, &purpose, &autosave.body);
    tx.exec(
        "INSERT INTO autosaves (
            ws, person, conversation, kind, body, to_line, cc_line, bcc_line, saved_at, mailbox,
            subject, forwards, secure
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (ws, person, conversation) DO UPDATE
         SET kind = excluded.kind, body = excluded.body, to_line = excluded.to_line,
             cc_line = excluded.cc_line, bcc_line = excluded.bcc_line,
             saved_at = excluded.saved_at, mailbox = excluded.mailbox,
             subject = excluded.subject, forwards = excluded.forwards, secure = excluded.secure",
        &[
            &cx.actor.ws,
            &me,
            &place.key(),
            &autosave.kind,
            &body,
            &autosave.to,
            &autosave.cc,
            &autosave.bcc,
            &cx.now,
            &autosave.mailbox,
            &autosave.subject,
            &autosave.forwards,
            &autosave.secure,
        ],
    )?;
    Ok(())
}

pub(super) fn too_long() -> String {
    format!("A message has at most {} characters.", thousands(REPLY_CHARS))
}

pub fn forget_autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &UnsentPlace) -> Result<()> {
    let Some(me) = cx.actor.member() else { return Ok(()) };
    tx.exec(
        "DELETE FROM autosaves WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&cx.actor.ws, &me, &place.key()],
    )?;
    Ok(())
}
