//! Scheduled messages: anyone on the team can stop them until they leave.

use std::sync::Arc;

use actions::writing::approvals;
use actions::writing::drafts::StoppedMessage;
use actions::writing::pressed_buttons::{SendNowOutcome, StopOutcome, press_send_now, press_stop};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::MessageId;
use base::limits::UNDO_LIVE_MS;
use bookings::agent_acts::{self, BookingAct, PlannedAct};
use translation::{sentence, t};

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageError, PageResult};
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
    may_send_now: bool,
    paragraphs: Vec<Vec<String>>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let location = PageLocation::at(t!("Leaving soon"), "/leaving");
    let (mut frame, (messages, planned, do_agents_send)) = web
        .page(&visitor, location, |tx, cx, _| {
            let planned = agent_acts::list_planned(tx, cx.actor)?;
            Ok((approvals::leaving(tx, cx)?, planned, approvals::do_agents_send(tx, cx)?))
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
            may_send_now: message.may_send_now && message.held_by.is_none(),
            held_by: message.held_by.map(|by| sentence(&by).into_owned()),
            leaves: frame.times.leaving(sends_at),
            seconds: ((sends_at - frame.times.now) / 1_000).max(0),
            of: message.waits.unwrap_or(UNDO_LIVE_MS) / 1_000,
            iso: base::time::Moment(sends_at).iso(),
            paragraphs: paragraphs(&message.text),
        }
    };
    let has_of_agents = do_agents_send || !planned.is_empty();
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

/// Lets a message leave at once. Whoever presses again sees how it stands.
pub async fn send_now(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let (conversation, outcome) =
        web.act(&posted.visitor, move |tx, cx, _| press_send_now(tx, cx, &id)).await?;
    let flash = match outcome {
        SendNowOutcome::Leaves => Flash::LeavesNow,
        SendNowOutcome::HasLeft => Flash::HasLeft,
        SendNowOutcome::StoppedBefore => Flash::StoppedBefore,
        SendNowOutcome::Stays => Flash::NotSentNow,
        SendNowOutcome::MayNotSend => Flash::MayNotSend,
    };
    web.redirect(&format!("/conversations/{conversation}"), flash)
}

/// Stops a message. Whoever presses again sees how it stands.
pub async fn stop(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let pressed = id.clone();
    let (conversation, outcome) =
        web.act(&posted.visitor, move |tx, cx, _| press_stop(tx, cx, &pressed)).await?;
    let path = format!("/conversations/{conversation}");
    match outcome {
        StopOutcome::Stopped(StoppedMessage::Draft { leaves_at: None }) => {
            web.redirect(&path, Flash::Stopped)
        }
        // The page offers the draft's time again.
        StopOutcome::Stopped(StoppedMessage::Draft { leaves_at: Some(at) }) => {
            web.redirect(&format!("{path}?stopped={id}&leaves={at}#{id}"), Flash::Stopped)
        }
        StopOutcome::Stopped(StoppedMessage::InComposer) => {
            web.redirect(&format!("{path}#body"), Flash::TakenBack)
        }
        StopOutcome::StoppedBefore => web.redirect(&path, Flash::StoppedBefore),
        StopOutcome::TooLate => web.redirect(&path, Flash::TooLate),
    }
}
