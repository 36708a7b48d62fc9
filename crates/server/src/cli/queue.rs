//! The queues at the command line: what waits, is held or failed, and what can be done with it.

use base::app::App;
use base::concurrency::queue::Queue;
use clap::{Args, Subcommand};
use jobs::queues::{
    self, QUEUE_PAGE_MOST, QueueAct, QueueFilter, QueueItem, QueueKind, QueueState,
};
use serde_json::{Value, json};
use web::queue_words::why;

use super::Json;
use super::command::{CommandResult, open, print, sentence, word_of, workspaces};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum QueueCommand {
    /// List what waits, is held or failed, with the reason
    List(ListArgs),
    /// Show one thing with all that is known of it
    Show(QueuedArgs),
    /// Keep something from leaving until it is released
    Hold(QueuedArgs),
    /// Let go what is held
    Release(QueuedArgs),
    /// Try again now, also what failed or was given up
    Retry(QueuedArgs),
    /// Take something out of its queue: it does not leave
    Discard(QueuedArgs),
}

#[derive(Args)]
pub struct ListArgs {
    /// Only of this workspace, by its slug
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    /// Only this kind of things
    #[arg(long, value_parser = word_of!(QueueKind))]
    kind: Option<QueueKind>,
    /// Only what is in this state
    #[arg(long, value_parser = word_of!(QueueState))]
    state: Option<QueueState>,
    /// How many at the most
    #[arg(long, value_name = "NUMBER", default_value_t = 50,
          value_parser = clap::value_parser!(i64).range(1..=QUEUE_PAGE_MOST))]
    limit: i64,
    /// Where the list before ended, as it printed
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    output: Json,
}

/// Things by the ids that `queue list` prints.
#[derive(Args)]
pub struct QueuedArgs {
    /// What `queue list` prints first: msg_…, whk_…/evt_… or job_…
    id: String,
    /// Its workspace, by the slug
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    #[command(flatten)]
    output: Json,
}

impl QueueCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            QueueCommand::List(args) => args.run(&app).await,
            QueueCommand::Show(args) => args.show(&app).await,
            QueueCommand::Hold(args) => args.change(&app, QueueAct::Hold).await,
            QueueCommand::Release(args) => args.change(&app, QueueAct::Release).await,
            QueueCommand::Retry(args) => args.change(&app, QueueAct::Retry).await,
            QueueCommand::Discard(args) => args.change(&app, QueueAct::Discard).await,
        }
    }
}

impl ListArgs {
    async fn run(self, app: &App) -> CommandResult {
        let filter = QueueFilter {
            ws: number_of(app, self.workspace.as_deref()).await?,
            kind: self.kind,
            state: self.state,
            limit: Some(self.limit),
            cursor: self.cursor,
        };
        let own = app.clone();
        let list = move |tx: &mut db::Tx<'_>| queues::list_queues(tx, &own, &filter);
        let page = app.store.read(list).await.map_err(sentence)?;
        let mut lines: Vec<String> = page.items.iter().map(line).collect();
        if page.items.is_empty() {
            lines.push("Nothing waits, and nothing failed.".into());
        }
        if let Some(next) = &page.next {
            lines.push(format!("There are more: --cursor {next}"));
        }
        let items: Vec<Value> = page.items.iter().map(as_json).collect();
        print(self.output, &json!({ "items": items, "next": page.next }), &lines.join("\n"));
        Ok(())
    }
}

impl QueuedArgs {
    async fn show(self, app: &App) -> CommandResult {
        let ws = number_of(app, self.workspace.as_deref()).await?;
        let (own, id) = (app.clone(), self.id);
        let show = move |tx: &mut db::Tx<'_>| queues::show_queued(tx, &own, ws, &id);
        let (item, details) = app.store.read(show).await.map_err(sentence)?;
        let mut shown = as_json(&item);
        let mut lines = vec![line(&item)];
        if let (Some(shown), Value::Object(details)) = (shown.as_object_mut(), details) {
            for (name, value) in details {
                lines.push(format!("  {name}: {value}"));
                shown.insert(name, value);
            }
        }
        print(self.output, &shown, &lines.join("\n"));
        Ok(())
    }

    async fn change(self, app: &App, act: QueueAct) -> CommandResult {
        let ws = number_of(app, self.workspace.as_deref()).await?;
        let (own, id) = (app.clone(), self.id);
        let change = move |tx: &mut db::Tx<'_>| {
            tx.wake(Queue::Pages);
            queues::operate_queue(tx, &own, ws, &id, act)
        };
        let item = app.store.write(change).await.map_err(sentence)?;
        let done = match act {
            QueueAct::Hold => "Held",
            QueueAct::Release => "Released",
            QueueAct::Retry => "Tried again now",
            QueueAct::Discard => "Discarded",
        };
        let said = format!("{done}: {} to {}.", item.id, item.target);
        print(self.output, &json!({ "ok": true, "item": as_json(&item) }), &said);
        Ok(())
    }
}

/// The number of a workspace by its slug.
async fn number_of(app: &App, slug: Option<&str>) -> Result<Option<i64>, String> {
    let Some(slug) = slug else { return Ok(None) };
    let known = workspaces(app).await?;
    match known.iter().find(|workspace| workspace.slug == slug) {
        Some(workspace) => Ok(Some(workspace.ws)),
        None => Err(format!("There is no workspace {slug}.")),
    }
}

/// An item with its reason as a sentence.
fn as_json(item: &QueueItem) -> Value {
    let mut shown = json!(item);
    shown["why"] = Value::String(why(item));
    shown
}

fn line(item: &QueueItem) -> String {
    let next = item.next_attempt_at.map(|at| format!(", next {}", at.iso())).unwrap_or_default();
    format!(
        "{id}  {workspace}  {state}  to {target}, {attempts} tries since {since}{next}: {why}",
        id = item.id,
        workspace = item.workspace,
        state = item.state.as_str(),
        target = item.target,
        attempts = item.attempts,
        since = item.since.iso(),
        why = why(item),
    )
}
