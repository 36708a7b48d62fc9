//! What was acknowledged survives SIGKILL.
//!
//! The test starts its own executable again, as a second process that writes and prints each number
//! once its write was acknowledged, and kills it in the middle of that.

use std::env;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use db::{Store, StoreError, StoreOptions};
use tokio::task::JoinSet;

use crate::harness::{Database, SCHEMA};

/// Set in the second process: the database it writes to, and its first number.
const URL: &str = "MAILROOM_TEST_WRITE_TO";
const FIRST: &str = "MAILROOM_TEST_WRITE_FROM";
/// How often the process is killed.
const ROUNDS: i64 = 5;
/// Numbers kept free for each round, far more than it gets to.
const PER_ROUND: i64 = 1_000_000;
/// The process is killed somewhere among its first so many acknowledged writes.
const LIFE: u64 = 400;
/// Writes the process has under way at any time.
const WRITERS: i64 = 32;

mod sqlite {
    #[test]
    fn what_was_acknowledged_survives_sigkill() {
        super::survive(crate::harness::Database::sqlite, module_path!());
    }
}

mod postgres {
    #[test]
    fn what_was_acknowledged_survives_sigkill() {
        super::survive(crate::harness::Database::postgres, module_path!());
    }
}

fn survive(database: fn() -> Database, module: &str) {
    if let Ok(url) = env::var(URL) {
        return write_until_killed(&url);
    }
    let (_, module) = module.split_once("::").expect("the module is inside the crate");
    let myself = format!("{module}::what_was_acknowledged_survives_sigkill");
    crate::harness::hold(database(), async |db: &Database| {
        let mine = db.open();
        let mut acknowledged = Vec::new();
        for round in 1..=ROUNDS {
            let life = 1 + RandomState::new().hash_one(round) % LIFE;
            let told = tokio::task::block_in_place(|| run_and_kill(&myself, db, round, life));
            assert!(told.len() as u64 >= life, "round {round} ended by itself: {told:?}");
            acknowledged.extend(told);

            // A process that died must not keep others from writing.
            mine.write(move |tx| write_pair(tx, -round)).await.unwrap();
            acknowledged.push(-round);
        }
        assert_all_there(&mine, &acknowledged).await;
        assert_all_there(&db.open(), &acknowledged).await;
    });
}

/// Lets the second process acknowledge `life` writes, kills it, and answers all it acknowledged.
fn run_and_kill(myself: &str, db: &Database, round: i64, life: u64) -> Vec<i64> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([myself, "--exact", "--nocapture", "--test-threads=1"])
        .env(URL, &db.url)
        .env(FIRST, (round * PER_ROUND).to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut told = Vec::new();
    let lines = output.lines().map_while(Result::ok);
    for n in lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok()) {
        told.push(n);
        if told.len() as u64 == life {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    told
}

fn write_until_killed(url: &str) {
    let first: i64 = env::var(FIRST).unwrap().parse().unwrap();
    let store = Store::open(url, &StoreOptions::default(), SCHEMA).unwrap();
    // The test runner has begun a line that is not ours.
    println!();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let store = store.clone();
            writers.spawn(async move {
                for n in (first + writer..first + PER_ROUND / 2).step_by(WRITERS as usize) {
                    match n % 3 {
                        0 => store.write_relaxed(move |tx| write_pair(tx, n)).await.unwrap(),
                        _ => store.write(move |tx| write_pair(tx, n)).await.unwrap(),
                    }
                    println!("acknowledged {n}");
                }
            });
        }
        writers.join_all().await;
    });
}

/// Two rows in two tables, of which a crash must keep both or neither.
fn write_pair(tx: &mut db::Tx<'_>, n: i64) -> Result<(), StoreError> {
    tx.exec("INSERT INTO numbers (n) VALUES (?1)", &[&n])?;
    tx.exec("INSERT INTO samples (id, whole) VALUES (?1, ?1)", &[&n])?;
    Ok(())
}

async fn assert_all_there(store: &Store, acknowledged: &[i64]) {
    let (numbers, samples) = store
        .read(|tx| {
            let numbers: Vec<(i64,)> = tx.all("SELECT n FROM numbers ORDER BY n", &[])?;
            let samples: Vec<(i64,)> = tx.all("SELECT whole FROM samples ORDER BY whole", &[])?;
            Ok::<_, StoreError>((numbers, samples))
        })
        .await
        .unwrap();
    assert_eq!(numbers, samples, "half a write is there");
    let lost: Vec<_> =
        acknowledged.iter().filter(|n| numbers.binary_search(&(**n,)).is_err()).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}
