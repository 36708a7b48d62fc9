//! Many customers upload at one time: what memory that takes, and how long.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::fill::seed;
use crate::requests::request;
use crate::server::{self, Server};

/// Files of 25 MB that one request takes.
const PER_REQUEST: usize = 8;
const FILE_BYTES: usize = 25 * 1024 * 1024;
/// The goal, in MB.
const MEMORY_GOAL_MB: f64 = 200.0;
const LOOK_EVERY: Duration = Duration::from_millis(20);
const MESSAGES: usize = 2_000;

#[derive(Args)]
pub struct UploadsOptions {
    /// Files that are uploaded at one time, of 25 MB each
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    files: usize,
    /// The server's binary [default: the one beside this]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

pub fn run(options: UploadsOptions) -> Result<(), String> {
    let binary = server::binary(options.server.as_deref())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let url = format!("sqlite:{}", folder.path().join("uploads.db").display());
    let seeded = seed::seed(&url, MESSAGES, 1)?;
    let listen = server::free_address()?;
    let mut command = server::serve(&binary, folder.path(), &url, listen);
    let me = request(&seeded.key, "GET", "/me", "");
    let server = Server::start(&mut command, listen, me.as_bytes(), &folder.path().join("log"))?;
    let pages = pages(listen, &seeded, options.files.div_ceil(PER_REQUEST))?;
    let (file, idle) = (file(), server.memory_mb()?);
    let over = AtomicBool::new(false);
    let (peak, took, handing) = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = 0f64;
            while !over.load(Ordering::Relaxed) {
                peak = peak.max(server.memory_mb().unwrap_or(0.0));
                thread::sleep(LOOK_EVERY);
            }
            peak
        });
        let started = Instant::now();
        let uploads: Vec<_> = (0..options.files)
            .map(|number| {
                let (page, file) = (&pages[number / PER_REQUEST], &file);
                scope.spawn(move || upload(listen, page, number, file))
            })
            .collect();
        let outcomes: Vec<Result<(), String>> = uploads
            .into_iter()
            .map(|upload| upload.join().unwrap_or(Err("a panic".into())))
            .collect();
        let took = started.elapsed();
        let started = Instant::now();
        let handed: Vec<_> =
            pages.iter().map(|page| scope.spawn(move || hand_over(listen, page))).collect();
        let handed: Vec<Result<(), String>> =
            handed.into_iter().map(|one| one.join().unwrap_or(Err("a panic".into()))).collect();
        let handing = started.elapsed();
        over.store(true, Ordering::Relaxed);
        let peak = watch.join().unwrap_or(0.0);
        outcomes.into_iter().chain(handed).collect::<Result<Vec<()>, String>>()?;
        Ok::<_, String>((peak, took, handing))
    })?;
    let megabytes = (options.files * FILE_BYTES) as f64 / 1e6;
    println!(
        "{} files of 25 MB at one time: {:.1} s ({:.0} MB/s), handed over in {:.1} s",
        options.files,
        took.as_secs_f64(),
        megabytes / took.as_secs_f64(),
        handing.as_secs_f64()
    );
    let within = if peak < MEMORY_GOAL_MB { "within" } else { "MISSES" };
    println!("memory: {idle:.0} MB idle, {peak:.0} MB at the most ({within} the goal of 200 MB)");
    println!(
        "{}",
        json!({
            "figure": "uploads",
            "files": options.files,
            "seconds": took.as_secs_f64(),
            "handing_over_seconds": handing.as_secs_f64(),
            "idle_mb": idle,
            "peak_mb": peak,
        })
    );
    Ok(())
}

/// A PDF that no packing makes small.
fn file() -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let end = b"\nstartxref\n0\n%%EOF\n";
    let mut state = 7u64;
    while file.len() < FILE_BYTES - end.len() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        file.push(b'a' + (state >> 59) as u8 % 26);
    }
    file.extend_from_slice(end);
    file
}

/// Asks for documents; answers the paths of the upload pages.
fn pages(listen: SocketAddr, seeded: &seed::Seeded, count: usize) -> Result<Vec<String>, String> {
    let ids = seeded.of_10.iter().chain(&seeded.of_20).chain(&seeded.for_notes).take(count);
    let mut pages = Vec::new();
    for id in ids {
        let asks = json!({ "documents": [{ "label": "Papers" }], "send": true }).to_string();
        let path = format!("/conversations/{id}/document-requests");
        let asked = call(listen, request(&seeded.key, "POST", &path, &asks).as_bytes(), &[])?;
        let path = format!("/conversations/{id}");
        let read = call(listen, request(&seeded.key, "GET", &path, "").as_bytes(), &[])?;
        let timeline = read["timeline"].as_array().cloned().unwrap_or_default();
        let mail = timeline.iter().find(|item| item["id"] == asked["messageId"]);
        let text = mail.and_then(|mail| mail["text"].as_str()).unwrap_or_default();
        let link = text.split_whitespace().find_map(|word| word.split_once("/u/"));
        pages.push(format!("/u/{}", link.ok_or("there is no link")?.1));
    }
    if pages.len() < count { Err("there are too few conversations".into()) } else { Ok(pages) }
}

fn upload(listen: SocketAddr, page: &str, number: usize, file: &[u8]) -> Result<(), String> {
    let wish =
        json!({ "item": 0, "name": format!("{number}.pdf"), "size": file.len() }).to_string();
    let begun =
        call(listen, &head("POST", &format!("{page}/uploads"), wish.len(), ""), wish.as_bytes())?;
    let id = begun["id"].as_str().ok_or_else(|| format!("no room: {begun}"))?;
    let path = format!("{page}/uploads/{id}");
    let done = call(listen, &head("PATCH", &path, file.len(), "upload-offset: 0\r\n"), file)?;
    match done["state"].as_str() {
        Some("kept") => Ok(()),
        _ => Err(format!("not kept: {done}")),
    }
}

fn hand_over(listen: SocketAddr, page: &str) -> Result<(), String> {
    call(listen, &head("POST", page, 0, ""), &[]).map(drop)
}

fn head(method: &str, path: &str, length: usize, more: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bench\r\ncontent-length: {length}\r\n\
         connection: close\r\n{more}\r\n"
    )
    .into_bytes()
}

/// One exchange on a connection of its own; answers the JSON of the body, or null.
fn call(listen: SocketAddr, head: &[u8], body: &[u8]) -> Result<Value, String> {
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(listen)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        stream.write_all(head)?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        let mut piece = [0; 16 * 1024];
        loop {
            let read = stream.read(&mut piece)?;
            answer.extend_from_slice(&piece[..read]);
            if read == 0 || is_whole(&answer) {
                return Ok(answer);
            }
        }
    };
    let answer = exchange().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or("no answer")?;
    match head.starts_with("HTTP/1.1 2") || head.starts_with("HTTP/1.1 3") {
        true => Ok(serde_json::from_str(body).unwrap_or(Value::Null)),
        false => Err(format!("{}: {body}", head.lines().next().unwrap_or_default())),
    }
}

/// True when a body of the length that the head tells is there.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| body.len() >= length)
}
