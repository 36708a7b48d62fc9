//! Starts a sandboxed child process, writes its input, and reads its output within a time limit.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// The first argument of a sandboxed process.
pub const ISOLATED: &str = "caged";
/// How long parsing one file may take by the clock. What it costs is limited in time of the processor, of which a
/// process of low priority gets little while the machine is busy.
pub const READER_TIME: Duration = Duration::from_secs(60);
/// The address space that mimalloc reserves at start. Its default exceeds the child's address-space
/// limit, and every later allocation would fail.
pub const ALLOCATOR_RESERVES: &str = "MIMALLOC_ARENA_RESERVE";
/// The output limit in bytes: a few scanned pages and a text.
const ANSWER_BYTES: u64 = 32 * 1024 * 1024;

/// Why a child failed. None of these affects other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildFailure {
    /// It could not be started: a fault of the machine, not of the file.
    NotStarted,
    /// It was ended by its limits, or it failed.
    Died,
    TookTooLong,
}

impl ChildFailure {
    pub fn sentence(self) -> &'static str {
        match self {
            ChildFailure::NotStarted => "The reader could not be started.",
            ChildFailure::Died => "The file is damaged, or too much for the reader.",
            ChildFailure::TookTooLong => "The file took the reader too long.",
        }
    }
}

/// This very program, even when a newer one was put in its place meanwhile.
pub fn this_program() -> PathBuf {
    let itself = Path::new("/proc/self/exe");
    if itself.exists() {
        itself.to_owned()
    } else {
        std::env::current_exe().unwrap_or_else(|_| "mailroom".into())
    }
}

/// Runs `mailroom caged …` with an input; the child is always killed and reaped.
pub async fn ask(
    program: &Path,
    args: &[&str],
    environment: &[(&str, String)],
    input: Vec<u8>,
    time: Duration,
) -> Result<Vec<u8>, ChildFailure> {
    let mut child = Command::new(program)
        .arg(ISOLATED)
        .args(args)
        .env_clear()
        .env(ALLOCATOR_RESERVES, "0")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| ChildFailure::NotStarted)?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ChildFailure::NotStarted);
    };
    let talk = async {
        let give = async {
            // A child may close its standard input early; the broken pipe is not an error.
            let _ = stdin.write_all(&input).await;
            drop(stdin);
        };
        let mut answer = Vec::new();
        let mut limited = stdout.take(ANSWER_BYTES);
        let (_, heard) = tokio::join!(give, limited.read_to_end(&mut answer));
        let status = child.wait().await;
        match (heard, status) {
            (Ok(_), Ok(status)) if status.success() => Ok(answer),
            _ => Err(ChildFailure::Died),
        }
    };
    timeout(time, talk).await.unwrap_or(Err(ChildFailure::TookTooLong))
}
