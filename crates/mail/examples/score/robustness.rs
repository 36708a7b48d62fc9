//! No file may panic, hang or take long, whatever it is. What counts is the processor's time, which
//! does not grow when the machine has other work.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mail::{Envelope, parse, trim};

use crate::corpus;
use crate::report::Report;

/// The longest that one mail may take.
const LONGEST: Duration = Duration::from_millis(200);
/// How many of the slowest are named.
const NAMED: usize = 5;

pub fn score(corpora: &Path, report: &mut Report) {
    report.heading("Robustness: every file, as a mail and as a bare text");
    panic::set_hook(Box::new(|_| {}));
    let mut times: Vec<(Duration, PathBuf)> = Vec::new();
    let (mut panics, mut bytes) = (0, 0);
    for path in corpus::files_under(corpora) {
        let Ok(raw) = fs::read(&path) else { continue };
        bytes += raw.len();
        let began = Clock::start();
        let read = panic::catch_unwind(|| {
            parse(&raw, Envelope::default());
        });
        times.push((began.elapsed(), path.clone()));
        let text = String::from_utf8_lossy(&raw).into_owned();
        let began = Clock::start();
        let trimmed = panic::catch_unwind(|| trim(&text));
        times.push((began.elapsed(), path.clone()));
        if read.is_err() || trimmed.is_err() {
            panics += 1;
            report.miss(&path.display().to_string(), "panics");
        }
    }
    drop(panic::take_hook());
    let slow = times.iter().filter(|(took, _)| *took > LONGEST).count();
    report.at_most("panics", panics, times.len(), 0.0);
    report.at_most("slower than 200 ms", slow, times.len(), 0.0);
    let total: Duration = times.iter().map(|(took, _)| *took).sum();
    report.figure("files, bytes, time", &format!("{} {bytes} {total:.1?}", times.len() / 2));
    times.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    for (took, path) in times.iter().take(NAMED) {
        report.figure("slowest", &format!("{took:.1?} {}", path.display()));
    }
}

/// The time this thread has run; where the system does not tell, the time that has passed.
struct Clock {
    ran: Option<Duration>,
    began: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { ran: ran(), began: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.ran, ran()) {
            (Some(then), Some(now)) => now.saturating_sub(then),
            _ => self.began.elapsed(),
        }
    }
}

fn ran() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
