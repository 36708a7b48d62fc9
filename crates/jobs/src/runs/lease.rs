//! Renews the lease of a claimed row while it is worked on.

use std::future::Future;
use std::time::Duration;

/// The renewal interval of a lease, well below its duration.
const RENEWED_EVERY: Duration = Duration::from_secs(20);

/// Waits for a running job and renews its lease meanwhile.
pub async fn hold_lease_during<T, R>(doing: impl Future<Output = T>, renew: impl Fn() -> R) -> T
where
    R: Future<Output = ()>,
{
    renewing_every(RENEWED_EVERY, doing, renew).await
}

async fn renewing_every<T, R>(
    time: Duration,
    doing: impl Future<Output = T>,
    renew: impl Fn() -> R,
) -> T
where
    R: Future<Output = ()>,
{
    let mut doing = std::pin::pin!(doing);
    loop {
        tokio::select! {
            done = &mut doing => return done,
            () = tokio::time::sleep(time) => renew().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_claim_is_renewed_for_as_long_as_it_is_worked_on() {
        let (renewed, enough) = (AtomicUsize::new(0), Notify::new());
        let work = async {
            enough.notified().await;
            "done"
        };
        let renew = || async {
            if renewed.fetch_add(1, Ordering::SeqCst) == 2 {
                enough.notify_one();
            }
        };
        assert_eq!(renewing_every(Duration::from_millis(1), work, &renew).await, "done");
        assert!(renewed.load(Ordering::SeqCst) >= 3);
    }
}
