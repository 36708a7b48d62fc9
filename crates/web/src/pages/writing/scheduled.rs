//! Scheduled messages: anyone on the team can stop them until they leave.

use std::sync::Arc;

use actions::writing::approvals;
use actions::writing::drafts::{self, StoppedMessage};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::MessageId;
use base::limits::UNDO_LIVE_MS;
use translation::{sentence, t};

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{FormOutcome, PageResult};
use crate::layout::wording::{Avatar, paragraphs};
use crate::page_version::PartVersion;
use crate::pages::lists::conversation_list::subject;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "scheduled.html", whitespace = "minimize")]
struct ScheduledPage {
    frame: PageLayout,
    messages: Vec<ScheduledMessageView>,
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
    let (mut frame, messages) =
        web.page(&visitor, location, |tx, cx, _| approvals::leaving(tx, cx)).await?;
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
    let messages = messages.into_iter().map(view).collect();
    web.show(&visitor, &ScheduledPage { frame, messages })
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
