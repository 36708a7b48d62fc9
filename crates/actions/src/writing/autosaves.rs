//! Unsent texts, which are kept while somebody writes.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, MessageId};
use base::limits::{REPLY_CHARS, thousands};
use base::string_enum::string_enum;
use db::Tx;
use model::conversations;
use model::installation::sealing;
use outbound::scheduling::MessageTimes;

/// Stands around the times before a kept text: the unit separator, which nobody types.
const TIMES_MARK: char = '\u{1f}';

string_enum! {
    /// The kind of message that an unsent text becomes.
    AutosaveKind { Reply = "reply", Note = "note", Forward = "forward", New = "new" }
}

/// What an unsent text belongs to. Everybody has one in each conversation, and one first mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutosaveKey {
    Conversation(ConversationId),
    /// A first mail, which has no conversation yet.
    New,
}

impl AutosaveKey {
    /// That of a conversation that the actor may see; without an id, that of a first mail.
    pub fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: Option<&str>) -> Result<AutosaveKey> {
        Ok(match conversation {
            Some(id) => AutosaveKey::Conversation(conversations::load(tx, cx.actor, id)?.id),
            None => AutosaveKey::New,
        })
    }

    /// As the column `conversation` has it.
    pub(crate) fn key(&self) -> &str {
        match self {
            AutosaveKey::Conversation(id) => id.as_str(),
            AutosaveKey::New => "",
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
    } later {
        /// When it leaves and is followed up, as far as its writer has chosen.
        pub times: MessageTimes,
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
            times: MessageTimes::default(),
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
    place: &AutosaveKey,
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
    let kept = sealing::unseal(cx.sealer, &purpose, saved.body)?;
    (saved.body, saved.times) = without_times(kept);
    Ok(Some(saved))
}

/// Saves an unsent text; an empty one is deleted. It is kept sealed, because any text may become a secure
/// message until it is sent.
pub fn autosave(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
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
    let body = sealing::seal(cx, &purpose, &with_times(&autosave.body, autosave.times));
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

/// A text as it is kept: the times that were chosen for it stand before it, between two marks.
fn with_times(body: &str, times: MessageTimes) -> String {
    if times == MessageTimes::default() && !body.starts_with(TIMES_MARK) {
        return body.to_owned();
    }
    let millis = |at: Option<i64>| at.map(|at| at.to_string()).unwrap_or_default();
    let (leaves, follow_up) = (millis(times.leaves_at), millis(times.follow_up_at));
    format!("{TIMES_MARK}{leaves} {follow_up}{TIMES_MARK}{body}")
}

/// The text and the times of what was kept.
fn without_times(kept: String) -> (String, MessageTimes) {
    let marked = kept.strip_prefix(TIMES_MARK).and_then(|rest| rest.split_once(TIMES_MARK));
    let parts = marked.and_then(|(times, body)| Some((times.split_once(' ')?, body)));
    match parts {
        Some(((leaves, follow_up), body)) => {
            let times = MessageTimes {
                leaves_at: leaves.parse().ok(),
                follow_up_at: follow_up.parse().ok(),
            };
            (body.to_owned(), times)
        }
        None => (kept, MessageTimes::default()),
    }
}

pub(crate) fn too_long() -> String {
    format!("A message has at most {} characters.", thousands(REPLY_CHARS))
}

pub fn forget_autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &AutosaveKey) -> Result<()> {
    let Some(me) = cx.actor.member() else { return Ok(()) };
    tx.exec(
        "DELETE FROM autosaves WHERE ws = ?1 AND person = ?2 AND conversation = ?3",
        &[&cx.actor.ws, &me, &place.key()],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_before_a_text_and_come_off_again() {
        let chosen = MessageTimes {
            leaves_at: Some(1_794_992_400_000),
            follow_up_at: Some(1_795_078_800_000),
        };
        let follow_up = MessageTimes { leaves_at: None, ..chosen };
        let marked = format!("{TIMES_MARK}1 2{TIMES_MARK}typed");
        for body in ["", "Dear Ann,\n\nit left.", "7 8", marked.as_str()] {
            for times in [MessageTimes::default(), follow_up, chosen] {
                assert_eq!(without_times(with_times(body, times)), (body.to_owned(), times));
            }
        }
        assert_eq!(with_times("Hello", MessageTimes::default()), "Hello");
    }
}
