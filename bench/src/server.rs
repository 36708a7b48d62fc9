//! The servers that are measured, as processes of their own.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A server must have given its first answer by then.
const PATIENCE: Duration = Duration::from_secs(60);
/// The wait between two tries to get a first answer.
const STEP: Duration = Duration::from_millis(1);
/// The unit in which Linux tells the time that a process had, per second.
const TICKS: f64 = 100.0;
/// Nothing that is measured may run into it.
const REQUESTS_PER_MINUTE: &str = "1000000000";

/// The server's binary: the one that was named, or the one beside this.
pub fn binary(named: Option<&Path>) -> Result<PathBuf, String> {
    let server = match named {
        Some(server) => server.to_owned(),
        None => this_binary()?.with_file_name("mailroom"),
    };
    match server.exists() {
        true => Ok(server),
        false => {
            Err(format!("{} is not there; build it with cargo build --release", server.display()))
        }
    }
}

pub fn this_binary() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// The command that serves a database, which every figure starts from.
pub fn serve(binary: &Path, data: &Path, url: &str, listen: SocketAddr) -> Command {
    let mut command = Command::new(binary);
    command
        .arg("serve")
        .env("MAILROOM_DATA", data)
        .env("MAILROOM_DATABASE_URL", url)
        .env("MAILROOM_LISTEN", listen.to_string())
        .env("MAILROOM_SMTP_LISTEN", "off")
        .env("MAILROOM_RATE_PER_MINUTE", REQUESTS_PER_MINUTE)
        .env("RUST_LOG", "warn");
    command
}

pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// From the start of the process to its first answer.
    pub first_answer: Duration,
}

impl Server {
    /// Starts a process that is told where to listen, and waits until it answers a request.
    pub fn start(
        command: &mut Command,
        listen: SocketAddr,
        request: &[u8],
        log: &Path,
    ) -> Result<Server, String> {
        let log = File::options().create(true).append(true).open(log);
        let log = log.map_err(|error| error.to_string())?;
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let mut server = Server { child, address: listen, first_answer: Duration::ZERO };
        while !answers(listen, request) {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("the server ended: {status}"));
            }
            if started.elapsed() > PATIENCE {
                return Err("the server does not answer".into());
            }
            thread::sleep(STEP);
        }
        server.first_answer = started.elapsed();
        Ok(server)
    }

    /// Resident memory now, in MB.
    pub fn memory_mb(&self) -> Result<f64, String> {
        let status = self.read_reply("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
        Ok(kib.ok_or("the system does not tell the memory")? * 1_024.0 / 1e6)
    }

    /// Processor time that the process has had so far, in seconds.
    pub fn processor_seconds(&self) -> Result<f64, String> {
        let stat = self.read_reply("stat")?;
        // The name of the program, in brackets, may hold anything.
        let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
        let ticks = after.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
        Ok(ticks.sum::<f64>() / TICKS)
    }

    /// Ends the process at once and unasked, and waits until it is gone.
    pub fn kill(&mut self) -> Result<(), String> {
        self.child.kill().map_err(|error| error.to_string())?;
        self.child.wait().map(drop).map_err(|error| error.to_string())
    }

    /// Asks the process to end, and answers how long that took.
    pub fn terminate(&mut self) -> Result<Duration, String> {
        let begun = Instant::now();
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or("the process has no number")?;
        kill_process(pid, Signal::TERM).map_err(|error| error.to_string())?;
        self.child.wait().map_err(|error| error.to_string())?;
        Ok(begun.elapsed())
    }

    fn read_reply(&self, what: &str) -> Result<String, String> {
        let path = format!("/proc/{}/{what}", self.child.id());
        fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
    }
}

/// Killed rather than asked to end: what was acknowledged is durable anyway.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address on which nobody listens.
pub fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
    listener.local_addr().map_err(|error| error.to_string())
}

fn answers(address: SocketAddr, request: &[u8]) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request)?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(start.starts_with(b"HTTP/1.1 2"))
    };
    ask().unwrap_or(false)
}
