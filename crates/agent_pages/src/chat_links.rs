//! The page behind a link under a message of a chat. Opening it changes nothing, because chats open links too: whoever
//! is signed in presses a button there.

use std::slice;
use std::sync::Arc;

use actions::conversations::triage::{self, TriageAct};
use askama::Template;
use axum::extract::{Path, State};
use base::actor::Principal;
use base::error::Error;
use base::ids::MemberId;
use base::states::Status;
use model::conversations::{self, Conversation};
use outbound::chat_links::{ChatAct, ChatLink, ChatLinkAddress};
use translation::t;
use web::Web;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{PageResult, see_other};
use web::visitor::Visitor;

#[derive(Template)]
#[template(path = "chat_link.html", whitespace = "minimize")]
struct ChatLinkPage {
    frame: PageLayout,
    title: &'static str,
    /// Why there is nothing to press.
    sentence: &'static str,
    /// The button, and where its form goes.
    button: Option<(&'static str, String)>,
    subject: String,
    contact: String,
    /// Where to look first.
    open: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(address): Path<ChatLinkAddress>,
) -> PageResult {
    let path = address.path();
    let location = PageLocation::at(t!("From a chat"), "/inbox");
    let (frame, (link, conversation, is_done)) = web
        .page(&visitor, location, move |tx, cx, _| {
            let link = ChatLink::find(tx, cx, &address)?;
            if link.act == ChatAct::Approve {
                return Ok((link, None, false));
            }
            let conversation = conversations::load(tx, cx.actor, &link.target)?;
            let is_done = is_done(&link, &conversation, &cx.actor.who);
            Ok((link, Some(conversation), is_done))
        })
        .await?;
    let open = match link.act {
        ChatAct::Approve => format!("/approvals/{}", link.target),
        ChatAct::Assign | ChatAct::Close => format!("/conversations/{}", link.target),
    };
    let has_run_out = link.has_run_out(web.app.clock.now());
    if link.act == ChatAct::Approve && !has_run_out {
        // That page shows the draft as it stands, and asks.
        return Ok(see_other(&open));
    }
    let (title, sentence, label) = if has_run_out {
        (t!("This link has run out"), t!("Nothing was changed. Look at it in Mailroom."), None)
    } else {
        words(link.act, is_done)
    };
    let (subject, contact) = conversation.map(subject_and_contact).unwrap_or_default();
    let button = label.map(|label| (label, path));
    let page = ChatLinkPage { frame, title, sentence, button, subject, contact, open };
    web.show(&visitor, &page)
}

/// True where nothing is left to do.
fn is_done(link: &ChatLink, conversation: &Conversation, who: &Principal) -> bool {
    match (link.act, who) {
        (ChatAct::Assign, Principal::Person { id, .. }) => {
            conversation.assignee == Some(MemberId::User(id.clone()))
        }
        (ChatAct::Close, _) => conversation.status == Status::Closed,
        _ => false,
    }
}

/// Title, sentence and button of the page for an act.
fn words(act: ChatAct, is_done: bool) -> (&'static str, &'static str, Option<&'static str>) {
    match act {
        ChatAct::Close if is_done => (t!("It is closed already"), "", None),
        ChatAct::Close => (t!("Close this conversation?"), "", Some(t!("Close"))),
        _ if is_done => (t!("It is yours already"), "", None),
        _ => (t!("Take this conversation?"), "", Some(t!("Assign to me"))),
    }
}

fn subject_and_contact(conversation: Conversation) -> (String, String) {
    let name = conversation.contact_name.filter(|name| !name.trim().is_empty());
    let contact = name.unwrap_or_else(|| conversation.contact_email.to_string());
    (conversation.subject, contact)
}

pub async fn act(
    State(web): State<Arc<Web>>,
    Path(address): Path<ChatLinkAddress>,
    posted: PostedForm,
) -> PageResult {
    let path = address.path();
    let acted = web
        .act(&posted.visitor, move |tx, cx, _| {
            let link = ChatLink::find(tx, cx, &address)?;
            if link.has_run_out(cx.now) {
                return Ok(None);
            }
            let act = match link.act {
                ChatAct::Assign => TriageAct::Assign("me".into()),
                ChatAct::Close => TriageAct::Close,
                // A draft is approved on its own page.
                ChatAct::Approve => return Err(Error::NotFound("page")),
            };
            triage::check_selection(tx, cx, &act, slice::from_ref(&link.target))?;
            let undo = triage::begin_triage(tx, cx, &act)?;
            triage::triage_one(tx, cx, &undo, &act, &link.target)?;
            Ok(Some(link.target))
        })
        .await?;
    match acted {
        Some(id) => web.redirect(&format!("/conversations/{id}"), Flash::Triaged),
        None => Ok(see_other(&path)),
    }
}
