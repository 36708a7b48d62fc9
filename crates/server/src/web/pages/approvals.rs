//! The queue of drafts: look, edit, approve what was looked at, or discard with a reason.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::actions::{self, Decision, QueuedDraft};
use inbox::base::ids::MessageId;
use inbox::base::limits::DISCARD_REASON_CHARS;
use inbox::base::states::{ConversationRisk, Direction};
use inbox::{Error, Party};

use crate::web::Web;
use crate::web::form::{FormFields, Posted};
use crate::web::layout::page_layout::{PageLayout, PageLocation};
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::{Avatar, When, filters, first_name};
use crate::web::page_version::PartVersion;
use crate::web::pages::compose::recipients;
use crate::web::pages::conversation::party_line;
use crate::web::pages::conversation_list::{RowBadge, subject};
use crate::web::pages::timeline::{MessageView, view};
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsPage {
    frame: PageLayout,
    queue: Vec<QueueRow>,
    decision: Option<DecisionView>,
}

struct QueueRow {
    href: String,
    current: bool,
    avatar: Avatar,
    author: String,
    ago: String,
    time: When,
    title: String,
    summary: String,
    marks: Vec<RowBadge>,
}

struct DecisionView {
    id: String,
    conversation: String,
    subject: String,
    contact: String,
    contact_first: String,
    /// The lines as they stand in their fields.
    to: String,
    cc: String,
    bcc: String,
    to_error: String,
    inbox: String,
    said: Vec<(bool, MessageView)>,
    draft: MessageView,
    author_first: String,
    /// The draft as it is kept.
    text: String,
    /// The draft as it stands in the field.
    typed: String,
    revision: i64,
    seen: i64,
    risk: Option<ConversationRisk>,
    risk_reasons: Vec<String>,
    /// When the customer wrote after the draft was made.
    meanwhile: Option<String>,
    changed: bool,
    error: String,
    place: usize,
    of: usize,
    previous: Option<String>,
    next: Option<String>,
}

pub async fn first(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let location = PageLocation::at("To approve", "/approvals");
    let (mut frame, (queue, decision)) = web
        .page(&visitor, location, |tx, cx, _| {
            let queue = actions::queue(tx, cx)?;
            let decision = match queue.first() {
                Some(first) => Some(actions::look_at_draft(tx, cx, &first.id)?),
                None => None,
            };
            Ok((queue, decision))
        })
        .await?;
    let shown = PartVersion::of_drafts(&queue, None);
    frame.watch_live("page=approvals".into(), shown, PartVersion::default());
    let decision = decision.map(|decision| decision_view(&decision, &queue, &frame));
    let page = ApprovalsPage { queue: rows(&queue, &frame, None), decision, frame };
    web.show(&visitor, &page)
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = build(&web, &visitor, &id, |_| {}).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    change: impl FnOnce(&mut DecisionView),
) -> Result<ApprovalsPage, PageError> {
    let id = MessageId::parse(id).ok_or(Error::NotFound("draft"))?;
    let location = PageLocation::at("To approve", "/approvals");
    let wanted = id.clone();
    let (mut frame, (queue, decision, shown)) = web
        .page(visitor, location, move |tx, cx, _| {
            let decision = actions::look_at_draft(tx, cx, &wanted)?;
            let (queue, (draft, _)) =
                (actions::queue(tx, cx)?, inbox::load_outgoing(tx, cx.actor, &wanted)?);
            let shown =
                PartVersion::of_drafts(&queue, Some((draft.revision, draft.status.as_str())));
            Ok((queue, decision, shown))
        })
        .await?;
    frame.watch_live(format!("page=approvals&draft={id}"), shown, PartVersion::default());
    let mut decision = decision_view(&decision, &queue, &frame);
    change(&mut decision);
    Ok(ApprovalsPage { queue: rows(&queue, &frame, Some(&id)), decision: Some(decision), frame })
}

