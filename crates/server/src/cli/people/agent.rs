//! Agents: what they asked for, and undoing what they did.

use clap::Subcommand;

use crate::cli::command::CommandResult;
use crate::cli::people::agent_record::{ShowActivity, UndoAgent};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum AgentCommand {
    /// Show what an agent called, the latest first: arguments, outcome, and why it was refused
    Activity(ShowActivity),
    /// Undo what an agent did since a time, and list what cannot be undone
    Undo(UndoAgent),
}

impl AgentCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        match self {
            AgentCommand::Activity(show) => show.run(settings).await,
            AgentCommand::Undo(undo) => undo.run(settings).await,
        }
    }
}
