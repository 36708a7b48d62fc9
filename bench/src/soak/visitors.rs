//! People and mail servers that use a running server all day, at an even pace.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::hostile::HostileMails;
use crate::attack::AttackTarget;
use crate::client::Client;
use crate::fill::workspace::INBOX;
use crate::receive::{Customers, SmtpSender};
use crate::requests::page_request;

/// Different mails; each is sent again and again under another Message-ID.
const MAILS: usize = 500;
/// One mail of so many is hostile.
const HOSTILE_EACH: usize = 10;
/// The pause between two mails, and between two pages of one person.
const BETWEEN_MAILS: Duration = Duration::from_millis(200);
const BETWEEN_PAGES: Duration = Duration::from_millis(500);
/// Pages that stay open and hear of changes.
const LIVE_PAGES: usize = 20;
/// What an open page hears in one go.
const LIVE_BYTES: usize = 4 * 1024;

/// What everybody saw of the server.
#[derive(Default)]
pub struct Visited {
    /// The Message-IDs of ordinary mails, and the subjects of hostile ones.
    pub acknowledged_mail: HashSet<String>,
    pub acknowledged_hostile: HashSet<String>,
    pub slowest_mail: Duration,
    pub slowest_page: Duration,
    pub pages: u64,
}

pub struct Visitors {
    mail: JoinHandle<Result<Visited, String>>,
    pages: JoinSet<Result<Visited, String>>,
}

impl Visitors {
    pub fn start(
        target: &AttackTarget,
        customers: Customers,
        stop: &CancellationToken,
    ) -> Result<Visitors, String> {
        let (smtp, stopped) = (target.smtp, stop.clone());
        let mail = thread::spawn(move || send_mail(smtp, customers, &stopped));
        let mut pages = JoinSet::new();
        let conversation = format!("/conversations/{}?view=open", target.conversation);
        for path in ["/inbox?view=open", "/search?q=order", "/documents", &conversation] {
            let (http, stop) = (target.http, stop.clone());
            let request = page_request(&target.session, path);
            pages.spawn(async move { open_pages(http, &request, &stop).await });
        }
        for _ in 0..LIVE_PAGES {
            let request = page_request(
                &target.session,
                &format!("/live?view=open&conversation={}", target.conversation),
            );
            let (http, stop) = (target.http, stop.clone());
            pages.spawn(async move { stay_open(http, &request, &stop).await });
        }
        Ok(Visitors { mail, pages })
    }

    pub async fn finish(mut self) -> Result<Visited, String> {
        let mut all = Visited::default();
        while let Some(one) = self.pages.join_next().await {
            let one = one.map_err(|error| error.to_string())??;
            all.slowest_page = all.slowest_page.max(one.slowest_page);
            all.pages += one.pages;
        }
        let mail = tokio::task::spawn_blocking(move || self.mail.join());
        let mail = mail.await.map_err(|error| error.to_string())?;
        let mail = mail.map_err(|_| "the sender of mail stopped")??;
        Ok(Visited {
            acknowledged_mail: mail.acknowledged_mail,
            acknowledged_hostile: mail.acknowledged_hostile,
            slowest_mail: mail.slowest_mail,
            ..all
        })
    }
}

fn send_mail(
    smtp: SocketAddr,
    mut customers: Customers,
    stop: &CancellationToken,
) -> Result<Visited, String> {
    let mails = (0..MAILS).map(|number| customers.write(number, INBOX));
    let mails = mails.collect::<Result<Vec<_>, _>>()?;
    let hostile = HostileMails::new();
    let mut visited = Visited::default();
    let mut sender = SmtpSender::connect(smtp)?;
    for number in 0.. {
        if stop.is_cancelled() {
            break;
        }
        if number % HOSTILE_EACH == HOSTILE_EACH - 1 {
            // The wait for it is its own; what others wait meanwhile counts.
            let mail = hostile.write(number / HOSTILE_EACH);
            SmtpSender::connect(smtp)?.send_bytes("attacker@attack.example", INBOX, &mail.bytes)?;
            visited.acknowledged_hostile.insert(mail.subject);
            continue;
        }
        let id = format!("soak{number}");
        let (_, wait) = sender.send(&mails[number % mails.len()], &id, INBOX)?;
        visited.slowest_mail = visited.slowest_mail.max(wait);
        visited.acknowledged_mail.insert(format!("{id}@bench.invalid"));
        thread::sleep(BETWEEN_MAILS);
    }
    Ok(visited)
}

async fn open_pages(
    http: SocketAddr,
    request: &str,
    stop: &CancellationToken,
) -> Result<Visited, String> {
    let mut visited = Visited::default();
    while !stop.is_cancelled() {
        let begun = Instant::now();
        let mut client = Client::connect(http).await.map_err(|error| error.to_string())?;
        let answer = client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
        if answer.status != 200 {
            return Err(format!("a page was answered with status {}", answer.status));
        }
        visited.slowest_page = visited.slowest_page.max(begun.elapsed());
        visited.pages += 1;
        sleep(BETWEEN_PAGES).await;
    }
    Ok(visited)
}

/// A page that is open all day; a connection that ends is opened again, as browsers do.
async fn stay_open(
    http: SocketAddr,
    request: &str,
    stop: &CancellationToken,
) -> Result<Visited, String> {
    while !stop.is_cancelled() {
        let mut stream = TcpStream::connect(http).await.map_err(|error| error.to_string())?;
        stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
        let mut heard = [0; LIVE_BYTES];
        loop {
            tokio::select! {
                read = stream.read(&mut heard) => if !read.is_ok_and(|read| read > 0) { break },
                () = stop.cancelled() => break,
            }
        }
        sleep(BETWEEN_PAGES).await;
    }
    Ok(Visited::default())
}
