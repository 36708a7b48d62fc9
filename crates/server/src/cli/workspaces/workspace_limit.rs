//! `workspace limit`: what a workspace may hold and do.

use actions::workspace::limits;
use base::app::App;
use clap::Args;
use quotas::{LimitInput, LimitKind, LimitUse, amount_words};
use serde_json::{Value, json};

use crate::cli::Json;
use crate::cli::command::{CommandResult, WorkspaceArgs, print, sentence};

#[derive(Args)]
pub struct LimitWorkspace {
    /// The workspace's slug
    #[arg(value_name = "NAME")]
    name: String,
    /// messages, bytes, documentBytes, people, mailsPerHour, mailsPerDay or callsPerHour, each with HARD,
    /// SOFT:HARD, SOFT: (which only warns) or none; without any, it only says what the limits are
    #[arg(value_name = "WHAT=LIMIT", value_parser = parse_limit)]
    limits: Vec<(LimitKind, LimitInput)>,
    #[command(flatten)]
    output: Json,
}

fn parse_limit(text: &str) -> Result<(LimitKind, LimitInput), String> {
    let names = LimitKind::NAMES.join(", ");
    let (what, limit) =
        text.split_once('=').ok_or_else(|| format!("must be WHAT=LIMIT, with one of {names}"))?;
    let what = LimitKind::parse(what).ok_or_else(|| format!("WHAT is one of {names}"))?;
    let input = LimitInput::parse(what, limit).ok_or(
        "LIMIT is a number such as 1000 (bytes may end in kB, MB, GB or TB), SOFT:HARD, SOFT: or none; calls have \
         a hard limit alone",
    )?;
    Ok((what, input))
}

impl LimitWorkspace {
    pub async fn run(self, app: &App) -> CommandResult {
        let operator =
            WorkspaceArgs::of(Some(self.name.clone()), self.output).operator(app).await?;
        let set = self.limits;
        let uses = app
            .act(&operator, move |tx, cx| limits::set_limits(tx, cx, &set))
            .await
            .map_err(sentence)?;
        let said: Vec<String> = uses.iter().map(line).collect();
        let shown: Vec<Value> = uses
            .iter()
            .map(|one| {
                json!({ "what": one.what, "used": one.used, "soft": one.soft, "hard": one.hard })
            })
            .collect();
        print(self.output, &json!({ "workspace": self.name, "limits": shown }), &said.join("\n"));
        Ok(())
    }
}

fn line(one: &LimitUse) -> String {
    let words = |amount| amount_words(one.what, amount);
    let used =
        one.used.map_or("counted by the nodes".into(), |used| format!("{} used", words(used)));
    let hard = one.hard.map_or("no limit".into(), |hard| format!("limit {}", words(hard)));
    let soft = one.soft.map_or(String::new(), |soft| format!(", warns at {}", words(soft)));
    format!("{}  {used}, {hard}{soft}", one.what.as_str())
}
