//! Fetches mail by IMAP or Microsoft Graph for inboxes with such an account.
//!
//! Each inbox that is due is claimed (`inbound::imap`) and served by a task: it connects
//! and opens the folder (`imap_client`), fetches new mail (`fetch_round`), and then waits by IDLE for more, for an hour at the most, so that every inbox gets its turn.
//! What is read by Microsoft Graph is asked at intervals (`graph_round`).
//! Meanwhile its lease is renewed; if that fails, another process has the inbox, and the task ends.

mod fetch_round;
mod graph_round;
mod leases;
mod sent;
mod trust;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base::app::App;
use base::concurrency::queue::Queue;
use base::limits::FETCHING_AT_ONCE;
use inbound::Authenticator;
use inbound::imap::{self, FetchProtocol, ImapAccount};
use metrics::gauge;
use node::vault::{Vault, imap_purpose};
use rustls::RootCertStore;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::{Instrument, Span};
use transport::graph::GraphClient;
use transport::imap_client::{Dialer, Folder, ImapCredential, ImapFault, ImapTimeouts};
use transport::mail_oauth::{AccessTokens, with_fresh_token};
use transport::net::host_guard::HostGuard;

use leases::HeldLeases;
use sent::SentFolderProgress;

/// Mails that are downloaded and filed at the same time, in all inboxes together.
const DOWNLOADS: usize = 4;
/// Long listings of Microsoft Graph at the same time, in all inboxes together.
const LONG_LISTINGS: usize = 2;
/// The longest time that a server may ask us to stay away for.
const LONGEST_STAY_AWAY: Duration = Duration::from_secs(30 * 60);
/// The folder of sent mail is looked at this often.
const SENT_EVERY: Duration = Duration::from_secs(2 * 60);
/// The longest sleep: accounts set up by other processes are found by polling.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest, so that an inbox that another process claims meanwhile is not looked for in a loop.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long things take and may take.
#[derive(Clone, Copy, Debug)]
pub struct ImapTiming {
    /// The longest IDLE before the folder is polled anyway.
    pub idle: Duration,
    /// The polling interval for servers without IDLE.
    pub poll: Duration,
    /// After this long the connection is closed and the lease released.
    pub session: Duration,
    pub connecting: Duration,
    pub answering: Duration,
    pub downloading: Duration,
}

impl Default for ImapTiming {
    fn default() -> ImapTiming {
        ImapTiming {
            idle: Duration::from_secs(9 * 60),
            poll: Duration::from_secs(60),
            session: Duration::from_secs(60 * 60),
            connecting: Duration::from_secs(30),
            answering: Duration::from_secs(60),
            downloading: Duration::from_secs(10 * 60),
        }
    }
}

/// The IMAP fetcher.
#[derive(Clone)]
pub struct Fetchers {
    app: App,
    authenticator: Arc<dyn Authenticator>,
    vault: Vault,
    tokens: Arc<dyn AccessTokens>,
    /// `None` where nobody can sign in at Microsoft.
    graph: Option<GraphClient>,
    dialer: Dialer,
    pace: ImapTiming,
    downloads: Arc<Semaphore>,
    long_listings: Arc<Semaphore>,
    leases: HeldLeases,
}

impl Fetchers {
    pub fn new(
        app: App,
        authenticator: Arc<dyn Authenticator>,
        vault: Vault,
        tokens: Arc<dyn AccessTokens>,
        roots: RootCertStore,
        guard: HostGuard,
        pace: ImapTiming,
    ) -> Result<Fetchers, String> {
        let dialer = Dialer::new(roots, guard)?;
        let graph = tokens.graph().cloned().map(GraphClient::new).transpose()?;
        let downloads = Arc::new(Semaphore::new(DOWNLOADS));
        let long_listings = Arc::new(Semaphore::new(LONG_LISTINGS));
        let leases = HeldLeases::default();
        Ok(Fetchers {
            app,
            authenticator,
            vault,
            tokens,
            graph,
            dialer,
            pace,
            downloads,
            long_listings,
            leases,
        })
    }

