//! The customer's upload page.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use base::error::Error;
use base::ids::UploadId;
use model::branding::Branding;
use model::documents::uploads::{self, AskPage, PageFile, PageItem, UploadState};
use model::guests::guest_forms::GuestFormId;
use model::times::calendar_words::kept_date;
use translation::{msg, t, text_in_context};

use super::{Web, gone_page};
use crate::layout::filters;
use crate::layout::responses::{html, see_other};
use crate::layout::wording::{TimeFormat, first_name, paragraphs, short_month, size};
use crate::visitor::Visitor;

/// Numbers from two on that are written as words.
const NUMBERS: [&str; 9] = [
    msg!("Two"),
    msg!("Three"),
    msg!("Four"),
    msg!("Five"),
    msg!("Six"),
    msg!("Seven"),
    msg!("Eight"),
    msg!("Nine"),
    msg!("Ten"),
];

#[derive(Template)]
#[template(path = "upload.html", whitespace = "minimize")]
struct UploadPage {
    token: String,
    /// The id of the page's plain forms.
    form_id: GuestFormId,
    workspace: String,
    branding: Branding,
    contact: Option<String>,
    first: String,
    asker: Option<String>,
    heading: String,
    note: Vec<Vec<String>>,
    /// The due date, for machines and in words.
    due: Option<(String, String)>,
    closed: bool,
    /// When the request was completed: the day and the time of the stamp, and both in words.
    complete: Option<(String, String, String)>,
    open_until: Option<String>,
    reminds: bool,
    /// Files that wait for the button.
    waiting: usize,
    /// Something was handed over, and something is still needed.
    thanked: bool,
    with_file: usize,
    items: Vec<ItemView>,
}

struct ItemView {
    place: i64,
    label: String,
    description: Option<String>,
    class: &'static str,
    icon: &'static str,
    state: &'static str,
    state_class: &'static str,
    files: Vec<FileView>,
}

struct FileView {
    id: String,
    name: String,
    about: String,
    problem: Option<String>,
    removable: bool,
}

/// A page that says why there is no upload page.
#[derive(Template)]
#[template(path = "upload_nothing.html", whitespace = "minimize")]
pub struct Nothing {
    pub title: &'static str,
    pub sentence: String,
}

pub async fn show(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    match web.read_ask(&visitor, &token, uploads::look).await {
        Ok(page) => {
            let form_id = GuestFormId::new(&web.app.ids);
            html(StatusCode::OK, &view(token, form_id, page, web.app.clock.now()))
        }
        Err(refusal) => gone_page(refusal),
    }
}

fn view(token: String, form_id: GuestFormId, page: AskPage, now: i64) -> UploadPage {
    let times = TimeFormat::new(now, page.times.zone.clone());
    let (waiting, open_until) = (page.waiting(), page.open_until());
    let contact = page.contact_name.clone().filter(|name| !name.trim().is_empty());
    let postmark = |at: i64| {
        let date = times.in_zone(at).date();
        let month = short_month(date.month());
        let day = t!("{day} {month}", day = date.day(), month).to_uppercase();
        (day, times.clock(at), page.times.moment(at))
    };
    let workspace = &page.workspace;
    let heading = match page.items.len() {
        0 => t!("No documents for {workspace}", workspace),
        1 => t!("One document for {workspace}", workspace),
        n => t!("{count} documents for {workspace}", count = count_text(n), workspace),
    };
    UploadPage {
        token,
        form_id,
        first: contact.as_deref().map(first_name).unwrap_or_default().to_owned(),
        contact,
        asker: page.asker,
        heading,
        note: page.note.as_deref().map(paragraphs).unwrap_or_default(),
        due: page.due_date.map(|day| (day.clone(), kept_date(&day))),
        closed: page.closed,
        complete: page.completed_at.map(postmark),
        open_until: open_until.map(|at| page.times.moment(at)),
        reminds: page.reminds && !page.reminders_stopped,
        waiting,
        thanked: page.submitted_at.is_some() && waiting == 0,
        with_file: page.items.iter().filter(|item| item.has_file()).count(),
        items: page.items.into_iter().map(item_view).collect(),
        workspace: page.workspace,
        branding: page.branding,
    }
}

