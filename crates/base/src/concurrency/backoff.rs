//! Backoff: how long to wait before a retry.

use crate::limits::MINUTE_MS;

/// The backoff after a temporary failure.
pub fn retry_after(attempts: i64) -> i64 {
    match attempts {
        ..=1 => MINUTE_MS,
        2 => 5 * MINUTE_MS,
        3 => 15 * MINUTE_MS,
        4 => 60 * MINUTE_MS,
        _ => 240 * MINUTE_MS,
    }
}