    /// Fetches until `stop` is ready; a mail that is being filed is finished.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        self.keep_leases(self.fetch_until(stop)).await;
    }

    async fn fetch_until(&self, stop: impl Future<Output = ()>) {
        let (stopping, tasks) = (CancellationToken::new(), TaskTracker::new());
        // Should this end by a panic, what it started ends too, and does not run beside what is started next.
        let _end = stopping.clone().drop_guard();
        let mut stop = std::pin::pin!(stop);
        let mut wakes = self.app.store.wakes();
        if let Err(error) = self.take_over().await {
            tracing::error!(%error, "IMAP leases of an earlier process could not be taken over");
        }
        loop {
            let sleep_at_most = match self.begin_due(&tasks, &stopping).await {
                Ok(sleep_at_most) => sleep_at_most,
                Err(error) if error.is_outage() => MAX_POLL_INTERVAL,
                Err(error) => {
                    tracing::error!(%error, "no inbox could be claimed for fetching");
                    MAX_POLL_INTERVAL
                }
            };
            let other = |queue: String| queue != Queue::Imap.as_str();
            let woken = async { while wakes.recv().await.is_ok_and(other) {} };
            tokio::select! {
                () = woken => {}
                () = sleep(sleep_at_most) => {}
                () = &mut stop => break,
            }
        }
        stopping.cancel();
        tasks.close();
        tasks.wait().await;
    }

    /// Renews the leases of what is fetched until the fetching ends.
    async fn keep_leases(&self, fetching: impl Future<Output = ()>) {
        tokio::select! {
            () = fetching => {}
            () = self.leases.keep(&self.app) => {}
        }
    }

    /// Ends the leases of an earlier, killed process where there is only one process (SQLite); on
    /// PostgreSQL they expire.
    async fn take_over(&self) -> base::error::Result<()> {
        if self.app.store.is_shared() {
            return Ok(());
        }
        let now = self.app.clock.now();
        self.app.store.write(move |tx| imap::release_all(tx, now)).await
    }

    /// Starts a task for every due inbox; returns the time until the next is due.
    async fn begin_due(
        &self,
        tasks: &TaskTracker,
        stopping: &CancellationToken,
    ) -> base::error::Result<Duration> {
        let room = FETCHING_AT_ONCE.saturating_sub(tasks.len());
        for account in self.claim(room).await? {
            let (fetchers, stopping) = (self.clone(), stopping.child_token());
            let span = fetching(&account);
            let attended = async move {
                let until = Instant::now() + fetchers.pace.session;
                fetchers.attend(account, stopping, Some(until)).await;
            };
            tasks.spawn(attended.instrument(span));
        }
        let (next, failing) = self
            .app
            .store
            .read(|tx| Ok::<_, base::error::Error>((imap::next_due(tx)?, imap::failing(tx)?)))
            .await?;
        gauge!("mailroom_imap_failing").set(failing as f64);
        let has_room = tasks.len() < FETCHING_AT_ONCE;
        Ok(next_look(has_room, next, self.app.clock.now()))
    }

    /// Runs one round for every due inbox; returns how many.
    pub async fn fetch_due(&self) -> base::error::Result<usize> {
        let accounts = self.claim(FETCHING_AT_ONCE).await?;
        let count = accounts.len();
        for account in accounts {
            let span = fetching(&account);
            self.attend(account, CancellationToken::new(), None).instrument(span).await;
        }
        Ok(count)
    }

    async fn claim(&self, most: usize) -> base::error::Result<Vec<ImapAccount>> {
        let app = self.app.clone();
        if most == 0 {
            return Ok(Vec::new());
        }
        let claim = move |tx: &mut db::Tx<'_>| imap::claim_due(tx, &app.ids, app.clock.now(), most);
        self.app.store.write(claim).await
    }

    /// Serves an inbox: one round, and then new mail until the time is up.
    async fn attend(
        &self,
        account: ImapAccount,
        stopping: CancellationToken,
        until: Option<Instant>,
    ) {
        let (held, fetchers) = (account.clone(), self.clone());
        let lease = self.leases.add(&held);
        // A task of its own, so that a panic is a failure of this inbox and is counted as one.
        let attending = async move { fetchers.attend_to(account, until).await }.in_current_span();
        let attending = AbortOnDropHandle::new(tokio::spawn(attending));
        let attended = tokio::select! {
            attended = attending => attended.unwrap_or(Err(ImapFault::Ours)),
            () = lease.wait_until_lost() => Err(ImapFault::Over),
            () = stopping.cancelled() => Err(ImapFault::Over),
        };
        drop(lease);
        let recorded = match attended {
            Ok(()) | Err(ImapFault::Over) => self.let_go(&held, until.is_none()).await,
            Err(fault) => self.note_failure(&held, fault).await,
        };
        if let Err(error) = recorded {
            let mailbox = &held.inbox.mailbox.id;
            tracing::error!(%mailbox, %error, "the result of an IMAP fetch could not be recorded");
        }
    }

    async fn attend_to(
        &self,
        mut account: ImapAccount,
        until: Option<Instant>,
    ) -> Result<(), ImapFault> {
        if account.protocol == FetchProtocol::Graph {
            return self.attend_by_graph(&account, until).await;
        }
        let mut folder = self.open(&account).await?;
        loop {
            self.catch_up(&mut account, &mut folder).await?;
            let sent = self.keep_sent(&account, &mut folder).await?;
            if sent != SentFolderProgress::NoFolder {
                // What came in while the other folder was open was not announced.
                self.catch_up(&mut account, &mut folder).await?;
            }
            match until {
                Some(until) if sent == SentFolderProgress::Unfinished && Instant::now() < until => {
                }
                Some(until) if Instant::now() < until => {
                    let idle = self.pace.idle.min(SENT_EVERY).min(until - Instant::now());
                    folder = folder.wait_for_news(idle, self.pace.poll).await?;
                }
                _ => break,
            }
        }
        folder.close().await;
        Ok(())
    }

    async fn open(&self, account: &ImapAccount) -> Result<Folder, ImapFault> {
        let Some(key) = account.grant() else {
            let purpose = imap_purpose(&account.inbox.mailbox.address);
            let password = self.vault.unseal(&purpose, &account.password);
            let password = password.map_err(|_| ImapFault::Sealed)?;
            return self.look(account, ImapCredential::Password(&password)).await;
        };
        let is_refusal = |fault: &ImapFault| matches!(fault, ImapFault::TokenRefused(_));
        with_fresh_token(&*self.tokens, &key, is_refusal, |token: String| async move {
            self.look(account, ImapCredential::AccessToken(&token)).await
        })
        .await
    }

    async fn look(
        &self,
        account: &ImapAccount,
        credential: ImapCredential<'_>,
    ) -> Result<Folder, ImapFault> {
        let ImapTiming { connecting, answering, downloading, .. } = self.pace;
        let timeouts = ImapTimeouts { connecting, answering, downloading };
        let line = self.dialer.dial(account, &timeouts).await?;
        Folder::open(line, account, credential, &account.after, timeouts).await
    }

    /// After one round alone the next is due in a while, otherwise at once.
    async fn let_go(&self, account: &ImapAccount, alone: bool) -> base::error::Result<()> {
        let wait = if alone { self.pace.poll.as_millis() as i64 } else { 0 };
        let (at, account) = (self.app.clock.now() + wait, account.clone());
        self.app.store.write(move |tx| imap::let_go(tx, &account, at)).await
    }

    async fn note_failure(
        &self,
        account: &ImapAccount,
        fault: ImapFault,
    ) -> base::error::Result<()> {
        let trouble = fault.trouble(account);
        let (actor, account) = (account.actor(), account.clone());
        let mailbox = &account.inbox.mailbox.id;
        tracing::warn!(%mailbox, why = trouble.sentence, "mail could not be fetched");
        let stay_away = match fault {
            ImapFault::RetryAfter(wait) => {
                Some(wait.clamp(self.pace.poll, LONGEST_STAY_AWAY).as_millis() as i64)
            }
            _ => None,
        };
        let note = self.app.act(&actor, move |tx, cx| {
            if let Some(wait) = stay_away
                && imap::stay_away(tx, cx, &account, wait)?
            {
                return Ok(());
            }
            imap::note_failure(tx, cx, &account, &trouble)
        });
        note.await
    }
}