fn count_text(n: usize) -> String {
    let word = n.checked_sub(2).and_then(|place| NUMBERS.get(place));
    word.map_or_else(|| n.to_string(), |word| translation::text(word).to_owned())
}

fn item_view(item: PageItem) -> ItemView {
    let problem = item.files.iter().any(|file| file.state == UploadState::Refused);
    let (class, icon, state, state_class) = if item.is_in() {
        ("in", "done", text_in_context("document", "In"), "ok")
    } else if item.has_file() {
        ("in", "done", t!("Added"), "act")
    } else if problem {
        ("", "warn", t!("Please look"), "warn")
    } else if item.required {
        ("", "open", t!("Still needed"), "")
    } else {
        ("", "open", t!("Nice to have"), "")
    };
    ItemView {
        place: item.place,
        label: item.label,
        description: item.description,
        class,
        icon,
        state,
        state_class,
        files: item.files.into_iter().map(file_view).collect(),
    }
}

fn file_view(file: PageFile) -> FileView {
    let about = match file.state {
        UploadState::Arriving => {
            let percent = file.received * 100 / file.size.max(1);
            t!("{percent} % arrived. Choose the same file again to go on", percent)
        }
        UploadState::Checking => t!("Being checked").into(),
        UploadState::Filed => t!("{size}, handed over", size = size(file.size)),
        UploadState::Refused | UploadState::Removed => String::new(),
        UploadState::Kept => size(file.size),
    };
    FileView {
        id: file.id.to_string(),
        name: file.filename,
        about,
        problem: file.problem.filter(|_| file.state == UploadState::Refused),
        removable: file.state != UploadState::Filed,
    }
}

/// Turns the uploaded files into documents.
pub async fn hand_over(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    if let Err(refusal) = web.read_ask(&visitor, &token, |_, _| Ok(())).await {
        return gone_page(refusal);
    }
    let handed = uploads::hand_over(&web.app, &token).await;
    match web.or_miss(&visitor, handed).await {
        Ok(_) => see_other(&format!("/u/{token}")),
        Err(refusal) => gone_page(refusal),
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((token, id)): Path<(String, String)>,
) -> Response<Body> {
    let Some(id) = UploadId::parse(&id) else {
        return gone_page(super::PageError::Domain(Error::NotFound("file")));
    };
    let item = web
        .act_for_ask(&visitor, &token, move |tx, cx, ask| {
            let item = uploads::load(tx, ask, &id).map(|upload| upload.item).ok();
            uploads::remove(tx, cx, ask, &id)?;
            Ok(item)
        })
        .await;
    match item {
        Ok(Some(item)) => see_other(&format!("/u/{token}#item-{item}")),
        Ok(None) => see_other(&format!("/u/{token}")),
        Err(refusal) => gone_page(refusal),
    }
}

#[derive(Template)]
#[template(path = "upload_stop.html", whitespace = "minimize")]
struct StopPage {
    token: String,
    workspace: String,
    branding: Branding,
    stopped: bool,
}

/// Opening the link changes nothing: programs that scan mail open links too.
pub async fn ask_to_stop(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    match web.read_ask(&visitor, &token, uploads::look).await {
        Ok(page) => {
            let AskPage { workspace, branding, reminders_stopped: stopped, .. } = page;
            html(StatusCode::OK, &StopPage { token, workspace, branding, stopped })
        }
        Err(refusal) => gone_page(refusal),
    }
}

/// Stops the reminders, from the page or from a mail program's own button (RFC 8058).
pub async fn stop(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    let stopped = web.act_for_ask(&visitor, &token, |tx, cx, ask| {
        tx.wake(base::concurrency::queue::Queue::Pages);
        uploads::stop_reminders(tx, cx, ask)
    });
    match stopped.await {
        Ok(()) => see_other(&format!("/u/{token}/stop")),
        Err(refusal) => gone_page(refusal),
    }
}
