//! The figures of this process that Prometheus's own libraries give, by the same names, read from `/proc`.

use std::fmt::Write;
use std::fs;

use rustix::process::{Resource, getrlimit};

/// Clock ticks a second in `/proc`, the same on all machines that Linux runs on (`USER_HZ`).
const TICKS: f64 = 100.0;
const KIB: f64 = 1_024.0;

/// The figures as lines of `/metrics`; what cannot be read is left out.
pub fn process_figures() -> String {
    let stat = fs::read_to_string("/proc/self/stat").ok().and_then(|stat| read_stat(&stat));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let booted = || read_number(&fs::read_to_string("/proc/stat").ok()?, "btime ");
    let begun = stat.as_ref().and_then(|stat| Some(booted()? + stat.began_after));
    // The one that reads the folder is no descriptor of ours.
    let open = fs::read_dir("/proc/self/fd").ok().map(|all| all.count().saturating_sub(1) as f64);
    let most = getrlimit(Resource::Nofile).current.map(|most| most as f64);
    let mut lines = String::new();
    for (name, kind, help, value) in [
        (
            "process_cpu_seconds_total",
            "counter",
            "Processor time of the process, in seconds.",
            stat.as_ref().map(|stat| stat.cpu),
        ),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Memory of the process that is in RAM.",
            read_number(&status, "VmRSS:").map(|kib| kib * KIB),
        ),
        (
            "process_virtual_memory_bytes",
            "gauge",
            "Address space of the process.",
            read_number(&status, "VmSize:").map(|kib| kib * KIB),
        ),
        ("process_threads", "gauge", "Threads of the process.", read_number(&status, "Threads:")),
        ("process_open_fds", "gauge", "Open file descriptors.", open),
        ("process_max_fds", "gauge", "File descriptors that may be open.", most),
        ("process_start_time_seconds", "gauge", "When the process began, as Unix time.", begun),
    ] {
        if let Some(value) = value {
            // Writing to text cannot fail.
            let _ = write!(lines, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n\n");
        }
    }
    lines
}

struct ProcessTimes {
    /// Seconds of processor time, in programs and in the kernel.
    cpu: f64,
    /// Seconds after the boot.
    began_after: f64,
}

/// The fields after the program's name, which may hold anything, a bracket too (proc(5)).
fn read_stat(stat: &str) -> Option<ProcessTimes> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    // Numbered from 1, and the first is the third of the line.
    let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let cpu = (ticks(14)? + ticks(15)?) / TICKS;
    Some(ProcessTimes { cpu, began_after: ticks(22)? / TICKS })
}

/// The number behind a name at the beginning of a line.
fn read_number(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_with_brackets_shifts_no_field() {
        let times = "S 1 1 1 0 -1 4194304 5 0 0 0 250 50 0 0 20 0 9 0 12345 1000 200";
        let read = read_stat(&format!("42 (a) b (c) {times}")).unwrap();
        assert!((read.cpu - 3.0).abs() < 1e-9 && (read.began_after - 123.45).abs() < 1e-9);
        assert!(read_stat("42 (a) S 1").is_none());
    }

    #[test]
    fn this_process_is_described() {
        let figures = process_figures();
        let value = |name: &str| read_number(&figures, &format!("{name} ")).expect(name);
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_threads") >= 1.0 && value("process_cpu_seconds_total") >= 0.0);
        let begun = value("process_start_time_seconds");
        let now = jiff::Timestamp::now().as_second() as f64;
        assert!((now - 86_400.0..=now + 1.0).contains(&begun), "{begun} and {now}");
    }
}
