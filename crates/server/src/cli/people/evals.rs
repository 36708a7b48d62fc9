//! Test cases for agents at the command line: run, compared, saved.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::actor::{Actor, Circle};
use base::app::App;
use base::error::Error;
use clap::{Args, Subcommand};
use evals::{EvalCase, EvalPace, EvalPlayer, EvalRunPlan, EvalWebhook, compare_results, play_run};
use jobs::ReplyModel;
use serde_json::{Value, json};
use transport::reply_model::HttpReplyModel;
use transport::webhooks::HttpWebhookSender;
use url::Url;

use crate::cli::command::{
    CommandFailure, CommandResult, WorkspaceArgs, open, print, sentence, write_out,
};
use crate::cli::people::eval_report::{
    case_list, case_list_lines, comparison_json, comparison_lines, run_json, run_lines,
};
use crate::cli::small_file::small_file;
use crate::serve::net_config;
use crate::settings::Settings;

/// An agent has come to rest when it did nothing for this long.
const REST: Duration = Duration::from_secs(2);
/// The seconds that an agent has for each mail, unless told otherwise, and the most.
const WAIT_SECONDS: u64 = 60;
const WAIT_SECONDS_MAX: u64 = 3_600;

#[derive(Subcommand)]
pub enum EvalsCommand {
    /// Play the test cases in the sandbox and grade what the agent did; the status is 1 when one fails
    Run(RunCases),
    /// List the test cases with their last results, and the runs
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Say what differs between two runs
    Compare {
        /// The number of the earlier run
        old: i64,
        /// The number of the later run
        new: i64,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Print the definition of a test case
    Show {
        name: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Save the test cases of files, or the twenty samples; one of the same name is replaced
    Add(AddCases),
    /// Save a conversation as a test case, and print it. Look through it: names of others are still in it
    Save(SaveConversation),
    /// Remove a test case
    Remove {
        name: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

#[derive(Args)]
pub struct RunCases {
    /// Only this test case; may be said several times
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// The agent by the name of its test key; without one, each case plays its own steps
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// An agent outside: it gets what the customer wrote as a POST, and answers with the calls that are made
    /// for it
    #[arg(long, value_name = "URL", conflicts_with = "key")]
    webhook: Option<Url>,
    /// The file of the secret (whsec_…) that signs what the webhook gets
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_secret_file: Option<PathBuf>,
    /// Let the model of MAILROOM_MODEL_URL answer the questions of the cases
    #[arg(long)]
    judge: bool,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// The seconds that the agent has after each mail
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_SECONDS,
          value_parser = clap::value_parser!(u64).range(1..=WAIT_SECONDS_MAX))]
    wait: u64,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct AddCases {
    /// TOML files of one test case each
    #[arg(required_unless_present = "samples")]
    files: Vec<PathBuf>,
    /// The twenty of the sample workspace
    #[arg(long, conflicts_with = "files")]
    samples: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

#[derive(Args)]
pub struct SaveConversation {
    /// The conversation's id (cnv_…), of the team or the sandbox
    conversation: String,
    /// Lower-case letters, digits and dashes
    #[arg(long)]
    name: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl EvalsCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        match self {
            EvalsCommand::Run(run) => run.run(settings).await,
            EvalsCommand::Add(add) => add.run(settings).await,
            EvalsCommand::Save(save) => save.run(settings).await,
            EvalsCommand::List { workspace } => list(settings, workspace).await,
            EvalsCommand::Compare { old, new, workspace } => {
                compare(settings, old, new, workspace).await
            }
            EvalsCommand::Show { name, workspace } => show(settings, name, workspace).await,
            EvalsCommand::Remove { name, workspace } => remove(settings, name, workspace).await,
        }
    }
}

impl RunCases {
    async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let cases = self.chosen_cases(&app, &operator).await?;
        let player = self.player(settings, &app, &operator).await?;
        let pace = EvalPace { wait: Duration::from_secs(self.wait), rest: REST };
        let plan = EvalRunPlan { operator, player, cases };
        let (number, results) = play_run(&app, &plan, pace).await.map_err(sentence)?;
        let player = plan.player;
        if let Some(file) = &self.junit {
            fs::write(file, evals::junit(&player.name, &results))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        let answer = run_json(number, &player.name, &results);
        print(self.workspace.output, &answer, &run_lines(number, &player.name, &results));
        if results.iter().all(|result| result.passed) { Ok(()) } else { Err(CommandFailure::Told) }
    }

    async fn player(
        &self,
        settings: &Settings,
        app: &App,
        operator: &Actor,
    ) -> Result<EvalPlayer, String> {
        let player = match (&self.key, &self.webhook) {
            (Some(name), _) => {
                let name = name.clone();
                let find = app.read(operator, move |tx, cx| EvalPlayer::find(tx, cx, &name));
                find.await.map_err(sentence)?
            }
            (None, Some(url)) => {
                let secret = self.webhook_secret_file.as_deref().map(small_file).transpose()?;
                let webhook = EvalWebhook {
                    sender: Arc::new(HttpWebhookSender::of(&net_config(settings))?),
                    url: url.to_string(),
                    secret: secret.map(|secret| secret.trim().to_owned()),
                };
                EvalPlayer::at_webhook(url.host_str().unwrap_or("Webhook"), webhook)
                    .map_err(sentence)?
            }
            (None, None) => EvalPlayer::script().map_err(sentence)?,
        };
        let judge: Option<Arc<dyn ReplyModel>> = match (self.judge, &settings.model) {
            (false, _) => None,
            (true, Some(endpoint)) => Some(Arc::new(HttpReplyModel::open(endpoint)?)),
            (true, None) => {
                return Err(
                    "There is no model to judge: set MAILROOM_MODEL_URL and MAILROOM_MODEL.".into(),
                );
            }
        };
        Ok(EvalPlayer { judge, ..player })
    }

    async fn chosen_cases(&self, app: &App, operator: &Actor) -> Result<Vec<EvalCase>, String> {
        let mut cases = app.read(operator, evals::list_cases).await.map_err(sentence)?;
        if cases.is_empty() {
            let help = "There are no test cases. Add your own with `mailroom evals add FILE`, or twenty \
                        samples with `mailroom evals add --samples`.";
            return Err(help.into());
        }
        for name in &self.cases {
            if !cases.iter().any(|case| case.name == *name) {
                return Err(format!("There is no test case {name}."));
            }
        }
        if !self.cases.is_empty() {
            cases.retain(|case| self.cases.contains(&case.name));
        }
        Ok(cases)
    }
}

async fn list(settings: &Settings, workspace: WorkspaceArgs) -> CommandResult {
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let read = app.read(&operator, |tx, cx| {
        let (cases, runs) = (evals::list_cases(tx, cx)?, evals::list_runs(tx, cx)?);
        let last = match runs.first() {
            Some(run) => evals::load_results(tx, cx, run.number)?,
            None => Vec::new(),
        };
        Ok((cases, runs, last))
    });
    let (cases, runs, last) = read.await.map_err(sentence)?;
    let said = case_list_lines(&cases, &runs, &last);
    print(workspace.output, &case_list(&cases, &runs, &last), &said);
    Ok(())
}

async fn compare(
    settings: &Settings,
    old: i64,
    new: i64,
    workspace: WorkspaceArgs,
) -> CommandResult {
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let read = app.read(&operator, move |tx, cx| {
        Ok((evals::load_results(tx, cx, old)?, evals::load_results(tx, cx, new)?))
    });
    let (before, after) = read.await.map_err(sentence)?;
    let compared = compare_results(&before, &after);
    let said = comparison_lines(&compared);
    print(workspace.output, &comparison_json(old, new, &compared), &said);
    Ok(())
}

async fn show(settings: &Settings, name: String, workspace: WorkspaceArgs) -> CommandResult {
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let read = app.read(&operator, move |tx, cx| evals::find_definition(tx, cx, &name));
    let definition = read.await.map_err(sentence)?;
    print_definition(&workspace, &definition);
    Ok(())
}

async fn remove(settings: &Settings, name: String, workspace: WorkspaceArgs) -> CommandResult {
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let remove = app.act(&operator, move |tx, cx| evals::remove_case(tx, cx, &name));
    remove.await.map_err(sentence)?;
    print(workspace.output, &json!({ "ok": true }), "Removed.");
    Ok(())
}

impl AddCases {
    async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let mut definitions = Vec::new();
        for file in &self.files {
            let definition = small_file(file)?;
            EvalCase::parse(&definition)
                .map_err(|error| format!("{}: {}", file.display(), sentence(error)))?;
            definitions.push(definition);
        }
        if self.samples {
            definitions.extend(evals::SAMPLES.iter().map(|(_, text)| (*text).to_owned()));
        }
        let save = app.act(&operator, move |tx, cx| {
            let mut names = Vec::new();
            for definition in &definitions {
                names.push(evals::save_definition(tx, cx, definition)?.name);
            }
            Ok(names)
        });
        let names = save.await.map_err(sentence)?;
        let said = format!("Saved: {}.", names.join(", "));
        print(self.workspace.output, &json!({ "saved": names }), &said);
        Ok(())
    }
}

impl SaveConversation {
    async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let case = match self.read_case(&app, &operator).await {
            Err(Error::NotFound(_)) => {
                let (ws, workspace) = (operator.ws, operator.workspace.clone());
                let sandbox = Actor::system(ws, workspace, Circle::sandbox());
                self.read_case(&app, &sandbox).await
            }
            found => found,
        };
        let case = case.map_err(sentence)?;
        let definition = case.to_definition().map_err(sentence)?;
        let save = app.act(&operator, move |tx, cx| evals::save_case(tx, cx, &case));
        save.await.map_err(sentence)?;
        print_definition(&self.workspace, &definition);
        Ok(())
    }

    async fn read_case(&self, app: &App, actor: &Actor) -> base::error::Result<EvalCase> {
        let (id, name) = (self.conversation.clone(), self.name.clone());
        app.read(actor, move |tx, cx| evals::case_of_conversation(tx, cx, &id, &name)).await
    }
}

/// The TOML as it is, for a file.
fn print_definition(workspace: &WorkspaceArgs, definition: &str) {
    if workspace.output.json {
        let answer: Value = json!({ "definition": definition });
        print(workspace.output, &answer, "");
    } else {
        write_out(definition);
    }
}
