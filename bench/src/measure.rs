//! Driving a server for a while and seeing how it did.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::requests::Requests;

/// The part of a measurement's time that the server gets beforehand to warm up.
const WARM_UP: f64 = 0.25;

/// What came out of driving a server.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Requests that were answered, those to warm up included.
    pub answered: u64,
    pub per_second: f64,
    pub p50_us: f64,
    pub p99_us: f64,
}

/// Sends requests from so many clients, each waiting for its answer before it asks again.
pub async fn drive(
    address: SocketAddr,
    requests: &Arc<Requests>,
    clients: usize,
    seconds: f64,
) -> Result<Throughput, String> {
    let mut waiting = Vec::new();
    for _ in 0..clients {
        waiting.push(Client::connect(address).await.map_err(|error| error.to_string())?);
    }
    let counts_from = Instant::now() + Duration::from_secs_f64(seconds * WARM_UP);
    let ends = counts_from + Duration::from_secs_f64(seconds);
    let mut running = JoinSet::new();
    for (number, client) in waiting.into_iter().enumerate() {
        running.spawn(ask(client, requests.clone(), number, counts_from, ends));
    }
    let mut times = Times::default();
    while let Some(asked) = running.join_next().await {
        times.add(&asked.map_err(|error| error.to_string())??);
    }
    let took = counts_from.elapsed().as_secs_f64();
    Ok(Throughput {
        answered: times.answered,
        per_second: times.count as f64 / took,
        p50_us: times.quantile_us(0.50),
        p99_us: times.quantile_us(0.99),
    })
}

async fn ask(
    mut client: Client,
    requests: Arc<Requests>,
    number: usize,
    counts_from: Instant,
    ends: Instant,
) -> Result<Times, String> {
    let mut chance = StdRng::seed_from_u64(number as u64);
    let mut times = Times::default();
    let mut started = Instant::now();
    while started < ends {
        let request = requests.get(chance.random_range(0..requests.len()));
        let answer = client.call(request).await.map_err(|error| error.to_string())?;
        if !(200..300).contains(&answer.status) {
            let body = String::from_utf8_lossy(answer.body);
            return Err(format!("{} {body}", answer.status));
        }
        let now = Instant::now();
        times.answered += 1;
        if started >= counts_from {
            times.record(now - started);
        }
        started = now;
    }
    Ok(times)
}

/// Steps for each doubling of a time: a quantile is right to about one percent.
const STEPS: usize = 64;
/// Doublings of a nanosecond that can be told apart.
const DOUBLINGS: usize = 40;

/// How often requests took how long.
struct Times {
    answered: u64,
    /// Those of them that count.
    count: u64,
    by_length: Box<[u32; STEPS * DOUBLINGS]>,
}

impl Default for Times {
    fn default() -> Times {
        Times { answered: 0, count: 0, by_length: Box::new([0; STEPS * DOUBLINGS]) }
    }
}

impl Times {
    fn record(&mut self, time: Duration) {
        self.count += 1;
        self.by_length[place(time.as_nanos() as u64)] += 1;
    }

    fn add(&mut self, other: &Times) {
        self.answered += other.answered;
        self.count += other.count;
        for (mine, theirs) in self.by_length.iter_mut().zip(other.by_length.iter()) {
            *mine += theirs;
        }
    }

    fn quantile_us(&self, part: f64) -> f64 {
        let wanted = (self.count as f64 * part).ceil() as u64;
        let mut passed = 0;
        for (place, count) in self.by_length.iter().enumerate() {
            passed += u64::from(*count);
            if passed >= wanted {
                return length(place) / 1_000.0;
            }
        }
        0.0
    }
}

/// Where a number of nanoseconds is counted: its highest bit and the six below.
fn place(nanos: u64) -> usize {
    let nanos = nanos.max(STEPS as u64);
    let doubling = nanos.ilog2() as usize;
    let step = (nanos >> (doubling - 6)) as usize & (STEPS - 1);
    (doubling * STEPS + step).min(STEPS * DOUBLINGS - 1)
}

/// The middle of what is counted at a place, in nanoseconds.
fn length(place: usize) -> f64 {
    let (doubling, step) = (place / STEPS, place % STEPS);
    (1.0 + (step as f64 + 0.5) / STEPS as f64) * 2f64.powi(doubling as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_right_to_about_one_percent() {
        let mut times = Times::default();
        for micros in 1..=1_000 {
            times.record(Duration::from_micros(micros));
        }
        assert!((times.quantile_us(0.5) - 500.0).abs() < 8.0);
        assert!((times.quantile_us(0.99) - 990.0).abs() < 16.0);
    }

    #[test]
    fn every_length_has_a_place() {
        for nanos in [0, 1, 63, 64, 1_000, 999_999, u64::MAX] {
            assert!(place(nanos) < STEPS * DOUBLINGS);
        }
    }
}
