//! Document requests as the team sees them: asking, their state, ending and renewing them.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, DocumentId, RequestId};
use base::limits::UPLOAD_PAGE_MS;
use db::Tx;
use model::conversations;
use model::conversations::timeline::{self, TimelineEvent};
use model::documents::document_requests;
use model::mailboxes::inbox_access;
use model::messages::recipients::RecipientList;
use model::messages::send_effects::SendEffects;
use model::messages::written_text::WrittenText;
use outbound::document_request::{self, NewDocumentRequest};
use outbound::drafts::ReplyResult;

use crate::writing::compose::take_unassigned;
use crate::writing::seen::{DecisionOutcome, SeenConversation, Writers, newer_than};
use crate::writing::sent_before::{PostedMessage, written_since};

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// The requesting message has not been sent.
    Unsent,
    Open,
    Complete,
    Closed,
    /// The link was taken back.
    Revoked,
}

/// A request, shown with its message.
#[derive(Clone)]
pub struct RequestCard {
    pub id: RequestId,
    pub state: RequestState,
    pub due_date: Option<String>,
    pub completed_at: Option<i64>,
    pub remind_at: Option<i64>,
    pub reminders_stopped: bool,
    /// The upload page's address, while it works.
    pub link: Option<String>,
    pub items: Vec<RequestItem>,
}

base::debug_without_secrets!(RequestCard { id, state });

#[derive(Clone, Debug)]
pub struct RequestItem {
    pub label: String,
    pub description: Option<String>,
    pub required: bool,
    /// The customer's submitted files for it.
    pub documents: Vec<(DocumentId, String)>,
    /// Files that were added and not handed over yet.
    pub on_the_way: i64,
}

impl RequestItem {
    /// What the customer reads of it, in one line.
    pub fn line(&self) -> String {
        match &self.description {
            Some(description) => format!("{}: {description}", self.label),
            None => self.label.clone(),
        }
    }
}

db::row! {
    struct Found from "document_requests" {
        conversation: ConversationId,
        due_date: Option<String>,
        opened_at: Option<i64>,
        asked_at: Option<i64>,
        completed_at: Option<i64>,
        closed_at: Option<i64>,
        revoked_at: Option<i64>,
        stopped_at: Option<i64>,
        remind_at: Option<i64>,
        secure: bool = "coalesce((SELECT m.secure FROM messages m
            WHERE m.ws = document_requests.ws AND m.id = document_requests.message), FALSE)",
    }
}

impl Found {
    fn state(&self) -> RequestState {
        match self {
            Found { revoked_at: Some(_), .. } => RequestState::Revoked,
            Found { completed_at: Some(_), .. } => RequestState::Complete,
            Found { closed_at: Some(_), .. } => RequestState::Closed,
            Found { asked_at: None, .. } => RequestState::Unsent,
            _ => RequestState::Open,
        }
    }

    fn link_works(&self, now: i64) -> bool {
        self.opened_at.is_some()
            && self.revoked_at.is_none()
            && self.completed_at.is_none_or(|at| at + UPLOAD_PAGE_MS > now)
    }
}

fn find(tx: &mut Tx<'_>, ws: i64, id: &RequestId) -> Result<Found> {
    tx.opt(
        &format!("SELECT {} FROM document_requests WHERE ws = ?1 AND id = ?2", Found::COLUMNS),
        &[&ws, id],
    )?
    .ok_or(Error::NotFound("request"))
}

