//! The threads of a store. A panic of what runs on one is logged, and it goes on: a thread that were missing would
//! leave callers waiting.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

/// The pause after a panic.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs `body` on a thread until it returns, and once more after each panic. It begins with the state that a panic
/// left, so it sets right first what it needs.
pub(crate) fn spawn(name: String, mut body: impl FnMut() + Send + 'static) {
    let run = move || {
        while catch_unwind(AssertUnwindSafe(&mut body)).is_err() {
            let thread = thread::current();
            tracing::error!(
                thread = thread.name(),
                "a thread of the database goes on after a panic"
            );
            thread::sleep(PAUSE);
        }
    };
    thread::Builder::new().name(name).spawn(run).expect("the system can start a thread");
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_goes_on_after_a_panic_and_ends_when_it_returns() {
        let (told, heard) = channel();
        let mut runs = 0;
        spawn("tried".into(), move || {
            runs += 1;
            told.send(runs).unwrap();
            assert!(runs > 2, "a fault");
        });
        assert_eq!(heard.iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
