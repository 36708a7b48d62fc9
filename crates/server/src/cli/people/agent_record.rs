//! What an agent asked for, and undoing what it did.

use actions::integrations::{activity_csv, agent_activity};
use base::actor::{Actor, Circles};
use base::limits::DAY_MS;
use base::time::{Moment, NamedTime};
use clap::Args;
use model::people::agent_calls::{AgentCall, CallFilter};
use outbound::agent_undo::AgentUndo;
use serde_json::{Value, json};

use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::settings::Settings;

/// How far back an agent's acts are undone where no time is named.
const UNDONE_MS: i64 = DAY_MS;

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
    /// Only calls in which all of these words stand: in arguments, refusals and ids
    #[arg(long, value_name = "WORDS", default_value = "")]
    words: String,
    /// Only calls about this conversation (cnv_…)
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Print as CSV, which spreadsheets read
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct UndoAgent {
    /// The agent's name, or its id (agt_…)
    name: String,
    /// What it did from this day or time (UTC) on, such as 2026-11-30 or 2026-11-30T09:00:00Z; without it, within the
    /// last 24 hours
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
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
            words: format!("{} {}", self.words, self.conversation.unwrap_or_default()),
        };
        let (operator, name) = (self.workspace.operator(&app).await?, self.name);
        let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            let (agent, _) = agent_activity::find_agent(tx, cx, &name)?;
            agent_activity::export_calls(tx, cx, &agent, &filter)
        };
        let calls = app.read(&operator, read).await.map_err(sentence)?;
        if self.csv {
            print!("{}", activity_csv::write(&calls));
            return Ok(());
        }
        let shown = calls.iter().map(AgentCall::to_json);
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
        let since = undone_since(self.since.as_deref(), app.clock.now())?;
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
        print(self.workspace.output, &outcome_json(&done, since), &outcome_text(&done, since));
        Ok(())
    }
}

/// When what is undone begins: at the time that was named, or a day ago.
fn undone_since(named: Option<&str>, now: i64) -> Result<i64, String> {
    named.map_or(Ok(now - UNDONE_MS), begin_of)
}

fn begin_of(time: &str) -> Result<i64, String> {
    let sentence =
        "since: must be a date such as 2026-11-30, or a time such as 2026-11-30T09:00:00Z";
    NamedTime::parse(time).map(|time| time.begins).ok_or_else(|| sentence.to_owned())
}

fn outcome_json(done: &AgentUndo, since: i64) -> Value {
    let undone =
        done.undone.iter().map(|step| json!({ "id": step.on.as_str(), "what": step.kind }));
    let left = done
        .left
        .iter()
        .map(|step| json!({ "id": step.on.as_str(), "what": step.kind, "error": step.reason }));
    json!({
        "since": Moment(since),
        "undone": undone.collect::<Vec<_>>(),
        "left": left.collect::<Vec<_>>(),
        "more": done.more,
    })
}

fn outcome_text(done: &AgentUndo, since: i64) -> String {
    let (undone, left) = (done.undone.len(), done.left.len());
    let mut lines = vec![format!("Since {}: undone {undone}, left {left}.", Moment(since).iso())];
    lines.extend(
        done.left
            .iter()
            .map(|step| format!("{}  {}  {}", step.on, step.kind.as_str(), step.reason)),
    );
    if done.more {
        lines.push("There is more: run it again.".into());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_time_the_last_day_is_undone() {
        let now = 20_500 * DAY_MS + 1;
        assert_eq!(undone_since(None, now), Ok(now - DAY_MS));
        assert_eq!(undone_since(Some("1970-01-02"), now), Ok(DAY_MS));
        assert!(undone_since(Some("yesterday"), now).is_err());
    }
}
