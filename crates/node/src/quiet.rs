//! Quiet mode: pages, the API and incoming SMTP work, but no mail is sent or fetched, no webhook is
//! called and no notice is sent. Queued work stays queued.
//!
//! A process is quiet because it was started with `--quiet`, or for as long as the database says
//! so (`model::installation`): after a restore, on a copy, or because an operator asked for it.

use std::sync::Arc;
use std::time::Duration;

use base::app::App;
use base::concurrency::queue::Queue;
use metrics::gauge;
use model::installation::{installation, recognise_copy};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::supervisor::Supervisor;

/// Changes by other processes are found by polling.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The texts for people and supervisors while a server is quiet.
pub const QUIET_SENTENCE: &str =
    translation::msg!("This server is quiet: no mail is sent or fetched and no webhook is called.");
/// How an operator ends it.
pub const HOW_TO_GO_ON: &str = "Stop the other server first if there is one, then say \
                                `mailroom quiet off`.";

/// How a process starts.
pub struct QuietConfig {
    /// Quiet whatever the database says (`--quiet`).
    pub always: bool,
    pub database_url: String,
}

/// Whether this process is quiet now. Cheap to clone.
#[derive(Clone)]
pub struct QuietMode(watch::Receiver<bool>);

impl QuietMode {
    /// A process that stays as it is, quiet or not.
    pub fn always(quiet: bool) -> QuietMode {
        QuietMode(watch::channel(quiet).1)
    }

    /// Determines the initial mode, and follows the database's flag until the server stops.
    pub async fn follow(
        app: &App,
        config: &QuietConfig,
        tasks: &Supervisor,
    ) -> Result<QuietMode, String> {
        let identity = app.store.identity(&config.database_url).await;
        let now = app.clock.now();
        let marked = app
            .store
            .write(move |tx| {
                recognise_copy(tx, identity.as_deref(), now)?;
                Ok::<_, base::error::Error>(installation(tx)?.quiet())
            })
            .await
            .map_err(|error| error.to_string())?;
        if config.always {
            tracing::warn!("{QUIET_SENTENCE} It was started with --quiet.");
            gauge!("mailroom_quiet").set(1.0);
            return Ok(QuietMode::always(true));
        }
        if let Some(mark) = marked {
            tracing::warn!("{QUIET_SENTENCE} {} {HOW_TO_GO_ON}", mark.reason.sentence());
        }
        let (tell, quiet) = watch::channel(marked.is_some());
        let (app, tell) = (app.clone(), Arc::new(tell));
        tasks.start("quiet mode follower", move |stop| {
            keep_looking(app.clone(), Arc::clone(&tell), stop)
        });
        Ok(QuietMode(quiet))
    }

    pub fn is_quiet(&self) -> bool {
        *self.0.borrow()
    }

    /// The mode from now on: [`QuietMode::wait_for_change`] waits for another.
    pub fn current(&mut self) -> bool {
        *self.0.borrow_and_update()
    }

    /// Ready when the mode is not the current one any more; never for a fixed one.
    pub async fn wait_for_change(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

async fn keep_looking(app: App, tell: Arc<watch::Sender<bool>>, stop: CancellationToken) {
    let mut wakes = app.store.wakes();
    loop {
        gauge!("mailroom_quiet").set(if *tell.borrow() { 1.0 } else { 0.0 });
        let other = |queue: String| queue != Queue::Installation.as_str();
        let woken = async { while wakes.recv().await.is_ok_and(other) {} };
        tokio::select! {
            () = woken => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
        // Database errors are reported elsewhere and leave the mode unchanged.
        let Ok(found) = app.store.read(installation).await else { continue };
        let changed = tell.send_if_modified(|quiet| {
            let before = std::mem::replace(quiet, found.quiet().is_some());
            before != *quiet
        });
        match (changed, found.quiet()) {
            (true, Some(mark)) => tracing::warn!("{QUIET_SENTENCE} {}", mark.reason.sentence()),
            (true, None) => tracing::warn!("the server is not quiet any more"),
            (false, _) => {}
        }
    }
}
