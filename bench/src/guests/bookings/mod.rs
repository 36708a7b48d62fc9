//! Bookings: how long the free times of a month take, whatever came before, and how long feeds take.

mod feeds;
mod history;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase};
use crate::measure::{Throughput, drive};
use crate::report::{Goal, Wanted, print_goals, round};
use crate::requests::Requests;
use crate::run::median;
use crate::server::{Server, binary, free_address, serve};
use history::BookingHistory;

#[derive(Args, Clone, Debug)]
pub struct BookingsOptions {
    #[command(flatten)]
    databases: Databases,
    /// Hosts of the type, each with a calendar of a year
    #[arg(long, default_value_t = 10, value_name = "NUMBER")]
    hosts: usize,
    /// Bookings in the month that is asked for
    #[arg(long, default_value_t = 5_000, value_name = "NUMBER")]
    bookings: usize,
    /// Bookings before it, in the workspace with a short history and in the one with a long one
    #[arg(long, default_values_t = [5_000, 50_000], value_delimiter = ',', value_name = "NUMBERS")]
    past: Vec<usize>,
    /// How long each turn is measured
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    seconds: f64,
    /// How often the two workspaces take turns
    #[arg(long, default_value_t = 9, value_name = "NUMBER")]
    rounds: usize,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: &BookingsOptions) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut goals = feeds::measure()?;
    for kind in options.databases.kinds() {
        goals.extend(measure(options, kind, &runtime)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

/// A workspace with a history, and the server on it.
struct Side {
    past: usize,
    server: Server,
    requests: Arc<Requests>,
    _place: BenchDatabase,
}

fn measure(
    options: &BookingsOptions,
    kind: DatabaseKind,
    runtime: &Runtime,
) -> Result<Vec<Goal>, String> {
    let sides = options.past.iter().map(|past| start(options, kind, *past, runtime));
    let sides = sides.collect::<Result<Vec<Side>, String>>()?;
    let turn = |side: &Side| {
        runtime.block_on(drive(side.server.address, &side.requests, 1, options.seconds))
    };
    let mut turns: Vec<Vec<Throughput>> = Vec::new();
    for _ in 0..options.rounds.max(1) {
        turns.push(sides.iter().map(turn).collect::<Result<_, _>>()?);
    }
    let of_side = |side: usize, value: fn(&Throughput) -> f64| {
        median(turns.iter().map(|turn| value(&turn[side])).collect())
    };
    let mut goals = Vec::new();
    for (number, side) in sides.iter().enumerate() {
        let p50_us = of_side(number, |pace| pace.p50_us);
        println!(
            "{}",
            json!({
                "figure": "find-slots", "db": kind.name(), "hosts": options.hosts,
                "bookings": options.bookings, "past": side.past, "p50_us": round(p50_us),
                "p99_us": round(of_side(number, |pace| pace.p99_us)),
            })
        );
        goals.push(Goal {
            what: format!("free times of a month, ms, {} past ({})", side.past, kind.name()),
            value: p50_us / 1_000.0,
            wanted: Wanted::AtMost(10.0),
        });
    }
    let ratios = turns.iter().filter_map(|turn| Some(turn.last()?.p50_us / turn.first()?.p50_us));
    goals.push(Goal {
        what: format!("free times of a month: time with the long history ({})", kind.name()),
        value: median(ratios.collect()),
        wanted: Wanted::AtMost(1.25),
    });
    Ok(goals)
}

fn start(
    options: &BookingsOptions,
    kind: DatabaseKind,
    past: usize,
    runtime: &Runtime,
) -> Result<Side, String> {
    eprintln!("filling {} with {past} past bookings", kind.name());
    let place =
        BenchDatabase::new(kind, options.databases.postgres(), &format!("bookings_{past}"))?;
    let key = workspace::set(&place, 0, Vec::new())?.live_key;
    let history = BookingHistory { hosts: options.hosts, ahead: options.bookings, past };
    let path = history.write(&place, runtime)?;
    database::settle(&place.url)?;
    let listen = free_address()?;
    let binary = binary(options.server.as_deref())?;
    let mut command = serve(&binary, place.folder.path(), &place.url, listen);
    let requests = Arc::new(Requests::of(&key, &path));
    let log = place.folder.path().join("server.log");
    let server = Server::start(&mut command, listen, requests.get(0), &log)?;
    // An empty answer would be quick.
    let found = runtime.block_on(async {
        let mut client = Client::connect(listen).await?;
        let answer = client.call(requests.get(0)).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(answer.body).matches("startsAt").count())
    });
    match found.map_err(|error| error.to_string())? {
        0 => Err("no time is free".into()),
        _ => Ok(Side { past, server, requests, _place: place }),
    }
}
