//! A second process on the same database.

use base::app::App;
use jobs::Worker;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::Outside;

/// A process of its own, as far as the database can tell: it does what is due, until it is done or
/// killed.
pub struct Process {
    pub outside: Outside,
    app: App,
    runtime: Runtime,
}

impl Process {
    pub fn start(app: App) -> Process {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Process { outside: Outside::default(), app, runtime }
    }

    /// Begins to work, once the test has told the world outside what to do.
    pub fn work(&self) {
        let worker = self.outside.worker(&self.app);
        self.runtime.spawn(async move { worker.run_due().await });
    }

    /// Ends it in the middle of what it does; nothing more is recorded.
    pub fn kill(self) {
        self.runtime.shutdown_background();
    }
}

/// The worker of the test's own process, at work.
pub struct RunningWorker {
    stopping: CancellationToken,
    task: JoinHandle<()>,
}

impl RunningWorker {
    pub fn start(worker: Worker) -> RunningWorker {
        let stopping = CancellationToken::new();
        let stopped = stopping.clone().cancelled_owned();
        let task = tokio::spawn(async move { worker.run(stopped).await });
        RunningWorker { stopping, task }
    }

    /// Asks it to stop; answers the end of what it still does.
    pub fn stop(self) -> JoinHandle<()> {
        self.stopping.cancel();
        self.task
    }
}
