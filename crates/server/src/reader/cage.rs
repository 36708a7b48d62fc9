//! What is taken away from a process before it touches a stranger's file.

use std::io;

use rustix::process::{Resource, Rlimit, nice, setrlimit};

/// Bytes of memory, and seconds of the processor, that reading one file may take.
pub const READER_BYTES: u64 = 512 * 1024 * 1024;
pub const READER_CPU_SECONDS: u64 = 10;
/// The same for looking at one picture.
pub const LOOKER_BYTES: u64 = 1024 * 1024 * 1024;
pub const LOOKER_CPU_SECONDS: u64 = 30;
/// Reading can wait: whoever receives, sends and answers goes first.
const NICENESS: i32 = 19;
/// Files that tesseract has open at once: itself, its libraries and languages.
const LOOKER_FILES: u64 = 64;

/// A process that only thinks: it reads what it was given, answers, and can open no file, start no
/// process and reach no network.
pub fn enter_as_reader() -> io::Result<()> {
    nice(NICENESS)?;
    limit(Resource::Core, 0)?;
    limit(Resource::As, READER_BYTES)?;
    limit(Resource::Cpu, READER_CPU_SECONDS)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nproc, 0)?;
    filters::only_think()
}

/// A process that becomes tesseract: it may read files, and do nothing to the world.
pub fn enter_as_looker() -> io::Result<()> {
    nice(NICENESS)?;
    limit(Resource::Core, 0)?;
    limit(Resource::As, LOOKER_BYTES)?;
    limit(Resource::Cpu, LOOKER_CPU_SECONDS)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, LOOKER_FILES)?;
    filters::change_nothing()
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(())
}

#[cfg(target_os = "linux")]
mod filters {
    use std::collections::BTreeMap;
    use std::io;

    use libc::c_long;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

    /// Calls that memory, time, pipes and the end of a process need.
    const THINKING: &[c_long] = &[
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_lseek,
        libc::SYS_fstat,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_membarrier,
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_clock_gettime,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_tgkill,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Calls that reach the network, other processes or the machine, or change files.
    const CHANGING: &[c_long] = &[
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_kill,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_mkdirat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_truncate,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_bpf,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_add_key,
    ];

    pub fn only_think() -> io::Result<()> {
        install(THINKING, refused(), SeccompAction::Allow)
    }

    pub fn change_nothing() -> io::Result<()> {
        install(CHANGING, SeccompAction::Allow, refused())
    }

    /// The call fails as one that is not permitted, so that a library can say so in its own words.
    fn refused() -> SeccompAction {
        SeccompAction::Errno(libc::EPERM as u32)
    }

    fn install(calls: &[c_long], others: SeccompAction, these: SeccompAction) -> io::Result<()> {
        let rules: BTreeMap<i64, _> = calls.iter().map(|call| (*call, Vec::new())).collect();
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let filter = SeccompFilter::new(rules, others, these, arch).map_err(io::Error::other)?;
        let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
        apply_filter(&program).map_err(io::Error::other)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Filters hold for the thread that installs them, so a thread stands for the process.
        #[test]
        fn who_only_thinks_opens_and_starts_and_reaches_nothing() {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let inside = std::thread::spawn(move || {
                only_think().unwrap();
                let file = std::fs::File::open("/proc/self/status").is_err();
                let made = std::fs::write("/dev/shm/made-in-a-cage", "x").is_err();
                let network = std::net::TcpStream::connect(address).is_err();
                let process = std::process::Command::new("/bin/true").status().is_err();
                let thoughts: Vec<u64> = (0..100_000).collect();
                [file, made, network, process, thoughts.len() == 100_000]
            });
            assert_eq!(inside.join().unwrap(), [true; 5]);
        }

        #[test]
        fn who_looks_reads_files_and_changes_nothing() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            std::fs::write(&file, "x").unwrap();
            let inside = std::thread::spawn(move || {
                change_nothing().unwrap();
                let read = std::fs::read(&file).is_ok();
                let network = std::net::UdpSocket::bind("127.0.0.1:0").is_err();
                [read, network]
            });
            assert_eq!(inside.join().unwrap(), [true; 2]);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod filters {
    //! Elsewhere the limits on memory, time and files have to do.

    pub fn only_think() -> std::io::Result<()> {
        Ok(())
    }

    pub fn change_nothing() -> std::io::Result<()> {
        Ok(())
    }
}
