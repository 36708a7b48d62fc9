//! What a program that was taken over tries from inside the cage, one attempt a process: each must
//! be refused, or end the one who tries. The attempts are Perl, which can make any system call.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use document_reader::{ALLOCATOR_RESERVES, PageRenderer};

use super::program;

/// The secret that must not come out.
const CANARY: &str = "canary-7391";

/// A folder like ours, and a process like ours, to be attacked.
struct Victim {
    folder: tempfile::TempDir,
    process: Child,
}

impl Victim {
    fn new() -> Victim {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.key"), CANARY).unwrap();
        let mut sleep = Command::new("sleep");
        let process = sleep.arg("600").env("CANARY", CANARY).spawn().unwrap();
        // A process that was started just now has no environment yet.
        let environment = format!("/proc/{}/environ", process.id());
        while !fs::read_to_string(&environment).unwrap().contains(CANARY) {
            std::thread::yield_now();
        }
        Victim { folder, process }
    }

    fn is_whole(&mut self) -> bool {
        let names =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>() == ["secret.key"]
            && fs::read_to_string(self.folder.path().join("secret.key")).unwrap() == CANARY
            && self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Who can be told what an attempt comes to outside of the cage: ptrace and its kin are refused
/// there, too, where the system is strict.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    Works,
    Depends,
}

/// Each attempt: its name and what it does to `$d` (the folder) and `$p` (the process); the value
/// of the last expression says whether it worked.
fn attempts() -> Vec<(&'static str, Outside, String)> {
    let ptrace_seize = format!("syscall({}, 0x4206, $p, 0, 0) >= 0", libc::SYS_ptrace);
    let take_descriptor = format!(
        "my $n = syscall({}, $p, 0); $n >= 0 and syscall({}, $n, 0, 0) >= 0",
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd
    );
    let read_memory = format!(
        "my $b = ' ' x 16; my $l = pack('QQ', unpack('Q', pack('p', $b)), 8); \
         syscall({}, $p, $l, 1, $l, 1, 0) >= 0 or $! != 1",
        libc::SYS_process_vm_readv
    );
    let io_uring =
        format!("my $s = '\\0' x 128; syscall({}, 1, $s) >= 0", libc::SYS_io_uring_setup);
    let others: [(&'static str, &str); 14] = [
        ("read the key", "open($f, '<', \"$d/secret.key\") and print <$f>"),
        ("unlink", "unlink \"$d/secret.key\""),
        ("rename", "rename \"$d/secret.key\", \"$d/other\""),
        ("link", "link \"$d/secret.key\", \"$d/other\""),
        ("symlink", "symlink \"$d/secret.key\", \"$d/other\""),
        ("make a folder", "mkdir \"$d/other\""),
        ("list the folder", "opendir($f, $d)"),
        ("write a file", "open($f, '>', \"$d/other\")"),
        ("change a file", "open($f, '+<', \"$d/secret.key\") and syswrite $f, 'x'"),
        ("change the rights", "chmod 0777, \"$d/secret.key\""),
        ("fork", "my $c = fork; exit if defined $c and $c == 0; defined $c"),
        ("make a socket", "socket(my $s, 2, 1, 0)"),
        ("make a local socket", "socket(my $s, 1, 1, 0)"),
        ("read the environment", "open($f, '<', \"/proc/$p/environ\") and read($f, $_, 999)"),
    ];
    let mut attempts: Vec<_> =
        others.into_iter().map(|(name, code)| (name, Outside::Works, code.to_owned())).collect();
    attempts.push(("ptrace", Outside::Depends, ptrace_seize));
    attempts.push(("take a descriptor", Outside::Depends, take_descriptor));
    attempts.push(("read memory", Outside::Depends, read_memory));
    attempts.push(("io_uring", Outside::Depends, io_uring));
    attempts.push(("kill", Outside::Works, "kill 'KILL', $p".into()));
    attempts
}

/// What one attempt prints, in the cage (`caged look` or `caged draw`) or outside of it.
fn attempt(cage: Option<&str>, victim: &Victim, code: &str) -> String {
    let folder = victim.folder.path().display();
    let script = format!(
        "my ($d, $p, $f) = ('{folder}', {}); my $ok = do {{ {code} }}; \
         print $ok ? 'WORKED' : 'refused';",
        victim.process.id()
    );
    let mut command = match cage {
        Some(cage) => caged(cage),
        None => Command::new("/usr/bin/perl"),
    };
    let run = command.args(["-e", &script]).stdin(Stdio::null()).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))
}

/// Perl in a cage, started as the server starts programs there.
fn caged(cage: &str) -> Command {
    let mut command = Command::new(program());
    command.env_clear().env(ALLOCATOR_RESERVES, "0").args(["caged", cage, "/usr/bin/perl"]);
    command
}

#[test]
fn nothing_that_a_taken_program_tries_works_from_inside() {
    assert!(Path::new("/usr/bin/perl").exists(), "these attempts need perl");
    for (name, outside, code) in attempts() {
        if outside == Outside::Works {
            let free = attempt(None, &Victim::new(), &code);
            assert!(free.contains("WORKED"), "{name} is no attempt: {free}");
        }
        for cage in ["look", "draw"] {
            let mut victim = Victim::new();
            let tried = attempt(Some(cage), &victim, &code);
            assert!(tried.ends_with("refused"), "{name} in {cage}: {tried}");
            assert!(!tried.contains(CANARY), "{name} in {cage}: {tried}");
            assert!(victim.is_whole(), "{name} in {cage}");
        }
    }
}

#[test]
fn who_starts_another_program_from_inside_is_ended() {
    for cage in ["look", "draw"] {
        let script = "exec '/bin/echo', 'WORKED'; print 'WORKED'";
        let run = caged(cage).args(["-e", script]).output().unwrap();
        assert_eq!(run.status.signal(), Some(libc::SIGSYS), "{run:?}");
        assert!(run.stdout.is_empty(), "{run:?}");
    }
}

/// A shell leaves a descriptor open on the key; it is not there inside.
#[test]
fn no_descriptor_of_ours_is_open_inside() {
    let victim = Victim::new();
    let script = "my $f; print 'read: '; open($f, '<&=', 7) and print <$f>";
    let key = victim.folder.path().join("secret.key");
    let run = |started: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "key=$1; shift; exec \"$@\" 7<\"$key\"", "sh"]).arg(&key);
        command.env(ALLOCATOR_RESERVES, "0");
        let run = command.args(started).args(["/usr/bin/perl", "-e", script]).output().unwrap();
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert_eq!(run(&["env"]), format!("read: {CANARY}"));
    let program = program();
    assert_eq!(run(&[program.to_str().unwrap(), "caged", "look"]), "read: ");
}

#[tokio::test]
async fn a_whole_page_is_drawn_in_the_cage_and_a_broken_one_only_fails_itself() {
    let pages = PageRenderer::with_program(program());
    let page = model::documents::pdf::sheet("INVOICE", &["Total 12.00"]);
    assert!(pages.can_draw(), "these tests need pdftoppm");
    assert!(pages.first_page(page).await.is_some());
    for broken in [b"%PDF-1.7 nothing".to_vec(), Vec::new(), vec![0; 100_000]] {
        assert!(pages.first_page(broken).await.is_none());
    }
}
