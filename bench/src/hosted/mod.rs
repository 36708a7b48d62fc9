//! A hosted service: many workspaces of mixed size on one server, and whether a neighbour that imports
//! old mail, is flooded with new mail or has a backlog to send delays the mail of the others.

mod fill;
mod lists;
mod neighbours;
mod report;
mod sends;

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use tokio::runtime::Runtime;

use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase};
use crate::receive::{Customers, SampleMail};
use crate::receiver;
use crate::report::{Goal, print_goals};
use crate::requests::request;
use crate::server::{Server, binary, free_address, serve};

use fill::{HostedFill, HostedWorkspace, settled_bytes};
use neighbours::{FloodNeighbour, ImportCommand, ImportNeighbour, write_mails};
use report::{HostedServer, PhaseOutcome, TimeSpread};
use sends::{
    Departures, PlannedSend, Sightings, count_messages, let_fall_due, now_ms, sent_message,
};

/// The neighbours, by their place among the workspaces: the largest ones.
const IMPORTS: usize = 0;
const FLOODED: usize = 1;
const BACKLOGGED: usize = 2;
/// Fewer workspaces leave no small ones beside the neighbours.
const LEAST_WORKSPACES: usize = 10;
/// The neighbours are at work for this long before the first message is due. A server finds messages
/// that another process planned within five seconds.
const LEAD: Duration = Duration::from_secs(8);
/// Messages that have not left this long after the last was due count as never sent.
const LEAVING: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);
/// A server is at rest that needed less than this of a core in three seconds one after the other.
const AT_REST: f64 = 0.05;
const RESTING_SECONDS: u32 = 3;
/// A server that is never at rest is measured all the same after this long.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Args, Clone, Debug)]
pub struct HostedOptions {
    #[command(flatten)]
    databases: Databases,
    /// How many workspaces; the n-th largest has an n-th of the messages of the largest
    #[arg(long, default_value_t = 2_000, value_name = "NUMBER")]
    workspaces: usize,
    /// How many messages all of them have together
    #[arg(long, default_value_t = 60_000, value_name = "NUMBER")]
    messages: usize,
    /// How long it is measured beside each neighbour
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS")]
    seconds: f64,
    /// Messages of small workspaces that fall due each second
    #[arg(long, default_value_t = 10.0, value_name = "NUMBER")]
    sends: f64,
    /// Mails in the mbox file that a neighbour imports; another file follows when it is through
    #[arg(long, default_value_t = 20_000, value_name = "NUMBER")]
    import: usize,
    /// Connections by which a neighbour is flooded with mail
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    connections: usize,
    /// Messages of a neighbour that fall due at one time; 0 leaves that out
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    backlog: usize,
    /// What the mail is made up from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Who keeps the server busy meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Nobody,
    Import,
    Flood,
    ImportAndFlood,
    Backlog,
}

impl Beside {
    fn name(self) -> &'static str {
        match self {
            Beside::Nobody => "nobody",
            Beside::Import => "import",
            Beside::Flood => "flood",
            Beside::ImportAndFlood => "import and flood",
            Beside::Backlog => "backlog",
        }
    }

    fn imports(self) -> bool {
        matches!(self, Beside::Import | Beside::ImportAndFlood)
    }

    fn floods(self) -> bool {
        matches!(self, Beside::Flood | Beside::ImportAndFlood)
    }
}

impl HostedOptions {
    fn phases(&self) -> Vec<Beside> {
        let mut phases =
            vec![Beside::Nobody, Beside::Import, Beside::Flood, Beside::ImportAndFlood];
        if self.backlog > 0 {
            phases.push(Beside::Backlog);
        }
        phases
    }

    fn sends_of_phase(&self) -> usize {
        ((self.sends * self.seconds).ceil() as usize).max(1)
    }
}

