//! Exact counters for rows that are too many to count by query.

use std::collections::HashMap;

use base::actor::{Actor, Circle};
use base::error::Result;
use base::ids::{MailboxId, RuleId, TagId, TopicId};
use base::string_enum::string_enum;
use db::Tx;

/// Rows that one count is spread over, so that concurrent writers seldom meet.
const SHARDS: i64 = 8;

/// The counters.
#[derive(Clone, Copy)]
pub enum Counter<'a> {
    /// The open conversations of an inbox.
    Open(&'a MailboxId),
    /// The conversations with a tag.
    Tagged(&'a TagId),
    /// The open conversations of a topic.
    OpenOfTopic(&'a TopicId),
    /// The conversations that the helper gave a topic.
    TopicGiven(&'a TopicId),
    /// How often a rule acted.
    RuleRuns(&'a RuleId),
    /// Recorded app mail without a reply.
    UnansweredAppMail,
}

string_enum! {
    /// Counters that are read together, one for each inbox, tag, topic or rule.
    CounterKind {
        Open = "open",
        Tagged = "tag",
        OpenOfTopic = "topic-open",
        TopicGiven = "topic-given",
        RuleRuns = "rule-runs",
    }
}

impl Counter<'_> {
    /// The column `what`: the kind and what of it is counted.
    fn key(self) -> String {
        match self {
            Counter::Open(mailbox) => format!("{}:{mailbox}", CounterKind::Open.as_str()),
            Counter::Tagged(tag) => format!("{}:{tag}", CounterKind::Tagged.as_str()),
            Counter::OpenOfTopic(topic) => format!("{}:{topic}", CounterKind::OpenOfTopic.as_str()),
            Counter::TopicGiven(topic) => format!("{}:{topic}", CounterKind::TopicGiven.as_str()),
            Counter::RuleRuns(rule) => format!("{}:{rule}", CounterKind::RuleRuns.as_str()),
            Counter::UnansweredAppMail => "app-mail:unanswered".into(),
        }
    }
}

/// Adds to a count on behalf of something, whose id chooses the row.
pub fn add(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    counter: Counter<'_>,
    id: &str,
    change: i64,
) -> Result<()> {
    if change == 0 {
        return Ok(());
    }
    let sum: i64 = id.bytes().map(i64::from).sum();
    tx.exec_soon(
        "INSERT INTO counters (ws, circle, what, shard, n) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, circle, what, shard) DO UPDATE SET n = counters.n + excluded.n",
        &[&ws, circle, &counter.key(), &(sum % SHARDS), &change],
    )?;
    Ok(())
}

/// Moves a count to another circle. It writes every row that there can be, so that whoever counts at
/// the same time is in conflict with it and begins anew.
pub fn move_over(
    tx: &mut Tx<'_>,
    ws: i64,
    counter: Counter<'_>,
    from: &Circle,
    to: &Circle,
) -> Result<()> {
    let what = counter.key();
    for shard in 0..SHARDS {
        tx.exec_soon(
            "INSERT INTO counters (ws, circle, what, shard, n) VALUES (?1, ?2, ?3, ?4, 0)
             ON CONFLICT (ws, circle, what, shard) DO UPDATE SET n = counters.n",
            &[&ws, from, &what, &shard],
        )?;
    }
    tx.exec_soon(
        "INSERT INTO counters (ws, circle, what, shard, n)
         SELECT ws, ?4, what, shard, n FROM counters WHERE ws = ?1 AND circle = ?2 AND what = ?3
         ON CONFLICT (ws, circle, what, shard) DO UPDATE SET n = counters.n + excluded.n",
        &[&ws, from, &what, to],
    )?;
    tx.exec_soon(
        "UPDATE counters SET n = 0 WHERE ws = ?1 AND circle = ?2 AND what = ?3",
        &[&ws, from, &what],
    )?;
    Ok(())
}

/// Where the keys of one kind begin, and what comes after all of them. The start leads each of them.
pub fn keys_of(kind: CounterKind) -> (String, String) {
    (format!("{}:", kind.as_str()), format!("{};", kind.as_str()))
}

/// Every count of one kind that the actor may see, by the id of the inbox or tag.
pub fn of_kind(tx: &mut Tx<'_>, actor: &Actor, kind: CounterKind) -> Result<HashMap<String, i64>> {
    let (first, second) = actor.circles.pair();
    let (start, end) = keys_of(kind);
    let rows: Vec<(String, i64)> = tx.all(
        "SELECT what, CAST(sum(n) AS BIGINT) FROM counters
         WHERE ws = ?1 AND circle IN (?2, ?3) AND what >= ?4 AND what < ?5
         GROUP BY what",
        &[&actor.ws, first, second, &start, &end],
    )?;
    Ok(rows.into_iter().map(|(what, n)| (what[start.len()..].to_owned(), n)).collect())
}

/// Begins the counts of one kind anew, in one circle.
pub fn reset(tx: &mut Tx<'_>, ws: i64, circle: &Circle, kind: CounterKind) -> Result<()> {
    let (start, end) = keys_of(kind);
    tx.exec_soon(
        "DELETE FROM counters WHERE ws = ?1 AND circle = ?2 AND what >= ?3 AND what < ?4",
        &[&ws, circle, &start, &end],
    )?;
    Ok(())
}

/// Forgets a count, because what it counted is gone.
pub fn forget(tx: &mut Tx<'_>, ws: i64, circle: &Circle, counter: Counter<'_>) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM counters WHERE ws = ?1 AND circle = ?2 AND what = ?3",
        &[&ws, circle, &counter.key()],
    )?;
    Ok(())
}

/// One count.
pub fn sum(tx: &mut Tx<'_>, ws: i64, circle: &Circle, counter: Counter<'_>) -> Result<i64> {
    let (n,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM counters
         WHERE ws = ?1 AND circle = ?2 AND what = ?3",
        &[&ws, circle, &counter.key()],
    )?;
    Ok(n)
}
