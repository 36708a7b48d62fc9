//! How fast events reach webhooks, how soon, and whether bad receivers harm a good one.

mod load;
mod receipts;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::database::{DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, Hook};
use crate::receiver::{self, DRIPPING, ENDLESS, HANGING};
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::request;
use crate::run::median;
use crate::server::{Server, binary, free_address, serve};

use load::{EVENTS_PER_SECOND, Sent};
use receipts::Receipts;

/// Clients that make events as fast as they can.
const CLIENTS: usize = 16;
/// Webhooks that hear each event, in the two figures of the sustained rate.
const FAN_OUTS: [usize; 2] = [1, 4];
/// Conversations that events are made on in the figures of the sustained rate.
const CONVERSATIONS: usize = 1_000;
/// Events of a turn have this long to arrive after the last was made.
const ARRIVING: Duration = Duration::from_secs(30);

/// The receiver whose events are timed.
const MEASURED: &str = "/measured";
/// Who else hears them.
const SIDES: [(&str, &str, &[&str]); 3] = [
    ("one good receiver", "receipt-alone", &[]),
    ("beside three good ones", "receipt-beside-good", &["/other-1", "/other-2", "/other-3"]),
    ("beside three bad ones", "receipt-beside-bad", &[HANGING, DRIPPING, ENDLESS]),
];

#[derive(Args, Clone, Debug)]
pub struct DeliveriesOptions {
    #[command(flatten)]
    databases: Databases,
    /// How long each figure is measured
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    seconds: f64,
    /// How often the good and the bad receivers take turns
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    rounds: usize,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: DeliveriesOptions) -> Result<bool, String> {
    let bench = Bench::new(options)?;
    let mut goals = Vec::new();
    let mut tables = Vec::new();
    for kind in bench.options.databases.kinds() {
        let mut table = vec![format!(
            "\n{}\n\n{:<34}{:>12}{:>14}{:>12}{:>16}",
            kind.name(),
            "",
            "events/s",
            "deliveries/s",
            "drained/s",
            "server CPU µs"
        )];
        for webhooks in FAN_OUTS {
            let rate = bench.measure_sustained(kind, webhooks)?;
            table.push(rate.line());
            goals.extend(rate.goal());
        }
        let (lines, more) = bench.soon_and_apart(kind)?;
        table.extend(lines);
        goals.extend(more);
        tables.push(table.join("\n"));
    }
    goals.iter().for_each(Goal::print_json);
    tables.iter().for_each(|table| println!("{table}"));
    Ok(print_goals(&goals))
}

struct Bench {
    options: DeliveriesOptions,
    binary: PathBuf,
    /// One thread: the load should leave the server as much of the machine as it can.
    runtime: Runtime,
    receipts: Arc<Receipts>,
    receiver: String,
}

/// A server, what it serves, and where that is.
struct Running {
    server: Server,
    workspace: BenchWorkspace,
    _place: BenchDatabase,
}

