//! What an agent called and what came of it, and undoing what it did.

use std::sync::Arc;

use actions::integrations::activity_csv;
use actions::integrations::agent_activity::{self, FoundCalls};
use api::operations::OPERATIONS;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use base::error::Error;
use base::ids::AgentId;
use base::limits::{HOUR_MS, QUERY_CHARS};
use model::people::agent_calls::{AgentCall, CallFilter};
use outbound::agent_undo::{ActTarget, AgentUndo, StepLeft};
use serde_json::{Value, json};
use translation::t;
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm, form};
use web::layout::filters;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

/// Parts in which one click undoes; another click goes on.
const PARTS: usize = 50;
/// How far back a click undoes, in hours at most.
const UNDO_HOURS: i64 = 30 * 24;

#[derive(Template)]
#[template(path = "settings_activity.html", whitespace = "minimize")]
struct ActivityPage {
    frame: PageLayout,
    id: String,
    name: String,
    operations: Vec<&'static str>,
    operation: String,
    refused: bool,
    calls: Vec<CallView>,
    older: Option<String>,
    csv: String,
    json: String,
    /// What is looked for in the calls.
    words: String,
    undone: Option<UndoView>,
    /// How far back a click undoes, in hours.
    spans: [(i64, &'static str); 3],
}

struct CallView {
    time: DisplayTime,
    operation: String,
    status: i64,
    ok: bool,
    arguments: String,
    error: String,
    conversation: Option<String>,
}

/// What became of an undo.
struct UndoView {
    undone: usize,
    left: Vec<LeftView>,
    more: bool,
}

/// Something that stays as it is.
struct LeftView {
    id: String,
    link: String,
    reason: String,
}

impl From<StepLeft> for LeftView {
    fn from(step: StepLeft) -> LeftView {
        let link = match &step.on {
            ActTarget::Conversation(id) => format!("/conversations/{id}"),
            ActTarget::Booking(id) => format!("/calendar/{id}"),
        };
        LeftView { id: step.on.to_string(), link, reason: step.reason }
    }
}

fn agent_id(id: &str) -> Result<AgentId, Error> {
    AgentId::parse(id).ok_or(Error::NotFound("key"))
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &agent_id(&id)?, &asked).await?)
}

/// Unknown values are ignored.
fn filter(asked: &FormFields) -> CallFilter {
    let operation = asked.opt("operation");
    let known = operation.filter(|name| OPERATIONS.iter().any(|one| one.name == *name));
    let before = asked.get("before");
    let before =
        before.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    CallFilter {
        since: i64::MIN,
        operation: known,
        refused: asked.get("refused") == "true",
        before,
        words: asked.get("q").trim().chars().take(QUERY_CHARS).collect(),
    }
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    agent: &AgentId,
    asked: &FormFields,
) -> Result<ActivityPage, PageError> {
    let filter = filter(asked);
    let (wanted, id) = (filter.clone(), agent.clone());
    let (frame, (name, found)): (PageLayout, (String, FoundCalls)) = web
        .page(visitor, location(SettingsPage::Keys), move |tx, cx, _| {
            let (_, name) = agent_activity::find_agent(tx, cx, id.as_str())?;
            Ok((name, agent_activity::find_calls(tx, cx, &id, &wanted)?))
        })
        .await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(operation) = &filter.operation {
        query.append_pair("operation", operation);
    }
    if filter.refused {
        query.append_pair("refused", "true");
    }
    if !filter.words.is_empty() {
        query.append_pair("q", &filter.words);
    }
    let query = query.finish();
    let place = format!("/settings/keys/{agent}/activity");
    let FoundCalls { calls, older } = found;
    let older = older.map(|(at, id)| format!("{place}?{query}&before={at}.{id}"));
    let view = |call: AgentCall| CallView {
        time: frame.times.stamp(call.at.0),
        ok: call.status < 400,
        operation: call.operation,
        status: call.status,
        arguments: call.arguments,
        error: call.error.unwrap_or_default(),
        conversation: call.conversation,
    };
    let mut operations: Vec<&'static str> = OPERATIONS.iter().map(|one| one.name).collect();
    operations.sort_unstable();
    Ok(ActivityPage {
        id: agent.to_string(),
        name,
        operations,
        operation: filter.operation.unwrap_or_default(),
        refused: filter.refused,
        calls: calls.into_iter().map(view).collect(),
        older,
        csv: format!("{place}.csv?{query}"),
        json: format!("{place}.json?{query}"),
        words: filter.words,
        undone: None,
        spans: [(1, t!("The last hour")), (24, t!("The last day")), (7 * 24, t!("The last week"))],
        frame,
    })
}

/// The same calls, and many more.
async fn export(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
) -> Result<Vec<AgentCall>, PageError> {
    let (agent, filter) = (agent_id(id)?, filter(asked));
    web.read(visitor, move |tx, cx, _| {
        let (agent, _) = agent_activity::find_agent(tx, cx, agent.as_str())?;
        agent_activity::export_calls(tx, cx, &agent, &filter)
    })
    .await
}

/// For programs, as `mailroom agent activity --json` prints them.
pub async fn json(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let calls = export(&web, &visitor, &id, &asked).await?;
    let calls: Vec<Value> = calls.iter().map(AgentCall::to_json).collect();
    let mut response = responses::json(&json!({ "calls": calls }));
    let name = HeaderValue::from_static("attachment; filename=\"activity.json\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// For spreadsheets.
pub async fn csv(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let calls = export(&web, &visitor, &id, &asked).await?;
    let text = activity_csv::write(&calls);
    let mut response = responses::plain(text);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let name = HeaderValue::from_static("attachment; filename=\"activity.csv\"");
    headers.insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

form! {
    pub struct UndoForm {
        /// How far back.
        hours: Option<i64>,
    }
}

/// Undoes what the agent did in the last hours, and tells what stays.
pub async fn undo(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<UndoForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let agent = agent_id(&id)?;
    let hours = form.hours.unwrap_or(1).clamp(1, UNDO_HOURS);
    let since = web.app.clock.now() - hours * HOUR_MS;
    let mut whole = AgentUndo::default();
    for _ in 0..PARTS {
        let agent = agent.clone();
        let part = web
            .act(&visitor, move |tx, cx, _| agent_activity::undo_part(tx, cx, &agent, since))
            .await?;
        whole.undone.extend(part.undone);
        whole.left.extend(part.left);
        whole.more = part.more;
        if !part.more {
            break;
        }
    }
    let page = build(&web, &visitor, &agent, &FormFields::default()).await?;
    let left = whole.left.into_iter().map(LeftView::from).collect();
    let undone = UndoView { undone: whole.undone.len(), left, more: whole.more };
    responses::page(&ActivityPage { undone: Some(undone), ..page })
}
