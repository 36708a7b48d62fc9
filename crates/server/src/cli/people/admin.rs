//! The administrative commands. They work on the database itself, whether or not a server runs.

use actions::inboxes::imap_accounts;
use actions::inboxes::satisfaction;
use actions::inboxes::setup::{self, NewWorkspace};
use actions::sign_in::sessions;
use actions::workspace::customer_page::{customer_page, set_customer_page};
use base::actor::{self, Actor, Circle, Plan};
use base::ids::MailboxId;
use base::workspaces::resting;
use clap::{Args, Subcommand};
use customers::CustomerPageMode;
use model::guests::satisfaction::SatisfactionMode;
use model::mailboxes;
use serde_json::json;

use crate::cli::Json;
use crate::cli::command::{
    CommandResult, WorkspaceArgs, link_works, open, person, print, sentence, word_of, workspaces,
};
use crate::settings::Settings;

#[derive(Args)]
pub struct Setup {
    /// The workspace's name
    #[arg(long, value_name = "NAME")]
    workspace: String,
    #[arg(long, value_name = "EMAIL")]
    owner_email: String,
    #[arg(long, value_name = "NAME")]
    owner_name: String,
    /// The address that customers write to
    #[arg(long, value_name = "ADDRESS")]
    inbox: String,
    #[arg(long, value_name = "NAME")]
    inbox_name: String,
    #[command(flatten)]
    output: Json,
}

impl Setup {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let new = NewWorkspace {
            name: self.workspace,
            owner_email: self.owner_email,
            owner_name: self.owner_name,
            inbox: self.inbox,
            inbox_name: self.inbox_name,
        };
        let name = new.name.clone();
        let is_same = mail::plus_tag(&mail::normal_address(&new.owner_email)).0
            == mail::normal_address(&new.inbox);
        let operator = Actor::operator(&app.ids);
        let (made, url) = app
            .act(&operator, move |tx, cx| {
                let made = setup::set_up_workspace(tx, cx, &new)?;
                let operator = Actor::system(made.ws, made.workspace.clone(), Circle::team());
                let cx = &base::app::Cx { actor: &operator, ..*cx };
                let url = sessions::make_sign_in_link(tx, cx, &made.owner)?;
                Ok((made, url))
            })
            .await
            .map_err(sentence)?;
        let mut answer = json!(made);
        answer["signInUrl"] = url.clone().into();
        let mut said = format!(
            "{name} is ready. Start `mailroom serve`, then sign in at\n{url}\n{}",
            link_works()
        );
        if is_same {
            said.push_str(
                "\nThe owner's address is the inbox's own: sign-in links cannot be mailed there. Set a \
                 password after signing in, or make a link with `mailroom user link`.",
            );
        }
        print(self.output, &answer, &said);
        Ok(())
    }
}