impl Bench {
    fn new(options: DeliveriesOptions) -> Result<Bench, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let receipts = Arc::new(Receipts::default());
        let told = receipts.clone();
        let address = receiver::start(Arc::new(move |path, body| {
            told.count_one();
            if path == MEASURED {
                told.time(body);
            }
        }))?;
        let binary = binary(options.server.as_deref())?;
        Ok(Bench { options, binary, runtime, receipts, receiver: format!("http://{address}") })
    }

    fn start(
        &self,
        kind: DatabaseKind,
        name: &str,
        conversations: usize,
        paths: &[String],
    ) -> Result<Running, String> {
        let place = BenchDatabase::new(kind, self.options.databases.postgres(), name)?;
        let hook = |path| Hook { url: format!("{}{path}", self.receiver), livemode: true };
        let workspace =
            workspace::set_quietly(&place, conversations, paths.iter().map(hook).collect())?;
        let listen = free_address()?;
        let mut command = serve(&self.binary, place.folder.path(), &place.url, listen);
        command.env("MAILROOM_WEBHOOKS_ALLOW_PRIVATE", "true");
        let log = place.folder.path().join("server.log");
        let first = request(&workspace.live_key, "GET", "/me", "");
        let server = Server::start(&mut command, listen, first.as_bytes(), &log);
        let server = server.map_err(|error| {
            format!("{error}\n{}", fs::read_to_string(&log).unwrap_or_default())
        })?;
        Ok(Running { server, workspace, _place: place })
    }

    /// As many events as the clients can make, each told to so many webhooks.
    fn measure_sustained(&self, kind: DatabaseKind, webhooks: usize) -> Result<Rate, String> {
        let paths: Vec<String> = (0..webhooks).map(|number| format!("/{number}")).collect();
        let running = self.start(kind, &format!("rate{webhooks}"), CONVERSATIONS, &paths)?;
        let before = (self.receipts.count(), running.server.processor_seconds()?);
        let made = self.runtime.block_on(load::make_events(
            running.server.address,
            &running.workspace,
            CLIENTS,
            self.options.seconds,
            &self.receipts,
            webhooks,
        ))?;
        let delivered = (self.receipts.count() - before.0) as f64;
        let spent = running.server.processor_seconds()? - before.1;
        let rate = Rate {
            kind,
            webhooks,
            events: made.events_per_second,
            deliveries: made.deliveries_per_second,
            drained: made.drained_per_second,
            processor_us: spent * 1e6 / delivered.max(1.0),
        };
        rate.tell();
        Ok(rate)
    }

    /// Events at a steady pace to one good receiver: alone, beside good and beside bad ones.
    fn soon_and_apart(&self, kind: DatabaseKind) -> Result<(Vec<String>, Vec<Goal>), String> {
        let conversations = load::events_of_turn(self.options.seconds);
        let mut sides = Vec::new();
        for (name, figure, others) in SIDES {
            let paths: Vec<String> =
                [MEASURED].iter().chain(others).map(|p| p.to_string()).collect();
            let short = figure.replace('-', "_");
            let running = self.start(kind, &short, conversations, &paths)?;
            sides.push(Side { name, figure, running, turns: Vec::new(), memory: Vec::new() });
        }
        for round in 0..self.options.rounds.max(1) {
            for side in &mut sides {
                let turn = self.turn(&side.running, round);
                side.turns.push(turn.map_err(|error| format!("{}: {error}", side.name))?);
                side.memory.push(side.running.server.memory_mb()?);
            }
        }
        sides.iter().for_each(|side| side.tell(kind));
        let [alone, beside_good, beside_bad] = &sides[..] else {
            return Err("three sides take turns".into());
        };
        let ratio = beside_bad.times_p99_of(beside_good);
        let growth = beside_bad.growth() - beside_good.growth();
        let alone = alone.median();
        let goal = |what: &str, value, most| Goal {
            what: format!("{what} ({})", kind.name()),
            value,
            wanted: Wanted::AtMost(most),
        };
        let goals = vec![
            goal("answer to receipt at 200 events/s, p50 ms", alone.answer_p50, 1.0),
            goal("answer to receipt at 200 events/s, p99 ms", alone.answer_p99, 4.0),
            goal("p99 beside three bad receivers, times that beside good ones", ratio, 2.0),
            goal("memory, growth over the turns beside bad less beside good, MB", growth, 10.0),
        ];
        let mut lines = vec![format!(
            "\n{:<34}{:>12}{:>12}{:>16}{:>16}",
            "at 200 events/s, ms", "answer p50", "answer p99", "request p50", "request p99"
        )];
        lines.extend(sides.iter().map(|side| side.median().line(side.name)));
        Ok((lines, goals))
    }

    /// One event on each conversation, at a steady pace.
    fn turn(&self, running: &Running, round: usize) -> Result<Soon, String> {
        self.receipts.clear();
        let to = if round.is_multiple_of(2) { "me" } else { "none" };
        let sent = self.runtime.block_on(async {
            let sent = load::make_paced(running.server.address, &running.workspace, to).await?;
            self.receipts.wait_for(sent.len(), ARRIVING).await;
            Ok::<_, String>(sent)
        })?;
        Soon::of(&sent, &self.receipts)
    }
}

/// One of those that take turns.
struct Side {
    name: &'static str,
    figure: &'static str,
    running: Running,
    turns: Vec<Soon>,
    /// The server's after each turn, in MB.
    memory: Vec<f64>,
}

impl Side {
    fn tell(&self, kind: DatabaseKind) {
        self.median().tell(kind, self.figure);
        let mb: Vec<_> = self.memory.iter().map(|mb| round(*mb)).collect();
        println!("{}", json!({ "figure": self.figure, "db": kind.name(), "memory_mb": mb }));
    }

