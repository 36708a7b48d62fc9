//! Acts on 1,000 conversations at once, what others wait meanwhile, and rules.

mod others;
mod rules;
mod session;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base::limits::TRIAGED;
use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::database::{self, DatabaseKind, Databases};
use crate::fill::filled::{FillPlan, FilledDatabase};
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::{loads, request};
use crate::server::{Server, binary, free_address, serve};
use others::{OtherClients, OtherWaits, quantile};
use session::between;

pub use session::AppSession;

/// An act on 1,000 conversations takes so many seconds at the most, and so does undoing it.
const ACT_SECONDS: f64 = 5.0;
/// Nobody else waits for longer than so many seconds.
const OTHERS_SECONDS: f64 = 1.0;
/// The list whose conversations are acted on, as forms carry it.
const LIST: &str = "from=view%3Dopen";

#[derive(Args, Clone, Debug)]
pub struct TriageOptions {
    #[command(flatten)]
    databases: Databases,
    /// Messages of the workspace
    #[arg(long, default_value_t = 300_000, value_name = "NUMBER")]
    messages: usize,
    /// How often 1,000 conversations are closed and opened again, and how often a rule acts on as many
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    rounds: usize,
    /// How often a rule is tried
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    trials: usize,
    /// How long the others are measured while nothing else happens
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    seconds: f64,
    /// What the workspaces are made up from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// Keep the filled databases, and use them again next time
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &TriageOptions) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let plan = FillPlan {
        databases: &options.databases,
        data: options.data.as_deref(),
        scratch: scratch.path(),
        seed: options.seed,
    };
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        goals.extend(measure(options, &plan, kind, &runtime)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

fn measure(
    options: &TriageOptions,
    plan: &FillPlan<'_>,
    kind: DatabaseKind,
    runtime: &Runtime,
) -> Result<Vec<Goal>, String> {
    let filled = plan.prepare(kind, options.messages)?;
    let listen = free_address()?;
    let binary = binary(options.server.as_deref())?;
    let mut command = serve(&binary, &filled.folder, &filled.url, listen);
    let log = plan.scratch.join("server.log");
    let first = request(&filled.seeded.key, "GET", "/me", "");
    let _server = Server::start(&mut command, listen, first.as_bytes(), &log)?;
    let others = OtherClients::new(listen, &loads(&filled.seeded))?;
    let session = runtime.block_on(AppSession::open(listen, &filled.seeded.session))?;
    let mut bench = TriageBench { options, runtime, filled: &filled, others, session };
    let goals = bench.close_and_undo()?;
    bench.try_and_run_rule()?;
    Ok(goals)
}

/// A server, somebody who acts, and the others.
struct TriageBench<'a> {
    options: &'a TriageOptions,
    runtime: &'a Runtime,
    filled: &'a FilledDatabase,
    others: OtherClients,
    session: AppSession,
}

impl TriageBench<'_> {
    fn close_and_undo(&mut self) -> Result<Vec<Goal>, String> {
        let (mut alone, mut beside_act, mut beside_undo) =
            (OtherWaits::default(), OtherWaits::default(), OtherWaits::default());
        self.rest(self.options.seconds / 4.0, &mut OtherWaits::default())?;
        self.rest(self.options.seconds, &mut alone)?;
        let (mut closings, mut undoings) = (Vec::new(), Vec::new());
        for _ in 0..self.options.rounds.max(1) {
            let closing = act_on_all(&mut self.session, "act=close");
            let closing = self.others.beside(closing, &mut beside_act);
            closings.push(self.runtime.block_on(closing)?);
            self.check_changed()?;
            let undo = self.runtime.block_on(offered_undo(&mut self.session))?;
            let undoing = undo_all(&mut self.session, &undo);
            let undoing = self.others.beside(undoing, &mut beside_undo);
            undoings.push(self.runtime.block_on(undoing)?);
        }
        alone.tell(self.filled, "nothing");
        beside_act.tell(self.filled, "act");
        beside_undo.tell(self.filled, "undo");
        for (figure, times) in [("triage-close", &closings), ("triage-undo", &undoings)] {
            println!(
                "{}",
                json!({
                    "figure": figure, "db": self.filled.kind.name(),
                    "messages": self.filled.seeded.messages,
                    "conversations": TRIAGED, "rounds": times.len(),
                    "p50_ms": round(quantile(times, 0.5) * 1_000.0),
                    "worst_ms": round(quantile(times, 1.0) * 1_000.0),
                })
            );
        }
        let (name, messages) = (self.filled.kind.name(), self.filled.seeded.messages);
        let goal = |what: &str, value: f64, most: f64| Goal {
            what: format!("{what} ({name}, {messages} messages)"),
            value,
            wanted: Wanted::AtMost(most),
        };
        Ok(vec![
            goal("closing 1,000 at once, s, the worst", quantile(&closings, 1.0), ACT_SECONDS),
            goal("undoing that, s, the worst", quantile(&undoings, 1.0), ACT_SECONDS),
            goal("others beside closing, s, the worst", beside_act.worst(), OTHERS_SECONDS),
            goal("others beside undoing, s, the worst", beside_undo.worst(), OTHERS_SECONDS),
        ])
    }

    /// Lets the others ask while nothing else happens.
    fn rest(&self, seconds: f64, waits: &mut OtherWaits) -> Result<(), String> {
        let rest = async {
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            Ok(())
        };
        self.runtime.block_on(self.others.beside(rest, waits))
    }

    /// An act on fewer conversations would be quick.
    fn check_changed(&self) -> Result<(), String> {
        let sql = "SELECT CAST(changed AS TEXT) FROM undos ORDER BY id DESC LIMIT 1";
        let changed = database::texts(&self.filled.url, sql)?.pop().unwrap_or_default();
        match changed == TRIAGED.to_string() {
            true => Ok(()),
            false => Err(format!("{changed} conversations were changed instead of {TRIAGED}")),
        }
    }
}

/// Acts on all conversations of the list that one act may change; answers the seconds it took.
async fn act_on_all(session: &mut AppSession, act: &str) -> Result<f64, String> {
    let begun = Instant::now();
    session.post("/triage", &format!("{act}&all=on&{LIST}"), "triaged").await?;
    Ok(begun.elapsed().as_secs_f64())
}

/// The act that the next page offers to undo.
async fn offered_undo(session: &mut AppSession) -> Result<String, String> {
    let page = session.page("/inbox?view=open").await?;
    between(&page, "name=\"undo\" value=\"", "\"").map(str::to_owned)
}

/// Undoes an act; answers the seconds it took.
async fn undo_all(session: &mut AppSession, undo: &str) -> Result<f64, String> {
    let begun = Instant::now();
    session.post("/undo", &format!("undo={undo}&{LIST}"), "undone").await?;
    Ok(begun.elapsed().as_secs_f64())
}
