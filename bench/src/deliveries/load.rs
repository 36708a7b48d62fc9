//! Calls that make events: conversations are given to the key's agent and taken away again.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::receipts::Receipts;
use crate::client::Client;
use crate::fill::workspace::BenchWorkspace;
use crate::requests::request;

/// The pace of the figures that ask how soon.
pub const EVENTS_PER_SECOND: u64 = 200;
/// Clients that keep up the pace, each with its share of the moments.
const PACED_CLIENTS: usize = 20;
/// The part of a figure's time that the server gets beforehand to warm up.
const WARM_UP: f64 = 0.25;

pub struct Made {
    pub events_per_second: f64,
    pub deliveries_per_second: f64,
    /// The rate at which what was left over is delivered when no more events are made.
    pub drained_per_second: f64,
}

/// Makes events as fast as so many clients can, each waiting for its answer.
pub async fn make_events(
    address: SocketAddr,
    workspace: &BenchWorkspace,
    clients: usize,
    seconds: f64,
    receipts: &Receipts,
    webhooks: usize,
) -> Result<Made, String> {
    let at_first = receipts.count();
    let counts_from = Instant::now() + Duration::from_secs_f64(seconds * WARM_UP);
    let ends = counts_from + Duration::from_secs_f64(seconds);
    let mut running = JoinSet::new();
    let share = workspace.conversations.len().div_ceil(clients);
    for mine in workspace.conversations.chunks(share) {
        let requests = ["me", "none"].map(|to| mine.iter().map(|id| assign(workspace, id, to)));
        let requests = requests.into_iter().flatten().collect::<Vec<_>>();
        running.spawn(keep_asking(address, requests, counts_from, ends));
    }
    sleep(counts_from.saturating_duration_since(Instant::now())).await;
    let before = receipts.count();
    sleep(ends.saturating_duration_since(Instant::now())).await;
    let (delivered, took) = (receipts.count() - before, counts_from.elapsed().as_secs_f64());
    let (mut events, mut all) = (0, 0);
    while let Some(asked) = running.join_next().await {
        let asked = asked.map_err(|error| error.to_string())??;
        events += asked.counted;
        all += asked.all;
    }
    let planned = at_first + all * webhooks as u64;
    Ok(Made {
        events_per_second: events as f64 / took,
        deliveries_per_second: delivered as f64 / took,
        drained_per_second: drain(receipts, planned, seconds).await,
    })
}

/// How fast deliveries come until there are so many in all, or for so long at the most.
async fn drain(receipts: &Receipts, planned: u64, seconds: f64) -> f64 {
    let (started, before) = (Instant::now(), receipts.count());
    let until = started + Duration::from_secs_f64(seconds);
    while receipts.count() < planned && Instant::now() < until {
        sleep(Duration::from_millis(1)).await;
    }
    (receipts.count() - before) as f64 / started.elapsed().as_secs_f64()
}

/// Events that a client made: in all, and while it counted.
struct Asked {
    all: u64,
    counted: u64,
}

/// Every request in order, again and again.
async fn keep_asking(
    address: SocketAddr,
    requests: Vec<String>,
    counts_from: Instant,
    ends: Instant,
) -> Result<Asked, String> {
    let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
    let mut asked = Asked { all: 0, counted: 0 };
    for request in requests.iter().cycle() {
        ask(&mut client, request).await?;
        let now = Instant::now();
        asked.all += 1;
        if now >= ends {
            break;
        }
        asked.counted += u64::from(now >= counts_from);
    }
    Ok(asked)
}

/// An event that was made: when its request was begun, and when it was acknowledged.
pub struct Sent {
    pub conversation: String,
    pub begun: Instant,
    pub answered: Instant,
}

/// Events that are made in a turn of so many seconds, those to warm up included.
pub fn events_of_turn(seconds: f64) -> usize {
    (seconds * (1.0 + WARM_UP) * EVENTS_PER_SECOND as f64) as usize
}

/// Gives each conversation to someone, at a steady pace whatever the answers do.
pub async fn make_paced(
    address: SocketAddr,
    workspace: &BenchWorkspace,
    to: &str,
) -> Result<Vec<Sent>, String> {
    let start = Instant::now() + Duration::from_millis(50);
    let mut running = JoinSet::new();
    for number in 0..PACED_CLIENTS {
        let mine = workspace.conversations.iter().enumerate().skip(number).step_by(PACED_CLIENTS);
        let planned: Vec<_> = mine
            .map(|(place, id)| {
                let wait = Duration::from_micros(place as u64 * 1_000_000 / EVENTS_PER_SECOND);
                (start + wait, id.clone(), assign(workspace, id, to))
            })
            .collect();
        running.spawn(async move {
            let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
            let mut sent = Vec::new();
            for (at, conversation, request) in planned {
                sleep_until(at.into()).await;
                let begun = Instant::now();
                ask(&mut client, &request).await?;
                sent.push(Sent { conversation, begun, answered: Instant::now() });
            }
            Ok::<_, String>(sent)
        });
    }
    let mut all = Vec::new();
    while let Some(sent) = running.join_next().await {
        all.extend(sent.map_err(|error| error.to_string())??);
    }
    all.sort_by_key(|sent| sent.begun);
    Ok(all)
}

fn assign(workspace: &BenchWorkspace, conversation: &str, to: &str) -> String {
    let body = format!(r#"{{"to":"{to}"}}"#);
    let path = format!("/conversations/{conversation}/assign");
    request(&workspace.live_key, "POST", &path, &body)
}

async fn ask(client: &mut Client, request: &str) -> Result<(), String> {
    let answer = client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
    match answer.status {
        200 => Ok(()),
        status => Err(format!("{status} {}", String::from_utf8_lossy(answer.body))),
    }
}
