//! API keys: made, listed, limited and revoked.

use actions::integrations::{agent_policy, keys};
use base::ids::AgentId;
use base::security::agent_policy::{PolicyProfile, PolicyRule};
use base::security::scopes::Scope;
use clap::Subcommand;
use serde_json::json;

use crate::cli::command::{CommandResult, WorkspaceArgs, open, person, print, sentence, word_of};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum Key {
    /// Make a key and the agent it acts as; the key is shown this once
    Create {
        /// The agent's name, shown beside what it does
        #[arg(long)]
        name: String,
        /// What it may do, with commas between
        #[arg(long, alias = "scope", value_delimiter = ',', value_parser = word_of!(Scope))]
        scopes: Vec<Scope>,
        /// The owner or admin who makes it; it sees their private inboxes too
        #[arg(long, value_name = "EMAIL")]
        by: String,
        /// A test key works in the sandbox
        #[arg(long)]
        test: bool,
        /// The limits that it begins with: agent, or program for none
        #[arg(long, default_value = "program", value_parser = word_of!(PolicyProfile))]
        profile: PolicyProfile,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the keys
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Show or change what a key may do beside its scopes: recipients, rates, links, hours
    Policy {
        /// The agent's name, or its id (agt_…)
        name: String,
        /// Fields to change, such as messagesPerHour=20 or domains=a.example,b.example
        #[arg(value_name = "FIELD=VALUE")]
        changes: Vec<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Revoke a key at once, and stop what it has scheduled
    Revoke {
        /// The key's id (agt_…)
        id: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl Key {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            Key::Create { name, scopes, by, test, profile, workspace } => {
                let maker = person(&app, &workspace.operator(&app).await?, by).await?;
                let made = app
                    .act(&maker, move |tx, cx| {
                        keys::make_key_with(tx, cx, &name, &scopes, !test, profile)
                    })
                    .await
                    .map_err(sentence)?;
                let said =
                    format!("{}\nIt is shown this once; only a fingerprint is kept.", made.key);
                print(workspace.output, &json!(made), &said);
            }
            Key::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let listed = app.read(&operator, keys::list_keys).await.map_err(sentence)?;
                let lines = listed.iter().map(|key| {
                    let kind = if key.livemode { "live" } else { "test" };
                    let state = match (key.revoked_at, key.paused_at) {
                        (Some(_), _) => "  revoked",
                        (None, Some(_)) => "  paused",
                        (None, None) => "",
                    };
                    format!("{}  {kind}  {}  [{}]{state}", key.id, key.name, key.scopes)
                });
                print(
                    workspace.output,
                    &json!({ "keys": listed }),
                    &lines.collect::<Vec<_>>().join("\n"),
                );
            }
            Key::Policy { name, changes, workspace } => {
                let operator = workspace.operator(&app).await?;
                let typed = changes.iter().map(|change| parse_change(change));
                let typed = typed.collect::<Result<Vec<(String, String)>, String>>()?;
                let policy = app
                    .act(&operator, move |tx, cx| {
                        let agent = agent_policy::find_agent(tx, cx, &name)?;
                        agent_policy::change_policy(tx, cx, &agent, &typed)
                    })
                    .await
                    .map_err(sentence)?;
                let lines = PolicyRule::ALL
                    .iter()
                    .map(|rule| format!("{}={}", rule.as_str(), policy.to_typed(*rule)));
                let lines: Vec<String> = lines.collect();
                print(workspace.output, &json!({ "policy": policy }), &lines.join("\n"));
            }
            Key::Revoke { id, workspace } => {
                let operator = workspace.operator(&app).await?;
                let id = AgentId::parse(&id).ok_or("There is no such key.".to_owned())?;
                app.act(&operator, move |tx, cx| keys::revoke_key(tx, cx, &id))
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "Revoked.");
            }
        }
        Ok(())
    }
}

/// `field=value` as two.
fn parse_change(change: &str) -> Result<(String, String), String> {
    let (field, value) = change
        .split_once('=')
        .ok_or_else(|| format!("{change} is no FIELD=VALUE, such as messagesPerHour=20"))?;
    Ok((field.trim().to_owned(), value.trim().to_owned()))
}
