//! Linked items: the issue trackers that tell how they stand, and whether a closed one opens conversations again.

use std::sync::Arc;

use actions::integrations::issue_trackers::{
    TrackerConnection, connect_tracker, disconnect_tracker, set_reopening, set_tracker_secret,
    tracker_settings,
};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::limits::TRACKER_SECRET_CHARS_MOST;
use model::linked_items::Tracker;
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

const PLACE: &str = "/settings/linked-items";

#[derive(Template)]
#[template(path = "settings_linked_items.html", whitespace = "minimize")]
struct LinkedItemSettings {
    frame: PageLayout,
    reopens: bool,
    trackers: Vec<TrackerView>,
    /// A tracker and the secret that was made for it, shown this once.
    made: Option<(&'static str, String)>,
}

struct TrackerView {
    kind: &'static str,
    label: &'static str,
    /// What to do there.
    steps: &'static str,
    /// The tracker makes the secret itself.
    makes_secret: bool,
    connection: Option<ConnectionView>,
    secret_error: String,
}

struct ConnectionView {
    address: String,
    complete: bool,
    called: Option<DisplayTime>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<LinkedItemSettings, PageError> {
    let (frame, settings) = web
        .page(visitor, location(SettingsPage::LinkedItems), |tx, cx, _| tracker_settings(tx, cx))
        .await?;
    let mut connections = settings.connections;
    let mut trackers = Vec::new();
    for tracker in Tracker::ALL {
        let at = connections.iter().position(|connection| connection.kind == *tracker);
        let connection = at.map(|at| connection_view(connections.remove(at), &frame));
        trackers.push(tracker_view(*tracker, connection));
    }
    Ok(LinkedItemSettings { reopens: settings.reopens, trackers, made: None, frame })
}

fn connection_view(connection: TrackerConnection, frame: &PageLayout) -> ConnectionView {
    ConnectionView {
        address: connection.address,
        complete: connection.complete,
        called: connection.called_at.map(|at| frame.times.long(at)),
    }
}

fn tracker_view(tracker: Tracker, connection: Option<ConnectionView>) -> TrackerView {
    let steps = match tracker {
        Tracker::GitHub => t!(
            "In the repository or organization: Settings, Webhooks. Content type application/json, events Issues and Pull requests."
        ),
        Tracker::GitLab => t!(
            "In the project or group: Settings, Webhooks. The secret is the secret token; triggers are issue and merge request events."
        ),
        Tracker::Jira => t!(
            "In the system settings: WebHooks, events issue created and updated. Where there is no field for the secret, add ?secret= and the secret to the address."
        ),
        Tracker::Linear => t!(
            "In the settings: API, Webhooks, with data change events of issues. Linear then shows a signing secret, which belongs here."
        ),
    };
    TrackerView {
        kind: tracker.as_str(),
        label: tracker.label(),
        steps,
        makes_secret: tracker == Tracker::Linear,
        connection,
        secret_error: String::new(),
    }
}

fn tracker_of(kind: &str) -> base::error::Result<Tracker> {
    Tracker::parse(kind).ok_or(Error::NotFound("connection"))
}

form! {
    pub struct TrackerSecretForm {
        secret: String,
    }

    pub struct ReopeningForm {
        reopens: String,
    }
}

/// Makes an address and a secret, or another secret, and shows it.
pub async fn connect(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let tracker = tracker_of(&kind)?;
    let visitor = posted.visitor;
    let secret = web.act(&visitor, move |tx, cx, _| connect_tracker(tx, cx, tracker)).await?;
    match secret {
        None => web.redirect(PLACE, Flash::Saved),
        Some(secret) => {
            let page = build(&web, &visitor).await?;
            let made = Some((tracker.label(), secret));
            responses::page(&LinkedItemSettings { made, ..page })
        }
    }
}

/// Sets the secret that the tracker made.
pub async fn set_secret(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm<TrackerSecretForm>,
) -> PageResult {
    let tracker = tracker_of(&kind)?;
    let PostedForm { visitor, form } = posted;
    let set =
        web.act(&visitor, move |tx, cx, _| set_tracker_secret(tx, cx, tracker, &form.secret)).await;
    match set.or_problems()? {
        Ok(()) => web.redirect(PLACE, Flash::ServiceSecret),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            for view in page.trackers.iter_mut().filter(|view| view.kind == kind) {
                view.secret_error = sentence(&problems.first_sentence()).into_owned();
            }
            responses::again(&page)
        }
    }
}

pub async fn disconnect(
    State(web): State<Arc<Web>>,
    Path(kind): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let tracker = tracker_of(&kind)?;
    web.act(&posted.visitor, move |tx, cx, _| disconnect_tracker(tx, cx, tracker)).await?;
    web.redirect(PLACE, Flash::TrackerRemoved)
}

pub async fn reopen(State(web): State<Arc<Web>>, posted: PostedForm<ReopeningForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let reopens = form.reopens == "on";
    web.act(&visitor, move |tx, cx, _| set_reopening(tx, cx, reopens)).await?;
    web.redirect(PLACE, Flash::Saved)
}
