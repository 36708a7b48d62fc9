//! Scheduled messages: anyone on the team can stop them until they leave.

use std::sync::Arc;

use actions::writing::approvals;
use actions::writing::drafts::{self, StoppedMessage};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::{AgentId, MessageId};
use base::limits::UNDO_LIVE_MS;
use bookings::agent_acts::{self, BookingAct, PlannedAct};
use translation::{sentence, t};

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{FormOutcome, PageError, PageResult};
use crate::layout::wording::{Avatar, paragraphs};
use crate::page_version::PartVersion;
use crate::pages::lists::conversation_list::subject;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "scheduled.html", whitespace = "minimize")]
struct ScheduledPage {
    frame: PageLayout,
    messages: Vec<ScheduledMessageView>,
    /// What agents do to bookings.
    bookings: Vec<PlannedActView>,
    /// Something of an agent can be stopped.
    has_of_agents: bool,
}

struct PlannedActView {
    id: String,
    agent: String,
    what: String,
    reason: String,
    guest: String,
    leaves: String,
}

struct ScheduledMessageView {
    id: String,
    conversation: String,
    subject: String,
    contact: String,
    avatar: Avatar,
    author: String,
    /// Who holds it; the time says nothing then.
    held_by: Option<String>,
    leaves: String,
    seconds: i64,
    of: i64,
    iso: String,
    paragraphs: Vec<Vec<String>>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let location = PageLocation::at(t!("Leaving soon"), "/leaving");
    let (mut frame, (messages, planned)) = web
        .page(&visitor, location, |tx, cx, _| {
            Ok((approvals::leaving(tx, cx)?, agent_acts::list_planned(tx, cx.actor)?))
        })
        .await?;
    frame.watch_live("page=leaving".into(), PartVersion::default(), PartVersion::default());
    let view = |message: approvals::ScheduledMessage| {
        let sends_at = message.sends_at.unwrap_or(frame.times.now);
        ScheduledMessageView {
            id: message.id.to_string(),
            conversation: message.conversation.to_string(),
            subject: subject(&message.subject),
            contact: message.contact,
            avatar: Avatar::of(message.author.as_deref(), &message.author_name),
            author: message.author_name,
            held_by: message.held_by.map(|by| sentence(&by).into_owned()),
            leaves: frame.times.leaving(sends_at),
            seconds: ((sends_at - frame.times.now) / 1_000).max(0),
            of: message.waits.unwrap_or(UNDO_LIVE_MS) / 1_000,
            iso: base::time::Moment(sends_at).iso(),
            paragraphs: paragraphs(&message.text),
        }
    };
    let of_agents = messages.iter().any(|message| {
        message.author.as_deref().is_some_and(|author| AgentId::parse(author).is_some())
    });
    let has_of_agents = of_agents || !planned.is_empty();
    let messages = messages.into_iter().map(view).collect();
    let act = |act: PlannedAct| PlannedActView {
        what: act_words(&act, &frame),
        id: act.id.to_string(),
        agent: act.agent_name,
        reason: act.reason,
        guest: format!("{}, {}", act.guest_name, act.guest_email),
        leaves: frame.times.leaving(act.act_at),
    };
    let bookings = planned.into_iter().map(act).collect();
    web.show(&visitor, &ScheduledPage { messages, bookings, has_of_agents, frame })
}

/// What is done to a booking, with its type and time.
fn act_words(act: &PlannedAct, frame: &PageLayout) -> String {
    let (kind, at) = (act.type_name.clone(), frame.times.long(act.starts_at).text);
    match act.act {
        BookingAct::Book => t!("Books {kind}, {at}", kind, at),
        BookingAct::Move => t!("Moves {kind} to {at}", kind, at),
        BookingAct::Cancel => t!("Cancels {kind}, {at}", kind, at),
        BookingAct::Stopped => t!("Stopped").to_owned(),
    }
}

pub async fn stop_agents(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, |tx, cx, _| approvals::stop_agents(tx, cx)).await?;
    web.redirect("/leaving", Flash::AgentsStopped)
}

pub async fn stop_booking(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let stopped = web
        .act(&posted.visitor, move |tx, cx, _| {
            let booking = bookings::load(tx, cx.actor, &id)?;
            agent_acts::stop(tx, cx, &booking)
        })
        .await;
    match stopped {
        Ok(()) => web.redirect("/leaving", Flash::BookingStopped),
        Err(PageError::Domain(Error::Invalid(_))) => web.redirect("/leaving", Flash::TooLate),
        Err(refusal) => Err(refusal),
    }
}

/// Lets a message leave at once. Whoever presses again sees that it has left.
pub async fn send_now(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let sent = web.act(&posted.visitor, move |tx, cx, _| drafts::send_now(tx, cx, &id)).await;
    match sent {
        Ok(conversation) => {
            web.redirect(&format!("/conversations/{conversation}"), Flash::LeavesNow)
        }
        Err(PageError::Domain(Error::Invalid(_))) => web.redirect("/leaving", Flash::NotSentNow),
        Err(refusal) => Err(refusal),
    }
}

pub async fn stop(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let message_id = id.clone();
    let stopped = web
        .act(&posted.visitor, move |tx, cx, _| {
            let (message, conversation) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
            let stopped = drafts::stop_message(tx, cx, &message.id)?;
            Ok((conversation.id.to_string(), stopped))
        })
        .await;
    match stopped.or_problems()? {
        Ok((conversation, StoppedMessage::Draft { leaves_at: None })) => {
            web.redirect(&format!("/conversations/{conversation}"), Flash::Stopped)
        }
        // The page offers the draft's time again.
        Ok((conversation, StoppedMessage::Draft { leaves_at: Some(at) })) => {
            let stopped = format!("stopped={message_id}&leaves={at}#{message_id}");
            web.redirect(&format!("/conversations/{conversation}?{stopped}"), Flash::Stopped)
        }
        Ok((conversation, StoppedMessage::InComposer)) => {
            web.redirect(&format!("/conversations/{conversation}#body"), Flash::TakenBack)
        }
        Err(_) => web.redirect("/leaving", Flash::TooLate),
    }
}
