//! A virus scanner behind a socket: ClamAV's daemon, spoken to in its INSTREAM command.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use base::concurrency::blocking::spawn_blocking;
use base::files::scanner::{ScanResult, Scanner, Scanning};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

/// Bytes that are sent at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// Connecting, sending and scanning together.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest response that is read, in bytes.
const ANSWER_BYTES: u64 = 1024;

/// Where the daemon listens: `unix:PATH` or `host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clamd {
    Socket(PathBuf),
    Tcp(String),
}

impl FromStr for Clamd {
    type Err = ();

    fn from_str(text: &str) -> Result<Clamd, ()> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(()) } else { Ok(Clamd::Socket(path.into())) };
        }
        let (host, port) = text.rsplit_once(':').ok_or(())?;
        if !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) {
            Ok(Clamd::Tcp(text.to_owned()))
        } else {
            Err(())
        }
    }
}

impl Scanner for Clamd {
    fn scan(&self, file: File) -> Scanning<'_> {
        Box::pin(async move {
            match tokio::time::timeout(PATIENCE, self.ask(file)).await {
                Ok(Ok(scan)) => scan,
                Ok(Err(error)) => ScanResult::Later(error.to_string()),
                Err(_) => ScanResult::Later("no answer within a minute".into()),
            }
        })
    }
}

impl Clamd {
    async fn ask(&self, file: File) -> std::io::Result<ScanResult> {
        match self {
            Clamd::Socket(path) => stream(UnixStream::connect(path).await?, file).await,
            Clamd::Tcp(address) => stream(TcpStream::connect(address).await?, file).await,
        }
    }
}

/// Sends the file as pieces with their lengths before them, an empty one at the end.
async fn stream(
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    mut file: File,
) -> std::io::Result<ScanResult> {
    socket.write_all(b"zINSTREAM\0").await?;
    loop {
        let reading = spawn_blocking(move || {
            let mut piece = vec![0; PIECE_BYTES];
            let read = file.read(&mut piece)?;
            piece.truncate(read);
            Ok::<_, std::io::Error>((file, piece))
        });
        let (again, piece) = reading.await.map_err(std::io::Error::other)??;
        file = again;
        socket.write_all(&(piece.len() as u32).to_be_bytes()).await?;
        if piece.is_empty() {
            break;
        }
        socket.write_all(&piece).await?;
    }
    let mut answer = Vec::new();
    socket.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
    Ok(verdict(&answer))
}

/// `stream: OK`, `stream: NAME FOUND`, or a complaint of the daemon's.
fn verdict(answer: &[u8]) -> ScanResult {
    let text = String::from_utf8_lossy(answer);
    let text = text.trim_end_matches(['\0', '\n', '\r']);
    match text {
        "stream: OK" => ScanResult::Clean,
        text if text.starts_with("stream: ") && text.ends_with(" FOUND") => ScanResult::Infected,
        "" => ScanResult::Later("the scanner hung up".into()),
        text => ScanResult::Later(text.chars().take(100).collect()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_scanner_is_at_a_socket_or_a_host_and_port() {
        assert_eq!("unix:/run/c".parse(), Ok(Clamd::Socket("/run/c".into())));
        assert_eq!("127.0.0.1:3310".parse(), Ok(Clamd::Tcp("127.0.0.1:3310".into())));
        for bad in ["", "unix:", "localhost", ":3310", "localhost:0", "localhost:x"] {
            assert_eq!(bad.parse::<Clamd>(), Err(()), "{bad}");
        }
    }

    /// A stand-in that reads what a client streams and answers as the daemon does.
    async fn daemon(answer: &'static [u8]) -> (Clamd, tokio::task::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let heard = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut command = [0; 10];
            socket.read_exact(&mut command).await.expect("a command");
            assert_eq!(&command, b"zINSTREAM\0");
            let mut file = Vec::new();
            loop {
                let length = socket.read_u32().await.expect("a length") as usize;
                if length == 0 {
                    break;
                }
                let start = file.len();
                file.resize(start + length, 0);
                socket.read_exact(&mut file[start..]).await.expect("a piece");
            }
            socket.write_all(answer).await.expect("somebody listens");
            file
        });
        (Clamd::Tcp(address), heard)
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room");
        file.rewind().expect("a start");
        file
    }

    #[tokio::test]
    async fn the_daemon_gets_the_whole_file_and_its_word_counts() {
        let bytes = vec![7; 3 * PIECE_BYTES + 5];
        for (answer, scan) in [
            (b"stream: OK\0".as_slice(), ScanResult::Clean),
            (b"stream: Eicar-Test-Signature FOUND\0", ScanResult::Infected),
            (
                b"INSTREAM size limit exceeded. ERROR\0",
                ScanResult::Later("INSTREAM size limit exceeded. ERROR".into()),
            ),
            (b"", ScanResult::Later("the scanner hung up".into())),
        ] {
            let (clamd, heard) = daemon(answer).await;
            assert_eq!(clamd.scan(file(&bytes)).await, scan);
            assert_eq!(heard.await.expect("a file"), bytes);
        }
    }

    #[tokio::test]
    async fn a_daemon_that_is_not_there_means_later() {
        let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = gone.local_addr().expect("an address").to_string();
        drop(gone);
        assert!(matches!(Clamd::Tcp(address).scan(file(b"x")).await, ScanResult::Later(_)));
        let nowhere = Clamd::Socket("/nonexistent/clamd".into());
        assert!(matches!(nowhere.scan(file(b"x")).await, ScanResult::Later(_)));
    }
}
