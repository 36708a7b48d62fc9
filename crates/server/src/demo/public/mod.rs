//! `mailroom demo --public`: each visitor gets a sample workspace of their own for an hour.
//!
//! Samples are workspaces of one database, prepared before anybody comes, so that a visit begins with two
//! small writes. A file for each visitor would be a store with a writer thread, readers and caches for each,
//! which two hundred visitors do not fit in a gigabyte; workspaces are kept apart as they are everywhere.

mod guard;
mod limits;
mod network_counts;
mod room;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actions::inboxes::setup::list_workspaces;
use actions::workspace::samples;
use axum::Router;
use axum::middleware::from_fn_with_state;
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::error::Result;
use base::limits::{HOUR_MS, MINUTE_MS};
use base::workspaces::samples::SAMPLE_OF_DEMO;
use db::Tx;
use node::supervisor::Supervisor;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use web::{DemoRefusal, DemoVisits};

use super::{SamplePlace, fill_at};
use network_counts::NetworkCounts;

pub use limits::DemoLimits;
pub use room::DemoRoom;

/// How long a visit lasts.
const VISIT_MS: i64 = HOUR_MS;
/// Samples that wait for visitors.
const READY: usize = 24;
/// What waits longer is made anew, because its newest mail would be hours old.
const FRESH_MS: i64 = 3 * HOUR_MS;
/// Visitors that wait for a sample to be made at one time; more are asked to come again.
const WAITING: usize = 8;
/// How often it is looked what is over, and how much room there is.
const LOOKS_EVERY: Duration = Duration::from_secs(5);
/// Visits that are ended in one transaction.
const ENDED_AT_ONCE: i64 = 10;

const OTHERS: &str = "There are workspaces in this data folder that are no demo. Name another folder with --data \
                      for a public demo; it erases what is in it.";

/// A public demo, with the samples that wait.
pub struct PublicDemo {
    app: App,
    limits: DemoLimits,
    room: DemoRoom,
    ready: Mutex<VecDeque<ReadySample>>,
    /// Samples that nobody had and nobody waited for when it was looked last.
    lost: Mutex<HashSet<i64>>,
    networks: NetworkCounts,
    /// Memory or disk are used up.
    is_full: AtomicBool,
    taken: Notify,
    waiting: Semaphore,
    /// One sample is made at a time.
    making: tokio::sync::Mutex<()>,
}

/// A sample that nobody has yet.
struct ReadySample {
    ws: i64,
    made_at: i64,
}

impl PublicDemo {
    /// A demo in a database without other workspaces. What an earlier process left is erased.
    pub async fn open(
        app: &App,
        limits: DemoLimits,
        room: DemoRoom,
    ) -> Result<Arc<PublicDemo>, String> {
        let told = |error: base::error::Error| error.to_string();
        if !app.store.read(list_workspaces).await.map_err(told)?.is_empty() {
            return Err(OTHERS.into());
        }
        let now = app.clock.now();
        let end = move |tx: &mut Tx<'_>| samples::end_all(tx, SAMPLE_OF_DEMO, now);
        app.store.write(end).await.map_err(told)?;
        Ok(Arc::new(PublicDemo {
            app: App { has_relay: true, ..app.clone() },
            limits,
            room,
            ready: Mutex::default(),
            lost: Mutex::default(),
            networks: NetworkCounts::default(),
            is_full: AtomicBool::new(false),
            taken: Notify::new(),
            waiting: Semaphore::new(WAITING),
            making: tokio::sync::Mutex::default(),
        }))
    }

    /// Prepares samples and ends visits, as long as the server runs.
    pub fn start(self: &Arc<Self>, tasks: &Supervisor) {
        let (of_making, of_sweeping) = (Arc::clone(self), Arc::clone(self));
        tasks.start("demo samples", move |stop| {
            let demo = Arc::clone(&of_making);
            async move { demo.keep_ready(stop).await }
        });
        tasks.start("demo visits", move |stop| {
            let demo = Arc::clone(&of_sweeping);
            async move { demo.keep_sweeping(stop).await }
        });
    }

    /// What stands before all pages and calls of a demo.
    pub fn guard(self: &Arc<Self>, router: Router) -> Router {
        router.layer(from_fn_with_state(Arc::clone(self), guard::guard))
    }

