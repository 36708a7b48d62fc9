//! The figures of an inbox that was filled by mail: what each asks for, and how a server answers it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::runtime::Runtime;

use crate::database;
use crate::measure::drive;
use crate::receive::Customers;
use crate::requests::Requests;
use crate::server::Server;

/// Conversations that are read, the longest.
const READ: usize = 100;
/// Different searches of a figure.
const SEARCHES: usize = 100;
/// A server is at rest when it needs less of a core than this for so long.
const AT_REST: f64 = 0.05;
const RESTING: Duration = Duration::from_secs(2);
/// It must be at rest by then.
const PATIENCE: Duration = Duration::from_secs(600);

/// What a figure asks for.
pub struct InboxFigure {
    pub name: &'static str,
    clients: usize,
    requests: Arc<Requests>,
}

impl InboxFigure {
    /// Answers in a second.
    pub fn measure(&self, runtime: &Runtime, server: &Server, seconds: f64) -> Result<f64, String> {
        let driving = drive(server.address, &self.requests, self.clients, seconds);
        Ok(runtime.block_on(driving)?.per_second)
    }
}

/// The figures of the inbox in a database that its server has open.
pub fn inbox_figures(
    url: &str,
    key: &str,
    customers: &Customers,
) -> Result<Vec<InboxFigure>, String> {
    let sql = format!(
        "SELECT id FROM conversations WHERE num > 0 ORDER BY message_count DESC, id LIMIT {READ}"
    );
    let ids = database::texts(url, &sql)?;
    let paths: Vec<String> = ids.iter().map(|id| format!("/conversations/{id}")).collect();
    let list = ["/conversations".to_owned()];
    let common = Searches::new(customers).paths(&[SearchedWords::Common]);
    let mixed = Searches::new(customers).paths(&[
        SearchedWords::Rare,
        SearchedWords::Common,
        SearchedWords::Two,
        SearchedWords::Prefix,
    ]);
    let figure = |name, clients, paths: &[String]| InboxFigure {
        name,
        clients,
        requests: Arc::new(Requests::of_paths(key, paths)),
    };
    Ok(vec![
        figure("list, 1 client", 1, &list),
        figure("list, 16 clients", 16, &list),
        figure("read, 1 client", 1, &paths),
        figure("search common, 1 client", 1, &common),
        figure("search mixed, 16 clients", 16, &mixed),
    ])
}

/// What is looked for; ranks are places in the order of words by frequency.
#[derive(Clone, Copy)]
enum SearchedWords {
    Rare,
    Common,
    Two,
    Prefix,
}

struct Searches<'a> {
    customers: &'a Customers,
    chance: StdRng,
}

impl Searches<'_> {
    fn new(customers: &Customers) -> Searches<'_> {
        Searches { customers, chance: StdRng::seed_from_u64(1) }
    }

    fn paths(mut self, kinds: &[SearchedWords]) -> Vec<String> {
        let kinds = kinds.iter().cycle().take(SEARCHES);
        kinds.map(|kind| format!("/conversations?view=all&q={}", self.words(*kind))).collect()
    }

    fn words(&mut self, kind: SearchedWords) -> String {
        let mut word = |from, to| {
            let rank = self.chance.random_range(from..to);
            self.customers.word_at(rank).to_owned()
        };
        match kind {
            SearchedWords::Rare => word(20_000, 40_000),
            SearchedWords::Common => word(20, 200),
            SearchedWords::Two => format!("{}+{}", word(20, 1_000), word(20, 1_000)),
            SearchedWords::Prefix => word(500, 5_000).chars().take(4).collect(),
        }
    }
}

/// Waits until a server has done what it does behind the scenes.
pub fn wait_for_rest(server: &Server) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let before = server.processor_seconds()?;
        thread::sleep(RESTING);
        let needed = server.processor_seconds()? - before;
        if needed < AT_REST * RESTING.as_secs_f64() {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            return Err("the server does not come to rest".into());
        }
    }
}

/// The middle of some values; the larger of the two where there are two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn searches_are_the_same_in_each_run_and_have_words() {
        let customers = Customers::new(1).unwrap();
        let kinds = [SearchedWords::Two, SearchedWords::Prefix];
        let paths = Searches::new(&customers).paths(&kinds);
        assert_eq!(paths, Searches::new(&customers).paths(&kinds));
        assert!(
            paths.iter().all(|path| path.rsplit_once("q=").is_some_and(|(_, q)| !q.is_empty()))
        );
    }
}
