//! What sorting costs the receiving of mail: two servers take turns, one whose mail is sorted by a
//! model of the team's decisions, and one whose database forgets that its mail is to be sorted.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use super::mails::{Customers, SampleMail};
use super::{MAILS, send_all};
use crate::client::Client;
use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, INBOX};
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::request;
use crate::run::median;
use crate::server::{Server, binary, free_address, serve};

/// Topics of the workspace, and conversations that somebody decided about.
const TOPICS: usize = 20;
const DECIDED: usize = 1_000;
/// Everything must be sorted by then.
const PATIENCE: Duration = Duration::from_secs(300);
const STEP: Duration = Duration::from_millis(20);

#[derive(Args, Clone, Debug)]
pub struct SortingOptions {
    #[command(flatten)]
    databases: Databases,
    /// How many mails are sent to each server in a turn
    #[arg(long, default_value_t = 4_000, value_name = "NUMBER")]
    messages: usize,
    /// How often the two servers take turns
    #[arg(long, default_value_t = 7, value_name = "NUMBER")]
    turns: usize,
    /// How many connections send
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    connections: usize,
    /// What the mails are made up from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &SortingOptions) -> Result<bool, String> {
    let mut customers = Customers::new(options.seed)?;
    let names = customers.names()?;
    let mails = (0..MAILS).map(|number| customers.write(number, INBOX));
    let mails = mails.collect::<Result<Vec<_>, _>>()?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        goals.push(measure(options, kind, names.address, &mails)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

fn measure(
    options: &SortingOptions,
    kind: DatabaseKind,
    names: SocketAddr,
    mails: &[SampleMail],
) -> Result<Goal, String> {
    let on = Side::start(options, kind, names, true)?;
    let off = Side::start(options, kind, names, false)?;
    for side in [&on, &off] {
        side.send(0..DECIDED, options.connections, mails)?;
        side.decide()?;
    }
    let mut next = DECIDED;
    let mut parts = Vec::new();
    for turn in 0..=options.turns {
        let numbers = next..next + options.messages;
        next = numbers.end;
        // Whoever is first in one turn is second in the next.
        let both = if turn % 2 == 0 { [&on, &off] } else { [&off, &on] };
        let mut paces = Vec::new();
        for side in both {
            paces.push(side.send(numbers.clone(), options.connections, mails)?);
        }
        if turn % 2 == 1 {
            paces.reverse();
        }
        // The first turn learns the model and fills the caches.
        if turn > 0 {
            tell(kind, turn, &paces[0], &paces[1]);
            parts.push(paces[0].per_second / paces[1].per_second);
        }
    }
    Ok(Goal {
        what: format!("mails a second with sorting, as part of without ({})", kind.name()),
        value: median(parts),
        wanted: Wanted::AtLeast(0.95),
    })
}

fn tell(kind: DatabaseKind, turn: usize, on: &ReceivingPace, off: &ReceivingPace) {
    println!(
        "{}",
        json!({
            "figure": "receive-sorting",
            "db": kind.name(),
            "turn": turn,
            "rps": round(on.per_second),
            "rps_without": round(off.per_second),
            "server_cpu_us": round(on.processor_us),
            "server_cpu_us_without": round(off.processor_us),
            "sorted_after_ms": round(on.sorted_after.as_secs_f64() * 1e3),
        })
    );
}

/// How fast mail was acknowledged in a turn.
struct ReceivingPace {
    per_second: f64,
    /// Until everything was sorted, for each mail.
    processor_us: f64,
    /// From the last acknowledgement until everything was sorted.
    sorted_after: Duration,
}

/// One of the two that take turns.
struct Side {
    server: Server,
    smtp: SocketAddr,
    workspace: BenchWorkspace,
    place: BenchDatabase,
}

impl Side {
    fn start(
        options: &SortingOptions,
        kind: DatabaseKind,
        names: SocketAddr,
        sorts: bool,
    ) -> Result<Side, String> {
        let name = if sorts { "sorting" } else { "unsorted" };
        let place = BenchDatabase::new(kind, options.databases.postgres(), name)?;
        let workspace = workspace::set_with_topics(&place, (0..TOPICS).map(topic).collect())?;
        intervene(&place.url, sorts)?;
        database::settle(&place.url)?;
        let (listen, smtp) = (free_address()?, free_address()?);
        let binary = binary(options.server.as_deref())?;
        let mut command = serve(&binary, place.folder.path(), &place.url, listen);
        command
            .env("MAILROOM_SMTP_LISTEN", smtp.to_string())
            .env("MAILROOM_DNS", names.to_string());
        let first = request(&workspace.live_key, "GET", "/me", "");
        let log = place.folder.path().join("server.log");
        let server = Server::start(&mut command, listen, first.as_bytes(), &log)?;
        Ok(Side { server, smtp, workspace, place })
    }

    fn send(
        &self,
        numbers: Range<usize>,
        connections: usize,
        mails: &[SampleMail],
    ) -> Result<ReceivingPace, String> {
        let count = numbers.len() as f64;
        let (spent, began) = (self.server.processor_seconds()?, Instant::now());
        send_all(numbers, connections, self.smtp, mails, &self.server)?;
        let per_second = count / began.elapsed().as_secs_f64();
        let acknowledged = Instant::now();
        self.wait_until_sorted()?;
        let sorted_after = acknowledged.elapsed();
        let spent = self.server.processor_seconds()? - spent;
        Ok(ReceivingPace { per_second, processor_us: spent * 1e6 / count, sorted_after })
    }

    fn wait_until_sorted(&self) -> Result<(), String> {
        let began = Instant::now();
        let unsorted = "SELECT id FROM conversations WHERE sorts_at IS NOT NULL LIMIT 1";
        while !database::texts(&self.place.url, unsorted)?.is_empty() {
            if began.elapsed() > PATIENCE {
                return Err("mail is left unsorted".into());
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Says of what topic each conversation is.
    fn decide(&self) -> Result<(), String> {
        let ids = database::texts(&self.place.url, "SELECT id FROM conversations ORDER BY id")?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let told = |error: std::io::Error| error.to_string();
            let mut client = Client::connect(self.server.address).await.map_err(told)?;
            for (number, id) in ids.iter().enumerate() {
                let path = format!("/conversations/{id}/sorting");
                let body = json!({ "topic": topic(number % TOPICS) }).to_string();
                let request = request(&self.workspace.live_key, "POST", &path, &body);
                let answer = client.call(request.as_bytes()).await.map_err(told)?;
                if answer.status != 200 {
                    return Err(format!("a decision was answered with {}", answer.status));
                }
            }
            Ok(())
        })
    }
}

fn topic(number: usize) -> String {
    format!("Topic {number}")
}

/// Lets a database forget that mail is to be sorted, or do as much work to remember it.
fn intervene(url: &str, sorts: bool) -> Result<(), String> {
    let kept = if sorts { "NEW.sorts_at" } else { "NULL" };
    let sqlite = format!(
        "CREATE TRIGGER bench_sorting AFTER UPDATE OF sorts_at ON conversations
         WHEN NEW.sorts_at IS NOT NULL BEGIN
             UPDATE conversations SET sorts_at = {kept} WHERE ws = NEW.ws AND id = NEW.id;
         END"
    );
    let postgres = format!(
        "CREATE FUNCTION bench_sorting() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN NEW.sorts_at := {kept}; RETURN NEW; END $$;
         CREATE TRIGGER bench_sorting BEFORE UPDATE OF sorts_at ON conversations
         FOR EACH ROW EXECUTE FUNCTION bench_sorting()"
    );
    database::change(url, &sqlite, &postgres)
}
