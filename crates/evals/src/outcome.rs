//! What an agent made of a case: everything that checks look at.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId};
use base::limits::{EVAL_CALLS, EVAL_MESSAGES};
use base::states::{MessageStatus, Status};
use db::{Json, Tx};
use model::messages::recipients::Party;
use serde::{Deserialize, Serialize};

/// Calls by which an agent looks for work; they are about no case.
const LOOKING: [&str; 6] =
    ["me", "help", "list_conversations", "list_events", "list_calls", "list_mailboxes"];

/// What is so in the end, and what the agent did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalOutcome {
    /// The conversation in the sandbox, until the case is played again.
    pub conversation: String,
    pub customer: String,
    pub status: String,
    pub topic: Option<String>,
    pub tags: Vec<String>,
    pub is_assigned: bool,
    pub is_handed_over: bool,
    pub asked_documents: bool,
    pub messages: Vec<EvalMessage>,
    pub notes: Vec<String>,
    pub calls: Vec<EvalCall>,
}

/// A message that the agent wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalMessage {
    /// It waits for a person; otherwise it has left, or will.
    pub is_draft: bool,
    pub recipients: Vec<String>,
    pub text: String,
}

/// A call of the agent, and its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalCall {
    pub operation: String,
    pub status: i64,
    /// Of its arguments and its answer.
    #[serde(default)]
    pub bytes: i64,
}

impl EvalCall {
    pub fn is_refused(&self) -> bool {
        self.status >= 400
    }

    /// True of a call that looks for work.
    pub fn is_looking(&self) -> bool {
        LOOKING.contains(&self.operation.as_str())
    }
}

db::row! {
    struct ConversationOutcome from "c" {
        contact_email: EmailAddress,
        status: Status,
        topic: Option<String> = "(SELECT t.name FROM topics t WHERE t.ws = c.ws AND t.id = c.topic)",
        tags: Json<Vec<String>>,
        is_assigned: bool = "c.assignee <> ''",
        is_handed_over: bool = "c.handed_over_at IS NOT NULL",
        asked_documents: bool = "EXISTS (
            SELECT 1 FROM document_requests r WHERE r.ws = c.ws AND r.conversation = c.id
        )",
    }
}

db::row! {
    struct MessageOutcome from "m" {
        status: Option<MessageStatus>,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        text: String,
    }
}

/// What became of a conversation, and what an agent did to it. Its calls are filled in apart.
pub fn load_outcome(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    agent: &AgentId,
) -> Result<EvalOutcome> {
    let ws = cx.actor.ws;
    let found: Option<ConversationOutcome> = tx.opt(
        &format!(
            "SELECT {} FROM conversations c WHERE c.ws = ?1 AND c.id = ?2",
            ConversationOutcome::COLUMNS
        ),
        &[&ws, id],
    )?;
    let row = found.ok_or(Error::NotFound("conversation"))?;
    let messages: Vec<MessageOutcome> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.direction = 'outbound' AND m.author = ?3
               AND m.discarded_at IS NULL
             ORDER BY m.at, m.id LIMIT ?4",
            MessageOutcome::COLUMNS
        ),
        &[&ws, id, agent, &EVAL_MESSAGES],
    )?;
    let notes: Vec<(String,)> = tx.all(
        "SELECT body FROM notes
         WHERE ws = ?1 AND conversation = ?2 AND author = ?3 AND hidden_at IS NULL
         ORDER BY at, id LIMIT ?4",
        &[&ws, id, agent, &EVAL_MESSAGES],
    )?;
    Ok(EvalOutcome {
        conversation: id.to_string(),
        customer: row.contact_email.as_str().to_owned(),
        status: row.status.as_str().to_owned(),
        topic: row.topic,
        tags: row.tags.0,
        is_assigned: row.is_assigned,
        is_handed_over: row.is_handed_over,
        asked_documents: row.asked_documents,
        messages: messages.into_iter().map(EvalMessage::from).collect(),
        notes: notes.into_iter().map(|(body,)| body).collect(),
        calls: Vec::new(),
    })
}

impl From<MessageOutcome> for EvalMessage {
    fn from(row: MessageOutcome) -> EvalMessage {
        let everybody = [row.to_list.0, row.cc_list.0, row.bcc_list.0].concat();
        EvalMessage {
            is_draft: row.status == Some(MessageStatus::Draft),
            recipients: everybody.into_iter().map(|party| party.email).collect(),
            text: row.text,
        }
    }
}

/// What an agent called since a time about a conversation, or about none.
pub fn load_calls(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    agent: &AgentId,
    since: i64,
) -> Result<Vec<EvalCall>> {
    let calls: Vec<(String, i64, i64)> = tx.all(
        "SELECT operation, status, coalesce(bytes, 0) FROM agent_calls
         WHERE ws = ?1 AND agent = ?2 AND at >= ?3 AND (conversation = ?4 OR conversation IS NULL)
         ORDER BY at, id LIMIT ?5",
        &[&cx.actor.ws, agent, &since, id, &EVAL_CALLS],
    )?;
    let call = |(operation, status, bytes)| EvalCall { operation, status, bytes };
    Ok(calls.into_iter().map(call).collect())
}

/// How much was done, to see when an agent has come to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvalActivity {
    /// What ends an agent's work: drafts, messages, their revisions, statuses, handing over.
    pub acts: i64,
    events: i64,
    notes: i64,
    calls: i64,
}

pub fn load_activity(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    agent: &AgentId,
) -> Result<EvalActivity> {
    let ws = cx.actor.ws;
    let (written,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(revision + 1), 0) AS BIGINT) FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND author = ?3",
        &[&ws, id, agent],
    )?;
    let (decided,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM timeline_events
         WHERE ws = ?1 AND conversation = ?2 AND actor = ?3
           AND event IN ('status', 'handed-over', 'spam', 'deleted', 'snoozed')",
        &[&ws, id, agent],
    )?;
    let mut count = |rows: &str| -> Result<i64> {
        let sql =
            format!("SELECT CAST(count(*) AS BIGINT) FROM {rows} ws = ?1 AND conversation = ?2");
        let (rows,): (i64,) = tx.one(&sql, &[&ws, id])?;
        Ok(rows)
    };
    Ok(EvalActivity {
        acts: written + decided,
        events: count("timeline_events WHERE")?,
        notes: count("notes WHERE")?,
        // Who only looks whether the customer has answered is at rest.
        calls: count("agent_calls WHERE operation <> 'get_conversation' AND")?,
    })
}