fn rows(queue: &[QueuedDraft], frame: &PageLayout, current: Option<&MessageId>) -> Vec<QueueRow> {
    let current = current.or(queue.first().map(|first| &first.id));
    let row = |draft: &QueuedDraft| {
        let mut marks = Vec::new();
        let mut add = |class, icon, text: &str| {
            marks.push(RowBadge { class, icon, text: text.to_owned() });
        };
        if draft.risk.is_some() {
            add("danger", "warn", "Check before you act");
        }
        if draft.wrote_meanwhile {
            add("warn", "in", "Customer wrote meanwhile");
        }
        if draft.asks {
            add("", "docs", "Asks for documents");
        }
        QueueRow {
            href: format!("/approvals/{}", draft.id),
            current: current == Some(&draft.id),
            avatar: Avatar::of(draft.author.as_deref(), &draft.author_name),
            author: draft.author_name.clone(),
            ago: frame.watch.ago(draft.at),
            time: frame.watch.long(draft.at),
            title: format!("{}, {}", draft.contact, subject(&draft.subject)),
            summary: draft.summary.clone().unwrap_or_default(),
            marks,
        }
    };
    queue.iter().map(row).collect()
}

fn decision_view(decision: &Decision, queue: &[QueuedDraft], frame: &PageLayout) -> DecisionView {
    let conversation = &decision.conversation;
    let contact = conversation.contact_name.clone().filter(|name| !name.is_empty());
    let contact = contact.unwrap_or_else(|| conversation.contact_email.to_string());
    let draft = view(&decision.draft, &contact, &frame.watch);
    let said: Vec<(bool, MessageView)> = decision
        .said
        .iter()
        .map(|message| {
            (message.serial > decision.draft.serial, view(message, &contact, &frame.watch))
        })
        .collect();
    let place = queue.iter().position(|queued| queued.id == decision.draft.id).unwrap_or(0);
    let beside = |place: Option<usize>| {
        place.and_then(|place| queue.get(place)).map(|draft| format!("/approvals/{}", draft.id))
    };
    let meanwhile = decision.said_since().next().map(|message| frame.watch.long(message.at).text);
    DecisionView {
        id: decision.draft.id.to_string(),
        conversation: conversation.id.to_string(),
        subject: subject(&conversation.subject),
        contact_first: first_name(&contact).to_owned(),
        contact,
        to: party_line(&decision.draft.to),
        cc: party_line(&decision.draft.cc),
        bcc: party_line(&decision.draft.bcc),
        to_error: String::new(),
        inbox: decision.mailbox.name.clone(),
        said,
        author_first: first_name(&draft.name).to_owned(),
        draft,
        text: decision.draft.text.clone(),
        typed: decision.draft.text.clone(),
        revision: decision.draft.revision,
        seen: decision.seen,
        risk: conversation.risk,
        risk_reasons: conversation.risk_reasons.0.clone(),
        meanwhile,
        changed: false,
        error: String::new(),
        place: place + 1,
        of: queue.len(),
        previous: beside(place.checked_sub(1)),
        next: beside(Some(place + 1)),
    }
}

enum Outcome {
    Approved,
    /// The customer wrote after the page was made.
    Meanwhile,
}

/// An approval counts for the revision and the letters that were on the page.
pub async fn approve(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let revision = fields.number("revision").unwrap_or(0);
    let seen = fields.number("seen").unwrap_or(0);
    let typed = if fields.has("body") { Some(fields.get("body")) } else { None };
    let lines = match addressed(&fields) {
        Ok(lines) => lines,
        Err(sentence) => return wrong_address(&web, &visitor, &id, &fields, sentence).await,
    };
    let outcome = web
        .act(&visitor, move |tx, cx, _| {
            let (message, conversation) = inbox::load_outgoing(tx, cx.actor, &draft)?;
            let newer = actions::newer_than(tx, cx, conversation.id.as_str(), seen)?;
            if newer.is_some_and(|newer| newer.direction == Direction::Inbound) {
                return Ok(Outcome::Meanwhile);
            }
            if let Some([to, cc, bcc]) = &lines {
                actions::address_draft(tx, cx, &draft, revision, [to, cc, bcc])?;
            }
            let text = typed.as_deref().unwrap_or(&message.text);
            actions::approve_draft(tx, cx, &draft, revision, text)?;
            Ok(Outcome::Approved)
        })
        .await;
    match outcome {
        Ok(Outcome::Approved) => {
            let mut response = see_other(&after(&fields));
            web.set_undo(&mut response, &id);
            Ok(response)
        }
        Ok(Outcome::Meanwhile) => {
            let page = build(&web, &visitor, &id, |decision| keep_typed(decision, &fields)).await?;
            responses::again(&page)
        }
        Err(refusal) => decided(&web, &visitor, &id, &fields, refusal).await,
    }
}

