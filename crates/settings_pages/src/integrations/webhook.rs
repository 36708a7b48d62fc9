//! One webhook: its secret, its state, and the log of what was sent to it.

use std::sync::Arc;

use actions::integrations::delivery_log::{
    self, DeliveryState, LogFilter, LoggedAttempt, LoggedDelivery,
};
use actions::integrations::webhooks::{self, WebhookDetail};
use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use base::error::Error;
use base::ids::{EventId, WebhookId};
use base::limits::LOG_ITEMS;
use model::webhooks::events::EVENTS;
use model::webhooks::{State as HookState, WebhookFormat};
use translation::t;
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{FormOutcome, PageError, PageResult};
use web::layout::wording::{DisplayTime, TimeFormat, number};
use web::visitor::Visitor;

use crate::integrations::webhooks::{format_words, hears};
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_webhook.html", whitespace = "minimize")]
struct WebhookPage {
    frame: PageLayout,
    id: String,
    url: String,
    hears: String,
    told_as: &'static str,
    is_chat: bool,
    state: HookState,
    maker: String,
    made: DisplayTime,
    old_until: Option<DisplayTime>,
    failing: Option<DisplayTime>,
    /// The new secret, shown this once.
    secret: Option<String>,
    deliveries: Vec<DeliveryView>,
    /// Where each state's part of the log is; the flag marks the one that is shown.
    filters: Vec<(String, &'static str, bool)>,
    chosen_state: String,
    chosen_event: String,
    /// The types of event that the log can be narrowed to.
    events: Vec<&'static str>,
    /// The events that can be chosen: name, when it is sent, and whether it is.
    choices: Vec<(&'static str, String, bool)>,
    older: Option<String>,
    has_api: bool,
}

struct DeliveryView {
    event: String,
    kind: String,
    class: &'static str,
    icon: &'static str,
    word: &'static str,
    attempts_label: String,
    at: DisplayTime,
    next: Option<DisplayTime>,
    attempts: Vec<AttemptView>,
    body: String,
    skipped: bool,
}

struct AttemptView {
    number: usize,
    at: DisplayTime,
    class: &'static str,
    icon: &'static str,
    status: String,
    answer: String,
    took: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let page = build(&web, &visitor, &id, &asked).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
) -> Result<WebhookPage, PageError> {
    let hook = webhook_id(id)?;
    let filter = filter(asked);
    let wanted = filter.clone();
    let (mut frame, (detail, log, has_api)) = web
        .page(visitor, location(SettingsPage::Webhooks), move |tx, cx, me| {
            let detail = webhooks::look_at_webhook(tx, cx, &hook)?;
            let log = delivery_log::delivery_log(tx, cx, &hook, &wanted)?;
            Ok((detail, log, me.plan.has_api()))
        })
        .await?;
    frame.live = format!("page=webhook&webhook={id}");
    Ok(view(frame, id, detail, &log, &filter, has_api))
}

fn view(
    frame: PageLayout,
    id: &str,
    detail: WebhookDetail,
    log: &[LoggedDelivery],
    filter: &LogFilter,
    has_api: bool,
) -> WebhookPage {
    let times = frame.times.clone();
    let state = filter.state.map_or("", |state| state.as_str());
    let event = filter.event_type.as_deref().unwrap_or("");
    let shown = [
        ("", t!("All")),
        ("failed", t!("Failed")),
        ("skipped", t!("Skipped")),
        ("delivered", t!("Delivered")),
    ];
    let older = log.last().filter(|_| log.len() as i64 == LOG_ITEMS);
    WebhookPage {
        id: id.to_owned(),
        choices: choices(detail.format, &detail.chosen_events.0),
        told_as: format_words(detail.format),
        is_chat: detail.format.is_chat(),
        url: detail.url,
        hears: hears(detail.livemode, detail.private, detail.inbox.as_deref()),
        state: detail.state,
        maker: detail.maker.unwrap_or_else(|| t!("Somebody who left the team").into()),
        made: times.long(detail.created_at),
        old_until: detail.old_secret_until.map(|until| times.long(until)),
        failing: detail.failing_since.map(|since| times.long(since)),
        secret: None,
        deliveries: log.iter().map(|delivery| delivery_view(delivery, &times)).collect(),
        filters: shown
            .map(|(word, label)| (log_path(id, word, event, None), label, word == state))
            .to_vec(),
        older: older.map(|last| log_path(id, state, event, Some(&last.event))),
        chosen_state: state.to_owned(),
        chosen_event: event.to_owned(),
        events: event_names(),
        has_api,
        frame,
    }
}

fn delivery_view(delivery: &LoggedDelivery, times: &TimeFormat) -> DeliveryView {
    let (class, icon, word) = match delivery.state {
        DeliveryState::Delivered => ("ok", "check", t!("Delivered")),
        DeliveryState::Failed => ("danger", "fail", t!("Dropped")),
        DeliveryState::Skipped => ("", "pause", t!("Skipped")),
        DeliveryState::Waiting if delivery.held => ("warn", "pause", t!("Held")),
        DeliveryState::Waiting if delivery.attempts.is_empty() => ("act", "wait", t!("On its way")),
        DeliveryState::Waiting => ("warn", "wait", t!("Tried again")),
    };
    DeliveryView {
        event: delivery.event.to_string(),
        kind: delivery.event_type.clone(),
        class,
        icon,
        word,
        attempts_label: match delivery.attempts.len() {
            0 => t!("no try").into(),
            1 => t!("1 try").into(),
            n => t!("{n} tries", n),
        },
        at: times.long(delivery.created_at.0),
        next: delivery.next_attempt_at.map(|next| times.stamp(next.0)),
        attempts: delivery
            .attempts
            .iter()
            .enumerate()
            .map(|(at, tried)| attempt_view(at, tried, times))
            .collect(),
        body: delivery.body.clone(),
        skipped: delivery.state == DeliveryState::Skipped,
    }
}

fn attempt_view(place: usize, tried: &LoggedAttempt, times: &TimeFormat) -> AttemptView {
    let code = tried.status.and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    let (class, icon) = match code {
        Some(code) if code.is_success() => ("ok", "check"),
        Some(_) => ("danger", "fail"),
        None => ("danger", "wait"),
    };
    AttemptView {
        number: place + 1,
        at: times.stamp(tried.at.0),
        class,
        icon,
        status: code.map_or_else(|| t!("No answer").into(), |code| code.to_string()),
        answer: match code {
            Some(_) => tried.answer.clone(),
            None => translation::sentence(&tried.answer).into_owned(),
        },
        took: format!("{} s", number(tried.took_ms as f64 / 1_000.0, 1)),
    }
}

/// The log's filter. Unknown values are ignored.
fn filter(asked: &FormFields) -> LogFilter {
    LogFilter {
        state: DeliveryState::parse(&asked.get("state")),
        event_type: asked.opt("event").filter(|event| event_names().contains(&event.as_str())),
        before: EventId::parse(&asked.get("before")),
    }
}

fn choices(format: WebhookFormat, chosen: &[String]) -> Vec<(&'static str, String, bool)> {
    let by_choice = EVENTS.iter().filter(|event| event.is_chosen_by(format));
    by_choice
        .map(|event| {
            let when = translation::sentence(event.when).into_owned();
            (event.name, when, chosen.iter().any(|name| name == event.name))
        })
        .collect()
}

/// The names of all types of event, in the order of the alphabet.
fn event_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = EVENTS.iter().map(|event| event.name).collect();
    names.sort_unstable();
    names
}

fn log_path(id: &str, state: &str, event: &str, before: Option<&EventId>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let before = before.map(|before| before.as_str()).unwrap_or("");
    for (name, value) in [("state", state), ("event", event), ("before", before)] {
        if !value.is_empty() {
            query.append_pair(name, value);
        }
    }
    format!("/settings/webhooks/{id}?{}#log", query.finish())
}

fn webhook_id(id: &str) -> base::error::Result<WebhookId> {
    WebhookId::parse(id).ok_or(Error::NotFound("webhook"))
}

pub async fn rotate(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let (visitor, hook) = (posted.visitor, webhook_id(&id)?);
    let secret =
        web.act(&visitor, move |tx, cx, _| delivery_log::rotate_secret(tx, cx, &hook)).await?;
    let page = build(&web, &visitor, &id, &FormFields::default()).await?;
    web.show(&visitor, &WebhookPage { secret: Some(secret), ..page })
}

form! {
    pub struct ChosenEventsForm {
        event: Vec<String>,
    }
}

pub async fn choose_events(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ChosenEventsForm>,
) -> PageResult {
    let hook = webhook_id(&id)?;
    let PostedForm { visitor, form } = posted;
    web.act(&visitor, move |tx, cx, _| webhooks::choose_events(tx, cx, &hook, &form.event)).await?;
    back(&web, &id, Flash::WebhookEvents)
}

pub async fn pause(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let hook = webhook_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| delivery_log::pause_webhook(tx, cx, &hook)).await?;
    back(&web, &id, Flash::WebhookPaused)
}