/// Measures everything; true when every goal is met.
pub fn run(options: &HostedOptions) -> Result<bool, String> {
    if options.workspaces < LEAST_WORKSPACES {
        return Err(format!("--workspaces: at least {LEAST_WORKSPACES}"));
    }
    let binary = binary(options.server.as_deref())?;
    let mut customers = Customers::new(options.seed)?;
    let names = customers.names()?;
    let receipts = Sightings::default();
    let told = receipts.clone();
    let receiver = receiver::start(Arc::new(move |_, body| {
        if let Some(message) = sent_message(body) {
            told.add(message);
        }
    }))?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        let mut trial = HostedTrial::new(options, kind, &binary, &mut customers)?;
        trial.prepare(&format!("http://{receiver}/"))?;
        goals.extend(trial.measure(names.address, &receipts)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

struct HostedTrial<'a> {
    options: &'a HostedOptions,
    kind: DatabaseKind,
    binary: &'a Path,
    /// One thread: the load should leave the server as much of the machine as it can.
    runtime: Runtime,
    place: BenchDatabase,
    /// The largest first.
    workspaces: Vec<HostedWorkspace>,
    /// Messages of small workspaces for each phase, and those of the neighbour with a backlog.
    sends: Vec<Vec<PlannedSend>>,
    backlog: Vec<PlannedSend>,
    imported_mails: Arc<Vec<SampleMail>>,
    flooding_mails: Arc<Vec<SampleMail>>,
}

impl<'a> HostedTrial<'a> {
    fn new(
        options: &'a HostedOptions,
        kind: DatabaseKind,
        binary: &'a Path,
        customers: &mut Customers,
    ) -> Result<HostedTrial<'a>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let place = BenchDatabase::new(kind, options.databases.postgres(), "hosted")?;
        Ok(HostedTrial {
            options,
            kind,
            binary,
            runtime,
            place,
            workspaces: Vec::new(),
            sends: Vec::new(),
            backlog: Vec::new(),
            imported_mails: write_mails(customers, &fill::inbox_address(IMPORTS))?,
            flooding_mails: write_mails(customers, &fill::inbox_address(FLOODED))?,
        })
    }

    /// Fills the database and writes every message that is to leave later.
    fn prepare(&mut self, receiver: &str) -> Result<(), String> {
        let HostedOptions { workspaces, messages, seed, backlog, .. } = *self.options;
        eprintln!("filling {} with {workspaces} workspaces", self.kind.name());
        let filled = fill::fill(&self.place, workspaces, messages, seed)?;
        let bytes = settled_bytes(&self.place)?;
        report::tell_fill(self.kind, &filled, bytes);
        filled.add_webhooks(&filled.workspaces[workspaces / 2..], receiver)?;
        self.sends = self.plan(&filled)?;
        self.backlog = filled.plan(&filled.workspaces[BACKLOGGED], backlog)?;
        self.workspaces = filled.workspaces.clone();
        drop(filled);
        database::settle(&self.place.url)
    }

    /// The messages of each phase, of one small workspace after the other.
    fn plan(&self, filled: &HostedFill) -> Result<Vec<Vec<PlannedSend>>, String> {
        let of_phase = self.options.sends_of_phase();
        let total = of_phase * self.options.phases().len();
        let small = &filled.workspaces[filled.workspaces.len() / 2..];
        let mut planned: Vec<(usize, PlannedSend)> = Vec::new();
        for (first, workspace) in small.iter().enumerate().take(total) {
            let places: Vec<usize> = (first..total).step_by(small.len()).collect();
            let sends = filled.plan(workspace, places.len())?;
            planned.extend(places.into_iter().zip(sends));
        }
        planned.sort_by_key(|(place, _)| *place);
        let sends: Vec<PlannedSend> = planned.into_iter().map(|(_, send)| send).collect();
        Ok(sends.chunks(of_phase).map(<[PlannedSend]>::to_vec).collect())
    }

    fn measure(&self, names: SocketAddr, receipts: &Sightings) -> Result<Vec<Goal>, String> {
        let outbox = self.place.folder.path().join("outbox");
        fs::create_dir(&outbox).map_err(|error| error.to_string())?;
        let departures = Departures::watch(&outbox)?;
        // The first start seals the secrets of all workspaces and forgets old events.
        let (mut first, _) = self.start(names)?;
        rest(&first)?;
        first.terminate()?;
        database::wait_until_left(&self.place.url)?;
        let (server, smtp) = self.start(names)?;
        rest(&server)?;
        let serving = self.serve_all(&server)?;
        serving.tell(self.kind, self.workspaces.len());
        let mut outcomes: Vec<PhaseOutcome> = Vec::new();
        for (beside, sends) in self.options.phases().into_iter().zip(&self.sends) {
            eprintln!("  beside {}", beside.name());
            let seen = Seen { departures: &departures.seen, receipts };
            let outcome = self.run_beside(beside, sends, &server, smtp, seen)?;
            outcome.tell(self.kind, self.workspaces.len(), outcomes.first());
            outcomes.push(outcome);
            rest(&server)?;
        }
        departures.finish()?;
        report::print_table(self.kind, &serving, &outcomes);
        let mut goals = vec![serving.goal(self.kind, self.workspaces.len())];
        goals.extend(outcomes.iter().flat_map(|outcome| outcome.goals(self.kind)));
        Ok(goals)
    }

    fn start(&self, names: SocketAddr) -> Result<(Server, SocketAddr), String> {
        let (listen, smtp) = (free_address()?, free_address()?);
        let folder = self.place.folder.path();
        let mut command = serve(self.binary, folder, &self.place.url, listen);
        command
            .env("MAILROOM_SMTP_LISTEN", smtp.to_string())
            .env("MAILROOM_DNS", names.to_string())
            .env("MAILROOM_WEBHOOKS_ALLOW_PRIVATE", "true")
            .env("MAILROOM_RELAY", format!("file:{}", folder.join("outbox").display()));
        let log = folder.join("server.log");
        let first = request(&self.workspaces[IMPORTS].key, "GET", "/me", "");
        let server = Server::start(&mut command, listen, first.as_bytes(), &log);
        let told =
            |error: String| format!("{error}\n{}", fs::read_to_string(&log).unwrap_or_default());
        Ok((server.map_err(told)?, smtp))
    }

    /// Lists every workspace once.
    fn serve_all(&self, server: &Server) -> Result<HostedServer, String> {
        let idle_mb = server.memory_mb()?;
        let requests = lists::requests(&self.workspaces);
        let begun = Instant::now();
        let served = self.runtime.block_on(lists::serve_all(server.address, &requests))?;
        Ok(HostedServer {
            first_answer: server.first_answer,
            idle_mb,
            served,
            served_in: begun.elapsed(),
            served_mb: server.memory_mb()?,
        })
    }

    fn run_beside(
        &self,
        beside: Beside,
        sends: &[PlannedSend],
        server: &Server,
        smtp: SocketAddr,
        seen: Seen<'_>,
    ) -> Result<PhaseOutcome, String> {
        let importing = &self.workspaces[IMPORTS];
        let store = workspace::open(&self.place.url)?;
        let messages_before = self.runtime.block_on(count_messages(&store, importing.ws))?;
        let left_before = seen.departures.len();
        let import = match beside.imports() {
            true => Some(self.start_import(beside)?),
            false => None,
        };
        let flood = beside.floods().then(|| self.start_flood(beside, smtp));
        let first_ms = now_ms() as i64 + LEAD.as_millis() as i64;
        let every_ms = 1e3 / self.options.sends;
        let due = self.runtime.block_on(let_fall_due(&store, sends, first_ms, every_ms))?;
        if beside == Beside::Backlog {
            self.runtime.block_on(let_fall_due(&store, &self.backlog, first_ms, 0.0))?;
        }
        sleep_until(first_ms as f64);
        let requests = lists::requests(&self.workspaces[self.workspaces.len() / 2..]);
        let asked = lists::ask(server.address, &requests, self.options.seconds);
        let lists = self.runtime.block_on(asked)?;
        seen.wait_for(&due);
        if let Some(import) = import {
            import.finish()?;
        }
        let received = flood.map_or(Ok(0), FloodNeighbour::finish)?;
        let messages = self.runtime.block_on(count_messages(&store, importing.ws))?;
        let late = |(message, due): (&String, &f64)| Some(seen.departures.of(message)? - due);
        let late: Vec<f64> = due.iter().filter_map(late).collect();
        let departed = seen.departures.len() - left_before;
        Ok(PhaseOutcome {
            beside: beside.name(),
            sends: due.len(),
            unsent: due.len() - late.len(),
            backlog_sent: departed - late.len(),
            late: TimeSpread::of(late),
            lists: TimeSpread::of(lists),
            webhooks: TimeSpread::of(seen.webhook_times(&due)),
            imported: messages - messages_before,
            received,
            memory_mb: server.memory_mb()?,
        })
    }

    fn start_import(&self, beside: Beside) -> Result<ImportNeighbour, String> {
        let importing = &self.workspaces[IMPORTS];
        let command = ImportCommand {
            binary: self.binary.to_owned(),
            data: self.place.folder.path().to_owned(),
            url: self.place.url.clone(),
            slug: importing.slug.clone(),
            address: importing.address.clone(),
            count: self.options.import,
        };
        ImportNeighbour::start(command, self.imported_mails.clone(), &word(beside))
    }

    fn start_flood(&self, beside: Beside, smtp: SocketAddr) -> FloodNeighbour {
        let address = &self.workspaces[FLOODED].address;
        let connections = self.options.connections;
        FloodNeighbour::start(smtp, address, &self.flooding_mails, connections, &word(beside))
    }
}

