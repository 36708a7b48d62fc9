//! The whole run: fill, start, measure, compare, report.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::database::{DatabaseKind, Databases, Passing};
use crate::fill::filled::{FillPlan, FilledDatabase};
use crate::fill::seed::Seeded;
use crate::measure::{Throughput, drive};
use crate::report::{self, FigureRow, Goal, Section, Wanted};
use crate::requests::{Load, Requests, loads};
use crate::server::{Server, binary, free_address, serve, this_binary};

/// A server gets so long to come to rest before its idle memory is read.
const REST: Duration = Duration::from_secs(1);

#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    #[command(flatten)]
    databases: Databases,
    /// Messages of the small workspace
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    small: usize,
    /// Messages of the large workspace on SQLite; 0 leaves it out
    #[arg(long, default_value_t = 1_000_000, value_name = "NUMBER")]
    large: usize,
    /// Messages of the large workspace on PostgreSQL; 0 leaves it out
    #[arg(long, default_value_t = 300_000, value_name = "NUMBER")]
    large_postgres: usize,
    /// How long each figure is measured
    #[arg(long, default_value_t = 3.0, value_name = "SECONDS")]
    seconds: f64,
    /// How often the two sides of a comparison take turns, each for a fifth of that time
    #[arg(long, default_value_t = 15, value_name = "NUMBER")]
    rounds: usize,
    /// Only the figures whose names start with one of these
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Leave out the comparisons
    #[arg(long)]
    no_comparisons: bool,
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
pub fn run(options: RunOptions) -> Result<bool, String> {
    let bench = Bench::new(options)?;
    let mut sections = Vec::new();
    let mut goals = Vec::new();
    for kind in bench.kinds() {
        let small = bench.prepare(kind, bench.options.small)?;
        sections.push(bench.measure(&small)?);
        if !bench.options.no_comparisons && kind == DatabaseKind::Sqlite {
            goals.push(bench.beside_constant(&small)?);
            goals.push(bench.beside_rest(&small)?);
            goals.push(bench.beside_ungrouped(&small)?);
        }
        let messages = match kind {
            DatabaseKind::Sqlite => bench.options.large,
            DatabaseKind::Postgres => bench.options.large_postgres,
        };
        if messages == 0 {
            continue;
        }
        let large = bench.prepare(kind, messages)?;
        sections.push(bench.measure(&large)?);
        if !bench.options.no_comparisons {
            goals.extend(bench.growth(&small, &large)?);
        }
    }
    for section in &sections {
        goals.extend(goals_of(section, bench.options.small));
    }
    Ok(report::print(&sections, &goals))
}

/// The goals that one section shows by itself.
fn goals_of(section: &Section, small: usize) -> Vec<Goal> {
    let name = section.database.name();
    let messages = section.seeded.messages;
    let mut goals = Vec::new();
    let mut goal = |what: &str, value: Option<f64>, wanted| {
        let what = format!("{what} ({name}, {messages} messages)");
        goals.extend(value.map(|value| Goal { what, value, wanted }));
    };
    if messages == small {
        let (list, mixed) =
            (section.per_second("list", 16), section.per_second("search-mixed", 16));
        goal("list, 16 clients, requests/s", list, Wanted::AtLeast(6_000.0));
        goal("mixed search, 16 clients, requests/s", mixed, Wanted::AtLeast(3_000.0));
    }
    for (page, call) in [("page-inbox", "list"), ("page-20", "read-20")] {
        let rates = section.per_second(page, 16).zip(section.per_second(call, 16));
        let ratio = rates.map(|(page, call)| page / call);
        let what = format!("{page} as part of the rate of {call}, 16 clients");
        goal(&what, ratio, Wanted::AtLeast(0.25));
    }
    goal("memory idle, MB", Some(section.idle_mb), Wanted::AtMost(40.0));
    goal("memory after the load, MB", Some(section.loaded_mb), Wanted::AtMost(200.0));
    goal("first answer, ms", Some(section.first_answer_ms), Wanted::AtMost(1_000.0));
    goals
}

struct Bench {
    options: RunOptions,
    server: PathBuf,
    scratch: TempDir,
    /// One thread: the load should leave the server as much of the machine as it can.
    runtime: Runtime,
}

/// A filled database.
struct Prepared {
    kind: DatabaseKind,
    folder: PathBuf,
    url: String,
    seeded: Seeded,
    loads: Vec<Load>,
    /// The PostgreSQL database that goes with this.
    _passing: Option<Passing>,
}

impl Prepared {
    fn load(&self, name: &str) -> &Load {
        self.loads.iter().find(|load| load.name == name).expect("a load of this name")
    }
}