    /// What memory grew by after the first turn.
    fn growth(&self) -> f64 {
        self.memory.last().unwrap_or(&0.0) - self.memory.first().unwrap_or(&0.0)
    }

    fn median(&self) -> Soon {
        Soon::median_of(&self.turns)
    }

    /// The median over the pairs of turns.
    fn times_p99_of(&self, other: &Side) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        median(pairs.map(|(mine, theirs)| mine.answer_p99 / theirs.answer_p99).collect())
    }
}

/// How many events were made and delivered in a second.
struct Rate {
    kind: DatabaseKind,
    webhooks: usize,
    events: f64,
    deliveries: f64,
    /// The same when no more events are made.
    drained: f64,
    /// Processor time of the server for each delivery, making its event included.
    processor_us: f64,
}

impl Rate {
    fn tell(&self) {
        let line = json!({
            "figure": "deliveries", "db": self.kind.name(), "webhooks": self.webhooks,
            "clients": CLIENTS, "events_per_second": round(self.events),
            "deliveries_per_second": round(self.deliveries),
            "drained_per_second": round(self.drained),
            "server_cpu_us": round(self.processor_us),
        });
        println!("{line}");
    }

    fn line(&self) -> String {
        let name = format!("{CLIENTS} clients, each event to {}", self.webhooks);
        let Rate { events, deliveries, drained, processor_us, .. } = self;
        format!("{name:<34}{events:>12.0}{deliveries:>14.0}{drained:>12.0}{processor_us:>16.0}")
    }

    /// The goal was set for SQLite.
    fn goal(&self) -> Option<Goal> {
        (self.kind == DatabaseKind::Sqlite).then(|| Goal {
            what: format!("deliveries/s, each event to {} (sqlite)", self.webhooks),
            value: self.deliveries,
            wanted: Wanted::AtLeast(2_000.0),
        })
    }
}

/// How soon events were there, in ms: after the answer that acknowledged them, and after the
/// request that made them was begun.
#[derive(Clone, Copy)]
struct Soon {
    answer_p50: f64,
    answer_p99: f64,
    request_p50: f64,
    request_p99: f64,
}

impl Soon {
    fn of(sent: &[Sent], receipts: &Receipts) -> Result<Soon, String> {
        let mut times = [const { Vec::new() }; 2];
        // The first of them warm the server up.
        let counted = &sent[sent.len() / 5..];
        let lost = counted.iter().filter(|sent| receipts.of(&sent.conversation).is_none()).count();
        if lost > 0 {
            return Err(format!("{lost} of {} events did not come in time", counted.len()));
        }
        for sent in counted {
            let Some(received) = receipts.of(&sent.conversation) else { continue };
            for (times, since) in times.iter_mut().zip([sent.answered, sent.begun]) {
                times.push(received.saturating_duration_since(since).as_secs_f64() * 1e3);
            }
        }
        let [mut answer, mut request] = times;
        let (answer_p50, answer_p99) = quantiles(&mut answer);
        let (request_p50, request_p99) = quantiles(&mut request);
        Ok(Soon { answer_p50, answer_p99, request_p50, request_p99 })
    }

    fn median_of(turns: &[Soon]) -> Soon {
        let of = |field: fn(&Soon) -> f64| median(turns.iter().map(field).collect());
        Soon {
            answer_p50: of(|soon| soon.answer_p50),
            answer_p99: of(|soon| soon.answer_p99),
            request_p50: of(|soon| soon.request_p50),
            request_p99: of(|soon| soon.request_p99),
        }
    }

    fn tell(&self, kind: DatabaseKind, figure: &str) {
        let us = |ms: f64| round(ms * 1e3);
        let line = json!({
            "figure": figure, "db": kind.name(), "events_per_second": EVENTS_PER_SECOND,
            "answer_p50_us": us(self.answer_p50), "answer_p99_us": us(self.answer_p99),
            "request_p50_us": us(self.request_p50), "request_p99_us": us(self.request_p99),
        });
        println!("{line}");
    }

    fn line(&self, name: &str) -> String {
        let Soon { answer_p50, answer_p99, request_p50, request_p99 } = self;
        format!(
            "{name:<34}{answer_p50:>12.3}{answer_p99:>12.3}{request_p50:>16.3}{request_p99:>16.3}"
        )
    }
}

fn quantiles(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
    (at(0.5), at(0.99))
}
