//! Two other clients, one that lists and one that writes notes, and how long each of them waits.

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::client::Client;
use crate::fill::filled::FilledDatabase;
use crate::report::round;
use crate::requests::{Load, Requests};

pub struct OtherClients {
    address: SocketAddr,
    lists: Arc<Requests>,
    notes: Arc<Requests>,
}

/// Seconds that each request took.
#[derive(Default)]
pub struct OtherWaits {
    lists: Vec<f64>,
    notes: Vec<f64>,
}

impl OtherClients {
    pub fn new(address: SocketAddr, loads: &[Load]) -> Result<OtherClients, String> {
        let requests = |name: &str| {
            let load = loads.iter().find(|load| load.name == name);
            load.map(|load| load.requests.clone()).ok_or_else(|| format!("no requests for {name}"))
        };
        Ok(OtherClients { address, lists: requests("list")?, notes: requests("note")? })
    }

    /// Lets both ask again and again until the work is done; what they waited is added.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = Result<T, String>>,
        waits: &mut OtherWaits,
    ) -> Result<T, String> {
        let ended = Cell::new(false);
        let working = async {
            let done = work.await;
            ended.set(true);
            done
        };
        let lists = ask(self.address, &self.lists, &ended);
        let notes = ask(self.address, &self.notes, &ended);
        let (done, lists, notes) = tokio::join!(working, lists, notes);
        waits.lists.extend(lists?);
        waits.notes.extend(notes?);
        done
    }
}

async fn ask(
    address: SocketAddr,
    requests: &Requests,
    ended: &Cell<bool>,
) -> Result<Vec<f64>, String> {
    let mut client = Client::connect(address).await.map_err(|error| error.to_string())?;
    let mut chance = StdRng::seed_from_u64(1);
    let mut times = Vec::new();
    while !ended.get() {
        let request = requests.get(chance.random_range(0..requests.len()));
        let begun = Instant::now();
        let answer = client.call(request).await.map_err(|error| error.to_string())?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("another client was answered with {}", answer.status));
        }
        times.push(begun.elapsed().as_secs_f64());
    }
    Ok(times)
}

impl OtherWaits {
    /// Prints the line of what happened meanwhile.
    pub fn tell(&self, filled: &FilledDatabase, beside: &str) {
        let ms = |times: &[f64], part: f64| round(quantile(times, part) * 1_000.0);
        println!(
            "{}",
            json!({
                "figure": "triage-others", "db": filled.kind.name(),
                "messages": filled.seeded.messages, "beside": beside,
                "lists": self.lists.len(), "list_p50_ms": ms(&self.lists, 0.5),
                "list_p99_ms": ms(&self.lists, 0.99), "list_worst_ms": ms(&self.lists, 1.0),
                "notes": self.notes.len(), "note_p50_ms": ms(&self.notes, 0.5),
                "note_p99_ms": ms(&self.notes, 0.99), "note_worst_ms": ms(&self.notes, 1.0),
            })
        );
    }

    /// The longest that anybody waited, in seconds.
    pub fn worst(&self) -> f64 {
        quantile(&self.lists, 1.0).max(quantile(&self.notes, 1.0))
    }
}

/// The time that such a part of the requests took at the most.
pub fn quantile(times: &[f64], part: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wanted = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(wanted.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn the_worst_of_the_times_is_the_longest() {
        let times = [3.0, 1.0, 4.0, 2.0];
        assert!((quantile(&times, 0.5) - 2.0).abs() < 1e-9);
        assert!((quantile(&times, 1.0) - 4.0).abs() < 1e-9);
        assert!(quantile(&[], 1.0).abs() < 1e-9);
    }
}
