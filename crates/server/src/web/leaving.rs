//! Letters on their way out: anyone on the team can stop them.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::ids::MessageId;
use inbox::people;

use super::Web;
use super::answers::{Answer, Refusal, see_other};
use super::form::Posted;
use super::frame::{Frame, Spot};
use super::mark::PartMark;
use super::rows::subject;
use super::visitor::Visitor;
use super::wording::{Seal, filters, paragraphs};

#[derive(Template)]
#[template(path = "leaving.html")]
struct LeavingPage {
    frame: Frame,
    letters: Vec<LeavingView>,
}

struct LeavingView {
    id: String,
    conversation: String,
    subject: String,
    contact: String,
    seal: Seal,
    author: String,
    clock: String,
    seconds: i64,
    iso: String,
    paragraphs: Vec<Vec<String>>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> Answer {
    let spot = Spot::at("Leaving soon", "/leaving");
    let (mut frame, letters) =
        web.page(&visitor, spot, |tx, cx, _| people::leaving(tx, cx)).await?;
    frame.watch_live("page=leaving".into(), PartMark::default(), PartMark::default());
    let view = |letter: people::LeavingLetter| LeavingView {
        id: letter.id.to_string(),
        conversation: letter.conversation.to_string(),
        subject: subject(&letter.subject),
        contact: letter.contact,
        seal: Seal::of(letter.author.as_deref(), &letter.author_name),
        author: letter.author_name,
        clock: frame.watch.clock(letter.sends_at),
        seconds: ((letter.sends_at - frame.watch.now) / 1_000).max(0),
        iso: inbox::time::Moment(letter.sends_at).iso(),
        paragraphs: paragraphs(&letter.text),
    };
    let letters = letters.into_iter().map(view).collect();
    web.show(&visitor, &LeavingPage { frame, letters })
}

pub async fn stop(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
    let id = MessageId::parse(&id).ok_or(Error::NotFound("message"))?;
    let stopped = web
        .act(&posted.visitor, move |tx, cx, _| {
            let (letter, conversation) = inbox::load_outgoing(tx, cx.actor, &id)?;
            people::stop_message(tx, cx, &letter.id)?;
            Ok(conversation.id.to_string())
        })
        .await;
    match stopped {
        Ok(conversation) => {
            let mut response = see_other(&format!("/conversations/{conversation}"));
            web.set_flash(&mut response, crate::web::Flash::Stopped);
            Ok(response)
        }
        Err(Refusal::Domain(Error::Invalid(_))) => {
            let mut response = see_other("/leaving");
            web.set_flash(&mut response, crate::web::Flash::TooLate);
            Ok(response)
        }
        Err(refusal) => Err(refusal),
    }
}
