//! Deleting an inbox or a workspace at the command line, and how long inboxes keep mail.

use actions::inboxes::setup;
use base::actor::{Actor, Circle};
use base::app::App;
use base::ids::MailboxId;
use base::limits::TRASH_DAYS;
use clap::Args;
use jobs::{DeletionOutcome, finish_deletion};
use model::erasure::deletions::DeletionCounts;
use serde_json::{Value, json};

use crate::cli::command::{CommandResult, WorkspaceArgs, person, print, sentence, workspaces};
use crate::cli::workspaces::purging::{about_later, purge_all};
use crate::settings::Settings;

/// What a deletion does not reach, and why.
const KEPT: &[&str] = &[
    "The audit log says who deleted it, when, and how many conversations and messages it had: it \
     proves that it was done.",
    "Senders that were blocked stay blocked, and the domains of those who wrote stay known to the \
     scam check.",
    "Answers, saved replies, rules and people belong to the workspace and stay.",
    "A new mail that somebody is writing stays, without the inbox that was chosen for it.",
    "Backups that were made before hold it until they are removed (`mailroom backup --keep`).",
    "PostgreSQL reuses the space of removed rows; until then, and in archives of its write-ahead log, \
     old bytes may be found by whoever reads its files.",
    "Mail in mailboxes that Mailroom only fetches from stays there.",
];

/// The same for a whole workspace.
const KEPT_OF_WORKSPACE: &[&str] = &[
    "That there was a workspace of this id, who deleted it (by id), when, and how many conversations \
     and messages it had: it proves that it was done.",
    "Backups that were made before hold it until they are removed (`mailroom backup --keep`).",
    "PostgreSQL reuses the space of removed rows; until then, and in archives of its write-ahead log, \
     old bytes may be found by whoever reads its files.",
    "Mail in mailboxes that Mailroom only fetches from stays there.",
];

#[derive(Args)]
pub struct DeleteInbox {
    /// The inbox's address, or its id (mbx_…) where it was closed with its person
    address: String,
    /// The owner who deletes it, or whose private inbox it is
    #[arg(long, value_name = "EMAIL")]
    by: String,
    /// Delete it; without this nothing is deleted
    #[arg(long)]
    yes: bool,
    /// Do not write an SQLite database anew, for which a busy server would have to wait
    #[arg(long)]
    without_compacting: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl DeleteInbox {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let actor = person(app, &self.workspace.operator(app).await?, self.by.clone()).await?;
        let id = find(app, &actor, &self.address).await?;
        let wanted = id.clone();
        let deletion = app
            .read(&actor, move |tx, cx| {
                actions::workspace::deletion::inbox_deletion(tx, cx, &wanted)
            })
            .await
            .map_err(sentence)?;
        if let Some(obstacle) = &deletion.obstacle {
            return Err(obstacle.as_str().into());
        }
        if !self.yes {
            let said = format!(
                "{} has {}. Nothing is deleted yet: repeat it with --yes.",
                self.address,
                deletion.counts.words()
            );
            print(self.workspace.output, &answer(false, &deletion.counts, KEPT), &said);
            return Ok(());
        }
        let (wanted, typed) = (id.clone(), deletion.confirmation().to_owned());
        app.act(&actor, move |tx, cx| {
            actions::workspace::deletion::delete_inbox(tx, cx, &wanted, &typed)
        })
        .await
        .map_err(sentence)?;
        let rewrite = !self.without_compacting;
        let end = carry_out(settings, app, (actor.ws, id.as_str()), rewrite).await?;
        let mut told = answer(true, &deletion.counts, KEPT);
        end.add_to(&mut told);
        let said = format!("Deleted {} with {}.", self.address, deletion.counts.words());
        print(self.workspace.output, &told, &end.report(said, KEPT));
        Ok(())
    }
}

#[derive(Args)]
pub struct DeleteWorkspace {
    /// The owner who deletes it
    #[arg(long, value_name = "EMAIL")]
    by: String,
    /// Delete it; without this nothing is deleted
    #[arg(long)]
    yes: bool,
    /// Do not write an SQLite database anew, for which a busy server would have to wait
    #[arg(long)]
    without_compacting: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl DeleteWorkspace {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let actor = person(app, &self.workspace.operator(app).await?, self.by.clone()).await?;
        let counts = app
            .read(&actor, actions::workspace::deletion::workspace_deletion)
            .await
            .map_err(sentence)?;
        let listed = workspaces(app).await?;
        let named = listed.into_iter().find(|workspace| workspace.ws == actor.ws);
        let Some(named) = named else { return Err("There is no such workspace.".into()) };
        if !self.yes {
            let ahead = match counts.appointments {
                0 => String::new(),
                ahead => format!(
                    " {ahead} appointments are ahead, whose guests are not told; cancel them first \
                     if they should be."
                ),
            };
            let said = format!(
                "{} has {}.{ahead} Nothing is deleted yet: repeat it with --yes.",
                named.name,
                counts.words()
            );
            print(self.workspace.output, &answer(false, &counts, KEPT_OF_WORKSPACE), &said);
            return Ok(());
        }
        let slug = named.slug.clone();
        app.act(&actor, move |tx, cx| {
            actions::workspace::deletion::delete_workspace(tx, cx, &slug)
        })
        .await
        .map_err(sentence)?;
        let rewrite = !self.without_compacting;
        let end = carry_out(settings, app, (actor.ws, ""), rewrite).await?;
        let mut told = answer(true, &counts, KEPT_OF_WORKSPACE);
        end.add_to(&mut told);
        let said = format!("Deleted {} with {}.", named.name, counts.words());
        print(self.workspace.output, &told, &end.report(said, KEPT_OF_WORKSPACE));
        Ok(())
    }
}