/// Keeps an edit without deciding.
pub async fn save(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let (revision, text) = (fields.number("revision").unwrap_or(0), fields.get("body"));
    let lines = match addressed(&fields) {
        Ok(lines) => lines,
        Err(sentence) => return wrong_address(&web, &visitor, &id, &fields, sentence).await,
    };
    let saved = web
        .act(&visitor, move |tx, cx, _| {
            if let Some([to, cc, bcc]) = &lines {
                actions::address_draft(tx, cx, &draft, revision, [to, cc, bcc])?;
            }
            actions::edit_draft(tx, cx, &draft, revision, &text)
        })
        .await;
    match saved {
        Ok(_) => {
            let mut response = see_other(&format!("/approvals/{id}"));
            web.set_flash(&mut response, crate::web::Flash::Saved);
            Ok(response)
        }
        Err(refusal) => decided(&web, &visitor, &id, &fields, refusal).await,
    }
}

pub async fn discard(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let revision = fields.number("revision").unwrap_or(0);
    let reason: String = fields.get("reason").trim().chars().take(DISCARD_REASON_CHARS).collect();
    let discarded = web
        .act(&visitor, move |tx, cx, _| actions::discard_draft(tx, cx, &draft, revision, &reason))
        .await;
    match discarded {
        Ok(()) => {
            let mut response = see_other(&after(&fields));
            web.set_flash(&mut response, crate::web::Flash::Discarded);
            Ok(response)
        }
        Err(refusal) => decided(&web, &visitor, &id, &fields, refusal).await,
    }
}

/// Whom the form says the draft goes to; `None` where it does not say.
fn addressed(fields: &FormFields) -> Result<Option<[Vec<Party>; 3]>, String> {
    if fields.has("to") { recipients(fields).map(Some) } else { Ok(None) }
}

async fn wrong_address(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    fields: &FormFields,
    sentence: String,
) -> PageResult {
    let page = build(web, visitor, id, |decision| {
        keep_typed(decision, fields);
        decision.to_error = sentence;
    });
    responses::again(&page.await?)
}

/// Shows the draft as it is now, or goes on when somebody else has decided about it.
async fn decided(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    fields: &FormFields,
    refusal: PageError,
) -> PageResult {
    let PageError::Domain(Error::Invalid(problems)) = refusal else { return Err(refusal) };
    if let Some(problem) = problems.0.iter().find(|problem| problem.field == "to") {
        return wrong_address(web, visitor, id, fields, problem.sentence.clone()).await;
    }
    let sentence = problems.0.first().map(|first| match first.field.as_str() {
        "revision" => "Somebody changed this draft meanwhile. Read it again; what you typed is \
                       still in the field."
            .to_owned(),
        "text" => "A message has 1 to 50,000 characters.".to_owned(),
        _ => String::new(),
    });
    let sentence = sentence.unwrap_or_default();
    if sentence.is_empty() {
        let mut response = see_other("/approvals");
        web.set_flash(&mut response, crate::web::Flash::Gone);
        return Ok(response);
    }
    let page = build(web, visitor, id, |decision| {
        keep_typed(decision, fields);
        decision.error = sentence;
    });
    responses::again(&page.await?)
}

fn keep_typed(decision: &mut DecisionView, fields: &FormFields) {
    if fields.has("body") {
        decision.typed = fields.get("body");
        decision.changed = decision.typed != decision.text;
    }
    if fields.has("to") {
        decision.to = fields.get("to");
        decision.cc = fields.get("cc");
        decision.bcc = fields.get("bcc");
    }
}

/// The next draft of the queue, or back to where the decision was made.
fn after(fields: &FormFields) -> String {
    let next = fields.get("next");
    let of_ours = next.strip_prefix("/approvals/").and_then(MessageId::parse).is_some();
    let conversation = next.strip_prefix("/conversations/");
    let there =
        conversation.is_some_and(|id| inbox::base::ids::ConversationId::parse(id).is_some());
    if of_ours || there { next } else { "/approvals".into() }
}
