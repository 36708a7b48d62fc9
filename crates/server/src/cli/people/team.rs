//! Teams, and who sees an inbox, at the command line.

use actions::inboxes::inbox_access::{self, InboxAccess, InboxAccessListing};
use actions::inboxes::setup;
use base::actor::Actor;
use base::app::{App, Cx};
use base::ids::UserId;
use clap::Subcommand;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::json;

use crate::cli::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum TeamCommand {
    /// Make a team, or give one other people
    Set {
        name: String,
        /// Somebody in the team; repeat it for each
        #[arg(long = "person", value_name = "EMAIL")]
        people: Vec<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Remove a team
    Remove {
        name: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the teams with their people
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl TeamCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            TeamCommand::Set { name, people, workspace } => {
                let operator = workspace.operator(&app).await?;
                let said = format!("{name} has {} people.", people.len());
                app.act(&operator, move |tx, cx| {
                    let people = ids_of(tx, cx, &people)?;
                    let known = actions::people::teams::list_teams(tx, cx)?;
                    match known.iter().find(|team| team.name == name) {
                        Some(team) => {
                            actions::people::teams::change_team(tx, cx, &team.id, &name, &people)
                        }
                        None => actions::people::teams::make_team(tx, cx, &name, &people).map(drop),
                    }
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), &said);
            }
            TeamCommand::Remove { name, workspace } => {
                let operator = workspace.operator(&app).await?;
                app.act(&operator, move |tx, cx| {
                    let known = actions::people::teams::list_teams(tx, cx)?;
                    let team = known.into_iter().find(|team| team.name == name);
                    let team = team.ok_or(base::error::Error::NotFound("team"))?;
                    actions::people::teams::remove_team(tx, cx, &team.id)
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "Removed.");
            }
            TeamCommand::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let teams = app
                    .read(&operator, actions::people::teams::list_teams)
                    .await
                    .map_err(sentence)?;
                let names = |people: &[(UserId, String)]| {
                    people.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>().join(", ")
                };
                let lines =
                    teams.iter().map(|team| format!("{}: {}", team.name, names(&team.people)));
                let said = lines.collect::<Vec<_>>().join("\n");
                print(workspace.output, &json!({ "teams": teams }), &said);
            }
        }
        Ok(())
    }
}

fn ids_of(tx: &mut db::Tx<'_>, cx: &Cx<'_>, emails: &[String]) -> base::error::Result<Vec<UserId>> {
    let known = setup::list_people(tx, cx)?;
    let id = |email: &String| {
        let found = known.iter().find(|person| person.email.eq_ignore_ascii_case(email));
        found.map(|person| person.id.clone()).ok_or(base::error::Error::NotFound("person"))
    };
    emails.iter().map(id).collect()
}

/// Who is to see an inbox and to send from it. Without any, it is only said who does.
#[derive(clap::Args)]
pub struct AccessArgs {
    address: String,
    /// Everybody on the team sees it
    #[arg(long, conflicts_with = "sees")]
    everybody: bool,
    /// Somebody who sees it: the address of a person, the name of a team or of an agent; repeat it
    #[arg(long, value_name = "WHO")]
    sees: Vec<String>,
    /// Somebody who sends from it; without any, whoever sees it does
    #[arg(long, value_name = "WHO")]
    sends: Vec<String>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl AccessArgs {
    pub async fn run(self, app: &App) -> CommandResult {
        let AccessArgs { address, everybody, sees, sends, workspace } = self;
        let operator: Actor = workspace.operator(app).await?;
        let changes = everybody || !sees.is_empty();
        if !changes && !sends.is_empty() {
            return Err("Say also who sees it: --everybody, or --sees WHO.".into());
        }
        let listing = app
            .act(&operator, move |tx, cx| {
                let id = setup::mailbox_at(tx, cx, &address)?;
                let known = inbox_access::inbox_access(tx, cx, &id)?;
                if !changes {
                    return Ok(known);
                }
                let people = setup::list_people(tx, cx)?;
                let holder = |who: &String| {
                    let person = people.iter().find(|one| one.email.eq_ignore_ascii_case(who));
                    let person = person.map(|one| one.id.to_string());
                    let named = || known.rows.iter().find(|row| row.name == *who);
                    let id = person.or_else(|| named().map(|row| row.id.clone()));
                    id.and_then(|id| AccessHolder::parse(&id))
                        .ok_or(base::error::Error::NotFound("person, team or agent"))
                };
                let mut entries: Vec<AccessEntry> = Vec::new();
                for who in sees.iter().chain(&sends) {
                    let holder = holder(who)?;
                    if !entries.iter().any(|entry| entry.holder == holder) {
                        let may_see = !everybody && sees.contains(who);
                        entries.push(AccessEntry {
                            holder,
                            may_see,
                            may_send: sends.contains(who),
                        });
                    }
                }
                let access = InboxAccess { everybody, all_send: sends.is_empty(), entries };
                inbox_access::set_inbox_access(tx, cx, &id, &access)?;
                inbox_access::inbox_access(tx, cx, &id)
            })
            .await
            .map_err(sentence)?;
        let InboxAccessListing { rows, everybody, all_send, mailbox, .. } = &listing;
        let rows: Vec<_> = rows.iter().filter(|row| row.sees || row.sends).collect();
        let shown = json!({
            "address": mailbox.address,
            "everybody": everybody,
            "allSend": all_send,
            "holders": rows,
        });
        let said = format!("Seen by {}. Sent by {}.", listing.seen_by(), listing.sent_by());
        print(workspace.output, &shown, &said);
        Ok(())
    }
}
