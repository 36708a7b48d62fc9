//! The customer panel: the app that is asked about customers, its secret, and how it fares.

use std::sync::Arc;

use ::customer_panel::{
    CustomerPanel, list_panels, register_panel, remove_panel, rotate_panel_secret,
};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::limits::{PANEL_NAME_CHARS, PANEL_WAIT_MS, WEBHOOK_URL_CHARS};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const PLACE: &str = "/settings/panel";
/// The parts of addresses that stand for the team's conversations and the sandbox's.
const KINDS: [(&str, bool); 2] = [("team", true), ("sandbox", false)];

#[derive(Template)]
#[template(path = "settings_panel.html", whitespace = "minimize")]
struct PanelSettings {
    frame: PageLayout,
    parts: Vec<PartView>,
    /// The address, and its secret, shown this once.
    made: Option<(String, String)>,
}

/// The app for one kind of conversations.
struct PartView {
    kind: &'static str,
    /// The address of its form.
    place: String,
    name_id: String,
    url_id: String,
    title: &'static str,
    about: &'static str,
    name: String,
    url: String,
    is_registered: bool,
    answered: Option<DisplayTime>,
    failed: Option<(DisplayTime, String)>,
    old_until: Option<DisplayTime>,
    name_error: String,
    url_error: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<PanelSettings, PageError> {
    let (frame, panels) =
        web.page(visitor, location(SettingsPage::Panel), |tx, cx, _| list_panels(tx, cx)).await?;
    let parts = KINDS.map(|(kind, livemode)| {
        let panel = panels.iter().find(|panel| panel.livemode == livemode);
        part(kind, livemode, panel, &frame)
    });
    Ok(PanelSettings { parts: parts.into(), made: None, frame })
}

fn part(
    kind: &'static str,
    livemode: bool,
    panel: Option<&CustomerPanel>,
    frame: &PageLayout,
) -> PartView {
    let (title, about) = if livemode {
        (
            t!("Conversations of the team"),
            t!(
                "Asked when somebody opens one. Private inboxes, inboxes for some and held mail are not told to it."
            ),
        )
    } else {
        (
            t!("Conversations of the sandbox"),
            t!("Only while you try things out, with pretend customers."),
        )
    };
    let times = &frame.times;
    let failed = panel.filter(|panel| !panel.problem.is_empty());
    PartView {
        kind,
        place: format!("{PLACE}/{kind}"),
        name_id: format!("{kind}-name"),
        url_id: format!("{kind}-url"),
        title,
        about,
        name: panel.map(|panel| panel.name.clone()).unwrap_or_default(),
        url: panel.map(|panel| panel.url.clone()).unwrap_or_default(),
        is_registered: panel.is_some(),
        answered: panel.and_then(|panel| panel.answered_at).map(|at| times.long(at)),
        failed: failed.and_then(|panel| {
            Some((times.long(panel.failed_at?), sentence(&panel.problem).into_owned()))
        }),
        old_until: panel
            .and_then(|panel| panel.old_secret_until)
            .filter(|until| *until > times.now)
            .map(|until| times.long(until)),
        name_error: String::new(),
        url_error: String::new(),
    }
}

fn livemode_of(kind: &str) -> base::error::Result<bool> {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    found.map(|(_, livemode)| *livemode).ok_or(Error::NotFound("customer panel"))
}

form! {
    pub struct PanelForm {
        name: String,
        url: String,
    }
}

pub async fn save(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm<PanelForm>,
) -> PageResult {
    let livemode = livemode_of(&kind)?;
    let PostedForm { visitor, form } = posted;
    // Only owners and admins can make the server look up a name.
    web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
    let (typed, name) = (form.url.trim().to_owned(), form.name.clone());
    let saved = match web.ssrf_guard.vet(&typed).await {
        Ok(url) => {
            web.act(&visitor, move |tx, cx, _| register_panel(tx, cx, livemode, &name, &url)).await
        }
        Err(error) => Err(PageError::Domain(error)),
    };
    match saved.or_problems()? {
        Ok(None) => web.redirect(PLACE, Flash::Saved),
        Ok(Some(secret)) => {
            let page = build(&web, &visitor).await?;
            responses::page(&PanelSettings { made: Some((typed, secret)), ..page })
        }
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            for part in page.parts.iter_mut().filter(|part| part.kind == kind) {
                (part.name, part.url) = (form.name.clone(), form.url.clone());
                for problem in &problems.0 {
                    if problem.field == "name" {
                        part.name_error = problem.sentence.clone();
                    } else {
                        part.url_error = format!("The address {}.", problem.sentence);
                    }
                }
            }
            responses::again(&page)
        }
    }
}

pub async fn rotate(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let livemode = livemode_of(&kind)?;
    let visitor = posted.visitor;
    let secret = web.act(&visitor, move |tx, cx, _| rotate_panel_secret(tx, cx, livemode)).await?;
    let page = build(&web, &visitor).await?;
    let url = page.parts.iter().find(|part| part.kind == kind).map(|part| part.url.clone());
    let made = Some((url.unwrap_or_default(), secret));
    responses::page(&PanelSettings { made, ..page })
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let livemode = livemode_of(&kind)?;
    web.act(&posted.visitor, move |tx, cx, _| remove_panel(tx, cx, livemode)).await?;
    web.redirect(PLACE, Flash::PanelRemoved)
}