impl Bench {
    fn new(options: RunOptions) -> Result<Bench, String> {
        let server = binary(options.server.as_deref())?;
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Bench { options, server, scratch, runtime })
    }

    fn kinds(&self) -> Vec<DatabaseKind> {
        self.options.databases.kinds()
    }

    /// A filled database, and what is asked of it.
    fn prepare(&self, kind: DatabaseKind, messages: usize) -> Result<Prepared, String> {
        let plan = FillPlan {
            databases: &self.options.databases,
            data: self.options.data.as_deref(),
            scratch: self.scratch.path(),
            seed: self.options.seed,
        };
        let FilledDatabase { kind, folder, url, seeded, passing } = plan.prepare(kind, messages)?;
        let loads = loads(&seeded);
        Ok(Prepared { kind, folder, url, seeded, loads, _passing: passing })
    }

    fn start(&self, prepared: &Prepared) -> Result<Server, String> {
        self.start_with(prepared, &prepared.url, "128")
    }

    fn start_with(&self, prepared: &Prepared, url: &str, batch: &str) -> Result<Server, String> {
        let listen = free_address()?;
        let mut command = serve(&self.server, &prepared.folder, url, listen);
        command.env("MAILROOM_COMMIT_BATCH", batch);
        let log = self.scratch.path().join("server.log");
        Server::start(&mut command, listen, prepared.load("list").requests.get(0), &log)
            .map_err(|error| format!("{error}\n{}", fs::read_to_string(&log).unwrap_or_default()))
    }

    /// Every figure of one database.
    fn measure(&self, prepared: &Prepared) -> Result<Section, String> {
        let server = self.start(prepared)?;
        thread::sleep(REST);
        let mut section = Section {
            database: prepared.kind,
            seeded: prepared.seeded.clone(),
            first_answer_ms: server.first_answer.as_secs_f64() * 1_000.0,
            idle_mb: server.memory_mb()?,
            loaded_mb: 0.0,
            rows: Vec::new(),
        };
        section.tell("disk", "bytes_per_message", section.bytes_per_message());
        section.tell("seed", "messages_per_second", {
            prepared.seeded.messages as f64 / prepared.seeded.seconds
        });
        section.tell("first-answer", "ms", section.first_answer_ms);
        section.tell("memory-idle", "mb", section.idle_mb);
        self.check(&server, prepared)?;
        for load in prepared.loads.iter().filter(|load| self.is_wanted(load.name)) {
            for clients in load.clients {
                section.add(self.row(&server, load.name, load, *clients)?);
            }
        }
        section.loaded_mb = server.memory_mb()?;
        section.tell("memory-loaded", "mb", section.loaded_mb);
        Ok(section)
    }

    fn is_wanted(&self, name: &str) -> bool {
        let only = &self.options.only;
        only.is_empty() || only.iter().any(|start| name.starts_with(start))
    }

    fn row(
        &self,
        server: &Server,
        figure: &'static str,
        load: &Load,
        clients: usize,
    ) -> Result<FigureRow, String> {
        let before = server.processor_seconds()?;
        let pace = self.drive(server, &load.requests, clients, self.options.seconds)?;
        let spent = server.processor_seconds()? - before;
        Ok(FigureRow { figure, clients, pace, processor_us: spent * 1e6 / pace.answered as f64 })
    }

    fn drive(
        &self,
        server: &Server,
        requests: &Arc<Requests>,
        clients: usize,
        seconds: f64,
    ) -> Result<Throughput, String> {
        self.runtime.block_on(drive(server.address, requests, clients, seconds))
    }

    /// Empty answers are quick: of the first requests of each kind, one must find something.
    fn check(&self, server: &Server, prepared: &Prepared) -> Result<(), String> {
        const TRIED: usize = 8;
        const FOUND_BYTES: usize = 300;
        for load in prepared.loads.iter().filter(|load| load.name != "note") {
            let mut longest = 0;
            for index in 0..load.requests.len().min(TRIED) {
                let answer = self.answer(server, load.requests.get(index))?;
                if !answer.starts_with("HTTP/1.1 200") {
                    return Err(format!("{}: {answer}", load.name));
                }
                let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                longest = longest.max(body.len());
            }
            if longest < FOUND_BYTES {
                return Err(format!("{}: nothing was found", load.name));
            }
        }
        Ok(())
    }

    fn answer(&self, server: &Server, request: &[u8]) -> Result<String, String> {
        let answer = self.runtime.block_on(async {
            let mut client = Client::connect(server.address).await?;
            let answer = client.call(request).await?;
            Ok::<_, std::io::Error>([answer.head, answer.body].concat())
        });
        String::from_utf8(answer.map_err(|e| e.to_string())?).map_err(|error| error.to_string())
    }

    /// The list beside a constant answer of the same bytes through the same kind of router.
    fn beside_constant(&self, prepared: &Prepared) -> Result<Goal, String> {
        const CLIENTS: usize = 32;
        let server = self.start(prepared)?;
        let load = prepared.load("list");
        let file = self.scratch.path().join("answer");
        let answer = self.answer(&server, load.requests.get(0))?;
        fs::write(&file, answer).map_err(|error| error.to_string())?;
        let listen = free_address()?;
        let mut command = Command::new(this_binary()?);
        command.arg("constant").arg("--answer").arg(&file);
        command.arg("--listen").arg(listen.to_string());
        let log = self.scratch.path().join("constant.log");
        let constant = Server::start(&mut command, listen, load.requests.get(0), &log)?;
        let sides = [("list", &server, load), ("constant", &constant, load)];
        let ratio = self.alternate(sides, CLIENTS)?;
        Ok(Goal {
            what: "list as part of the constant answer's rate, 32 clients (sqlite)".into(),
            value: ratio,
            wanted: Wanted::AtLeast(1.0 / 6.0),
        })
    }

    /// The list as a tool's result beside the list over REST, from the same server.
    fn beside_rest(&self, prepared: &Prepared) -> Result<Goal, String> {
        const CLIENTS: usize = 16;
        let server = self.start(prepared)?;
        let [tool, rest] = ["mcp-list", "list"].map(|name| (name, &server, prepared.load(name)));
        Ok(Goal {
            what: "list through MCP as part of the REST rate, 16 clients (sqlite)".into(),
            value: self.alternate([tool, rest], CLIENTS)?,
            wanted: Wanted::AtLeast(0.8),
        })
    }

    /// Durable notes beside notes that each have a commit of their own, on a copy.
    fn beside_ungrouped(&self, prepared: &Prepared) -> Result<Goal, String> {
        const CLIENTS: usize = 64;
        let copy = self.scratch.path().join("ungrouped.db");
        let original = prepared.folder.join("mailroom.db");
        fs::copy(&original, &copy).map_err(|error| error.to_string())?;
        let log = original.with_extension("db-wal");
        if log.exists() {
            fs::copy(&log, copy.with_extension("db-wal")).map_err(|error| error.to_string())?;
        }
        let grouped = self.start(prepared)?;
        let url = format!("sqlite:{}", copy.display());
        let ungrouped = self.start_with(prepared, &url, "1")?;
        let load = prepared.load("note");
        let sides = [("note", &grouped, load), ("note-ungrouped", &ungrouped, load)];
        let ratio = self.alternate(sides, CLIENTS)?;
        Ok(Goal {
            what: "durable notes, times the ungrouped rate, 64 clients (sqlite)".into(),
            value: ratio,
            wanted: Wanted::AtLeast(2.5),
        })
    }

    /// How many times as long things take in the large workspace as in the small one.
    fn growth(&self, small: &Prepared, large: &Prepared) -> Result<Vec<Goal>, String> {
        let (small_server, large_server) = (self.start(small)?, self.start(large)?);
        let mut goals = Vec::new();
        for name in ["list", "read-20", "search-rare", "page-inbox", "page-20"] {
            for clients in [1, 16] {
                let pairs = self.take_turns(
                    (&small_server, &small.load(name).requests),
                    (&large_server, &large.load(name).requests),
                    clients,
                )?;
                goals.push(Goal {
                    what: format!(
                        "{name}, {clients} at once: time at {} over {} messages ({})",
                        large.seeded.messages,
                        small.seeded.messages,
                        small.kind.name()
                    ),
                    value: median(pairs.iter().map(|[small, large]| small / large).collect()),
                    wanted: Wanted::AtMost(2.0),
                });
            }
        }
        Ok(goals)
    }

    /// The median of one side's rate as part of the other's, which take turns.
    fn alternate(&self, sides: [(&str, &Server, &Load); 2], clients: usize) -> Result<f64, String> {
        let [one, other] = sides.map(|(_, server, load)| (server, &load.requests));
        let pairs = self.take_turns(one, other, clients)?;
        for (side, (name, ..)) in sides.into_iter().enumerate() {
            let rate = median(pairs.iter().map(|pair| pair[side]).collect());
            let line = serde_json::json!({
                "figure": name, "compared": true, "clients": clients, "rps": rate.round()
            });
            println!("{line}");
        }
        Ok(median(pairs.iter().map(|[one, other]| one / other).collect()))
    }

    fn take_turns(
        &self,
        one: (&Server, &Arc<Requests>),
        other: (&Server, &Arc<Requests>),
        clients: usize,
    ) -> Result<Vec<[f64; 2]>, String> {
        // Short, because the machine's own pace changes from one second to the next.
        let turn = self.options.seconds / 5.0;
        let mut pairs = Vec::new();
        for _ in 0..self.options.rounds.max(1) {
            pairs.push([
                self.drive(one.0, one.1, clients, turn)?.per_second,
                self.drive(other.0, other.1, clients, turn)?.per_second,
            ]);
        }
        Ok(pairs)
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
