//! Protected messages beside as many ordinary ones: what lists and conversations with them cost.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::database::{DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace};
use crate::measure::drive;
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::{Requests, request};
use crate::server::{Server, binary, free_address, serve};

/// Messages of a conversation beside the one that it began with.
const REPLIES: usize = 20;
/// All messages must have left by then.
const PATIENCE: Duration = Duration::from_secs(300);
/// The wait between two looks at what has not left.
const STEP: Duration = Duration::from_millis(200);
/// The medians may differ by so much without saying anything.
const NOISE: f64 = 1.1;

#[derive(Args, Clone, Debug)]
pub struct ProtectedOptions {
    #[command(flatten)]
    databases: Databases,
    /// Protected messages, and as many ordinary ones
    #[arg(long, default_value_t = 1_000, value_name = "NUMBER")]
    messages: usize,
    /// Turns that both kinds take with each figure
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    turns: usize,
    /// Seconds of a turn
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    seconds: f64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &ProtectedOptions) -> Result<bool, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        goals.extend(measure(options, kind, &runtime)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

/// A server with messages of one kind.
struct Side {
    name: &'static str,
    workspace: BenchWorkspace,
    server: Server,
    _place: BenchDatabase,
}

fn measure(
    options: &ProtectedOptions,
    kind: DatabaseKind,
    runtime: &Runtime,
) -> Result<Vec<Goal>, String> {
    let protected = Side::fill(options, kind, runtime, "protected")?;
    let ordinary = Side::fill(options, kind, runtime, "ordinary")?;
    let mut goals = Vec::new();
    for figure in ["list", "page-list", "read", "page"] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.turns {
            ours.push(protected.median_us(runtime, figure, options.seconds)?);
            theirs.push(ordinary.median_us(runtime, figure, options.seconds)?);
        }
        let (ours, theirs) = (middle(ours), middle(theirs));
        println!(
            "{}",
            json!({
                "figure": format!("protected-{figure}"), "db": kind.name(),
                "messages": options.messages,
                "protected_p50_us": round(ours), "ordinary_p50_us": round(theirs),
            })
        );
        goals.push(Goal {
            what: format!("{figure} of protected messages over ordinary ones, {}", kind.name()),
            value: ours / theirs,
            wanted: Wanted::AtMost(NOISE),
        });
    }
    Ok(goals)
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl Side {
    /// Fills a database through the server, so that words are sealed with its key, and lets everything
    /// leave.
    fn fill(
        options: &ProtectedOptions,
        kind: DatabaseKind,
        runtime: &Runtime,
        name: &'static str,
    ) -> Result<Side, String> {
        let place = BenchDatabase::new(kind, options.databases.postgres(), name)?;
        let conversations = options.messages.div_ceil(REPLIES);
        let workspace = workspace::set(&place, conversations, Vec::new())?;
        let binary = binary(options.server.as_deref())?;
        let outbox = format!("file:{}", place.folder.path().join("outbox").display());
        let command = |listen: SocketAddr| -> Command {
            let mut command = serve(&binary, place.folder.path(), &place.url, listen);
            command.env("MAILROOM_RELAY", &outbox);
            command
        };
        let log = place.folder.path().join("server.log");
        let first = request(&workspace.live_key, "GET", "/me", "");
        let start = || {
            let listen = free_address()?;
            Server::start(&mut command(listen), listen, first.as_bytes(), &log)
        };
        let mut server = start()?;
        runtime.block_on(write_all(&server, &workspace, name == "protected"))?;
        server.terminate()?;
        drop(server);
        // The undo window is over.
        let store = workspace::open(&place.url)?;
        let moved = store.write(|tx| {
            tx.exec("UPDATE messages SET sends_at = 0 WHERE status = 'scheduled'", &[])
        });
        runtime.block_on(moved).map_err(|error| error.to_string())?;
        let server = start()?;
        let begun = Instant::now();
        loop {
            let left = store.read(|tx| {
                tx.one::<(i64,)>(
                    "SELECT CAST(count(*) AS BIGINT) FROM messages
                     WHERE status IN ('scheduled', 'sending')",
                    &[],
                )
            });
            let (left,) = runtime.block_on(left).map_err(|error| error.to_string())?;
            if left == 0 {
                break;
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{left} messages have not left"));
            }
            std::thread::sleep(STEP);
        }
        Ok(Side { name, workspace, server, _place: place })
    }

    /// How long half of the answers take at the most, from one client.
    fn median_us(&self, runtime: &Runtime, figure: &str, seconds: f64) -> Result<f64, String> {
        let BenchWorkspace { live_key, session, conversations, .. } = &self.workspace;
        let requests = match figure {
            "list" => Requests::of(live_key, "/conversations?view=all"),
            "page-list" => Requests::of_pages(session, &["/inbox?view=waiting".to_owned()]),
            "read" => Requests::reads_of(live_key, conversations),
            _ => {
                let path = |id: &String| format!("/conversations/{id}?view=waiting");
                Requests::of_pages(session, &conversations.iter().map(path).collect::<Vec<_>>())
            }
        };
        let requests = Arc::new(requests);
        let driven = drive(self.server.address, &requests, 1, seconds);
        let driven = runtime.block_on(driven);
        driven.map(|driven| driven.p50_us).map_err(|error| format!("{}: {error}", self.name))
    }
}

/// Sends the replies; they leave after the undo window.
async fn write_all(
    server: &Server,
    workspace: &BenchWorkspace,
    is_secure: bool,
) -> Result<(), String> {
    let mut client = Client::connect(server.address).await.map_err(|error| error.to_string())?;
    for id in &workspace.conversations {
        for number in 0..REPLIES {
            let text = format!("Parcel {number} left on Tuesday. ").repeat(10);
            let body = json!({ "body": text, "secure": is_secure, "send": true }).to_string();
            let path = format!("/conversations/{id}/replies");
            let request = request(&workspace.live_key, "POST", &path, &body);
            let answer =
                client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
            if answer.status != 201 {
                return Err(format!("a reply was answered with {}", answer.status));
            }
        }
    }
    Ok(())
}
