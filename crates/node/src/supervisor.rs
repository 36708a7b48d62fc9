//! Starts the tasks that run for as long as the server does. One that panics or ends is started again after a
//! pause, and `/readyz` and the metrics name it until then.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::{counter, gauge};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The pause before a task is started again, which doubles each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The supervised tasks of a process. Clones share them.
#[derive(Clone)]
pub struct Supervisor {
    tasks: Arc<Mutex<Vec<TaskStatus>>>,
    stopping: CancellationToken,
    first_pause: Duration,
}

/// A supervised task, and whether it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    pub name: &'static str,
    pub is_up: bool,
    /// How often it ended before the server stopped.
    pub restarts: u64,
}

impl Supervisor {
    /// Tasks may end once `stopping` is cancelled.
    pub fn new(stopping: CancellationToken) -> Supervisor {
        Supervisor::with_pause(stopping, FIRST_PAUSE)
    }

    /// The same with another first pause.
    pub fn with_pause(stopping: CancellationToken, first_pause: Duration) -> Supervisor {
        Supervisor { tasks: Arc::default(), stopping, first_pause }
    }

    /// The token that tells all tasks to end.
    pub fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// Runs `task` until the server stops, which it is told by the token that it gets, and starts it again if
    /// it ends before. The handle is ready after the last run.
    pub fn start<F>(
        &self,
        name: &'static str,
        task: impl Fn(CancellationToken) -> F + Send + Sync + 'static,
    ) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let place = {
            let mut tasks = self.tasks();
            tasks.push(TaskStatus { name, is_up: true, restarts: 0 });
            tasks.len() - 1
        };
        gauge!("mailroom_task_up", "task" => name).set(1.0);
        counter!("mailroom_task_restarts_total", "task" => name).absolute(0);
        let supervisor = self.clone();
        tokio::spawn(async move { supervisor.keep_running(place, name, task).await })
    }

    /// All tasks, in the order in which they were started.
    pub fn statuses(&self) -> Vec<TaskStatus> {
        self.tasks().clone()
    }

    async fn keep_running<F>(
        &self,
        place: usize,
        name: &'static str,
        task: impl Fn(CancellationToken) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let (task, mut pause) = (Arc::new(task), self.first_pause);
        loop {
            let (task, stopping) = (Arc::clone(&task), self.stopping.clone());
            let began = Instant::now();
            // A task of its own, so that a panic ends nothing else. The panic itself is logged by the hook.
            let run =
                AbortOnDropHandle::new(tokio::spawn(async move { task(stopping).await })).await;
            if self.stopping.is_cancelled() {
                return;
            }
            if began.elapsed() >= LONGEST_PAUSE {
                pause = self.first_pause;
            }
            self.note(place, false);
            let (panicked, seconds) = (run.is_err(), pause.as_secs());
            tracing::error!(task = name, panicked, seconds, "a task ended and is started again");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stopping.cancelled() => return,
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
            self.note(place, true);
        }
    }

    /// Writes down that a task ended, or that it runs again.
    fn note(&self, place: usize, is_up: bool) {
        let mut tasks = self.tasks();
        let Some(status) = tasks.get_mut(place) else { return };
        status.is_up = is_up;
        gauge!("mailroom_task_up", "task" => status.name).set(if is_up { 1.0 } else { 0.0 });
        if !is_up {
            status.restarts += 1;
            counter!("mailroom_task_restarts_total", "task" => status.name).increment(1);
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<TaskStatus>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskStatus {
    /// What is wrong, in a sentence.
    pub fn problem(&self) -> Option<String> {
        let name = self.name;
        (!self.is_up).then(|| format!("the task {name} ended and is started again shortly"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// Longer than any test runs.
    const NEVER: Duration = Duration::from_secs(86_400);

    /// Waits until the only task is as wanted.
    async fn status(supervisor: &Supervisor, is_it: impl Fn(&TaskStatus) -> bool) -> TaskStatus {
        loop {
            let status = supervisor.statuses().remove(0);
            if is_it(&status) {
                return status;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_task_that_panics_is_down_until_it_is_started_again() {
        let stopping = CancellationToken::new();
        let supervisor = Supervisor::with_pause(stopping.clone(), NEVER);
        supervisor.start("jobs", |_| async { panic!("a fault") });
        let down = status(&supervisor, |status| !status.is_up).await;
        assert_eq!(down, TaskStatus { name: "jobs", is_up: false, restarts: 1 });
        assert_eq!(
            down.problem().as_deref(),
            Some("the task jobs ended and is started again shortly")
        );
        stopping.cancel();
    }

    #[tokio::test]
    async fn a_task_that_panics_or_ends_runs_again_and_others_go_on() {
        let stopping = CancellationToken::new();
        let supervisor = Supervisor::with_pause(stopping.clone(), Duration::ZERO);
        let (runs, third) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let task = supervisor.start("jobs", {
            let (runs, third) = (runs.clone(), third.clone());
            move |stopping| {
                let (run, third) = (runs.fetch_add(1, Ordering::Relaxed), third.clone());
                async move {
                    match run {
                        0 => panic!("a fault"),
                        1 => {}
                        _ => {
                            third.notify_one();
                            stopping.cancelled().await;
                        }
                    }
                }
            }
        });
        let other = supervisor.start("other", CancellationToken::cancelled_owned);
        third.notified().await;
        let up = status(&supervisor, |status| status.is_up).await;
        assert_eq!(up, TaskStatus { name: "jobs", is_up: true, restarts: 2 });
        assert_eq!(supervisor.statuses()[1].restarts, 0);
        stopping.cancel();
        task.await.unwrap();
        other.await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 3, "what ends at the stop is not started again");
    }

    #[tokio::test]
    async fn a_stop_does_not_wait_for_the_pause() {
        let stopping = CancellationToken::new();
        let supervisor = Supervisor::with_pause(stopping.clone(), NEVER);
        let task = supervisor.start("jobs", |_| async {});
        status(&supervisor, |status| !status.is_up).await;
        stopping.cancel();
        task.await.unwrap();
    }
}