    async fn keep_ready(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.prepare().await {
                tracing::error!(%error, "no sample could be prepared");
            }
            tokio::select! {
                () = self.taken.notified() => {}
                () = tokio::time::sleep(LOOKS_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Makes samples until enough wait, or there is no room for more.
    pub async fn prepare(&self) -> Result<()> {
        self.drop_stale().await?;
        while !self.is_full() && self.ready().len() < READY {
            let visits = self.app.store.read(samples::count_visits).await?;
            if visits + self.ready().len() as i64 >= self.limits.visitors {
                return Ok(());
            }
            let made = self.make().await?;
            self.ready().push_back(made);
        }
        Ok(())
    }

    async fn make(&self) -> Result<ReadySample> {
        let _turn = self.making.lock().await;
        let made_at = self.app.clock.now();
        let id = fill_at(&self.app, SamplePlace::In(SAMPLE_OF_DEMO)).await?.workspace;
        let ws = self.app.store.read(move |tx| samples::number_of(tx, &id)).await?;
        Ok(ReadySample { ws, made_at })
    }

    /// Ends those that waited for too long.
    async fn drop_stale(&self) -> Result<()> {
        let now = self.app.clock.now();
        let mut stale = Vec::new();
        self.ready().retain(|sample| {
            let is_fresh = sample.made_at + FRESH_MS > now;
            if !is_fresh {
                stale.push(sample.ws);
            }
            is_fresh
        });
        for ws in stale {
            self.app.store.write(move |tx| samples::end_at(tx, ws, now)).await?;
        }
        Ok(())
    }

    async fn keep_sweeping(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.sweep().await {
                tracing::error!(%error, "visits that are over could not be ended");
            }
            tokio::select! {
                () = tokio::time::sleep(LOOKS_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Ends the visits that are over, and looks how much room there is.
    pub async fn sweep(&self) -> Result<()> {
        self.end_lost().await?;
        loop {
            let app = self.app.clone();
            let end = move |tx: &mut Tx<'_>| samples::end_due_samples(tx, &app, ENDED_AT_ONCE);
            if self.app.store.write(end).await? == 0 {
                break;
            }
        }
        let room = self.room.clone();
        let used = base::concurrency::blocking::spawn_blocking(move || room.usage()).await?;
        let is_full = self.limits.are_reached(&used);
        if is_full && !self.is_full.swap(is_full, Ordering::Relaxed) {
            let (memory, disk) = (used.memory_bytes, used.disk_bytes);
            tracing::warn!(
                memory,
                disk,
                "the demo is full: no visit is begun, and nothing is taken in"
            );
        }
        self.is_full.store(is_full, Ordering::Relaxed);
        Ok(())
    }

    /// Ends samples whose visitor went away while the visit began. One that was just made, or is being
    /// handed out, is not among the lost twice.
    async fn end_lost(&self) -> Result<()> {
        let waiting = self.app.store.read(|tx| samples::without_end(tx, SAMPLE_OF_DEMO)).await?;
        let ready: HashSet<i64> = self.ready().iter().map(|sample| sample.ws).collect();
        let lost: HashSet<i64> = waiting.into_iter().filter(|ws| !ready.contains(ws)).collect();
        let before = {
            let mut before = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *before, lost.clone())
        };
        let now = self.app.clock.now();
        for ws in lost.intersection(&before).copied().collect::<Vec<_>>() {
            self.app.store.write(move |tx| samples::end_at(tx, ws, now)).await?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    fn ready(&self) -> MutexGuard<'_, VecDeque<ReadySample>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin_visit(
        &self,
        network: &str,
        device: &str,
    ) -> Result<Result<String, DemoRefusal>> {
        let now = self.app.clock.now();
        if !self.networks.may_begin(network, self.limits.visits_per_network, now) {
            return Ok(Err(DemoRefusal::TooMany));
        }
        let full = |next| Ok(Err(DemoRefusal::Full(next)));
        let standing = |tx: &mut Tx<'_>| {
            Ok::<_, base::error::Error>((samples::count_visits(tx)?, samples::next_end(tx)?))
        };
        let (visits, next) = self.app.store.read(standing).await?;
        if self.is_full() || visits >= self.limits.visitors {
            return full(next);
        }
        let waiting = self.ready().pop_front();
        self.taken.notify_one();
        let sample = match waiting {
            Some(sample) => sample,
            None => {
                let Ok(_place) = self.waiting.try_acquire() else { return full(None) };
                self.make().await?
            }
        };
        let (app, device, ws) = (self.app.clone(), device.to_owned(), sample.ws);
        let (ends_at, most) = (now + VISIT_MS, self.limits.visitors);
        let begin = move |tx: &mut Tx<'_>| {
            // Looked at once more with nobody beside: many may have come at once.
            if samples::count_visits(tx)? >= most {
                return Ok(None);
            }
            samples::end_at(tx, ws, ends_at)?;
            samples::begin_owner_session(tx, &app, ws, &device).map(Some)
        };
        match self.app.store.write(begin).await? {
            Some(session) => Ok(Ok(session)),
            None => {
                self.ready().push_front(sample);
                full(next)
            }
        }
    }
}

impl DemoVisits for PublicDemo {
    fn begin<'a>(
        &'a self,
        network: &'a str,
        device: &'a str,
    ) -> BoxFuture<'a, Result<Result<String, DemoRefusal>>> {
        Box::pin(self.begin_visit(network, device))
    }

    fn minutes(&self) -> i64 {
        VISIT_MS / MINUTE_MS
    }
}