#[derive(Subcommand)]
pub enum MailboxCommand {
    /// Add an inbox
    Add {
        address: String,
        #[arg(long)]
        name: String,
        /// Only this person sees it, and the agents they made
        #[arg(long, value_name = "EMAIL")]
        private_to: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say whether the provider of an inbox passes on addresses with plus tags (they all should,
    /// some do not): with `off`, answers and bounces come to the bare address
    Plus {
        address: String,
        /// on or off
        #[arg(value_parser = ["on", "off"])]
        tags: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say or choose whether customers are asked how a closed conversation was, with two or five
    /// choices
    Satisfaction {
        address: String,
        #[arg(value_parser = word_of!(SatisfactionMode))]
        choices: Option<SatisfactionMode>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say or choose who sees an inbox and who sends from it
    Access(crate::cli::people::team::AccessArgs),
    /// Delete an inbox with everything in it; without --yes it says what would go
    Delete(crate::cli::workspaces::deletion::DeleteInbox),
    /// Say or set for how long an inbox keeps closed conversations that nobody touches
    Retention(crate::cli::workspaces::deletion::Retention),
    /// Fetch an inbox's mail by IMAP from a mailbox elsewhere
    Imap(Box<crate::cli::imap::Imap>),
    /// List the inboxes of the team, or those that one person sees, and how fetching their mail goes
    List {
        /// List what this person sees
        #[arg(long, value_name = "EMAIL")]
        by: Option<String>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl MailboxCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            MailboxCommand::Imap(imap) => imap.run(settings, &app).await?,
            MailboxCommand::Access(access) => access.run(&app).await?,
            MailboxCommand::Delete(delete) => return delete.run(settings, &app).await,
            MailboxCommand::Retention(retention) => return retention.run(&app).await,
            MailboxCommand::Add { address, name, private_to, workspace } => {
                let operator = workspace.operator(&app).await?;
                let owner = match private_to {
                    Some(email) => Some(person(&app, &operator, email).await?),
                    None => None,
                };
                let said = format!("{address} is an inbox.");
                let id = app
                    .act(&operator, move |tx, cx| {
                        let owner = owner.as_ref().and_then(|owner| match &owner.who {
                            actor::Principal::Person { id, .. } => Some(id),
                            _ => None,
                        });
                        setup::add_mailbox(tx, cx, &address, &name, owner)
                    })
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "id": id }), &said);
            }
            MailboxCommand::Plus { address, tags, workspace } => {
                let operator = workspace.operator(&app).await?;
                let on = tags == "on";
                app.act(&operator, move |tx, cx| {
                    let id = setup::mailbox_at(tx, cx, &address)?;
                    setup::set_plus_tags(tx, cx, &id, on)
                })
                .await
                .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "Set.");
            }
            MailboxCommand::Satisfaction { address, choices, workspace } => {
                let operator = workspace.operator(&app).await?;
                let mode = app
                    .act(&operator, move |tx, cx| {
                        satisfaction::set_satisfaction_at(tx, cx, &address, choices)
                    })
                    .await
                    .map_err(sentence)?;
                let said = match mode {
                    SatisfactionMode::Off => "Nobody is asked.",
                    SatisfactionMode::Two => "Customers are asked, with two choices.",
                    SatisfactionMode::Five => "Customers are asked, with five choices.",
                };
                print(workspace.output, &json!({ "satisfaction": mode }), said);
            }
            MailboxCommand::List { by, workspace } => {
                let mut viewer = workspace.operator(&app).await?;
                if let Some(email) = by {
                    viewer = person(&app, &viewer, email).await?;
                }
                let (list, fetched) = app
                    .read(&viewer, |tx, cx| {
                        let list = mailboxes::all_seen_by(tx, cx.actor)?;
                        Ok((list, imap_accounts::list_fetched(tx, cx.actor)?))
                    })
                    .await
                    .map_err(sentence)?;
                let fetching =
                    |id: &MailboxId| fetched.iter().find(|fetched| fetched.mailbox == *id);
                let shown = list.iter().map(|mailbox| {
                    json!({
                        "id": mailbox.id,
                        "address": mailbox.address,
                        "name": mailbox.name,
                        "private": mailbox.circle.person().is_some(),
                        "imap": fetching(&mailbox.id),
                    })
                });
                let shown = json!({ "mailboxes": shown.collect::<Vec<_>>() });
                let lines = list.iter().flat_map(|m| {
                    let own = format!("{}  {}  {}", m.id, m.address, m.name);
                    let health = fetching(&m.id).map(crate::cli::imap::health);
                    std::iter::once(own).chain(health)
                });
                print(workspace.output, &shown, &lines.collect::<Vec<_>>().join("\n"));
            }
        }
        Ok(())
    }
}

