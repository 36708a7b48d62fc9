//! Quiet mode at the command line: nothing is sent or fetched until it ends.

use clap::Subcommand;
use inbox::App;
use inbox::model::installation::{QuietReason, begin_quiet, end_quiet, installation};
use serde_json::json;

use super::Json;
use super::command::{CommandResult, open, print, sentence};
use crate::node::quiet::HOW_TO_GO_ON;
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
                app.store
                    .write(move |tx| end_quiet(tx, identity.as_deref()))
                    .await
                    .map_err(sentence)?;
                show(&app, output).await
            }
            Quiet::Status(output) => show(&app, output).await,
        }
    }
}

async fn show(app: &App, output: Json) -> CommandResult {
    let mark = app.store.read(installation).await.map_err(sentence)?.quiet();
    let said = match &mark {
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
    });
    print(output, &answer, &said);
    Ok(())
}
