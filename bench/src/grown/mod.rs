//! An inbox that has lived: mail in threads, and everything that a team does with it. Its figures are taken as
//! it is, after a restart of the server, and beside the same content with an index that was written anew.

mod life;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, INBOX};
use crate::inbox_figures::{inbox_figures, median, wait_for_rest};
use crate::receive::{Customers, MailThreads};
use crate::report::{Goal, Wanted, print_goals};
use crate::requests::request;
use crate::server::{Server, binary, free_address, serve};
use life::Life;

/// A grown inbox may take so many times as long as a new index on the same content.
const GROWN_OVER_NEW: f64 = 1.2;
/// Topics that mail is sorted by.
const TOPICS: [&str; 3] = ["Orders", "Invoices", "Returns"];
/// The place, by frequency, of the word that the rule looks for in subjects.
const RULED_WORD: usize = 5;
/// So many times fewer mails are received for the figure than lie there.
const RECEIVED_SHARE: usize = 10;

#[derive(Args, Clone, Debug)]
pub struct GrownOptions {
    #[command(flatten)]
    databases: Databases,
    /// How many mails come in
    #[arg(long, default_value_t = 1_000, value_name = "NUMBER")]
    messages: usize,
    /// How many connections send them
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    connections: usize,
    /// How long each figure is measured at a time
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    seconds: f64,
    /// How often each figure is measured; the median counts
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    turns: usize,
    /// What the mails are made up from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &GrownOptions) -> Result<bool, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut customers = Customers::new(options.seed)?;
    let names = customers.names()?;
    let threads = MailThreads::write(&mut customers, options.messages, INBOX)?;
    let received = options.messages.div_ceil(RECEIVED_SHARE);
    let others = MailThreads::write(&mut customers, received, INBOX)?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        let place = BenchDatabase::new(kind, options.databases.postgres(), "grown")?;
        let topics = TOPICS.map(str::to_owned).to_vec();
        let workspace = workspace::set_with_topics(&place, topics)?;
        let (smtp, names) = (free_address()?, names.address);
        let grown = GrownInbox {
            options,
            kind,
            place,
            workspace,
            runtime: &runtime,
            smtp,
            names,
            customers: &customers,
            others: &others,
        };
        goals.extend(grown.measure(&threads)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

struct GrownInbox<'a> {
    options: &'a GrownOptions,
    kind: DatabaseKind,
    place: BenchDatabase,
    workspace: BenchWorkspace,
    runtime: &'a Runtime,
    smtp: SocketAddr,
    names: SocketAddr,
    customers: &'a Customers,
    /// Mail that is received for the figure.
    others: &'a MailThreads,
}

/// What each figure came to in one state of the inbox, in answers or mails a second.
type Rates = Vec<(&'static str, f64)>;

impl GrownInbox<'_> {
    fn measure(&self, threads: &MailThreads) -> Result<Vec<Goal>, String> {
        let server = self.start()?;
        Life::begin(self.runtime, server.address, &self.workspace)?
            .add_rule(self.customers.word_at(RULED_WORD))?;
        for round in 0..threads.rounds() {
            let rate = threads.send_round("grown", round, self.options.connections, self.smtp)?;
            eprintln!("  round {round}: {rate:.0} mails a second");
            let mut life = Life::begin(self.runtime, server.address, &self.workspace)?;
            life.live_round(&self.place.url, round)?;
        }
        let grown = self.rates(&server, "grown")?;
        drop(server);
        database::wait_until_left(&self.place.url)?;
        let server = self.start()?;
        let restarted = self.rates(&server, "restarted")?;
        drop(server);
        database::wait_until_left(&self.place.url)?;
        self.reindex()?;
        let server = self.start()?;
        let new = self.rates(&server, "new index")?;
        drop(server);
        database::wait_until_left(&self.place.url)?;
        self.print(&grown, &restarted, &new);
        Ok(self
            .goals("grown", &grown, &new)
            .chain(self.goals("restarted", &restarted, &new))
            .collect())
    }

    fn start(&self) -> Result<Server, String> {
        let listen = free_address()?;
        let folder = self.place.folder.path();
        let mut command =
            serve(&binary(self.options.server.as_deref())?, folder, &self.place.url, listen);
        command
            .env("MAILROOM_SMTP_LISTEN", self.smtp.to_string())
            .env("MAILROOM_DNS", self.names.to_string())
            .env("MAILROOM_RELAY", format!("file:{}", folder.join("outbox").display()));
        let first = request(&self.workspace.live_key, "GET", "/me", "");
        Server::start(&mut command, listen, first.as_bytes(), &folder.join("server.log"))
    }

    /// Writes the search index anew, as an operator does.
    fn reindex(&self) -> Result<(), String> {
        let status = Command::new(binary(self.options.server.as_deref())?)
            .arg("reindex")
            .env("MAILROOM_DATA", self.place.folder.path())
            .env("MAILROOM_DATABASE_URL", &self.place.url)
            .env("RUST_LOG", "warn")
            .stdout(std::process::Stdio::null())
            .status()
            .map_err(|error| error.to_string())?;
        status.success().then_some(()).ok_or_else(|| "mailroom reindex failed".into())
    }

    /// Every figure, once the server has done what it does by itself.
    fn rates(&self, server: &Server, when: &str) -> Result<Rates, String> {
        wait_for_rest(server)?;
        let mut rates = Rates::new();
        for figure in inbox_figures(&self.place.url, &self.workspace.live_key, self.customers)? {
            let turns = (0..self.options.turns.max(1))
                .map(|_| figure.measure(self.runtime, server, self.options.seconds));
            rates.push((figure.name, median(&turns.collect::<Result<Vec<_>, _>>()?)));
        }
        let (name, connections) = (when.replace(' ', "-"), self.options.connections);
        let mut received = Vec::new();
        for round in 0..self.others.rounds() {
            received.push(self.others.send_round(&name, round, connections, self.smtp)?);
        }
        rates.push(("receive", median(&received)));
        for (figure, rate) in &rates {
            println!(
                "{}",
                json!({
                    "figure": figure, "db": self.kind.name(), "messages": self.options.messages,
                    "when": when, "per_second": (rate * 10.0).round() / 10.0,
                })
            );
        }
        self.tell_index(when)?;
        Ok(rates)
    }

    /// The parts that SQLite's word index is in, and the tables of deleted rows beside them.
    fn tell_index(&self, when: &str) -> Result<(), String> {
        if self.kind != DatabaseKind::Sqlite {
            return Ok(());
        }
        let count = |sql: &str| -> Result<i64, String> {
            let said = database::texts(&self.place.url, sql)?.pop().unwrap_or_default();
            said.parse().map_err(|_| format!("{said} is no number"))
        };
        let segments = count("SELECT CAST(count(DISTINCT segid) AS TEXT) FROM message_index_idx")?;
        // The numbers of these pages begin with a segment's and one bit more.
        let tables =
            count("SELECT CAST(count(*) AS TEXT) FROM message_index_data WHERE id >> 37 >= 65536")?;
        let others = count(
            "SELECT CAST(count(*) AS TEXT) FROM conversation_index WHERE substr(words, 1, 1) = '~'",
        )?;
        println!(
            "{}",
            json!({
                "figure": "index", "db": self.kind.name(), "when": when, "segments": segments,
                "pages_of_deleted_rows": tables, "lists_to_write": others,
            })
        );
        Ok(())
    }

    fn print(&self, grown: &Rates, restarted: &Rates, new: &Rates) {
        println!(
            "\n{}, {} mails; answers a second, and how many times as long as with a new index\n",
            self.kind.name(),
            self.options.messages
        );
        println!(
            "{:<28}{:>10}{:>11}{:>11}{:>9}{:>11}",
            "", "grown", "restarted", "new index", "grown", "restarted"
        );
        for (place, (figure, rate)) in new.iter().enumerate() {
            let (grown, restarted) = (grown[place].1, restarted[place].1);
            println!(
                "{figure:<28}{grown:>10.1}{restarted:>11.1}{rate:>11.1}{:>9.2}{:>11.2}",
                rate / grown,
                rate / restarted
            );
        }
    }

    fn goals<'r>(
        &'r self,
        when: &'r str,
        rates: &'r Rates,
        new: &'r Rates,
    ) -> impl Iterator<Item = Goal> + 'r {
        rates.iter().zip(new).map(move |((figure, rate), (_, new))| Goal {
            what: format!("{figure}, {when} over a new index ({})", self.kind.name()),
            value: new / rate,
            wanted: Wanted::AtMost(GROWN_OVER_NEW),
        })
    }
}