/// A request of a conversation that the actor may see, as it is shown.
pub(crate) fn card(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<RequestCard> {
    let ws = cx.actor.ws;
    let found = find(tx, ws, id)?;
    let items: Vec<(i64, String, Option<String>, bool)> = tx.all(
        "SELECT place, label, description, required FROM requested_documents
         WHERE ws = ?1 AND request = ?2 ORDER BY place",
        &[&ws, id],
    )?;
    let uploads: Vec<(i64, Option<DocumentId>, String)> = tx.all(
        "SELECT item, document, filename FROM uploads
         WHERE ws = ?1 AND request = ?2 AND state IN ('arriving', 'checking', 'kept', 'filed')
         ORDER BY id",
        &[&ws, id],
    )?;
    let items = items.into_iter().map(|(place, label, description, required)| {
        let own = uploads.iter().filter(|(item, _, _)| *item == place);
        let filed = own.clone().filter_map(|(_, document, name)| {
            document.clone().map(|document| (document, name.clone()))
        });
        RequestItem {
            label,
            description,
            required,
            documents: filed.collect(),
            on_the_way: own.filter(|(_, document, _)| document.is_none()).count() as i64,
        }
    });
    let link = match found.link_works(cx.now) {
        true => Some(document_requests::link(tx, cx, id)?),
        false => None,
    };
    Ok(RequestCard {
        id: id.clone(),
        state: found.state(),
        link,
        due_date: found.due_date,
        completed_at: found.completed_at,
        remind_at: found.remind_at,
        reminders_stopped: found.stopped_at.is_some(),
        items: items.collect(),
    })
}

/// Asks the customer for documents if nobody wrote meanwhile, or keeps it as a draft for the team. A form
/// that comes again is answered with what it wrote.
pub fn request_documents(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    request: &NewDocumentRequest,
    seen: SeenConversation,
) -> Result<DecisionOutcome<ReplyResult>> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    let text = document_request::words(tx, cx, &conversation, request)?;
    let posted = PostedMessage {
        words: &WrittenText { text, markdown: None },
        recipients: &RecipientList::contact(&conversation),
        sends: request.send,
        forwards: None,
        secure: request.secure.secure,
        offer: None,
        documents: &request.documents,
        place: None,
    };
    if let Some(written) = written_since(tx, cx, &conversation, &posted, seen)? {
        return Ok(DecisionOutcome::Done(written));
    }
    if request.send
        && let Some(newer) = newer_than(tx, cx, &conversation, seen, Writers::Everybody)?
    {
        return Ok(DecisionOutcome::Meanwhile(newer));
    }
    let result = document_request::write(tx, cx, &conversation, request)?;
    if request.send {
        let assigned = take_unassigned(tx, cx, &mut conversation)?;
        SendEffects { assigned, closed: None }.keep(tx, cx.actor.ws, &result.message_id)?;
    }
    Ok(DecisionOutcome::Done(result))
}

/// The conversation that a request belongs to, if the actor may see it.
pub fn conversation_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<ConversationId> {
    Ok(load_visible(tx, cx, id)?.conversation)
}

fn load_visible(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<Found> {
    let found = find(tx, cx.actor.ws, id)?;
    conversations::load(tx, cx.actor, found.conversation.as_str())
        .map_err(|_| Error::NotFound("request"))?;
    Ok(found)
}

/// Ends a request that is not complete: no more reminders, and the page says that nothing more is
/// needed.
pub fn close_request(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<()> {
    let found = load_visible(tx, cx, id)?;
    let closed = tx.exec(
        "UPDATE document_requests SET closed_at = ?3, remind_at = NULL
         WHERE ws = ?1 AND id = ?2 AND closed_at IS NULL AND completed_at IS NULL",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    record_once(tx, cx, &found, closed, TimelineEvent::RequestClosed { request_id: id.clone() })
}

/// Takes the link back: it leads nowhere from now on.
pub fn revoke_request(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<()> {
    let found = load_visible(tx, cx, id)?;
    let revoked = tx.exec(
        "UPDATE document_requests SET revoked_at = ?3, remind_at = NULL
         WHERE ws = ?1 AND id = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, id, &cx.now],
    )?;
    record_once(tx, cx, &found, revoked, TimelineEvent::RequestRevoked { request_id: id.clone() })
}

/// Opens a request again that was closed or whose link was taken back. A link that was taken back
/// stays dead: there is a new one, which the next reminder carries. That of a secure request stands on
/// a page behind a code and in no mail, so it stays.
pub fn reopen_request(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RequestId) -> Result<()> {
    let found = load_visible(tx, cx, id)?;
    inbox_access::must_send_in(tx, cx.actor, &found.conversation)?;
    if found.revoked_at.is_some() && !found.secure {
        document_requests::renew_link(tx, cx, id)?;
    }
    let again =
        found.asked_at.filter(|_| found.completed_at.is_none() && found.stopped_at.is_none());
    let remind_at = again.and_then(|asked_at| document_requests::next_reminder(asked_at, cx.now));
    let opened = tx.exec(
        "UPDATE document_requests SET closed_at = NULL, revoked_at = NULL, remind_at = ?3
         WHERE ws = ?1 AND id = ?2 AND (closed_at IS NOT NULL OR revoked_at IS NOT NULL)",
        &[&cx.actor.ws, id, &remind_at],
    )?;
    tx.wake(Queue::Reminders);
    record_once(tx, cx, &found, opened, TimelineEvent::RequestReopened { request_id: id.clone() })
}

/// Records an event if a row changed: doing it twice is recorded once.
fn record_once(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    found: &Found,
    changed: u64,
    event: TimelineEvent,
) -> Result<()> {
    if changed == 0 {
        return Ok(());
    }
    timeline::record(tx, cx, &found.conversation, &event)
}
