//! Drafting of each inbox: off, from answers, or by a model; what became of drafts; and what would be
//! sent to the model, before anything is.

use std::sync::Arc;

use actions::inboxes::drafting::{self, InboxDrafting, RequestPreview};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::MailboxId;
use base::limits::{DRAFTS_MEASURED, OUTCOME_DAYS};
use model::mailboxes::DraftingMode;
use translation::msg;
use transport::reply_model::ModelEndpoint;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const NO_MODEL: &str = msg!("No model is set up on this server.");

#[derive(Template)]
#[template(path = "settings_drafting.html", whitespace = "minimize")]
struct DraftingPage {
    frame: PageLayout,
    inboxes: Vec<DraftingRow>,
    /// The model's host and name; `None` when none is set up.
    model: Option<(String, String)>,
    /// What went wrong with the last call, and until when the model rests.
    trouble: Option<ModelTrouble>,
    days: i64,
    measured: i64,
}

struct ModelTrouble {
    error: String,
    at: DisplayTime,
    resumes: Option<DisplayTime>,
}

struct DraftingRow {
    id: String,
    name: String,
    address: String,
    mode: &'static str,
    paused: Option<DisplayTime>,
    calls: i64,
    calls_today: i64,
    drafts: i64,
    as_it_was: i64,
    edited: i64,
    changed: i64,
    discarded: i64,
    overtaken: i64,
    retired: i64,
    error: String,
}

impl DraftingRow {
    /// The share of drafts that were approved as they were, in hundredths.
    fn share(&self) -> i64 {
        100 * self.as_it_was / self.drafts.max(1)
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<DraftingPage, PageError> {
    let (frame, (listed, health)) = web
        .page(visitor, location(SettingsPage::Drafting), |tx, cx, _| {
            drafting::list_drafting(tx, cx)
        })
        .await?;
    let trouble = (!health.last_error.is_empty()).then(|| ModelTrouble {
        at: frame.times.long(health.last_at),
        resumes: (health.resumes_at > frame.times.now).then(|| frame.times.long(health.resumes_at)),
        error: translation::sentence(&health.last_error).into_owned(),
    });
    Ok(DraftingPage {
        inboxes: listed.iter().map(|one| row(one, &frame)).collect(),
        frame,
        model: web.model.as_ref().map(endpoint_names),
        trouble,
        days: OUTCOME_DAYS,
        measured: DRAFTS_MEASURED,
    })
}

fn endpoint_names(model: &ModelEndpoint) -> (String, String) {
    (model.host(), model.model.clone())
}

fn row(one: &InboxDrafting, frame: &PageLayout) -> DraftingRow {
    let tally = &one.tally;
    DraftingRow {
        id: one.mailbox.id.to_string(),
        name: one.mailbox.name.clone(),
        address: one.mailbox.address.to_string(),
        mode: one.mode.as_str(),
        paused: one.paused_at.map(|at| frame.times.long(at)),
        calls: one.calls_a_day,
        calls_today: one.calls_today,
        drafts: tally.all(),
        as_it_was: tally.as_it_was,
        edited: tally.edited,
        changed: (100.0 * tally.changed).round() as i64,
        discarded: tally.discarded,
        overtaken: tally.overtaken,
        retired: tally.retired,
        error: String::new(),
    }
}

form! {
    pub struct DraftingForm {
        mode: DraftingMode,
        calls: Option<i64>,
        /// True on the page that shows what would be sent.
        seen: bool,
    }
}

pub async fn set(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<DraftingForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let mailbox = mailbox_id(&id)?;
    let listed = web.read(&visitor, |tx, cx, _| {
        cx.actor.must_administer()?;
        Ok(drafting::list_drafting(tx, cx)?.0)
    });
    let known = listed.await?.into_iter().find(|one| one.mailbox.id == mailbox);
    let known = known.ok_or(Error::NotFound("inbox"))?;
    if form.mode == DraftingMode::Model && web.model.is_none() {
        return refuse(&web, &visitor, &id, NO_MODEL).await;
    }
    // Nothing is sent to a model before somebody has seen what that would be.
    if form.mode == DraftingMode::Model && known.mode != DraftingMode::Model && !form.seen {
        return Ok(see_other(&format!("/settings/drafting/{id}/model")));
    }
    let (mode, calls) = (form.mode, form.calls.unwrap_or(known.calls_a_day));
    let set = web
        .act(&visitor, move |tx, cx, _| drafting::set_drafting(tx, cx, &mailbox, mode, calls))
        .await;
    match set.or_problems()? {
        Ok(()) => web.redirect("/settings/drafting", Flash::DraftingSet),
        Err(problems) => refuse(&web, &visitor, &id, &problems.first_sentence()).await,
    }
}

async fn refuse(web: &Web, visitor: &Visitor, id: &str, sentence: &str) -> PageResult {
    let mut page = build(web, visitor).await?;
    for row in page.inboxes.iter_mut().filter(|row| row.id == id) {
        row.error = sentence.to_owned();
    }
    responses::again(&page)
}

#[derive(Template)]
#[template(path = "settings_drafting_model.html", whitespace = "minimize")]
struct ModelPage {
    frame: PageLayout,
    id: String,
    inbox: String,
    host: String,
    model: String,
    subject: String,
    /// The request as it would leave.
    request: String,
    hidden: usize,
}

/// What would be sent to the model for an inbox.
pub async fn model_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let mailbox = mailbox_id(&id)?;
    let model = web.model.as_ref().map(|endpoint| endpoint.model.clone()).unwrap_or_default();
    let (frame, (inbox, preview)) = web
        .page(&visitor, location(SettingsPage::Drafting), move |tx, cx, _| {
            let found = model::mailboxes::seen_by(tx, cx.actor, &mailbox)?;
            let found = found.ok_or(Error::NotFound("inbox"))?;
            Ok((found.name, drafting::preview_request(tx, cx, &mailbox, &model)?))
        })
        .await?;
    let Some(endpoint) = web.model.clone() else {
        return refuse(&web, &visitor, &id, NO_MODEL).await;
    };
    let (subject, request, hidden) = match preview {
        Some(RequestPreview { subject, body, hidden }) => (subject, readable(&body), hidden),
        None => (String::new(), String::new(), 0),
    };
    let (host, model) = endpoint_names(&endpoint);
    web.show(&visitor, &ModelPage { frame, id, inbox, host, model, subject, request, hidden })
}

/// A request with the data of its last message as JSON that people can read.
fn readable(body: &serde_json::Value) -> String {
    let mut shown = body.clone();
    let data =
        shown["messages"][1]["content"].as_str().and_then(|data| serde_json::from_str(data).ok());
    if let Some(data) = data {
        shown["messages"][1]["content"] = data;
    }
    serde_json::to_string_pretty(&shown).unwrap_or_default()
}

fn mailbox_id(id: &str) -> base::error::Result<MailboxId> {
    MailboxId::parse(id).ok_or(Error::NotFound("inbox"))
}
