//! Sandboxing of the processes that parse untrusted files: resource limits, seccomp and Landlock.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, nice, setrlimit};

use super::{file_access, seccomp};

/// Bytes of memory, and seconds of the processor, that reading one file may take.
pub const READER_BYTES: u64 = 512 * 1024 * 1024;
pub const READER_CPU_SECONDS: u64 = 10;
/// Bytes of the stack of the process that reads a mail.
const MAIL_STACK_BYTES: u64 = 1_792 * 1024;
/// Parsing has a low CPU priority, below receiving, sending and serving.
const NICENESS: i32 = 19;
/// Descriptors of standard input, output and error: the only ones that a sandboxed process keeps.
const STANDARD_DESCRIPTORS: i32 = 3;
/// The descriptors that are closed where the system does not list the open ones.
const UNLISTED_DESCRIPTORS: i32 = 1_024;

/// Resource limits of an external program in the sandbox.
#[derive(Clone, Copy, Debug)]
pub struct ProgramLimits {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Seconds of the processor.
    pub cpu_seconds: u64,
    /// Files open at once: itself, its libraries, languages and fonts.
    pub open_files: u64,
}

/// For tesseract, for one picture.
pub const OCR_LIMITS: ProgramLimits =
    ProgramLimits { memory_bytes: 1024 * 1024 * 1024, cpu_seconds: 30, open_files: 64 };
/// For pdftoppm, for one page.
pub const RENDERING_LIMITS: ProgramLimits =
    ProgramLimits { memory_bytes: 512 * 1024 * 1024, cpu_seconds: 8, open_files: 64 };

/// Sandboxes a parser: it reads its input and writes its output, and can open no file, start no
/// process and reach no network.
pub fn enter_as_reader() -> io::Result<()> {
    lower_rights()?;
    limit(Resource::As, READER_BYTES)?;
    limit(Resource::Cpu, READER_CPU_SECONDS)?;
    limit(Resource::Nproc, 0)?;
    file_access::allow_nothing()?;
    seccomp::allow_computing()
}

/// The same for a mail, with less of a stack than the server's threads have: what overflows theirs
/// ends here.
pub fn enter_as_mail_reader() -> io::Result<()> {
    limit(Resource::Stack, MAIL_STACK_BYTES)?;
    enter_as_reader()
}

/// Executes another program, which may read its libraries and data and write nothing. Returns only
/// when exec failed.
pub fn become_program(limits: ProgramLimits, program: &Path, args: &[String]) -> io::Error {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.args(args);
    match enter_as_program(limits, program, command.get_program()) {
        Ok(()) => command.exec(),
        Err(error) => error,
    }
}

/// `name` is where the command keeps the program's path: the one place to start a program from.
fn enter_as_program(limits: ProgramLimits, program: &Path, name: &OsStr) -> io::Result<()> {
    lower_rights()?;
    file_access::allow_program(program)?;
    limit(Resource::As, limits.memory_bytes)?;
    limit(Resource::Cpu, limits.cpu_seconds)?;
    limit(Resource::Nofile, limits.open_files)?;
    seccomp::allow_one_program(name.as_encoded_bytes().as_ptr() as u64)
}

/// Lowers the CPU priority, makes the process's memory unreadable to others, closes inherited
/// descriptors, and forbids core dumps and file writes.
fn lower_rights() -> io::Result<()> {
    nice(NICENESS)?;
    hide_memory()?;
    close_inherited();
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)
}

/// Keeps other processes of the same user from reading this one's memory and descriptors, and the
/// system from writing them into a core dump.
pub fn hide_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

fn close_inherited() {
    let listed = fs::read_dir("/proc/self/fd").map(|entries| {
        let number =
            |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        entries.filter_map(number).collect::<Vec<i32>>()
    });
    let open = listed.unwrap_or_else(|_| (0..UNLISTED_DESCRIPTORS).collect());
    for descriptor in open.into_iter().filter(|number| *number >= STANDARD_DESCRIPTORS) {
        // The one that the list was read with is closed already.
        #[cfg(target_os = "linux")]
        let _ = nix::unistd::close(descriptor);
        #[cfg(not(target_os = "linux"))]
        let _ = descriptor;
    }
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(())
}
