//! Deleting an inbox or the workspace, after a page that says what goes and a word that is typed; and how
//! long an inbox keeps closed conversations.

use std::sync::Arc;

use actions::workspace::deletion::{self, InboxDeletion, InboxRetention};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::limits::TRASH_DAYS;
use model::erasure::deletions::{COUNTED, DeletionCounts};
use model::erasure::retention::{KEPT_DAYS_LEAST, KEPT_DAYS_MOST};
use translation::t;
use web::Web;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::inbox::mailbox_id;
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_delete_inbox.html", whitespace = "minimize")]
struct DeleteInboxPage {
    frame: PageLayout,
    id: String,
    name: String,
    /// What has to be typed.
    word: String,
    counts: String,
    /// Its person was removed, and nobody can read it.
    is_closed: bool,
    obstacle: Option<String>,
    typed: String,
    error: String,
}

form! {
    pub struct DeletionForm {
        confirmation: String,
    }
}

/// The page that says what deleting an inbox does.
pub async fn ask_inbox(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    web.show(&visitor, &inbox_page(&web, &visitor, &id).await?)
}

async fn inbox_page(web: &Web, visitor: &Visitor, id: &str) -> Result<DeleteInboxPage, PageError> {
    let wanted = mailbox_id(id)?;
    let (frame, found): (PageLayout, InboxDeletion) = web
        .page(visitor, location(SettingsPage::Inboxes), move |tx, cx, _| {
            deletion::inbox_deletion(tx, cx, &wanted)
        })
        .await?;
    Ok(DeleteInboxPage {
        frame,
        id: id.to_owned(),
        word: found.confirmation().to_owned(),
        counts: counts_words(&found.counts),
        is_closed: found.is_closed,
        obstacle: found.obstacle,
        name: found.mailbox.name,
        typed: String::new(),
        error: String::new(),
    })
}

/// `12 conversations and 40 messages`.
fn counts_words(counts: &DeletionCounts) -> String {
    let conversations = match counts.conversations {
        1 => t!("1 conversation").to_owned(),
        count if count >= COUNTED => t!("more than {count} conversations", count = COUNTED),
        count => t!("{count} conversations", count),
    };
    let messages = match counts.messages {
        1 => t!("1 message").to_owned(),
        count if count >= COUNTED => t!("more than {count} messages", count = COUNTED),
        count => t!("{count} messages", count),
    };
    t!("{conversations} and {messages}", conversations, messages)
}

pub async fn delete_inbox(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<DeletionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (mailbox, typed) = (mailbox_id(&id)?, form.confirmation.clone());
    let deleted =
        web.act(&visitor, move |tx, cx, _| deletion::delete_inbox(tx, cx, &mailbox, &typed)).await;
    match deleted {
        Ok(_) => web.redirect("/settings/inboxes", Flash::InboxDeleted),
        Err(PageError::Domain(Error::Invalid(_) | Error::Conflict(_))) => {
            let page = inbox_page(&web, &visitor, &id).await?;
            let error = t!("Nothing was deleted. Type {word} exactly.", word = page.word);
            responses::again(&DeleteInboxPage { typed: form.confirmation, error, ..page })
        }
        Err(refusal) => Err(refusal),
    }
}

#[derive(Template)]
#[template(path = "settings_delete_workspace.html", whitespace = "minimize")]
struct DeleteWorkspacePage {
    frame: PageLayout,
    counts: String,
    appointments: i64,
    typed: String,
    error: String,
}

pub async fn ask_workspace(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &workspace_page(&web, &visitor).await?)
}

async fn workspace_page(web: &Web, visitor: &Visitor) -> Result<DeleteWorkspacePage, PageError> {
    let (frame, counts): (PageLayout, DeletionCounts) = web
        .page(visitor, location(SettingsPage::Data), |tx, cx, _| {
            deletion::workspace_deletion(tx, cx)
        })
        .await?;
    Ok(DeleteWorkspacePage {
        frame,
        counts: counts_words(&counts),
        appointments: counts.appointments,
        typed: String::new(),
        error: String::new(),
    })
}

pub async fn delete_workspace(
    State(web): State<Arc<Web>>,
    posted: PostedForm<DeletionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let typed = form.confirmation.clone();
    let deleted =
        web.act(&visitor, move |tx, cx, _| deletion::delete_workspace(tx, cx, &typed)).await;
    match deleted.or_problems()? {
        Ok(_) => web.redirect("/sign-in", Flash::WorkspaceDeleted),
        Err(_) => {
            let page = workspace_page(&web, &visitor).await?;
            let error =
                t!("Nothing was deleted. Type {word} exactly.", word = page.frame.workspace);
            responses::again(&DeleteWorkspacePage { typed: form.confirmation, error, ..page })
        }
    }
}

#[derive(Template)]
#[template(path = "settings_retention.html", whitespace = "minimize")]
struct RetentionPage {
    frame: PageLayout,
    id: String,
    name: String,
    /// The days that are set.
    days: Option<i64>,
    /// The days that are tried, and how many conversations would go at once.
    trial: Option<(i64, String)>,
    typed: String,
    error: String,
    least: i64,
    most: i64,
    trash_days: i64,
}

/// How long an inbox keeps closed conversations. With `days` in the address, the page says how many would
/// go, before anything is switched on.
pub async fn retention_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let typed = asked.get("days");
    web.show(&visitor, &build_retention(&web, &visitor, &id, typed).await?)
}

async fn build_retention(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    typed: String,
) -> Result<RetentionPage, PageError> {
    let wanted = mailbox_id(id)?;
    let days: Option<i64> = typed.trim().parse().ok();
    let tried = days.filter(|days| (KEPT_DAYS_LEAST..=KEPT_DAYS_MOST).contains(days));
    let (frame, (found, count)): (PageLayout, (InboxRetention, Option<i64>)) = web
        .page(visitor, location(SettingsPage::Inboxes), move |tx, cx, _| {
            let found = deletion::inbox_retention(tx, cx, &wanted)?;
            let count = match tried {
                Some(days) => Some(deletion::count_untouched(tx, cx, &wanted, days)?),
                None => None,
            };
            Ok((found, count))
        })
        .await?;
    let words = |count: i64| match count {
        0 => t!("No conversation").to_owned(),
        1 => t!("1 conversation").to_owned(),
        count if count >= COUNTED => t!("More than {count} conversations", count = COUNTED),
        count => t!("{count} conversations", count),
    };
    let error = match (typed.is_empty(), tried) {
        (false, None) => {
            let (least, most) = (KEPT_DAYS_LEAST, KEPT_DAYS_MOST);
            t!("Say a number of days from {least} to {most}.", least, most)
        }
        _ => String::new(),
    };
    Ok(RetentionPage {
        frame,
        id: id.to_owned(),
        name: found.mailbox.name,
        days: found.days,
        trial: tried.zip(count.map(words)),
        typed: if typed.is_empty() {
            found.days.map(|days| days.to_string()).unwrap_or_default()
        } else {
            typed
        },
        error,
        least: KEPT_DAYS_LEAST,
        most: KEPT_DAYS_MOST,
        trash_days: TRASH_DAYS,
    })
}

form! {
    pub struct RetentionForm {
        days: Option<i64>,
    }
}

pub async fn set_retention(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<RetentionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (mailbox, days) = (mailbox_id(&id)?, form.days);
    web.act(&visitor, move |tx, cx, _| deletion::set_retention(tx, cx, &mailbox, days)).await?;
    web.redirect(&format!("/settings/inboxes/{id}/retention"), Flash::RetentionSaved)
}
