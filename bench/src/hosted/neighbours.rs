//! Neighbours that keep the server busy: one imports old mail, one is flooded with new mail.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::receive::{Customers, SampleMail, SmtpSender};

/// Different mails of a neighbour; each comes again and again under another Message-ID.
const MAILS: usize = 500;
/// How often a running import is looked at.
const STEP: Duration = Duration::from_millis(20);
/// Of the file that an import reads, in bytes.
const WRITE_BUFFER: usize = 1 << 20;

type Working = JoinHandle<Result<(), String>>;

/// The mails that come to an inbox.
pub fn write_mails(customers: &mut Customers, to: &str) -> Result<Arc<Vec<SampleMail>>, String> {
    let mails = (0..MAILS).map(|number| customers.write(number, to));
    Ok(Arc::new(mails.collect::<Result<Vec<_>, _>>()?))
}

/// What `mailroom import` needs to be run.
#[derive(Clone)]
pub struct ImportCommand {
    pub binary: PathBuf,
    pub data: PathBuf,
    pub url: String,
    pub slug: String,
    pub address: String,
    /// Mails of one file.
    pub count: usize,
}

/// Imports one file after the other, as a process of its own, until it is stopped.
pub struct ImportNeighbour {
    stop: Arc<AtomicBool>,
    thread: Option<Working>,
}

impl ImportNeighbour {
    /// `name` tells the mails of this neighbour from those of one before.
    pub fn start(
        command: ImportCommand,
        mails: Arc<Vec<SampleMail>>,
        name: &str,
    ) -> Result<ImportNeighbour, String> {
        let file = command.data.join("import.mbox");
        write_mbox(&file, &mails, command.count, &format!("{name}-0"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, name) = (stop.clone(), name.to_owned());
        let thread = thread::spawn(move || {
            for round in 1.. {
                command.run(&file, &stopped)?;
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                write_mbox(&file, &mails, command.count, &format!("{name}-{round}"))?;
            }
            fs::remove_file(&file).map_err(|error| error.to_string())
        });
        Ok(ImportNeighbour { stop, thread: Some(thread) })
    }

    /// Stops it; an error when an import failed.
    pub fn finish(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) => thread.join().map_err(|_| "the import stopped")?,
            None => Ok(()),
        }
    }
}

/// No process is left behind when a measurement fails.
impl Drop for ImportNeighbour {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl ImportCommand {
    /// Imports a file, or as much of it as there is time for.
    fn run(&self, file: &Path, stopped: &AtomicBool) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        let log = self.data.join("import.log");
        let mut child = Command::new(&self.binary)
            .arg("import")
            .arg(file)
            .args(["--mailbox", &self.address, "--workspace", &self.slug])
            .env("MAILROOM_DATA", &self.data)
            .env("MAILROOM_DATABASE_URL", &self.url)
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).map_err(told)?)
            .spawn()
            .map_err(told)?;
        loop {
            match child.try_wait().map_err(told)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    let said = fs::read_to_string(&log).unwrap_or_default();
                    return Err(format!("the import ended: {status} {said}"));
                }
                None if stopped.load(Ordering::Relaxed) => {
                    child.kill().map_err(told)?;
                    return child.wait().map(drop).map_err(told);
                }
                None => thread::sleep(STEP),
            }
        }
    }
}

/// An mbox of so many mails, each with a Message-ID that no other has.
fn write_mbox(file: &Path, mails: &[SampleMail], count: usize, name: &str) -> Result<(), String> {
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::with_capacity(WRITE_BUFFER, File::create(file)?);
        for number in 0..count {
            let mail = &mails[number % mails.len()];
            out.write_all(b"From customer@bench.invalid Sun Nov 15 09:00:00 2026\r\n")?;
            out.write_all(&mail.with_id(&format!("{name}-{number}")))?;
            out.write_all(b"\r\n")?;
        }
        out.flush()
    };
    write().map_err(|error| format!("{}: {error}", file.display()))
}

/// Gets mail by SMTP as fast as it is acknowledged, until it is stopped.
pub struct FloodNeighbour {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicU64>,
    threads: Vec<Working>,
}

impl FloodNeighbour {
    pub fn start(
        smtp: SocketAddr,
        address: &str,
        mails: &Arc<Vec<SampleMail>>,
        connections: usize,
        name: &str,
    ) -> FloodNeighbour {
        let stop = Arc::new(AtomicBool::new(false));
        let acknowledged = Arc::new(AtomicU64::new(0));
        let threads = (0..connections).map(|connection| {
            let (stopped, acknowledged) = (stop.clone(), acknowledged.clone());
            let (mails, to) = (mails.clone(), address.to_owned());
            let name = format!("{name}-{connection}");
            thread::spawn(move || send_mail(smtp, &to, &mails, &name, &stopped, &acknowledged))
        });
        let threads = threads.collect();
        FloodNeighbour { stop, acknowledged, threads }
    }

    /// Stops it; answers how many mails were acknowledged.
    pub fn finish(self) -> Result<u64, String> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| "a sender stopped")??;
        }
        Ok(self.acknowledged.load(Ordering::Relaxed))
    }
}

fn send_mail(
    smtp: SocketAddr,
    to: &str,
    mails: &[SampleMail],
    name: &str,
    stopped: &AtomicBool,
    acknowledged: &AtomicU64,
) -> Result<(), String> {
    let mut sender = SmtpSender::connect(smtp)?;
    let mut sent = 0;
    while !stopped.load(Ordering::Relaxed) {
        sender.send(&mails[sent % mails.len()], &format!("{name}-{sent}"), to)?;
        acknowledged.fetch_add(1, Ordering::Relaxed);
        sent += 1;
    }
    Ok(())
}