fn answer(deleted: bool, counts: &DeletionCounts, kept: &[&str]) -> Value {
    json!({
        "deleted": deleted,
        "conversations": counts.conversations,
        "messages": counts.messages,
        "appointments": counts.appointments,
        "kept": kept,
    })
}

/// How the work behind a deletion ended.
struct CarriedOut {
    outcome: DeletionOutcome,
    later: u64,
}

impl CarriedOut {
    fn add_to(&self, answer: &mut Value) {
        answer["erased"] = (self.outcome == DeletionOutcome::Erased).into();
        answer["filesRemovedLater"] = self.later.into();
    }

    fn report(&self, done: String, kept: &[&str]) -> String {
        let outcome = match self.outcome {
            DeletionOutcome::Erased => "",
            DeletionOutcome::Waits => {
                " Some of it could not be erased yet; a running server tries again."
            }
        };
        let kept: Vec<String> = kept.iter().map(|line| format!("  {line}")).collect();
        let later = about_later(self.later);
        format!("{done}{outcome}{later}\nNot removed:\n{}", kept.join("\n"))
    }
}

async fn carry_out(
    settings: &Settings,
    app: &App,
    (ws, mailbox): (i64, &str),
    rewrite: bool,
) -> Result<CarriedOut, String> {
    let outcome = finish_deletion(app, ws, mailbox).await.map_err(sentence)?;
    let purged = purge_all(app, settings, rewrite).await?;
    Ok(CarriedOut { outcome, later: purged.later })
}

/// An inbox by its address or its id. Whoever may not delete it does not learn of it.
async fn find(app: &App, actor: &Actor, name: &str) -> Result<MailboxId, String> {
    if let Some(id) = MailboxId::parse(name) {
        return Ok(id);
    }
    let (operator, address) =
        (Actor::system(actor.ws, actor.workspace.clone(), Circle::team()), name.to_owned());
    app.read(&operator, move |tx, cx| setup::mailbox_at(tx, cx, &address)).await.map_err(sentence)
}

#[derive(Args)]
pub struct Retention {
    /// The inbox's address
    address: String,
    /// Closed conversations go into the trash when nobody touched them for so many days
    #[arg(long, value_name = "NUMBER", conflicts_with = "off")]
    days: Option<i64>,
    /// Keep them for good
    #[arg(long)]
    off: bool,
    /// Switch it on; without this it only says how many conversations would go
    #[arg(long)]
    yes: bool,
    /// The owner who sets it, or whose private inbox it is
    #[arg(long, value_name = "EMAIL")]
    by: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl Retention {
    pub async fn run(self, app: &App) -> CommandResult {
        let actor = person(app, &self.workspace.operator(app).await?, self.by.clone()).await?;
        let id = find(app, &actor, &self.address).await?;
        let (wanted, days) = (id.clone(), self.days);
        let (now, untouched) = app
            .read(&actor, move |tx, cx| {
                let now = actions::workspace::deletion::inbox_retention(tx, cx, &wanted)?.days;
                let untouched = match days {
                    Some(days) => {
                        Some(actions::workspace::deletion::count_untouched(tx, cx, &wanted, days)?)
                    }
                    None => None,
                };
                Ok((now, untouched))
            })
            .await
            .map_err(sentence)?;
        let sets = self.off || (self.yes && self.days.is_some());
        if sets {
            let (wanted, days) = (id.clone(), self.days);
            app.act(&actor, move |tx, cx| {
                actions::workspace::deletion::set_retention(tx, cx, &wanted, days)
            })
            .await
            .map_err(sentence)?;
        }
        let kept = if sets { self.days } else { now };
        let said = match (sets, kept, self.days.zip(untouched)) {
            (false, _, Some((days, count))) => format!(
                "{count} conversations of {} were closed and not touched for {days} days. They would \
                 go into the trash, and be erased {TRASH_DAYS} days later. Nothing is changed yet: \
                 repeat it with --yes.",
                self.address
            ),
            (_, Some(days), _) => format!(
                "{} keeps closed conversations for {days} days after they were last touched; then they \
                 go into the trash.",
                self.address
            ),
            (_, None, _) => format!("{} keeps closed conversations for good.", self.address),
        };
        let answer = json!({ "days": kept, "untouched": untouched, "set": sets });
        print(self.workspace.output, &answer, &said);
        Ok(())
    }
}
