//! Waiting in real time for what another thread, process or socket does. No test sleeps and hopes:
//! it waits for a condition here, or moves the clock.

use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// What a test waits for in real time comes within this long, or never.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The wait between two looks at something that nobody tells of.
const STEP: Duration = Duration::from_millis(2);

/// Waits until something is so that nobody tells of.
pub async fn eventually(is_so: impl AsyncFn() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(STEP).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("it never came");
}

/// The same for tests without async; false when it never came.
pub fn becomes_true(mut is_so: impl FnMut() -> bool) -> bool {
    let last = Instant::now() + PATIENCE;
    while !is_so() {
        if Instant::now() > last {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}

/// Waits until something is so, looking again whenever it changed.
pub(crate) async fn until(changed: &Notify, done: impl Fn() -> bool) {
    let waiting = async {
        loop {
            let changed = changed.notified();
            if done() {
                return;
            }
            changed.await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("it never came");
}
