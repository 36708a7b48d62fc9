//! Ordinary clients that go on working while the server is attacked, each on a new connection.

use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::target::{AttackTarget, closing, exchange, status};
use crate::requests::{page_request, request};

/// The pause between two requests of one client.
const PAUSE: Duration = Duration::from_millis(100);
/// A request that has no answer by then never gets one.
const GIVE_UP: Duration = Duration::from_secs(60);

/// What is asked for.
#[derive(Clone)]
enum Request {
    Api(String),
    Page(String),
    SmtpGreeting,
}

/// Clients at work; `finish` answers how long they had to wait.
pub struct Probe {
    stop: CancellationToken,
    clients: JoinSet<Result<LongestWaits, String>>,
}

/// The longest wait of each kind of client.
#[derive(Clone, Copy, Default)]
pub struct LongestWaits {
    pub api: Duration,
    pub page: Duration,
    pub smtp: Duration,
    pub requests: u64,
}

impl LongestWaits {
    pub fn longest(&self) -> Duration {
        self.api.max(self.page).max(self.smtp)
    }

    fn join(&mut self, other: &LongestWaits) {
        self.api = self.api.max(other.api);
        self.page = self.page.max(other.page);
        self.smtp = self.smtp.max(other.smtp);
        self.requests += other.requests;
    }
}

impl Probe {
    pub fn start(target: &AttackTarget) -> Probe {
        let stop = CancellationToken::new();
        let mut clients = JoinSet::new();
        let path = format!("/conversations/{}", target.conversation);
        let requests = [
            Request::Api(closing(&request(&target.key, "GET", "/conversations", ""))),
            Request::Api(closing(&request(&target.key, "GET", &path, ""))),
            Request::Page(closing(&page_request(&target.session, "/inbox?view=open"))),
            Request::SmtpGreeting,
        ];
        for request in requests {
            let (http, smtp, stop) = (target.http, target.smtp, stop.clone());
            clients.spawn(async move {
                let mut waits = LongestWaits::default();
                while !stop.is_cancelled() {
                    let address = match request {
                        Request::SmtpGreeting => smtp,
                        Request::Api(_) | Request::Page(_) => http,
                    };
                    let begun = Instant::now();
                    let asked = timeout(GIVE_UP, ask(&request, address)).await;
                    asked.map_err(|_| "an ordinary client was never answered")??;
                    let wait = match request {
                        Request::Api(_) => &mut waits.api,
                        Request::Page(_) => &mut waits.page,
                        Request::SmtpGreeting => &mut waits.smtp,
                    };
                    *wait = (*wait).max(begun.elapsed());
                    waits.requests += 1;
                    sleep(PAUSE).await;
                }
                Ok(waits)
            });
        }
        Probe { stop, clients }
    }

    /// An error when an ordinary client was refused or never answered.
    pub async fn finish(mut self) -> Result<LongestWaits, String> {
        self.stop.cancel();
        let mut all = LongestWaits::default();
        while let Some(client) = self.clients.join_next().await {
            all.join(&client.map_err(|error| error.to_string())??);
        }
        Ok(all)
    }
}

async fn ask(request: &Request, address: std::net::SocketAddr) -> Result<(), String> {
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    match request {
        Request::Api(bytes) | Request::Page(bytes) => {
            match status(&exchange(stream, bytes.as_bytes()).await?) {
                200 => Ok(()),
                other => Err(format!("an ordinary client was answered with status {other}")),
            }
        }
        Request::SmtpGreeting => greet(stream).await,
    }
}

async fn greet(stream: TcpStream) -> Result<(), String> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.map_err(|error| error.to_string())?;
    if !line.starts_with("220") {
        return Err(format!("an ordinary mail server was greeted with {:?}", line.trim_end()));
    }
    stream.write_all(b"QUIT\r\n").await.map_err(|error| error.to_string())?;
    line.clear();
    stream.read_line(&mut line).await.map(drop).map_err(|error| error.to_string())
}
