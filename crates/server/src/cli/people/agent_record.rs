//! What an agent asked for, and undoing what it did.

use actions::integrations::agent_activity;
use base::actor::{Actor, Circles};
use base::time::NamedTime;
use clap::Args;
use model::people::agent_calls::CallFilter;
use outbound::agent_undo::AgentUndo;
use serde_json::{Value, json};

use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::settings::Settings;

#[derive(Args)]
pub struct ShowActivity {
    /// The agent's name, or its id (agt_…)
    name: String,
    /// Only from this day or time (UTC), such as 2026-11-30 or 2026-11-30T09:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only calls of this operation, such as reply
    #[arg(long)]
    operation: Option<String>,
    /// Only calls that were refused or failed
    #[arg(long)]
    refused: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct UndoAgent {
    /// The agent's name, or its id (agt_…)
    name: String,
    /// What it did from this day or time (UTC) on, such as 2026-11-30T09:00:00Z
    #[arg(long, value_name = "TIME")]
    since: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl ShowActivity {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let since = self.since.as_deref().map(begin_of).transpose()?;
        let filter = CallFilter {
            since: since.unwrap_or(i64::MIN),
            operation: self.operation,
            refused: self.refused,
            before: None,
        };
        let (operator, name) = (self.workspace.operator(&app).await?, self.name);
        let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let (agent, _) = agent_activity::find_agent(tx, cx, &name)?;
            agent_activity::export_calls(tx, cx, &agent, &filter)
        };
        let calls = app.read(&operator, read).await.map_err(sentence)?;
        let shown = calls.iter().map(|call| {
            json!({
                "time": call.at,
                "operation": call.operation,
                "status": call.status,
                "requestId": call.request,
                "conversationId": call.conversation,
                "arguments": serde_json::from_str::<Value>(&call.arguments).unwrap_or_default(),
                "error": call.error,
            })
        });
        let lines = calls.iter().map(|call| {
            let why = call.error.as_deref().unwrap_or("");
            format!(
                "{}  {}  {}  {}  {}",
                call.at.iso(),
                call.status,
                call.operation,
                call.arguments,
                why
            )
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        print(self.workspace.output, &json!({ "calls": shown.collect::<Vec<_>>() }), &text);
        Ok(())
    }
}

impl UndoAgent {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let since = begin_of(&self.since)?;
        let (operator, name) = (self.workspace.operator(&app).await?, self.name);
        let find = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| -> base::error::Result<_> {
            let (agent, _) = agent_activity::find_agent(tx, cx, &name)?;
            let circles = base::actor::circles_of_agent(tx, cx.actor.ws, &agent)?;
            Ok((agent, circles))
        };
        let (agent, circles): (_, Circles) = app.read(&operator, find).await.map_err(sentence)?;
        // The operator undoes wherever the agent could act.
        let operator = Actor { circles, ..operator };
        let done =
            agent_activity::undo_agent(&app, &operator, &agent, since).await.map_err(sentence)?;
        print(self.workspace.output, &outcome_json(&done), &outcome_text(&done));
        Ok(())
    }
}

fn begin_of(time: &str) -> Result<i64, String> {
    let sentence =
        "since: must be a date such as 2026-11-30, or a time such as 2026-11-30T09:00:00Z";
    NamedTime::parse(time).map(|time| time.begins).ok_or_else(|| sentence.to_owned())
}

fn outcome_json(done: &AgentUndo) -> Value {
    let undone =
        done.undone.iter().map(|step| json!({ "id": step.conversation, "what": step.kind }));
    let left = done
        .left
        .iter()
        .map(|step| json!({ "id": step.conversation, "what": step.kind, "error": step.reason }));
    json!({
        "undone": undone.collect::<Vec<_>>(),
        "left": left.collect::<Vec<_>>(),
        "more": done.more,
    })
}

fn outcome_text(done: &AgentUndo) -> String {
    let mut lines = vec![format!("Undone: {}. Left: {}.", done.undone.len(), done.left.len())];
    lines.extend(
        done.left
            .iter()
            .map(|step| format!("{}  {}  {}", step.conversation, step.kind.as_str(), step.reason)),
    );
    if done.more {
        lines.push("There is more: run it again.".into());
    }
    lines.join("\n")
}
