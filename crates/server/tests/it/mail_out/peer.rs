//! A mail server that a test can tell how to behave.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use testing::OAuthProviderServer;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How a server behaves.
#[derive(Clone, Default)]
pub struct Manner {
    /// What it offers beside plain SMTP.
    pub offers: Vec<&'static str>,
    /// What it says to commands that begin like this; `greeting` and `.` are commands too.
    pub says: Vec<(&'static str, &'static str)>,
    /// It hangs up instead of answering the command that begins like this.
    pub cuts: Option<&'static str>,
    /// It hangs up after so many mails of one session.
    pub mails_each: Option<usize>,
    pub tls: Option<TlsAcceptor>,
    /// TLS before the first word.
    pub implicit: bool,
    /// The provider whose access tokens it takes (XOAUTH2).
    pub tokens: Option<Arc<OAuthProviderServer>>,
}

/// What a server heard and got.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub sessions: usize,
    /// Every command, with `tls ` in front where it was encrypted.
    pub commands: Vec<String>,
    pub mails: Vec<Got>,
}

#[derive(Clone, Debug)]
pub struct Got {
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
}

pub struct Peer {
    pub address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    seen: Arc<Mutex<Seen>>,
}

impl Peer {
    pub async fn start(manner: Manner) -> Peer {
        Peer::start_at("127.0.0.1:0", manner).await
    }

    pub async fn start_at(address: &str, manner: Manner) -> Peer {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (manner, seen) = (Arc::new(Mutex::new(manner)), Arc::<Mutex<Seen>>::default());
        let peer = Peer { address, manner: manner.clone(), seen: seen.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                seen.lock().unwrap().sessions += 1;
                let (manner, seen) = (manner.lock().unwrap().clone(), seen.clone());
                tokio::spawn(async move {
                    match (manner.implicit, &manner.tls) {
                        (true, Some(acceptor)) => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            serve(BufReader::new(stream), &manner, &seen, true).await;
                        }
                        _ => {
                            let mut stream = BufReader::new(stream);
                            if serve(&mut stream, &manner, &seen, false).await {
                                let Some(acceptor) = &manner.tls else { return };
                                let accepted = acceptor.accept(stream.into_inner()).await;
                                let Ok(stream) = accepted else { return };
                                serve(BufReader::new(stream), &manner, &seen, true).await;
                            }
                        }
                    }
                });
            }
        });
        peer
    }

    pub fn behaves(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }
}

/// Speaks until somebody hangs up; true when TLS is next.
async fn serve<S>(mut stream: S, manner: &Manner, seen: &Mutex<Seen>, encrypted: bool) -> bool
where
    S: AsyncBufReadExt + AsyncRead + AsyncWrite + Unpin,
{
    let starts = manner.implicit || !encrypted;
    if starts && !answer(&mut stream, manner, "greeting", "220 peer.example").await {
        return false;
    }
    let mut got = Got { from: String::new(), to: Vec::new(), text: String::new() };
    let mut taken = 0;
    loop {
        let Some(command) = line(&mut stream).await else { return false };
        let said = if encrypted { format!("tls {command}") } else { command.clone() };
        seen.lock().unwrap().commands.push(said);
        let word = command.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        if let (Some(provider), Some(said)) =
            (&manner.tokens, command.strip_prefix("AUTH XOAUTH2 "))
        {
            if !takes_token(&mut stream, provider, said).await {
                return false;
            }
            continue;
        }
        let usual = match word.as_str() {
            "EHLO" => greeting(manner, encrypted),
            "STARTTLS" => "220 go on".into(),
            "AUTH" if command.ends_with("LOGIN") => "334 VXNlcm5hbWU6".into(),
            "AUTH" => "235 welcome".into(),
            "DATA" => "354 go on".into(),
            "QUIT" => "221 bye".into(),
            _ => "250 fine".into(),
        };
        if !answer(&mut stream, manner, &command, &usual).await {
            return false;
        }
        let refused = said_to(manner, &command).is_some_and(|said| !said.starts_with(['2', '3']));
        match word.as_str() {
            "STARTTLS" if !refused => return true,
            "MAIL" => got = Got { from: command, to: Vec::new(), text: String::new() },
            "RCPT" if !refused => got.to.push(command),
            "AUTH" if command.ends_with("LOGIN") => {
                for next in ["334 UGFzc3dvcmQ6", "235 welcome"] {
                    let Some(word) = line(&mut stream).await else { return false };
                    seen.lock().unwrap().commands.push(format!("tls {word}"));
                    stream.write_all(format!("{next}\r\n").as_bytes()).await.unwrap();
                }
            }
            "DATA" if said_to(manner, &command).is_none() => {
                loop {
                    let Some(text) = line(&mut stream).await else { return false };
                    if text == "." {
                        break;
                    }
                    got.text.push_str(text.strip_prefix('.').unwrap_or(&text));
                    got.text.push_str("\r\n");
                }
                let takes = said_to(manner, ".").is_none_or(|said| said.starts_with('2'));
                if takes {
                    seen.lock().unwrap().mails.push(got.clone());
                }
                taken += 1;
                if !answer(&mut stream, manner, ".", "250 taken").await
                    || manner.mails_each.is_some_and(|most| taken >= most)
                {
                    return false;
                }
            }
            "QUIT" => return false,
            _ => {}
        }
    }
}

/// Answers XOAUTH2; false when the client hung up. A refusal is explained first.
async fn takes_token<S>(stream: &mut S, provider: &OAuthProviderServer, said: &str) -> bool
where
    S: AsyncBufReadExt + AsyncWrite + Unpin,
{
    let said = String::from_utf8(STANDARD.decode(said).unwrap()).unwrap();
    let token = said.split('\u{1}').find_map(|part| part.strip_prefix("auth=Bearer "));
    if token.is_some_and(|token| provider.knows(token)) {
        return stream.write_all(b"235 welcome\r\n").await.is_ok();
    }
    stream.write_all(b"334 eyJzdGF0dXMiOiI0MDAifQ==\r\n").await.unwrap();
    let Some(empty) = line(stream).await else { return false };
    assert_eq!(empty, "");
    stream.write_all(b"535 5.7.8 Token not accepted\r\n").await.is_ok()
}

async fn line<S: AsyncBufReadExt + Unpin>(stream: &mut S) -> Option<String> {
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).await.ok()?;
    let line = line.strip_suffix(b"\r\n")?;
    Some(String::from_utf8(line.to_vec()).unwrap())
}

fn greeting(manner: &Manner, encrypted: bool) -> String {
    let offers = manner.offers.iter().filter(|offer| !(encrypted && **offer == "STARTTLS"));
    let mut lines: Vec<String> = vec!["250-peer.example".into()];
    lines.extend(offers.map(|offer| format!("250-{offer}")));
    lines.push("250 HELP".into());
    lines.join("\r\n")
}

fn said_to(manner: &Manner, command: &str) -> Option<&'static str> {
    manner.says.iter().find(|(start, _)| command.starts_with(start)).map(|(_, said)| *said)
}

/// False when it hung up instead.
async fn answer<S: AsyncWrite + Unpin>(
    stream: &mut S,
    manner: &Manner,
    command: &str,
    usual: &str,
) -> bool {
    if manner.cuts.is_some_and(|start| command.starts_with(start)) {
        return false;
    }
    let said = said_to(manner, command).unwrap_or(usual);
    stream.write_all(format!("{said}\r\n").as_bytes()).await.is_ok()
}
