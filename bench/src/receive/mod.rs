//! How fast mail comes in by SMTP, durable and with everything that is done to it, what memory that
//! takes, and what a mail takes on disk.

mod mails;
mod sender;
pub mod sorting;
pub mod statistics;
mod threads;

use std::fs;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, INBOX};
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::request;
use crate::server::{Server, binary, free_address, serve};

pub use mails::{Customers, SampleMail};
pub use sender::SmtpSender;
pub use threads::MailThreads;

/// Different mails; each is sent again and again under another Message-ID.
const MAILS: usize = 4_000;
/// Moments at which memory is looked at.
const LOOKS: usize = 10;

#[derive(Args, Clone, Debug)]
pub struct ReceiveOptions {
    #[command(flatten)]
    databases: Databases,
    /// How many mails are sent
    #[arg(long, default_value_t = 20_000, value_name = "NUMBER")]
    messages: usize,
    /// How many connections send them
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
pub fn run(options: &ReceiveOptions) -> Result<bool, String> {
    let mut customers = Customers::new(options.seed)?;
    let names = customers.names()?;
    let mails = (0..MAILS).map(|number| customers.write(number, INBOX));
    let mails = mails.collect::<Result<Vec<_>, _>>()?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        let measured = measure(options, kind, names.address, &mails)?;
        measured.tell(kind, options);
        goals.extend(measured.goals(kind));
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

struct Measured {
    per_second: f64,
    p50: Duration,
    p99: Duration,
    processor_us: f64,
    /// The server's at moments evenly spread over the run, in MB.
    memory: Vec<f64>,
    /// Bytes of a mail, and what it takes on disk.
    raw_bytes: f64,
    disk_bytes: f64,
}

fn measure(
    options: &ReceiveOptions,
    kind: DatabaseKind,
    names: SocketAddr,
    mails: &[SampleMail],
) -> Result<Measured, String> {
    let place = BenchDatabase::new(kind, options.databases.postgres(), "receive")?;
    let workspace = workspace::set(&place, 0, Vec::new())?;
    database::settle(&place.url)?;
    let before = disk_bytes(&place)?;
    let (listen, smtp) = (free_address()?, free_address()?);
    let mut command =
        serve(&binary(options.server.as_deref())?, place.folder.path(), &place.url, listen);
    command.env("MAILROOM_SMTP_LISTEN", smtp.to_string()).env("MAILROOM_DNS", names.to_string());
    let log = place.folder.path().join("server.log");
    let first = request(&workspace.live_key, "GET", "/me", "");
    let mut server = Server::start(&mut command, listen, first.as_bytes(), &log)?;
    let spent = server.processor_seconds()?;
    let began = Instant::now();
    let sent = send_all(0..options.messages, options.connections, smtp, mails, &server)?;
    let seconds = began.elapsed().as_secs_f64();
    let spent = server.processor_seconds()? - spent;
    server.kill()?;
    database::wait_until_left(&place.url)?;
    database::settle(&place.url)?;
    let mails = options.messages as f64;
    let mut waits = sent.waits;
    waits.sort_unstable();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
    Ok(Measured {
        per_second: mails / seconds,
        p50: at(0.5),
        p99: at(0.99),
        processor_us: spent * 1e6 / mails,
        memory: sent.memory,
        raw_bytes: sent.bytes as f64 / mails,
        disk_bytes: disk_bytes(&place)?.saturating_sub(before) as f64 / mails,
    })
}

struct Sent {
    bytes: usize,
    waits: Vec<Duration>,
    memory: Vec<f64>,
}

/// Every connection takes the next mail until all of these numbers are sent.
fn send_all(
    numbers: Range<usize>,
    connections: usize,
    smtp: SocketAddr,
    mails: &[SampleMail],
    server: &Server,
) -> Result<Sent, String> {
    let (next, messages) = (AtomicUsize::new(numbers.start), numbers.len());
    let work = || -> Result<(usize, Vec<Duration>), String> {
        let mut sender = SmtpSender::connect(smtp)?;
        let (mut bytes, mut waits) = (0, Vec::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return Ok((bytes, waits));
            }
            let mail = &mails[number % mails.len()];
            let (size, wait) = sender.send(mail, &format!("m{number}"), INBOX)?;
            bytes += size;
            waits.push(wait);
        }
    };
    thread::scope(|scope| {
        let senders: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        let mut sent = Sent { bytes: 0, waits: Vec::new(), memory: Vec::new() };
        while sent.memory.len() < LOOKS && senders.iter().any(|sender| !sender.is_finished()) {
            let looked = sent.memory.len() + 1;
            let sending = next.load(Ordering::Relaxed) - numbers.start;
            if sending >= messages * looked / LOOKS {
                sent.memory.push(server.memory_mb()?);
            }
            thread::sleep(Duration::from_millis(5));
        }
        for sender in senders {
            let (bytes, waits) = sender.join().map_err(|_| "a sender stopped")??;
            sent.bytes += bytes;
            sent.waits.extend(waits);
        }
        Ok(sent)
    })
}

/// What the database and the blobs beside it take.
fn disk_bytes(place: &BenchDatabase) -> Result<u64, String> {
    Ok(database::bytes(&place.url)? + folder_bytes(&place.folder.path().join("blobs")))
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => folder_bytes(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

impl Measured {
    fn tell(&self, kind: DatabaseKind, options: &ReceiveOptions) {
        let memory: Vec<_> = self.memory.iter().map(|mb| round(*mb)).collect();
        println!(
            "{}",
            json!({
                "figure": "receive",
                "db": kind.name(),
                "messages": options.messages,
                "connections": options.connections,
                "rps": round(self.per_second),
                "p50_ms": round(self.p50.as_secs_f64() * 1e3),
                "p99_ms": round(self.p99.as_secs_f64() * 1e3),
                "server_cpu_us": round(self.processor_us),
                "raw_bytes": round(self.raw_bytes),
                "disk_bytes": round(self.disk_bytes),
                "memory_mb": memory,
            })
        );
    }

    fn goals(&self, kind: DatabaseKind) -> Vec<Goal> {
        let goal = |what: &str, value, wanted| Goal {
            what: format!("{what} ({})", kind.name()),
            value,
            wanted,
        };
        let half = self.memory.len() / 2;
        let most = |looks: &[f64]| looks.iter().copied().fold(0.0, f64::max);
        let growth = most(&self.memory[half..]) / most(&self.memory[..half]).max(1.0);
        let mut goals = vec![
            goal(
                "mail on disk, times its size",
                self.disk_bytes / self.raw_bytes,
                Wanted::AtMost(2.0),
            ),
            goal("memory, the second half's most over the first's", growth, Wanted::AtMost(1.25)),
        ];
        if kind == DatabaseKind::Sqlite {
            goals.insert(0, goal("mails a second", self.per_second, Wanted::AtLeast(800.0)));
        }
        goals
    }
}
