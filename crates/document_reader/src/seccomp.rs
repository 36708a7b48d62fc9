//! The seccomp allow-list of a sandboxed process; every other system call fails with EPERM.

pub use filters::{allow_computing, allow_one_program};

#[cfg(target_os = "linux")]
mod filters {
    use std::collections::BTreeMap;
    use std::io;

    use libc::c_long;
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, TargetArch, apply_filter,
    };

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// Memory, time, pipes and the end of a process.
    const COMPUTING: &[c_long] = &[
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
        libc::SYS_clock_getres,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// System calls of a program's start and of opening its files.
    const STARTING: &[c_long] = &[
        libc::SYS_pread64,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_statfs,
        libc::SYS_fstatfs,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_readlinkat,
        libc::SYS_getdents64,
        libc::SYS_fadvise64,
        libc::SYS_getcwd,
        libc::SYS_getuid,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getegid,
        libc::SYS_getppid,
        libc::SYS_uname,
        libc::SYS_sysinfo,
        libc::SYS_gettimeofday,
        libc::SYS_getrusage,
        libc::SYS_times,
        libc::SYS_set_tid_address,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_arch_prctl,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_access,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_stat,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lstat,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_time,
    ];

    /// Flags with which a file is opened to be changed or made.
    const CHANGING_FLAGS: i32 = libc::O_WRONLY
        | libc::O_RDWR
        | libc::O_CREAT
        | libc::O_TRUNC
        | libc::O_APPEND
        | libc::O_TMPFILE & !libc::O_DIRECTORY;

    /// The allowed `fcntl` commands.
    const DESCRIPTOR_COMMANDS: &[i32] = &[libc::F_GETFD, libc::F_SETFD, libc::F_GETFL];

    /// The filter of a parser, which reads its input and writes its output.
    pub fn allow_computing() -> io::Result<()> {
        install(computing()?, SeccompAction::Allow, deny_action())
    }

    /// The filter of a process that executes one program. `execve` is allowed only with the path at
    /// this memory address, which does not survive the exec. A call with any other address kills
    /// the process, so that the address cannot be found by probing.
    pub fn allow_one_program(path_pointer: u64) -> io::Result<()> {
        let elsewhere = when(&[(0, Width::Pointer, SeccompCmpOp::Ne, path_pointer)])?;
        install(
            Rules::from([(libc::SYS_execve, vec![elsewhere])]),
            SeccompAction::KillProcess,
            SeccompAction::Allow,
        )?;
        let here = when(&[(0, Width::Pointer, SeccompCmpOp::Eq, path_pointer)])?;
        let mut rules = computing()?;
        rules.extend(STARTING.iter().map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_execve, vec![here]);
        rules.insert(libc::SYS_openat, vec![reading_only(2)?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![reading_only(1)?]);
        let commands = DESCRIPTOR_COMMANDS.iter().map(|command| equals(1, *command as u64));
        rules.insert(libc::SYS_fcntl, commands.collect::<io::Result<_>>()?);
        // `prlimit` may read the process's own limits, and set none.
        let asked = when(&[
            (0, Width::Number, SeccompCmpOp::Eq, 0),
            (2, Width::Pointer, SeccompCmpOp::Eq, 0),
        ])?;
        rules.insert(libc::SYS_prlimit64, vec![asked]);
        install(rules, SeccompAction::Allow, deny_action())
    }

    /// A process may send signals to itself alone: that is how it ends when it must.
    fn computing() -> io::Result<Rules> {
        let mut rules: Rules = COMPUTING.iter().map(|call| (*call, Vec::new())).collect();
        rules.insert(libc::SYS_tgkill, vec![equals(0, u64::from(std::process::id()))?]);
        Ok(rules)
    }

    fn reading_only(flags: u8) -> io::Result<SeccompRule> {
        when(&[(flags, Width::Number, SeccompCmpOp::MaskedEq(CHANGING_FLAGS as u64), 0)])
    }

    fn equals(argument: u8, value: u64) -> io::Result<SeccompRule> {
        when(&[(argument, Width::Number, SeccompCmpOp::Eq, value)])
    }

    #[derive(Clone, Copy)]
    enum Width {
        Number,
        Pointer,
    }

    /// A rule that holds when all of these do.
    fn when(conditions: &[(u8, Width, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
        let condition = |(argument, width, op, value): &(u8, Width, SeccompCmpOp, u64)| {
            let width = match width {
                Width::Number => SeccompCmpArgLen::Dword,
                Width::Pointer => SeccompCmpArgLen::Qword,
            };
            SeccompCondition::new(*argument, width, op.clone(), *value)
        };
        let conditions: Result<Vec<_>, BackendError> = conditions.iter().map(condition).collect();
        conditions.and_then(SeccompRule::new).map_err(io::Error::other)
    }

    /// The call fails as one that is not permitted, so that a library can say so in its own words.
    fn deny_action() -> SeccompAction {
        SeccompAction::Errno(libc::EPERM as u32)
    }

    fn install(rules: Rules, these: SeccompAction, others: SeccompAction) -> io::Result<()> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let filter = SeccompFilter::new(rules, others, these, arch).map_err(io::Error::other)?;
        let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
        apply_filter(&program).map_err(io::Error::other)
    }

    #[cfg(test)]
    mod tests {
        use std::fs;
        use std::process::Command;

        use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

        use super::*;

        /// Filters hold for the thread that installs them, so a thread stands for the process.
        #[test]
        fn who_only_computes_opens_changes_starts_and_reaches_nothing() {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            fs::write(&file, "x").unwrap();
            let mut other = Command::new("sleep").arg("60").spawn().unwrap();
            let pid = Pid::from_child(&other);
            let inside = std::thread::spawn(move || {
                allow_computing().unwrap();
                let thoughts: Vec<u64> = (0..100_000).collect();
                [
                    ("open", fs::File::open("/proc/self/status").is_err()),
                    ("write", fs::write("/dev/shm/made-in-a-cage", "x").is_err()),
                    ("unlink", fs::remove_file(&file).is_err()),
                    ("rename", fs::rename(&file, file.with_extension("new")).is_err()),
                    ("connect", std::net::TcpStream::connect(address).is_err()),
                    ("start", Command::new("/bin/true").status().is_err()),
                    ("kill", kill_process(pid, Signal::KILL).is_err()),
                    ("pidfd", pidfd_open(pid, PidfdFlags::empty()).is_err()),
                    ("compute", thoughts.len() == 100_000),
                ]
            });
            for (what, refused) in inside.join().unwrap() {
                assert!(refused, "{what}");
            }
            assert!(other.try_wait().unwrap().is_none());
            other.kill().unwrap();
            other.wait().unwrap();
        }

        #[test]
        fn a_program_reads_files_and_changes_none() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            fs::write(&file, "x").unwrap();
            let inside = std::thread::spawn(move || {
                allow_one_program(0).unwrap();
                [
                    ("read", fs::read(&file).is_ok()),
                    ("write", fs::write(&file, "y").is_err()),
                    ("append", fs::File::options().append(true).open(&file).is_err()),
                    ("unlink", fs::remove_file(&file).is_err()),
                    ("socket", std::net::UdpSocket::bind("127.0.0.1:0").is_err()),
                ]
            });
            for (what, held) in inside.join().unwrap() {
                assert!(held, "{what}");
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod filters {
    //! Elsewhere the limits on memory, time and files have to do.

    pub fn allow_computing() -> std::io::Result<()> {
        Ok(())
    }

    pub fn allow_one_program(_path_pointer: u64) -> std::io::Result<()> {
        Ok(())
    }
}
