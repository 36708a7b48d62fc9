//! The program itself, as a process, with its sample workspace.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// `mailroom demo`, started under the umask that most systems have; ended with this.
pub struct DemoProgram {
    child: Child,
    /// What it said when it was ready.
    pub ready: Value,
    log: PathBuf,
}

impl DemoProgram {
    /// Starts it on a database, with its data, outgoing mail and log in a folder.
    pub fn start(folder: &Path, database: &str, more: &[&str]) -> DemoProgram {
        let log = folder.join("log");
        let mut command = Command::new("sh");
        command
            .args(["-c", "umask 022; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mailroom")])
            .args(["demo", "--json", "--listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0"])
            .args(["--database-url", database, "--dns", &knows_no_names()])
            .arg("--data")
            .arg(folder.join("data"))
            .arg(format!("--relay=file:{}", folder.join("data/outbox").display()))
            .args(more)
            .env("RUST_LOG", "trace")
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MAILROOM_")) {
            command.env_remove(name);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {}", fs::read_to_string(&log).unwrap()));
        DemoProgram { child, ready, log }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    fn told(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    /// Hands a mail over by SMTP.
    pub fn deliver(&self, from: &str, to: &str, content: &str) {
        let mut stream = TcpStream::connect(self.told("smtp")).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let mut expect = |code: &str| loop {
            let mut line = String::new();
            answers.read_line(&mut line).unwrap();
            assert!(line.starts_with(code), "{line}");
            if line.as_bytes()[3] == b' ' {
                break;
            }
        };
        expect("220");
        for (line, code) in [
            ("EHLO client.example".to_owned(), "250"),
            (format!("MAIL FROM:<{from}>"), "250"),
            (format!("RCPT TO:<{to}>"), "250"),
            ("DATA".into(), "354"),
            (format!("{content}\r\n."), "250"),
            ("QUIT".into(), "221"),
        ] {
            stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
            expect(code);
        }
    }

    /// The head and body of the answer to a request with these headers.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (String, String) {
        let host = self.told("address").strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// What the API answers the live key.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\n",
            self.told("liveKey")
        );
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (head, body) = self.ask(method, &format!("/api/v1{path}"), &headers, &body);
        serde_json::from_str(&body).unwrap_or_else(|_| panic!("{head}\n{body}"))
    }

    /// The cookie of a session that the sign-in link begins.
    pub fn sign_in(&self) -> String {
        let link = self.told("signInUrl");
        let path = &link[link.find("/sign-in/").unwrap()..];
        let form = "Content-Type: application/x-www-form-urlencoded\r\n";
        let (head, _) = self.ask("POST", path, form, "csrf=");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        cookie.unwrap_or_else(|| panic!("{head}")).split(';').next().unwrap().to_owned()
    }
}

impl Drop for DemoProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of a DNS server that answers at once that there is no such name.
fn knows_no_names() -> String {
    const ANSWER: u8 = 0x80;
    const NO_SUCH_NAME: u8 = 3;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut packet = [0; 1_500];
        while let Ok((size, from)) = socket.recv_from(&mut packet) {
            packet[2] |= ANSWER;
            packet[3] = NO_SUCH_NAME;
            let _ = socket.send_to(&packet[..size], from);
        }
    });
    address
}
