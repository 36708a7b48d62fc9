//! The program itself: descriptors that run out, and the signals that it is sent.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::*;
use crate::mail_in::smtp::tls::{certificate_of, encrypted};
use crate::support::Client;

/// A stop takes less than three seconds where the machine has time for it.
const STOPPED_WITHIN: Duration = Duration::from_secs(15);

fn program(folder: &tempfile::TempDir, before: &str, command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{before} exec \"$0\" {command}"))
        .arg(env!("CARGO_BIN_EXE_mailroom"))
        .env("MAILROOM_DATA", folder.path())
        .env("MAILROOM_LISTEN", "127.0.0.1:0")
        .env("MAILROOM_SMTP_LISTEN", "127.0.0.1:0")
        .env_remove("MAILROOM_DATABASE_URL")
        .env_remove("RUST_LOG")
        .env("MAILROOM_LOG", "json")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    shell
}

/// The demo, running.
struct Demo {
    child: Child,
    told: Value,
    _stdout: Lines<BufReader<ChildStdout>>,
    _folder: tempfile::TempDir,
}

impl Demo {
    async fn start(before: &str) -> Demo {
        let folder = tempfile::tempdir().unwrap();
        let mut command = program(&folder, before, "demo --json");
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, stdout.next_line()).await.expect("it starts").unwrap();
        let told = serde_json::from_str(&line.expect("what it is called by")).unwrap();
        Demo { child, told, _stdout: stdout, _folder: folder }
    }

    fn text(&self, name: &str) -> &str {
        self.told[name].as_str().unwrap()
    }

    async fn http(&self) -> TcpStream {
        let address = self.text("address").strip_prefix("http://").unwrap();
        TcpStream::connect(address).await.unwrap()
    }

    /// Signs the owner in; answers the session's cookie.
    async fn session(&self) -> String {
        let link = self.text("signInUrl").strip_prefix(self.text("address")).unwrap();
        let mut client = self.http().await;
        let head = format!(
            "POST {link} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\ncsrf="
        );
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(PATIENCE, client.read_to_string(&mut answer)).await.expect("an answer").unwrap();
        let (_, cookie) = answer.split_once("mailroom_session=").expect("a session");
        format!("mailroom_session={}", cookie.split(';').next().unwrap())
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[tokio::test]
async fn silent_clients_take_the_descriptors_of_nobody_else() {
    let demo = Demo::start("ulimit -n 256;").await;
    let mut silent = Vec::new();
    for _ in 0..400 {
        silent.push(demo.http().await);
    }
    let mail = TcpStream::connect(demo.text("smtp")).await.unwrap();
    Client::greeted(mail, "220 ").await;
    let mut client = demo.http().await;
    ask(&mut client, "/readyz").await;
    hears(&mut client, "ready").await;
}

#[tokio::test]
async fn an_open_page_does_not_hold_up_the_end() {
    let mut demo = Demo::start("").await;
    let session = demo.session().await;
    let mut live = demo.http().await;
    let head = format!("GET /live?view=open HTTP/1.1\r\nHost: x\r\nCookie: {session}\r\n\r\n");
    live.write_all(head.as_bytes()).await.unwrap();
    hears(&mut live, "event: here").await;
    let mut mail =
        Client::greeted(TcpStream::connect(demo.text("smtp")).await.unwrap(), "220 ").await;
    signal(&demo.child, Signal::TERM);
    mail.hears("421 4.3.2").await;
    hears(&mut live, "0\r\n\r\n").await;
    let ended = timeout(STOPPED_WITHIN, demo.child.wait()).await.expect("it stops").unwrap();
    assert!(ended.success(), "{ended}");
}

/// What a line of the log says, without the rest of it.
async fn logged(log: &mut Lines<BufReader<ChildStderr>>, words: &str) -> Value {
    let reading = async {
        loop {
            let line = log.next_line().await.unwrap().expect("the program is there");
            let Ok(line) = serde_json::from_str::<Value>(&line) else { continue };
            if line["fields"]["message"].as_str().is_some_and(|said| said.contains(words)) {
                return line["fields"].clone();
            }
        }
    };
    timeout(PATIENCE, reading).await.expect("it is logged")
}

#[tokio::test]
async fn a_hangup_reads_the_certificate_anew_and_a_bad_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let setup = "--workspace Acme --owner-email o@acme.example --owner-name Olive \
                 --inbox support@acme.example --inbox-name Support";
    let set_up = program(&folder, "", &format!("setup {setup}")).output().await.unwrap();
    assert!(set_up.status.success(), "{}", String::from_utf8_lossy(&set_up.stderr));
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let renew = || {
        let made = rcgen::generate_simple_self_signed(["mail.acme.example".to_owned()]).unwrap();
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        made.cert.der().to_vec()
    };
    let first = renew();
    let mut command = program(&folder, "", "serve");
    let mut child =
        command.env("MAILROOM_TLS_CERT", &cert).env("MAILROOM_TLS_KEY", &key).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let limit = logged(&mut log, "open files").await;
    assert!(limit["open_files"].as_u64().is_some_and(|files| files > 0), "{limit}");
    let serving = logged(&mut log, "serving").await;
    let smtp = serving["smtp"].as_str().unwrap().to_owned();
    let shown = async || {
        let mut client = Client::greeted(TcpStream::connect(&smtp).await.unwrap(), "220 ").await;
        client.say("EHLO client.x.example", "250 ").await;
        client.say("STARTTLS", "220 ").await;
        certificate_of(encrypted(client).await)
    };
    assert!(shown().await == first);
    let second = renew();
    signal(&child, Signal::HUP);
    logged(&mut log, "TLS certificate reloaded").await;
    assert!(shown().await == second);
    std::fs::write(&cert, "no certificate").unwrap();
    signal(&child, Signal::HUP);
    let told = logged(&mut log, "TLS certificate not reloaded").await;
    assert!(told["error"].as_str().is_some_and(|error| error.contains("cert.pem")), "{told}");
    assert!(shown().await == second);
    signal(&child, Signal::TERM);
    timeout(STOPPED_WITHIN, child.wait()).await.expect("it stops").unwrap();
}
