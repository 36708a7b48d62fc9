//! The team's answers at the command line.

use std::fs;
use std::path::PathBuf;

use actions::writing::answer_files;
use actions::writing::answers::{AnswerListing, StaleAnswer};
use base::time::Moment;
use clap::Subcommand;
use serde_json::{Value, json};

use super::command::{CommandResult, WorkspaceArgs, open, person, print, sentence};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum AnswerCommand {
    /// Add the answers of a file: Markdown with a heading before each, or CSV with the columns title,
    /// text, language and valid_until. Importing it again changes what is different, nothing twice
    Import {
        file: PathBuf,
        /// The person whose answers they are
        #[arg(long, value_name = "EMAIL")]
        by: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the answers of the team, or those that one person sees
    List {
        /// List what this person sees
        #[arg(long, value_name = "EMAIL")]
        by: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl AnswerCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            AnswerCommand::Import { file, by, workspace } => {
                let operator = workspace.operator(&app).await?;
                let person = person(&app, &operator, by).await?;
                let bytes =
                    fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                let answers = answer_files::read_answer_file(&bytes).map_err(sentence)?;
                let result = app
                    .act(&person, move |tx, cx| {
                        actions::writing::answers::import_answers(tx, cx, &answers)
                    })
                    .await
                    .map_err(sentence)?;
                let said = format!(
                    "{} added, {} changed, {} as they were.",
                    result.added, result.changed, result.unchanged
                );
                let answer = json!({
                    "added": result.added,
                    "changed": result.changed,
                    "unchanged": result.unchanged,
                });
                print(workspace.output, &answer, &said);
            }
            AnswerCommand::List { by, workspace } => {
                let mut viewer = workspace.operator(&app).await?;
                if let Some(email) = by {
                    viewer = person(&app, &viewer, email).await?;
                }
                let listed = app
                    .read(&viewer, actions::writing::answers::list_answers)
                    .await
                    .map_err(sentence)?;
                let shown: Vec<Value> = listed.iter().map(answer_json).collect();
                let lines = listed.iter().map(|one| {
                    let answer = &one.answer;
                    format!(
                        "{}  {}  {}  used {}",
                        answer.id, answer.language, answer.title, one.uses
                    )
                });
                let lines = lines.collect::<Vec<_>>().join("\n");
                print(workspace.output, &json!({ "answers": shown }), &lines);
            }
        }
        Ok(())
    }
}

fn answer_json(listing: &AnswerListing) -> Value {
    let answer = &listing.answer;
    let stale = listing.stale.map(|stale| match stale {
        StaleAnswer::PastItsDate => "past-its-date",
        StaleAnswer::Unused => "unused",
    });
    json!({
        "id": answer.id,
        "title": answer.title,
        "text": answer.body,
        "language": answer.language,
        "inboxes": answer.inboxes.0,
        "validUntil": answer.valid_until.map(Moment),
        "updatedAt": Moment(answer.changed_at),
        "retired": answer.retired_at.is_some(),
        "uses": listing.uses,
        "stale": stale,
    })
}
