//! A customer's message with everything that a draft is decided by.

use base::actor::Actor;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use base::states::{Direction, Status};
use db::{Json, Tx};
use model::conversations::{self, Conversation};
use model::guests::secure;
use model::mailboxes::{self, DraftingMode, Mailbox};
use model::messages::answers::language_of_mail;
use model::messages::placeholder_values::PlaceholderValues;
use model::messages::recipients::Party;
use model::people::members;

use super::grounding::GroundingValues;

/// The latest messages of the conversation that count.
const TURNS: i64 = 4;

/// A message of the correspondence.
#[derive(Clone, Debug)]
pub struct MailTurn {
    pub is_customer: bool,
    pub text: String,
}

/// A customer's message that waits for an answer, and what is known about it.
#[derive(Clone, Debug)]
pub struct DraftingCase {
    pub message: MessageId,
    pub conversation: Conversation,
    pub mailbox: Mailbox,
    pub mode: DraftingMode,
    /// The customer's own words, without the subject.
    pub text: String,
    /// Two letters, where it is clear.
    pub language: Option<String>,
    /// The latest messages, oldest first, this one last.
    pub turns: Vec<MailTurn>,
    /// The names of the people concerned: customers and team.
    pub names: Vec<String>,
    /// What placeholders stand for.
    pub values: PlaceholderValues,
}

impl DraftingCase {
    /// What the mail is compared by.
    pub fn compared_text(&self) -> String {
        format!("{} {}", self.conversation.subject, self.text)
    }

    /// What a placeholder stands for; `None` for those that are filled when a person approves.
    pub fn value_of(&self, placeholder: &str) -> Option<String> {
        self.values.value_of(placeholder)
    }

    /// What the mail states.
    pub fn grounds(&self, language: &str) -> GroundingValues {
        let mut grounds = GroundingValues::of(&self.conversation.subject, language);
        grounds.add(&GroundingValues::of(self.conversation.contact_email.as_str(), language));
        for turn in &self.turns {
            grounds.add(&GroundingValues::of(&turn.text, language));
        }
        grounds
    }
}

db::row! {
    struct TurnRow from "m" {
        id: MessageId,
        direction: Direction,
        text: String,
        from_name: Option<String>,
        to: Json<Vec<Party>> = "m.to_list",
        cc: Json<Vec<Party>> = "m.cc_list",
    }
}

/// The case of a customer's message that gets a draft: the newest of an open conversation, neither
/// held nor risky nor of the sandbox, in an inbox whose drafting is on and not paused, where no
/// other draft waits, and where the reply is not a protected message.
pub fn waiting_case(
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: &MessageId,
) -> Result<Option<DraftingCase>> {
    let Some(case) = load_case(tx, actor, message)? else { return Ok(None) };
    let (paused_at,): (Option<i64>,) = tx.one(
        "SELECT drafting_paused_at FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&actor.ws, &case.mailbox.id],
    )?;
    let conversation = &case.conversation;
    let is_wanted = case.mode != DraftingMode::Off
        && paused_at.is_none()
        && conversation.status == Status::Open
        && !conversation.held
        && conversation.risk.is_none()
        && !conversation.has_draft
        && !conversation.secure_answer
        && !secure::is_always_secure(tx, actor.ws, &case.mailbox.id)?
        && !conversation.circle.is_sandbox();
    Ok(is_wanted.then_some(case))
}

/// The case of the newest message of a conversation, if it is the customer's. What the service itself
/// sent answers nobody and is passed over.
pub fn newest_case(
    tx: &mut Tx<'_>,
    actor: &Actor,
    conversation: &ConversationId,
) -> Result<Option<DraftingCase>> {
    let newest: Option<(MessageId,)> = tx.opt(
        "SELECT id FROM messages WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
           AND NOT automatic
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&actor.ws, conversation],
    )?;
    match newest {
        Some((message,)) => load_case(tx, actor, &message),
        None => Ok(None),
    }
}

/// The case of a message, whether or not a draft is made; `None` when it is not the newest of its
/// conversation, or a message of ours.
fn load_case(tx: &mut Tx<'_>, actor: &Actor, message: &MessageId) -> Result<Option<DraftingCase>> {
    let found: Option<(String,)> = tx.opt(
        "SELECT conversation FROM messages WHERE ws = ?1 AND id = ?2",
        &[&actor.ws, message],
    )?;
    let Some((conversation,)) = found else { return Ok(None) };
    let conversation = conversations::load(tx, actor, &conversation)?;
    let Some(mailbox) = mailboxes::seen_by(tx, actor, &conversation.mailbox)? else {
        return Ok(None);
    };
    let (mode,): (DraftingMode,) = tx.one(
        "SELECT drafting FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&actor.ws, &mailbox.id],
    )?;
    let mut rows: Vec<TurnRow> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.counted_at IS NOT NULL
               AND NOT m.automatic
             ORDER BY m.at DESC, m.id DESC LIMIT ?3",
            TurnRow::COLUMNS
        ),
        &[&actor.ws, &conversation.id, &TURNS],
    )?;
    let Some(newest) = rows.first() else { return Ok(None) };
    if newest.id != *message || newest.direction != Direction::Inbound {
        return Ok(None);
    }
    let text = newest.text.clone();
    let language = language_of_mail(&conversation.subject, &text).map(str::to_owned);
    let names = names(tx, actor.ws, &conversation, &rows)?;
    rows.reverse();
    let turns = rows
        .into_iter()
        .map(|row| MailTurn { is_customer: row.direction == Direction::Inbound, text: row.text });
    let values = PlaceholderValues::of(tx, actor.ws, &conversation, &mailbox.name)?;
    Ok(Some(DraftingCase {
        message: message.clone(),
        conversation,
        mailbox,
        mode,
        text,
        language,
        turns: turns.collect(),
        names,
        values,
    }))
}

fn names(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    rows: &[TurnRow],
) -> Result<Vec<String>> {
    let mut names: Vec<String> = conversation.contact_name.clone().into_iter().collect();
    for row in rows {
        names.extend(row.from_name.clone());
        names.extend(row.to.iter().chain(row.cc.iter()).filter_map(|party| party.name.clone()));
    }
    names.extend(members::people(tx, ws)?.into_iter().map(|person| person.name));
    names.sort();
    names.dedup();
    Ok(names)
}
