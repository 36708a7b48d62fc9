//! Fields of contacts, companies and conversations at the command line.

use actions::workspace::fields::{add_field, remove_field};
use api::operations::list_fields;
use api::wire::FieldJson;
use clap::Subcommand;
use db::Json;
use model::fields::{CustomField, FieldKind, FieldOwner};
use serde_json::json;

use crate::cli::command::{CommandResult, WorkspaceArgs, open, person, print, sentence, word_of};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum FieldCommand {
    /// Add a field that contacts, companies or conversations can have a value of
    Add {
        /// By which values are set, read and searched for: small letters, digits, _ and -
        key: String,
        /// What it belongs to
        #[arg(long = "on", value_name = "OWNER", value_parser = word_of!(FieldOwner))]
        owner: FieldOwner,
        /// What its values are
        #[arg(long = "type", value_name = "TYPE", value_parser = word_of!(FieldKind))]
        kind: FieldKind,
        /// What a choice can be; repeat it for each
        #[arg(long = "choice", value_name = "CHOICE")]
        choices: Vec<String>,
        /// The owner or admin who adds it
        #[arg(long, value_name = "EMAIL")]
        by: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the fields
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Remove a field with all its values
    Remove {
        key: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl FieldCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            FieldCommand::Add { key, owner, kind, choices, by, workspace } => {
                let operator = workspace.operator(&app).await?;
                let maker = match by {
                    Some(email) => person(&app, &operator, email).await?,
                    None => operator,
                };
                let field = CustomField { key, owner, kind, choices: Json(choices) };
                let added = app
                    .act(&maker, move |tx, cx| add_field(tx, cx, &field))
                    .await
                    .map_err(sentence)?;
                let said = format!("{} is a field of every {}.", added.key, owner.as_str());
                print(workspace.output, &json!(FieldJson::from(added)), &said);
            }
            FieldCommand::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let fields = app.read(&operator, list_fields).await.map_err(sentence)?;
                let said: Vec<String> = fields.iter().map(line).collect();
                print(workspace.output, &json!({ "fields": fields }), &said.join("\n"));
            }
            FieldCommand::Remove { key, workspace } => {
                let operator = workspace.operator(&app).await?;
                let said = format!("{key} is removed, with all its values.");
                app.act(&operator, move |tx, cx| remove_field(tx, cx, &key))
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), &said);
            }
        }
        Ok(())
    }
}

fn line(field: &FieldJson) -> String {
    let line = format!("{}  {}  {}", field.key, field.on.as_str(), field.kind.as_str());
    match field.choices.as_slice() {
        [] => line,
        choices => format!("{line}  {}", choices.join(", ")),
    }
}
