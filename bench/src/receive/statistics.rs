//! Whether PostgreSQL is as fast on tables that it knows little of: a database is filled through the
//! running server, and measured before, while and after its statistics catch up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::mails::Customers;
use super::{MAILS, send_all};
use crate::database::{self, DatabaseKind};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, INBOX};
use crate::measure::drive;
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::{Requests, request};
use crate::server::{Server, binary, free_address, serve};

/// What is measured, by so many clients.
const FIGURES: [(&str, &str); 4] = [
    ("list", "/conversations"),
    ("list-all", "/conversations?view=all"),
    ("search", "/conversations?view=all&q=lamp"),
    ("documents", "/documents"),
];
const CLIENTS: usize = 16;
/// Connections that send the mail.
const CONNECTIONS: usize = 16;

#[derive(Args, Clone, Debug)]
pub struct StatisticsOptions {
    /// A PostgreSQL on which databases can be made
    #[arg(long, env = "MAILROOM_BENCH_POSTGRES", value_name = "URL")]
    postgres: String,
    /// How many mails come in
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    messages: usize,
    /// How long autovacuum is waited for, in seconds; by itself it looks once a minute
    #[arg(long, default_value_t = 75, value_name = "SECONDS")]
    wait: u64,
    /// How long each figure is measured
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    seconds: f64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &StatisticsOptions) -> Result<bool, String> {
    let mut customers = Customers::new(1)?;
    let names = customers.names()?;
    let mails = (0..MAILS).map(|number| customers.write(number, INBOX));
    let mails = mails.collect::<Result<Vec<_>, _>>()?;
    let place = BenchDatabase::new(DatabaseKind::Postgres, Some(&options.postgres), "statistics")?;
    let workspace = workspace::set(&place, 0, Vec::new())?;
    database::count_tables(&place.url)?;
    let smtp = free_address()?;
    let server = start(options, &place, &workspace, names.address, smtp)?;
    send_all(0..options.messages, CONNECTIONS, smtp, &mails, &server)?;
    let mut rates = vec![measure(options, "at once", &workspace, &server)?];
    thread::sleep(Duration::from_secs(options.wait));
    drop(server);
    let server = start(options, &place, &workspace, names.address, smtp)?;
    rates.push(measure(options, "a minute later, restarted", &workspace, &server)?);
    drop(server);
    database::count_tables(&place.url)?;
    let server = start(options, &place, &workspace, names.address, smtp)?;
    rates.push(measure(options, "analysed, restarted", &workspace, &server)?);
    drop(server);
    database::wait_until_left(&place.url)?;
    let goals: Vec<Goal> =
        FIGURES.iter().enumerate().map(|(at, (name, _))| goal(name, &rates, at)).collect();
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

fn start(
    options: &StatisticsOptions,
    place: &BenchDatabase,
    workspace: &BenchWorkspace,
    names: SocketAddr,
    smtp: SocketAddr,
) -> Result<Server, String> {
    let listen = free_address()?;
    let binary = binary(options.server.as_deref())?;
    let mut command = serve(&binary, place.folder.path(), &place.url, listen);
    command.env("MAILROOM_SMTP_LISTEN", smtp.to_string()).env("MAILROOM_DNS", names.to_string());
    let first = request(&workspace.live_key, "GET", "/me", "");
    Server::start(&mut command, listen, first.as_bytes(), &place.folder.path().join("server.log"))
}

/// The rate of each figure.
fn measure(
    options: &StatisticsOptions,
    when: &str,
    workspace: &BenchWorkspace,
    server: &Server,
) -> Result<Vec<f64>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let mut rates = Vec::new();
    for (name, path) in FIGURES {
        let requests = Arc::new(Requests::of(&workspace.live_key, path));
        let driving = drive(server.address, &requests, CLIENTS, options.seconds);
        let pace = runtime.block_on(driving)?;
        let rps = round(pace.per_second);
        println!("{}", json!({ "figure": format!("statistics-{name}"), "when": when, "rps": rps }));
        rates.push(pace.per_second);
    }
    Ok(rates)
}

fn goal(name: &str, rates: &[Vec<f64>], at: usize) -> Goal {
    let of_figure = || rates.iter().map(|rates| rates[at]);
    let (best, worst) = (of_figure().fold(0.0, f64::max), of_figure().fold(f64::MAX, f64::min));
    Goal {
        what: format!("{name}, the slowest as part of the fastest, whatever was analysed"),
        value: worst / best,
        wanted: Wanted::AtLeast(0.5),
    }
}
