//! A conversation as an agent saw it, call by call.

use std::sync::Arc;

use actions::integrations::agent_replay::{
    self, ChangedSince, DoneThen, ReplayStep, SeenItem, SeenItemKind,
};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::AgentId;
use base::states::MessageStatus;
use model::conversations::agent_acts::AgentActKind;
use translation::t;
use web::Web;
use web::layout::filters;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::PageResult;
use web::layout::wording::{DisplayTime, TimeFormat};
use web::visitor::Visitor;

#[derive(Template)]
#[template(path = "replay.html", whitespace = "minimize")]
struct ReplayPage {
    frame: PageLayout,
    id: String,
    agent: String,
    conversation: String,
    subject: String,
    steps: Vec<StepView>,
    has_more: bool,
}

struct StepView {
    number: usize,
    time: DisplayTime,
    operation: String,
    status: i64,
    ok: bool,
    arguments: String,
    /// Why it was refused, or became a draft.
    policy: String,
    /// What the answer held: how many items in all, and those that were new.
    seen: Option<SeenView>,
    did: Vec<DoneView>,
}

struct SeenView {
    count: usize,
    items: Vec<ItemView>,
    more: usize,
}

struct ItemView {
    time: DisplayTime,
    kind: &'static str,
    by: String,
    text: String,
    since: &'static str,
}

struct DoneView {
    what: &'static str,
    words: Vec<String>,
    state: &'static str,
    /// The draft, where it waits still.
    draft: Option<String>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((id, conversation)): Path<(String, String)>,
) -> PageResult {
    let agent = AgentId::parse(&id).ok_or(Error::NotFound("key"))?;
    let location = PageLocation::at(t!("Replay"), "/settings/keys");
    let (frame, replay) = web
        .page(&visitor, location, move |tx, cx, _| {
            agent_replay::replay(tx, cx, &agent, &conversation)
        })
        .await?;
    let steps = replay.steps.into_iter().enumerate();
    let steps = steps.map(|(place, step)| step_view(place + 1, step, &frame.times)).collect();
    let page = ReplayPage {
        id,
        agent: replay.agent,
        conversation: replay.conversation.id.to_string(),
        subject: replay.conversation.subject,
        steps,
        has_more: replay.has_more,
        frame,
    };
    web.show(&visitor, &page)
}

fn step_view(number: usize, step: ReplayStep, times: &TimeFormat) -> StepView {
    let ReplayStep { call, seen, did } = step;
    let item = |item: SeenItem| ItemView {
        time: times.stamp(item.at),
        kind: kind_words(item.kind),
        by: item.by,
        text: item.text,
        since: item.since.map_or("", since_words),
    };
    StepView {
        number,
        time: times.stamp(call.at.0),
        ok: call.status < 400,
        operation: call.operation,
        status: call.status,
        arguments: call.arguments,
        policy: call.error.unwrap_or_default(),
        seen: seen.map(|seen| SeenView {
            count: seen.count,
            items: seen.new.into_iter().map(item).collect(),
            more: seen.more,
        }),
        did: did.into_iter().map(done_view).collect(),
    }
}

fn kind_words(kind: SeenItemKind) -> &'static str {
    match kind {
        SeenItemKind::FromCustomer => t!("Mail of the customer"),
        SeenItemKind::FromTeam => t!("Message of the team"),
        SeenItemKind::Draft => t!("Draft"),
        SeenItemKind::Note => t!("Note"),
        SeenItemKind::Event => t!("Event"),
    }
}

fn since_words(since: ChangedSince) -> &'static str {
    match since {
        ChangedSince::Edited => t!("Its words were changed since."),
        ChangedSince::Discarded => t!("It was discarded since."),
        ChangedSince::Hidden => t!("It was hidden since."),
        ChangedSince::Erased => t!("Its words are not there any more."),
        ChangedSince::Protected => t!("Its words are on a protected page."),
    }
}

fn done_view(done: DoneThen) -> DoneView {
    let what = match done.kind {
        AgentActKind::Changed => t!("It changed the conversation"),
        AgentActKind::Noted => t!("It wrote a note"),
        AgentActKind::Merged => t!("It merged another conversation into this one"),
        AgentActKind::Split => t!("It split a message off"),
        AgentActKind::Wrote => t!("It wrote a message"),
        AgentActKind::Booked => t!("It booked a time"),
        AgentActKind::Rebooked => t!("It moved or cancelled a booking"),
        AgentActKind::Withdrew => t!("It withdrew a message"),
    };
    let status = done.message.as_ref().map(|(_, status)| *status);
    let state = match (done.was_undone, status) {
        (true, _) => t!("It was undone since."),
        (false, Some(MessageStatus::Draft)) => t!("It is a draft, or was discarded as one."),
        (false, Some(MessageStatus::Scheduled)) => t!("It leaves, unless somebody stops it."),
        (false, Some(_)) => t!("It has left, or was to."),
        (false, None) => "",
    };
    let draft = done.message.filter(|(_, status)| *status == MessageStatus::Draft);
    DoneView {
        what,
        words: done.words,
        state,
        draft: draft.map(|(id, _)| format!("/approvals/{id}")),
    }
}
