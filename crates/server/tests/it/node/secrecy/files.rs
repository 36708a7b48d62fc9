//! Folders and files are for the user who runs us, under any umask, and what stands open is closed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::program::DemoProgram;
use crate::support::Chance;

const INBOX: &str = "support@lumen-holz.example";
/// Bytes of an attachment that is kept as a file of its own.
const LARGE: usize = 300_000;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything in a folder, itself too.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all_in(&path)),
            false => found.push(path),
        }
    }
    found
}

fn sqlite(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("data/mailroom.db").display())
}

#[test]
fn what_is_made_is_for_nobody_else_and_the_socket_for_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("lmtp");
    let lmtp = format!("--lmtp-listen=unix:{}", socket.display());
    let program = DemoProgram::start(folder.path(), &sqlite(folder.path()), &[&lmtp]);
    program.deliver("mara@customer.example", INBOX, &large_letter());
    let found = all_in(&folder.path().join("data"));
    let named = |name: &str| found.iter().any(|path| path.ends_with(name));
    assert!(named("mailroom.db") && named("mailroom.db-wal") && named("secret.key"), "{found:?}");
    assert!(named("blobs/arriving") && named("outbox"), "{found:?}");
    assert!(
        found
            .iter()
            .any(|path| path.is_file()
                && path.parent().unwrap().parent().unwrap().ends_with("blobs")),
        "{found:?}"
    );
    for path in &found {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), expected, "{path:?}");
    }
    assert_eq!(mode(&socket), 0o660);
}

#[test]
fn what_stands_open_is_closed_at_start_and_told() {
    let folder = tempfile::tempdir().unwrap();
    drop(DemoProgram::start(folder.path(), &sqlite(folder.path()), &[]));
    let data = folder.path().join("data");
    let open = [("", 0o755), ("blobs", 0o755), ("mailroom.db", 0o644), ("secret.key", 0o644)];
    for (name, mode) in open {
        set_mode(&data.join(name), mode);
    }
    let lmtp = format!("--lmtp-listen=unix:{}", folder.path().join("lmtp").display());
    let more = [lmtp.as_str(), "--lmtp-socket-mode=600", "--lmtp-socket-group=0"];
    let more = if rustix::process::geteuid().is_root() { &more[..] } else { &more[..2] };
    let program = DemoProgram::start(folder.path(), &sqlite(folder.path()), more);
    // Whoever is answered comes after the start.
    program.ask("GET", "/healthz", "", "");
    for (name, open) in open {
        let closed = if open == 0o755 { 0o700 } else { 0o600 };
        assert_eq!(mode(&data.join(name)), closed, "{name}");
    }
    assert_eq!(mode(&folder.path().join("lmtp")), 0o600);
    let log = program.log();
    let told = log.lines().filter(|line| line.contains("could read this; they cannot any more"));
    assert!(told.count() >= open.len(), "{log}");
}

/// A mail with an attachment that cannot be packed small.
fn large_letter() -> String {
    let mut chance = Chance::new(5);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = (0..LARGE).map(|_| letters[chance.below(64)]).collect();
    let lines: Vec<&str> =
        bytes.chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!(
        "From: mara@customer.example\r\nTo: {INBOX}\r\nSubject: A file\r\n\
         Message-ID: <large@customer.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n\
         --b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=\"a.bin\"\r\n\r\n{}\r\n--b--\r\n",
        lines.join("\r\n")
    )
}
