//! Agents: what they asked for, undoing what they did, and the brake: pausing them.

use actions::integrations::agent_policy;
use clap::Subcommand;
use serde_json::json;

use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::cli::people::agent_record::{ShowActivity, UndoAgent};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum AgentCommand {
    /// Show what an agent called, the latest first: arguments, outcome, and why it was refused
    Activity(ShowActivity),
    /// Undo what an agent did, in the last day or since a time, and list what stays and why
    ///
    /// Status, tags, assignments, topics and snoozes are put back as far as nobody changed them since; notes are
    /// hidden, merges parted, drafts discarded, mail that has not left is stopped, and bookings are cancelled. Mail that
    /// has left stays sent.
    Undo(UndoAgent),
    /// Pause an agent: its key only reads, and what it has scheduled becomes drafts again
    Pause {
        /// The agent's name, or its id (agt_…)
        name: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Let a paused agent work again
    Resume {
        /// The agent's name, or its id (agt_…)
        name: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl AgentCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let (name, workspace, pauses) = match self {
            AgentCommand::Activity(show) => return show.run(settings).await,
            AgentCommand::Undo(undo) => return undo.run(settings).await,
            AgentCommand::Pause { name, workspace } => (name, workspace, true),
            AgentCommand::Resume { name, workspace } => (name, workspace, false),
        };
        let app = open(settings).await?;
        let operator = workspace.operator(&app).await?;
        app.act(&operator, move |tx, cx| {
            let agent = agent_policy::find_agent(tx, cx, &name)?;
            match pauses {
                true => agent_policy::pause_agent(tx, cx, &agent),
                false => agent_policy::resume_agent(tx, cx, &agent),
            }
        })
        .await
        .map_err(sentence)?;
        let said = if pauses {
            "Paused. What it had scheduled are drafts again."
        } else {
            "It works again. What was stopped stays a draft."
        };
        print(workspace.output, &json!({ "ok": true }), said);
        Ok(())
    }
}
