//! Quiet mode at the command line: nothing is sent or fetched until it ends.

use std::collections::BTreeMap;

use base::app::App;
use clap::Subcommand;
use maintenance::waiting;
use model::installation::{QuietReason, begin_quiet, end_quiet, installation};
use node::quiet::HOW_TO_GO_ON;
use serde_json::json;

use super::Json;
use super::command::{CommandResult, open, print, sentence};
use crate::settings::Settings;

#[derive(Subcommand)]
pub enum Quiet {
    /// Send nothing, fetch nothing and call no webhook until `quiet off`; running servers follow
    /// within seconds
    On(Json),
    /// Send and fetch again; what waited leaves
    Off(Json),
    /// Say whether this installation is quiet, and why
    Status(Json),
}

impl Quiet {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            Quiet::On(output) => {
                let now = app.clock.now();
                app.store
                    .write(move |tx| begin_quiet(tx, QuietReason::Asked, now))
                    .await
                    .map_err(sentence)?;
                show(&app, output).await
            }
            Quiet::Off(output) => {
                let identity = app.store.identity(&settings.database_url).await;
                let own = app.clone();
                let stopped = app.store.write(move |tx| go_on(tx, &own, identity.as_deref())).await;
                show_stopped(&app, output, stopped.map_err(sentence)?).await
            }
            Quiet::Status(output) => show(&app, output).await,
        }
    }
}

/// Ends the quiet. Says how many messages are drafts again because the original may have sent them.
fn go_on(tx: &mut db::Tx<'_>, app: &App, identity: Option<&str>) -> base::error::Result<u64> {
    let reason = installation(tx)?.quiet().map(|mark| mark.reason);
    let stopped = match reason {
        Some(QuietReason::Copied | QuietReason::Restored) => waiting::stop_overdue(tx, app)?,
        Some(QuietReason::Asked) | None => 0,
    };
    end_quiet(tx, identity)?;
    Ok(stopped)
}

/// What waits to leave, in a sentence.
pub(super) fn about_waiting(counts: &BTreeMap<&str, i64>) -> String {
    let some = counts.iter().filter(|(_, count)| **count > 0);
    let some: Vec<String> = some.map(|(name, count)| format!("{count} {name}")).collect();
    match some.is_empty() {
        true => "Nothing waits to leave.".into(),
        false => format!("Waiting to leave: {}.", some.join(", ")),
    }
}

async fn show(app: &App, output: Json) -> CommandResult {
    show_stopped(app, output, 0).await
}

async fn show_stopped(app: &App, output: Json, stopped: u64) -> CommandResult {
    let read = |tx: &mut db::Tx<'_>| {
        Ok::<_, base::error::Error>((installation(tx)?.quiet(), waiting::waiting(tx)?))
    };
    let (mark, counts) = app.store.read(read).await.map_err(sentence)?;
    let mut said = match &mark {
        Some(mark) => format!(
            "Quiet since {}: no mail is sent or fetched and no webhook is called. {} {HOW_TO_GO_ON}",
            mark.since.iso(),
            mark.reason.sentence()
        ),
        None => "Not quiet: mail is sent and fetched and webhooks are called.".to_owned(),
    };
    let answer = json!({
        "quiet": mark.is_some(),
        "reason": mark.map(|mark| mark.reason),
        "since": mark.map(|mark| mark.since),
        "waiting": counts,
        "madeDrafts": stopped,
    });
    said.push_str(&format!("\n{}", about_waiting(&counts)));
    if stopped > 0 {
        said.push_str(&format!(
            "\n{stopped} messages that should have left while it was quiet are drafts again: the \
             original may have sent them. Send those that it did not."
        ));
    }
    print(output, &answer, &said);
    Ok(())
}
