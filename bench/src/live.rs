//! Open pages: how soon a change reaches all of them, and what each costs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::client::Client;
use crate::database::{DatabaseKind, Databases};
use crate::fill::seed;
use crate::fill::workspace::BenchDatabase;
use crate::report::{Goal, Wanted, print_goals};
use crate::requests::{page_request, request};
use crate::server::{Server, binary, free_address, serve};

/// A change must have reached every page by then.
const PATIENCE: Duration = Duration::from_secs(30);
/// The server is left alone for so long before its memory is looked at.
const REST: Duration = Duration::from_secs(2);
/// What a page hears in one go.
const HEARD_BYTES: usize = 4 * 1024;

#[derive(Args, Clone, Debug)]
pub struct LiveOptions {
    #[command(flatten)]
    databases: Databases,
    /// Pages that are open, each on a conversation with the list beside it
    #[arg(long, default_value_t = 500, value_name = "NUMBER")]
    pages: usize,
    /// Changes that are made, one after the other
    #[arg(long, default_value_t = 20, value_name = "NUMBER")]
    changes: usize,
    /// Messages in the workspace
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    messages: usize,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Measures everything; true when every goal is met.
pub fn run(options: LiveOptions) -> Result<bool, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        goals.extend(measure(&options, kind, &runtime)?);
    }
    goals.iter().for_each(Goal::print_json);
    Ok(print_goals(&goals))
}

fn measure(
    options: &LiveOptions,
    kind: DatabaseKind,
    runtime: &tokio::runtime::Runtime,
) -> Result<Vec<Goal>, String> {
    let place = BenchDatabase::new(kind, options.databases.postgres(), "live")?;
    let seeded = seed::seed(&place.url, options.messages, 1)?;
    let listen = free_address()?;
    let binary = binary(options.server.as_deref())?;
    let mut command = serve(&binary, place.folder.path(), &place.url, listen);
    let log = place.folder.path().join("server.log");
    let first = request(&seeded.key, "GET", "/me", "");
    let server = Server::start(&mut command, listen, first.as_bytes(), &log)?;
    // Every page shows the same conversation, so that each must hear of every change.
    let shown = seeded.of_20.first().ok_or("no conversation of 20 messages")?.clone();
    let path = format!("/live?view=open&conversation={shown}");
    let ask = page_request(&seeded.session, &path);
    let note = |number: usize| {
        let body = json!({ "body": format!("Change {number}") }).to_string();
        request(&seeded.key, "POST", &format!("/conversations/{shown}/notes"), &body)
    };
    runtime.block_on(async {
        let mut writer = Client::connect(listen).await.map_err(io_sentence)?;
        writer.call(note(0).as_bytes()).await.map_err(io_sentence)?;
        tokio::time::sleep(REST).await;
        let before = server.memory_mb()?;
        let (heard, mut changes) = mpsc::unbounded_channel();
        for _ in 0..options.pages {
            open_page(listen, &ask, heard.clone()).await?;
        }
        tokio::time::sleep(REST).await;
        let page_kb = (server.memory_mb()? - before) * 1_000.0 / options.pages as f64;
        let mut slowest: Vec<f64> = Vec::new();
        for number in 1..=options.changes {
            let begun = Instant::now();
            let answer = writer.call(note(number).as_bytes()).await.map_err(io_sentence)?;
            if answer.status != 201 {
                return Err(format!("a note was answered with {}", answer.status));
            }
            for _ in 0..options.pages {
                let heard = timeout(PATIENCE, changes.recv()).await;
                heard.map_err(|_| "a page did not hear of a change")?;
            }
            slowest.push(begun.elapsed().as_secs_f64());
            tokio::time::sleep(REST / 4).await;
        }
        slowest.sort_by(f64::total_cmp);
        let worst = slowest.last().copied().unwrap_or_default();
        let middle = slowest.get(slowest.len() / 2).copied().unwrap_or_default();
        let used = (server.memory_mb()? - before) * 1_000.0 / options.pages as f64;
        println!(
            "{}",
            json!({
                "figure": "live", "db": kind.name(), "pages": options.pages,
                "all_told_s": middle, "all_told_worst_s": worst,
                "page_kb": page_kb, "page_kb_after_changes": used,
            })
        );
        let goal = |what: &str, value, most| Goal {
            what: format!("{what}, {} pages, {}", options.pages, kind.name()),
            value,
            wanted: Wanted::AtMost(most),
        };
        Ok(vec![
            goal("seconds until all have heard of a change, the worst", worst, 1.0),
            goal("KB of memory for a page", used.max(page_kb), 50.0),
        ])
    })
}

/// Opens a page's connection, and passes on that it has heard of a change, each time.
async fn open_page(
    address: SocketAddr,
    ask: &str,
    heard: mpsc::UnboundedSender<()>,
) -> Result<(), String> {
    let mut stream = TcpStream::connect(address).await.map_err(io_sentence)?;
    stream.write_all(ask.as_bytes()).await.map_err(io_sentence)?;
    let mut text = String::new();
    while !text.contains("event: here") {
        text.push_str(&more(&mut stream).await?);
    }
    tokio::spawn(async move {
        while let Ok(text) = more(&mut stream).await {
            for _ in text.matches("event: changed") {
                let _ = heard.send(());
            }
        }
    });
    Ok(())
}

async fn more(stream: &mut TcpStream) -> Result<String, String> {
    let mut bytes = [0; HEARD_BYTES];
    match stream.read(&mut bytes).await.map_err(io_sentence)? {
        0 => Err("a page's connection ended".into()),
        length => Ok(String::from_utf8_lossy(&bytes[..length]).into_owned()),
    }
}

fn io_sentence(error: std::io::Error) -> String {
    error.to_string()
}
