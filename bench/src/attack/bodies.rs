//! Large bodies that come with a key nobody has.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::target::{ATTACKER, AttackTarget, connect_from, exchange, status};
use crate::requests::request;

const CONNECTIONS: usize = 400;
const BODY_BYTES: usize = 1_000_000;
const WRONG_KEY: &str = "rk_live_0000000000000000000000000000000000000000";

/// Answers how long the slowest waited for its refusal.
pub async fn send(target: &AttackTarget) -> Result<Duration, String> {
    let body = format!("{{\"body\":\"{}\"}}", "x".repeat(BODY_BYTES));
    let path = format!("/conversations/{}/notes", target.conversation);
    let bytes = request(WRONG_KEY, "POST", &path, &body);
    let mut sending = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (to, bytes) = (target.http, bytes.clone());
        sending.spawn(async move {
            let begun = Instant::now();
            // A server that refuses before the body is there may close while it is still coming.
            if let Ok(stream) = connect_from(ATTACKER, to).await
                && let Ok(answer) = exchange(stream, bytes.as_bytes()).await
                && (200..300).contains(&status(&answer))
            {
                return Err("a wrong key was taken".to_owned());
            }
            Ok(begun.elapsed())
        });
    }
    let mut slowest = Duration::ZERO;
    while let Some(sent) = sending.join_next().await {
        slowest = slowest.max(sent.map_err(|error| error.to_string())??);
    }
    Ok(slowest)
}
