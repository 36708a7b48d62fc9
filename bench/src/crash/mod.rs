//! Kills the server at random moments while clients work, and sees whether it kept its word.

mod check;
mod client;
mod crash_run;
mod outbox;

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::database::{DatabaseKind, Databases, wait_until_left};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, Hook};
use crate::receiver;
use crate::report::{Goal, Wanted, print_goals};
use crate::requests::request;
use crate::server::{Server, binary, free_address, serve};

use check::{Findings, ReceivedEvents, WrittenMail};
pub use client::{Pause, SimulatedClient};
pub use outbox::Outbox;

use client::{Memory, Stop};

/// Clients that work at the same time.
const HANDS: usize = 8;
/// Conversations of each: some to work on, some to reply on.
const PEOPLE: usize = 20;
const REPLIED: usize = 20;
/// The longest pause of a client between two operations.
const PAUSE: Duration = Duration::from_millis(30);
/// After the last acknowledged operation of a life the server lives on for at most this long.
const LAST_MOMENTS_MS: u64 = 40;
/// What is due after the last kill must be done within this time.
const COMING_TO_REST: Duration = Duration::from_secs(120);
/// A life without an acknowledged operation for this long has gone wrong.
const STILLNESS: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(1);
/// Sentences shown of each kind of finding.
const SHOWN: usize = 10;

#[derive(Args, Clone, Debug)]
pub struct CrashOptions {
    #[command(flatten)]
    databases: Databases,
    /// How many operations must be acknowledged in all
    #[arg(long, default_value_t = 5_000, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,
    /// How often the server is killed
    #[arg(long, default_value_t = 20, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    kills: u64,
    /// What the operations and the moments are drawn from [default: drawn, and printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Kills and checks on each database; an error when a promise was broken.
pub fn run(options: CrashOptions) -> Result<(), String> {
    let binary = binary(options.server.as_deref())?;
    let seed = options.seed.unwrap_or_else(|| rand::rng().random_range(1..1_000_000));
    println!("seed {seed}");
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        let mut trial = CrashTrial::new(&options.databases, kind, &binary, seed, PAUSE)?;
        goals.extend(runtime.block_on(trial.run(options.operations, options.kills))?);
    }
    goals.iter().for_each(Goal::print_json);
    match print_goals(&goals) {
        true => Ok(()),
        false => Err(format!("a promise was broken; the seed was {seed}")),
    }
}

/// A server, clients that remember what they were promised, and what may hear of it.
pub struct CrashTrial {
    kind: DatabaseKind,
    binary: PathBuf,
    pub place: BenchDatabase,
    pub workspace: BenchWorkspace,
    chance: StdRng,
    pub hands: Vec<SimulatedClient>,
    heard: Arc<ReceivedEvents>,
    pub outbox: Outbox,
    /// How often a kill fell between writing a message and recording that.
    between: HashMap<String, u64>,
}

impl CrashTrial {
    pub fn new(
        databases: &Databases,
        kind: DatabaseKind,
        binary: &Path,
        seed: u64,
        pause: Duration,
    ) -> Result<CrashTrial, String> {
        let heard = Arc::new(ReceivedEvents::default());
        let told = heard.clone();
        let receiver = receiver::start(Arc::new(move |_, body| told.add(body)))?;
        let place = BenchDatabase::new(kind, databases.postgres(), "crash")?;
        let hooks =
            [true, false].map(|livemode| Hook { url: format!("http://{receiver}/"), livemode });
        let workspace = workspace::set(&place, HANDS * (PEOPLE + REPLIED), hooks.into())?;
        let folder = place.folder.path().join("outbox");
        fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let keys = (workspace.live_key.as_str(), workspace.test_key.as_str());
        let hands =
            workspace.conversations.chunks(PEOPLE + REPLIED).enumerate().map(|(number, mine)| {
                let (people, replied) = mine.split_at(PEOPLE);
                SimulatedClient::new(number, seed, pause, keys, people, replied)
            });
        Ok(CrashTrial {
            kind,
            binary: binary.to_owned(),
            hands: hands.collect(),
            chance: StdRng::seed_from_u64(seed),
            outbox: Outbox::watch(&folder)?,
            between: HashMap::new(),
            place,
            workspace,
            heard,
        })
    }

    async fn run(&mut self, operations: u64, kills: u64) -> Result<Vec<Goal>, String> {
        let started = Instant::now();
        let acknowledged = Arc::new(AtomicU64::new(0));
        for until in self.moments(operations, kills) {
            let mut server = self.start()?;
            self.live(&mut server, &acknowledged, until).await?;
            self.crash_run().await?;
        }
        let server = self.start()?;
        self.come_to_rest().await?;
        let findings = self.check(&server).await?;
        Ok(self.report(&findings, acknowledged.load(Ordering::Relaxed), kills, started.elapsed()))
    }

    /// How many operations have been acknowledged when each life ends.
    fn moments(&mut self, operations: u64, kills: u64) -> Vec<u64> {
        let drawn = (1..kills).map(|_| self.chance.random_range(1..=operations));
        let mut moments: Vec<u64> = drawn.chain([operations]).collect();
        moments.sort_unstable();
        moments
    }

    fn start(&self) -> Result<Server, String> {
        self.start_with(&[])
    }

    /// Starts the server with settings of its own.
    pub fn start_with(&self, settings: &[(&str, String)]) -> Result<Server, String> {
        let listen = free_address()?;
        let folder = self.place.folder.path();
        let mut command = serve(&self.binary, folder, &self.place.url, listen);
        command
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .env("MAILROOM_WEBHOOKS_ALLOW_PRIVATE", "true")
            .env("MAILROOM_RELAY", format!("file:{}", folder.join("outbox").display()));
        let log = folder.join("server.log");
        let first = request(&self.workspace.live_key, "GET", "/me", "");
        Server::start(&mut command, listen, first.as_bytes(), &log)
            .map_err(|error| format!("{error}\n{}", fs::read_to_string(&log).unwrap_or_default()))
    }

