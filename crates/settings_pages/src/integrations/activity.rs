//! What an agent called and what came of it, and undoing what it did.

use std::sync::Arc;

use actions::integrations::agent_activity;
use api::operations::OPERATIONS;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use base::error::Error;
use base::ids::AgentId;
use base::limits::{CALLS_LISTED, HOUR_MS};
use model::people::agent_calls::{AgentCall, CallFilter};
use outbound::agent_undo::AgentUndo;
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
    left: Vec<(String, String)>,
    more: bool,
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
    let (frame, (name, calls)): (PageLayout, (String, Vec<AgentCall>)) = web
        .page(visitor, location(SettingsPage::Keys), move |tx, cx, _| {
            let (_, name) = agent_activity::find_agent(tx, cx, id.as_str())?;
            Ok((name, agent_activity::list_calls(tx, cx, &id, &wanted)?))
        })
        .await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(operation) = &filter.operation {
        query.append_pair("operation", operation);
    }
    if filter.refused {
        query.append_pair("refused", "true");
    }
    let query = query.finish();
    let place = format!("/settings/keys/{agent}/activity");
    let last = calls.last().filter(|_| calls.len() as i64 == CALLS_LISTED);
    let older = last.map(|last| format!("{place}?{query}&before={}.{}", last.at.0, last.id));
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
        undone: None,
        spans: [(1, t!("The last hour")), (24, t!("The last day")), (7 * 24, t!("The last week"))],
        frame,
    })
}

/// The same calls, and many more, for programs.
pub async fn csv(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let (agent, filter) = (agent_id(&id)?, filter(&asked));
    let calls = web
        .read(&visitor, move |tx, cx, _| {
            let (agent, _) = agent_activity::find_agent(tx, cx, agent.as_str())?;
            agent_activity::export_calls(tx, cx, &agent, &filter)
        })
        .await?;
    let mut text = String::from("time,operation,status,request,conversation,arguments,error\r\n");
    for call in calls {
        let cells = [
            call.at.iso(),
            call.operation,
            call.status.to_string(),
            call.request,
            call.conversation.unwrap_or_default(),
            call.arguments,
            call.error.unwrap_or_default(),
        ];
        text.push_str(&cells.map(|cell| csv_cell(&cell)).join(","));
        text.push_str("\r\n");
    }
    let mut response = responses::plain(text);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let name = HeaderValue::from_static("attachment; filename=\"activity.csv\"");
    headers.insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// A spreadsheet runs what begins like a formula.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let begin = if formula { "'" } else { "" };
    format!("\"{begin}{}\"", text.replace('"', "\"\""))
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
    let left = whole.left.into_iter().map(|step| (step.conversation.to_string(), step.reason));
    let undone = UndoView { undone: whole.undone.len(), left: left.collect(), more: whole.more };
    responses::page(&ActivityPage { undone: Some(undone), ..page })
}