/// The phase as part of a Message-ID.
fn word(beside: Beside) -> String {
    beside.name().replace(' ', "-")
}

/// What is seen of messages outside of the server.
#[derive(Clone, Copy)]
struct Seen<'a> {
    departures: &'a Sightings,
    receipts: &'a Sightings,
}

impl Seen<'_> {
    /// Waits until everything has left and was told of, or for as long as it counts.
    fn wait_for(&self, due: &HashMap<String, f64>) {
        let last = due.values().copied().fold(0.0, f64::max);
        let until = last + LEAVING.as_secs_f64() * 1e3;
        let is_seen = |message: &String| {
            self.departures.of(message).is_some() && self.receipts.of(message).is_some()
        };
        while now_ms() < until && !due.keys().all(is_seen) {
            thread::sleep(STEP);
        }
    }

    /// How long after a message left its event came in, in milliseconds.
    fn webhook_times(&self, due: &HashMap<String, f64>) -> Vec<f64> {
        let time = |message: &String| {
            Some((self.receipts.of(message)? - self.departures.of(message)?).max(0.0))
        };
        due.keys().filter_map(time).collect()
    }
}

fn sleep_until(ms: f64) {
    let left = (ms - now_ms()).max(0.0);
    thread::sleep(Duration::from_secs_f64(left / 1e3));
}

/// Waits until the server has done what is due.
fn rest(server: &Server) -> Result<(), String> {
    let (begun, mut rested) = (Instant::now(), 0);
    while rested < RESTING_SECONDS {
        if begun.elapsed() > PATIENCE {
            eprintln!("  the server does not come to rest");
            return Ok(());
        }
        let before = server.processor_seconds()?;
        thread::sleep(Duration::from_secs(1));
        let needed = server.processor_seconds()? - before;
        rested = if needed < AT_REST { rested + 1 } else { 0 };
    }
    Ok(())
}
