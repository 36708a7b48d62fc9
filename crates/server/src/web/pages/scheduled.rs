//! Letters on their way out: anyone on the team can stop them.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::actions;
use inbox::base::ids::MessageId;

use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::page_layout::{PageLayout, PageLocation};
use crate::web::layout::responses::{PageError, PageResult, see_other};
use crate::web::layout::wording::{Avatar, filters, paragraphs};
use crate::web::page_version::PartVersion;
use crate::web::pages::conversation_list::subject;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "leaving.html")]
struct LeavingPage {
    frame: PageLayout,
    letters: Vec<LeavingView>,
}

struct LeavingView {
    id: String,
    conversation: String,
    subject: String,
    contact: String,
    seal: Avatar,
    author: String,
    clock: String,
    seconds: i64,
    iso: String,
    paragraphs: Vec<Vec<String>>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let spot = PageLocation::at("Leaving soon", "/leaving");
    let (mut frame, letters) =
        web.page(&visitor, spot, |tx, cx, _| actions::leaving(tx, cx)).await?;
    frame.watch_live("page=leaving".into(), PartVersion::default(), PartVersion::default());
    let view = |letter: actions::ScheduledMessage| LeavingView {
        id: letter.id.to_string(),
        conversation: letter.conversation.to_string(),
        subject: subject(&letter.subject),
        contact: letter.contact,
        seal: Avatar::of(letter.author.as_deref(), &letter.author_name),
        author: letter.author_name,
        clock: frame.watch.clock(letter.sends_at),
        seconds: ((letter.sends_at - frame.watch.now) / 1_000).max(0),
        iso: inbox::base::time::Moment(letter.sends_at).iso(),
        paragraphs: paragraphs(&letter.text),
    };
    let letters = letters.into_iter().map(view).collect();
    web.show(&visitor, &LeavingPage { frame, letters })
}

pub async fn stop(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let stopped = web
        .act(&posted.visitor, move |tx, cx, _| {
            let (letter, conversation) = inbox::load_outgoing(tx, cx.actor, &id)?;
            actions::stop_message(tx, cx, &letter.id)?;
            Ok(conversation.id.to_string())
        })
        .await;
    match stopped {
        Ok(conversation) => {
            let mut response = see_other(&format!("/conversations/{conversation}"));
            web.set_flash(&mut response, "stopped");
            Ok(response)
        }
        Err(PageError::Domain(Error::Invalid(_))) => {
            let mut response = see_other("/leaving");
            web.set_flash(&mut response, "too-late");
            Ok(response)
        }
        Err(refusal) => Err(refusal),
    }
}