pub async fn resume(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let hook = webhook_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| delivery_log::resume_webhook(tx, cx, &hook)).await?;
    back(&web, &id, Flash::WebhookResumed)
}

pub async fn test(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let hook = webhook_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| delivery_log::send_test_event(tx, cx, &hook)).await?;
    back(&web, &id, Flash::WebhookTested)
}

pub async fn delete(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let hook = webhook_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| delivery_log::delete_webhook(tx, cx, &hook)).await?;
    web.redirect("/settings/webhooks", Flash::WebhookDeleted)
}

/// Sends one event of the log once more.
pub async fn again(
    State(web): State<Arc<Web>>,
    Path((id, event)): Path<(String, String)>,
    posted: PostedForm,
) -> PageResult {
    let hook = webhook_id(&id)?;
    let event = EventId::parse(&event).ok_or(Error::NotFound("event"))?;
    let sent = web
        .act(&posted.visitor, move |tx, cx, _| delivery_log::redeliver(tx, cx, &hook, &event))
        .await;
    match sent.or_problems()? {
        Ok(()) => back(&web, &id, Flash::Again),
        Err(_) => back(&web, &id, Flash::ResumeFirst),
    }
}

fn back(web: &Web, id: &str, flash: Flash) -> PageResult {
    web.redirect(&format!("/settings/webhooks/{id}"), flash)
}
