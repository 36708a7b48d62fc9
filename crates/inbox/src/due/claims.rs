use std::future::Future;
use std::time::Duration;

/// A claim that is still worked on is renewed this often, well before it lapses.
const RENEWED_EVERY: Duration = Duration::from_secs(20);

/// Waits for what is under way, and renews its claim meanwhile.
pub async fn held<T, R>(doing: impl Future<Output = T>, renew: impl Fn() -> R) -> T
where
    R: Future<Output = ()>,
{
    let mut doing = std::pin::pin!(doing);
    loop {
        tokio::select! {
            done = &mut doing => return done,
            () = tokio::time::sleep(RENEWED_EVERY) => renew().await,
        }
    }
}