#[derive(Subcommand)]
pub enum Workspace {
    /// Set the plan; free has no API and no webhooks
    SetPlan {
        #[arg(value_parser = word_of!(Plan))]
        plan: Plan,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say, or switch, whether customers have a page of their own; linked: replies name it too
    CustomerPage {
        #[arg(value_parser = word_of!(CustomerPageMode))]
        mode: Option<CustomerPageMode>,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Let nobody work with a workspace: pages say so, keys are refused, mail that comes in is put off,
    /// nothing leaves; its data stay as they are
    Suspend(crate::cli::workspaces::suspension::SuspendWorkspace),
    /// Let a suspended workspace go on where it stood
    Resume(crate::cli::workspaces::suspension::ResumeWorkspace),
    /// Back up one workspace with its blobs, while everybody works
    Backup(crate::cli::workspaces::workspace_backup::BackUpWorkspace),
    /// Restore one workspace, from a backup of it alone or of everything: beside the old one, in its place, or as it
    /// was
    Restore(Box<crate::cli::workspaces::workspace_backup::RestoreWorkspace>),
    /// Make a quiet copy of a workspace, from which nothing leaves
    Copy(crate::cli::workspaces::workspace_copy::CopyWorkspace),
    /// Say or set what a workspace may hold and do: messages, bytes, people, mails, calls
    Limit(crate::cli::workspaces::workspace_limit::LimitWorkspace),
    /// Delete a workspace with everything in it; without --yes it says what would go
    Delete(crate::cli::workspaces::deletion::DeleteWorkspace),
    /// List the workspaces
    List {
        #[command(flatten)]
        output: Json,
    },
    /// Count what each workspace holds: conversations, messages, rows, and the bytes of mails and files
    Usage(crate::cli::workspaces::workspace_usage::ShowUsage),
}

impl Workspace {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            Workspace::SetPlan { plan, workspace } => {
                let operator = workspace.operator(&app).await?;
                app.act(&operator, move |tx, cx| setup::set_plan(tx, cx, plan))
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "ok": true }), "Set.");
            }
            Workspace::CustomerPage { mode, workspace } => {
                let operator = workspace.operator(&app).await?;
                if let Some(mode) = mode {
                    app.act(&operator, move |tx, cx| set_customer_page(tx, cx, mode))
                        .await
                        .map_err(sentence)?;
                }
                let (mode, url) = app.read(&operator, customer_page).await.map_err(sentence)?;
                let said = match mode {
                    CustomerPageMode::Off => "Customers have no page of their own.".to_owned(),
                    CustomerPageMode::On => format!("Customers find their page at {url}"),
                    CustomerPageMode::Linked => {
                        format!("Customers find their page at {url}, and replies name it.")
                    }
                };
                print(workspace.output, &json!({ "customerPage": mode, "url": url }), &said);
            }
            Workspace::Suspend(suspend) => return suspend.run(&app).await,
            Workspace::Resume(resume) => return resume.run(&app).await,
            Workspace::Backup(backup) => return backup.run(settings, &app).await,
            Workspace::Restore(restore) => return restore.run(settings, &app).await,
            Workspace::Copy(copy) => return copy.run(settings, &app).await,
            Workspace::Limit(limit) => return limit.run(&app).await,
            Workspace::Delete(delete) => return delete.run(settings, &app).await,
            Workspace::Usage(usage) => return usage.run(&app).await,
            Workspace::List { output } => {
                let list = workspaces(&app).await?;
                let resting = app.store.read(resting::list_resting).await.map_err(sentence)?;
                let rests = |ws: i64| {
                    let state = resting.iter().find(|state| state.ws == ws);
                    state.map(
                        |state| if state.suspended_at.is_some() { "suspended" } else { "quiet" },
                    )
                };
                // The log names a workspace by its number.
                let shown = list.iter().map(|w| {
                    let (id, plan) = (&w.id, &w.plan);
                    json!({
                        "id": id, "number": w.ws, "slug": w.slug, "name": w.name, "plan": plan,
                        "rests": rests(w.ws),
                    })
                });
                let shown = json!({ "workspaces": shown.collect::<Vec<_>>() });
                let lines = list.iter().map(|w| {
                    let plan = w.plan.as_str();
                    let rests = rests(w.ws).map_or(String::new(), |word| format!(", {word}"));
                    format!("{}  {}  {} ({plan}), {} in the log{rests}", w.id, w.slug, w.name, w.ws)
                });
                print(output, &shown, &lines.collect::<Vec<_>>().join("\n"));
            }
        }
        Ok(())
    }
}