/// How long to sleep until an inbox may be claimed. A node that serves as many as it can has nothing to look for:
/// what is due waits until one of them had its turn.
fn next_look(has_room: bool, next_due: Option<i64>, now: i64) -> Duration {
    let Some(next_due) = next_due.filter(|_| has_room) else { return MAX_POLL_INTERVAL };
    let left = Duration::from_millis((next_due - now).max(0).unsigned_abs());
    left.clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL)
}

/// What the log lines about the mail of an inbox carry, as those of other jobs do.
fn fetching(account: &ImapAccount) -> Span {
    let (queue, inbox) = (Queue::Imap.as_str(), &account.inbox);
    tracing::error_span!("job", queue, workspace = inbox.ws, id = %inbox.mailbox.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_sleeps_until_the_next_inbox_is_due_and_longest_when_it_has_no_room() {
        let now = 1_000_000;
        assert_eq!(next_look(true, Some(now + 700), now), Duration::from_millis(700));
        assert_eq!(next_look(true, Some(now - 700), now), MIN_POLL_INTERVAL);
        assert_eq!(next_look(true, Some(now + 60_000), now), MAX_POLL_INTERVAL);
        assert_eq!(next_look(true, None, now), MAX_POLL_INTERVAL);
        // A thousand are served, and one more is overdue.
        assert_eq!(next_look(false, Some(now - 700), now), MAX_POLL_INTERVAL);
    }
}
