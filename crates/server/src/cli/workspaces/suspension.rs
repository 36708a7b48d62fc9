//! `workspace suspend` and `workspace resume`.

use actions::workspace::suspension;
use base::app::App;
use base::time::Moment;
use base::workspaces::resting;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Json;
use crate::cli::command::{CommandResult, WorkspaceArgs, print, sentence};

#[derive(Args)]
pub struct SuspendWorkspace {
    /// The workspace's slug
    #[arg(value_name = "NAME")]
    name: String,
    /// What its people read on every page, such as whom to ask; guests are not told
    #[arg(long, value_name = "SENTENCE", default_value = "", hide_default_value = true)]
    reason: String,
    #[command(flatten)]
    output: Json,
}

impl SuspendWorkspace {
    pub async fn run(self, app: &App) -> CommandResult {
        let operator =
            WorkspaceArgs::of(Some(self.name.clone()), self.output).operator(app).await?;
        let reason = self.reason;
        app.act(&operator, move |tx, cx| suspension::suspend(tx, cx, &reason))
            .await
            .map_err(sentence)?;
        let said = format!(
            "{name} is suspended. Nobody works with it, mail to it is put off (452), and nothing leaves. \
             `mailroom workspace resume {name}` lets it go on where it stood.",
            name = self.name
        );
        print(self.output, &state(app, operator.ws).await?, &said);
        Ok(())
    }
}

#[derive(Args)]
pub struct ResumeWorkspace {
    /// The workspace's slug
    #[arg(value_name = "NAME")]
    name: String,
    /// Let mail, webhooks and notices of a quiet copy leave from now on
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    output: Json,
}

impl ResumeWorkspace {
    pub async fn run(self, app: &App) -> CommandResult {
        let operator =
            WorkspaceArgs::of(Some(self.name.clone()), self.output).operator(app).await?;
        let ws = operator.ws;
        let before = app.store.read(move |tx| resting::resting(tx, ws)).await.map_err(sentence)?;
        let is_quiet = before.as_ref().is_some_and(|state| state.quiet_at.is_some());
        let is_suspended = before.is_some_and(|state| state.suspended_at.is_some());
        if is_suspended || !self.live {
            if is_quiet && !is_suspended {
                return Err(format!(
                    "{0} is a quiet copy: people work with it, and nothing leaves. `mailroom workspace resume {0} \
                     --live` lets it send.",
                    self.name
                )
                .into());
            }
            app.act(&operator, suspension::resume).await.map_err(sentence)?;
        }
        if self.live {
            app.act(&operator, suspension::end_quiet).await.map_err(sentence)?;
        }
        let said = match is_quiet && !self.live {
            true => format!("{} goes on, and is quiet as before: nothing leaves.", self.name),
            false => format!("{} goes on where it stood.", self.name),
        };
        print(self.output, &state(app, ws).await?, &said);
        Ok(())
    }
}

/// How a workspace rests, as JSON.
async fn state(app: &App, ws: i64) -> Result<Value, String> {
    let state = app.store.read(move |tx| resting::resting(tx, ws)).await.map_err(sentence)?;
    let at = |at: Option<i64>| at.map(|at| Moment(at).iso());
    Ok(json!({
        "suspendedAt": state.as_ref().and_then(|state| at(state.suspended_at)),
        "reason": state.as_ref().map_or("", |state| state.reason.as_str()),
        "quietAt": state.as_ref().and_then(|state| at(state.quiet_at)),
    }))
}