    /// Lets the hands work on their own.
    pub fn work(
        &mut self,
        server: SocketAddr,
        acknowledged: &Arc<AtomicU64>,
        stop: &CancellationToken,
    ) -> JoinSet<(SimulatedClient, Pause)> {
        let mut working = JoinSet::new();
        for mut client in self.hands.drain(..) {
            let (acknowledged, stop) = (acknowledged.clone(), stop.clone());
            working.spawn(async move {
                let pause = client.work(server, &acknowledged, &stop).await;
                (client, pause)
            });
        }
        working
    }

    /// Lets the hands work until so many operations are acknowledged, and for a moment more.
    async fn live(
        &mut self,
        server: &mut Server,
        acknowledged: &Arc<AtomicU64>,
        until: u64,
    ) -> Result<(), String> {
        let mut working = self.work(server.address, acknowledged, &CancellationToken::new());
        let mut last = (acknowledged.load(Ordering::Relaxed), Instant::now());
        while last.0 < until {
            sleep(STEP).await;
            let now = acknowledged.load(Ordering::Relaxed);
            if now > last.0 {
                last = (now, Instant::now());
            }
            if last.1.elapsed() > STILLNESS {
                return Err("the server lives and acknowledges nothing".into());
            }
            if let Some(paused) = working.try_join_next() {
                return Err(reason(paused.map_err(|error| error.to_string())?.1));
            }
        }
        sleep(Duration::from_micros(self.chance.random_range(0..LAST_MOMENTS_MS * 1_000))).await;
        server.kill()?;
        while let Some(paused) = working.join_next().await {
            let (client, pause) = paused.map_err(|error| error.to_string())?;
            if let Pause::Refused(_) = pause {
                return Err(reason(pause));
            }
            self.hands.push(client);
        }
        Ok(())
    }

    /// What happens while the server is dead: time passes, and the outbox is looked at.
    pub async fn crash_run(&mut self) -> Result<(), String> {
        let url = self.place.url.clone();
        let left = spawn_blocking(move || wait_until_left(&url)).await;
        left.map_err(|error| error.to_string())??;
        self.outbox.look()?;
        let store = workspace::open(&self.place.url)?;
        for message in crash_run::pass(&store).await? {
            let written = self.outbox.written.get(&message).copied().unwrap_or(0);
            let explained = self.between.get(&message).copied().unwrap_or(0);
            if written > explained {
                *self.between.entry(message).or_default() += 1;
            }
        }
        Ok(())
    }

    pub async fn come_to_rest(&self) -> Result<(), String> {
        let store = workspace::open(&self.place.url)?;
        let started = Instant::now();
        loop {
            let planned = crash_run::count_planned(&store).await?;
            if planned == 0 {
                return Ok(());
            }
            if started.elapsed() > COMING_TO_REST {
                return Err(format!("{planned} things are still planned long after the last kill"));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn check(&mut self, server: &Server) -> Result<Findings, String> {
        self.outbox.look()?;
        let memories: Vec<&Memory> = self.hands.iter().map(|client| &client.memory).collect();
        let keys = (self.workspace.live_key.as_str(), self.workspace.test_key.as_str());
        let mail = WrittenMail { written: &self.outbox.written, between: &self.between };
        check::check(server.address, keys, &memories, &self.heard, &mail).await
    }

    pub fn report(
        &self,
        findings: &Findings,
        acknowledged: u64,
        kills: u64,
        took: Duration,
    ) -> Vec<Goal> {
        let name = self.kind.name();
        let memories = || self.hands.iter().map(|client| &client.memory);
        let unanswered: u64 = memories().map(|memory| memory.unanswered).sum();
        let stops = |wanted| {
            let replies = memories().flat_map(|memory| memory.replies.values());
            replies.filter(|reply| reply.stop == wanted).count()
        };
        let between: u64 = self.between.values().sum();
        let line = json!({
            "figure": "crash", "db": name, "kills": kills, "acknowledged": acknowledged,
            "unanswered": unanswered, "mails_written": self.outbox.written.len(),
            "killed_between_writing_and_recording": between,
            "stopped": stops(Stop::Acknowledged), "stopped_too_late": stops(Stop::TooLate),
            "stop_unanswered": stops(Stop::Unknown), "events": findings.events,
            "delivered_again": self.heard.repeats(), "seconds": took.as_secs(),
        });
        println!("{line}");
        let kinds = [
            ("acknowledged and missing", &findings.missing),
            ("events that did not arrive as they are", &findings.undelivered),
            ("messages sent after their stop was acknowledged", &findings.sent_after_stop),
            ("mails written twice without a kill to blame", &findings.written_twice),
        ];
        let goal = |(what, found): (&str, &Vec<String>)| {
            found.iter().take(SHOWN).for_each(|sentence| eprintln!("  {what}: {sentence}"));
            Goal {
                what: format!("{what} ({name}, {kills} kills)"),
                value: found.len() as f64,
                wanted: Wanted::AtMost(0.0),
            }
        };
        kinds.map(goal).into()
    }
}

pub fn reason(pause: Pause) -> String {
    match pause {
        Pause::Asked => "a client stopped although nobody asked it to".into(),
        Pause::ServerDied => "the server died by itself".into(),
        Pause::Refused(sentence) => format!("the server refused: {sentence}"),
    }
}
