//! Examples of the sorting helper: decisions about mail as rows of hashes, one set for each circle and
//! kind, and the revision by which a model in memory is known to be theirs.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{ConversationId, TopicId};
use base::limits::{EXAMPLES, EXAMPLES_PER_LABEL, TAGGED_EXAMPLES, TOPICS};
use base::sorter_models::{ExampleKind, ModelKey};
use classifier::{GuessOutcome, SorterExample, TextFeatures, TopicModel};
use db::Tx;

/// Examples beyond the limits that are removed at once: as many as can be added at once.
const REMOVED_AT_ONCE: i64 = TAGGED_EXAMPLES;
/// Circles whose examples of a removed topic are deleted.
const CIRCLES: i64 = 1_000;

/// What the helper thought before somebody decided.
#[derive(Clone, Debug, Default)]
pub struct HelperGuess {
    pub label: Option<String>,
    pub confidence: Option<f64>,
    /// The helper had set it, rather than suggested it.
    pub given: bool,
}

/// A decision to learn from.
pub struct TaughtDecision<'a> {
    pub circle: &'a Circle,
    pub kind: ExampleKind,
    pub conversation: &'a ConversationId,
    /// Empty for "none of these".
    pub label: &'a str,
    pub text: &'a str,
    pub guess: HelperGuess,
}

/// Keeps a decision as an example of its circle. A later decision about the same conversation takes
/// its place; what the helper had thought at first stays. The sandbox teaches nothing.
pub fn teach(tx: &mut Tx<'_>, cx: &Cx<'_>, decision: &TaughtDecision<'_>) -> Result<()> {
    keep(tx, cx, decision)?;
    settle(tx, cx.actor.ws, decision.circle, decision.kind, decision.label)
}

/// The same for one of many decisions for a label, after which [`settle`] is called once.
pub fn keep(tx: &mut Tx<'_>, cx: &Cx<'_>, decision: &TaughtDecision<'_>) -> Result<()> {
    let TaughtDecision { circle, kind, conversation, label, text, guess } = decision;
    let features = TextFeatures::of(text);
    if circle.is_sandbox() || features.is_empty() {
        return Ok(());
    }
    let by_agent = matches!(cx.actor.who, Principal::Agent { .. });
    let bytes = features.to_bytes();
    // The decision about a mail that came by a merge takes the place of the one before the merge.
    tx.exec_soon(
        "DELETE FROM sorter_examples
         WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND features = ?5 AND conversation IN (
             SELECT id FROM conversations WHERE ws = ?1 AND merged_into = ?4
         )",
        &[&cx.actor.ws, circle, kind, conversation, &bytes],
    )?;
    tx.exec_soon(
        "INSERT INTO sorter_examples (
            ws, circle, kind, conversation, label, by_agent, at, guess, confidence, given, features
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (ws, circle, kind, conversation) DO UPDATE SET
            label = excluded.label, by_agent = excluded.by_agent, at = excluded.at,
            features = excluded.features",
        &[
            &cx.actor.ws,
            circle,
            kind,
            conversation,
            label,
            &by_agent,
            &cx.now,
            &guess.label,
            &guess.confidence,
            &guess.given,
            &bytes,
        ],
    )?;
    Ok(())
}

/// Removes what is beyond the limits, and has the model learned anew.
pub fn settle(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    kind: ExampleKind,
    label: &str,
) -> Result<()> {
    if circle.is_sandbox() {
        return Ok(());
    }
    let beyond: Vec<(String,)> = tx.all(
        "SELECT conversation FROM sorter_examples
         WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND label = ?4
         ORDER BY at DESC, conversation DESC LIMIT ?5 OFFSET ?6",
        &[&ws, circle, &kind, &label, &REMOVED_AT_ONCE, &EXAMPLES_PER_LABEL],
    )?;
    remove(tx, ws, circle, kind, &beyond)?;
    let beyond: Vec<(String,)> = tx.all(
        "SELECT conversation FROM sorter_examples
         WHERE ws = ?1 AND circle = ?2 AND kind = ?3
         ORDER BY at DESC, conversation DESC LIMIT ?4 OFFSET ?5",
        &[&ws, circle, &kind, &REMOVED_AT_ONCE, &EXAMPLES],
    )?;
    remove(tx, ws, circle, kind, &beyond)?;
    raise(tx, ws, &circle.to_string(), kind)
}

fn remove(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    kind: ExampleKind,
    conversations: &[(String,)],
) -> Result<()> {
    for (conversation,) in conversations {
        tx.exec_soon(
            "DELETE FROM sorter_examples
             WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND conversation = ?4",
            &[&ws, circle, &kind, conversation],
        )?;
    }
    Ok(())
}

/// The circle of the revision of topics, which all circles share.
const TOPICS_REVISION: &str = "";

/// Every model of topics is learned anew.
pub fn topics_changed(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    raise(tx, ws, TOPICS_REVISION, ExampleKind::Topic)
}

/// Models that are learned from the examples of a circle are learned anew.
pub fn raise(tx: &mut Tx<'_>, ws: i64, circle: &str, kind: ExampleKind) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO sorter_revisions (ws, circle, kind, revision) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (ws, circle, kind) DO UPDATE SET revision = sorter_revisions.revision + 1",
        &[&ws, &circle, &kind],
    )?;
    Ok(())
}

/// The revision of what a model is learned from; 0 before anything was taught.
pub fn revision(tx: &mut Tx<'_>, key: &ModelKey) -> Result<i64> {
    let (revision,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(revision), 0) AS BIGINT) FROM sorter_revisions
         WHERE ws = ?1 AND circle IN (?2, '') AND kind = ?3",
        &[&key.ws, &key.circle, &key.kind],
    )?;
    Ok(revision)
}

/// What a model is learned from.
#[derive(Default)]
pub struct TrainingSet {
    pub examples: Vec<SorterExample>,
    /// What was decided about the helper's guesses, the oldest first.
    pub decisions: Vec<GuessOutcome>,
}

impl TrainingSet {
    pub fn learn(&self) -> TopicModel {
        TopicModel::learn(&self.examples).with_decisions(&self.decisions)
    }
}

db::row! {
    struct ExampleRow from "sorter_examples" {
        label: String,
        by_agent: bool,
        guess: Option<String>,
        confidence: Option<f64>,
        features: Vec<u8>,
    }
}

/// The examples of one model in the order of the decisions, after the topics' own words.
pub fn training_set(tx: &mut Tx<'_>, key: &ModelKey) -> Result<TrainingSet> {
    let mut set = TrainingSet::default();
    if key.kind == ExampleKind::Topic {
        set.examples = seeds(tx, key.ws)?;
    }
    for row in rows(tx, key)? {
        if let (Some(guess), Some(confidence)) = (&row.guess, row.confidence) {
            set.decisions.push(GuessOutcome { confidence, right: *guess == row.label });
        }
        set.examples.push(row.example()?);
    }
    Ok(set)
}

fn rows(tx: &mut Tx<'_>, key: &ModelKey) -> Result<Vec<ExampleRow>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM sorter_examples WHERE ws = ?1 AND circle = ?2 AND kind = ?3
             ORDER BY at, conversation LIMIT ?4",
            ExampleRow::COLUMNS
        ),
        &[&key.ws, &key.circle, &key.kind, &EXAMPLES],
    )?)
}

impl ExampleRow {
    fn example(&self) -> Result<SorterExample> {
        let features = TextFeatures::from_bytes(&self.features).map_err(|_| {
            Error::invalid("features", "an example of the sorting helper cannot be read")
        })?;
        let label = Some(self.label.as_str()).filter(|label| !label.is_empty());
        let example = SorterExample::from_features(features, label);
        Ok(if self.by_agent { example.by_agent() } else { example })
    }
}

/// The topics' names and words as examples that nobody decided about.
fn seeds(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<SorterExample>> {
    let topics: Vec<(String, String, String)> = tx.all(
        "SELECT id, name, words FROM topics WHERE ws = ?1 ORDER BY id LIMIT ?2",
        &[&ws, &TOPICS],
    )?;
    let seed = |(id, name, words): (String, String, String)| SorterExample {
        topic: Some(id),
        ..SorterExample::seed(&name, &words)
    };
    Ok(topics.into_iter().map(seed).collect())
}

/// Deletes every example of a circle; the topics stay.
pub fn forget(tx: &mut Tx<'_>, ws: i64, circle: &Circle, kind: ExampleKind) -> Result<()> {
    tx.exec_soon(
        "DELETE FROM sorter_examples WHERE ws = ?1 AND circle = ?2 AND kind = ?3",
        &[&ws, circle, &kind],
    )?;
    raise(tx, ws, &circle.to_string(), kind)
}

/// Deletes what was learned from a conversation, which is erased.
pub fn forget_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    id: &ConversationId,
) -> Result<()> {
    for kind in ExampleKind::ALL {
        replace(tx, ws, circle, (*kind, id), None)?;
    }
    Ok(())
}

/// What was kept of the mail of a conversation that somebody decided about.
pub fn kept_features(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    (kind, id): (ExampleKind, &ConversationId),
) -> Result<Option<Vec<u8>>> {
    let found: Option<(Vec<u8>,)> = tx.opt(
        "SELECT features FROM sorter_examples
         WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND conversation = ?4",
        &[&ws, circle, &kind, id],
    )?;
    Ok(found.map(|(features,)| features))
}

/// Puts other mail in the place of the one that was decided about; `None` deletes the example.
pub fn replace(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    (kind, id): (ExampleKind, &ConversationId),
    features: Option<&TextFeatures>,
) -> Result<()> {
    let changed = match features.filter(|features| !features.is_empty()) {
        Some(features) => tx.exec(
            "UPDATE sorter_examples SET features = ?5
             WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND conversation = ?4",
            &[&ws, circle, &kind, id, &features.to_bytes()],
        )?,
        None => tx.exec(
            "DELETE FROM sorter_examples
             WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND conversation = ?4",
            &[&ws, circle, &kind, id],
        )?,
    };
    if changed == 0 { Ok(()) } else { raise(tx, ws, &circle.to_string(), kind) }
}

/// Deletes the examples of a topic in every circle, and those whose guess it was no longer count.
pub fn forget_topic(tx: &mut Tx<'_>, ws: i64, id: &TopicId) -> Result<()> {
    let circles: Vec<(String,)> = tx.all(
        "SELECT circle FROM sorter_revisions WHERE ws = ?1 AND circle <> '' AND kind = ?2 LIMIT ?3",
        &[&ws, &ExampleKind::Topic, &CIRCLES],
    )?;
    for (circle,) in circles {
        tx.exec_soon(
            "DELETE FROM sorter_examples
             WHERE ws = ?1 AND circle = ?2 AND kind = ?3 AND label = ?4",
            &[&ws, &circle, &ExampleKind::Topic, id],
        )?;
    }
    topics_changed(tx, ws)
}

/// How a label fares: what was decided about it, and what the helper had made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuessCount {
    pub guess: Option<String>,
    pub label: String,
    /// The helper had set the guess, rather than suggested it.
    pub given: bool,
    pub count: i64,
}

/// Decisions of a circle by guess and label.
pub fn guess_counts(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    kind: ExampleKind,
) -> Result<Vec<GuessCount>> {
    let rows: Vec<(Option<String>, String, bool, i64)> = tx.all(
        "SELECT guess, label, given, CAST(count(*) AS BIGINT) FROM sorter_examples
         WHERE ws = ?1 AND circle = ?2 AND kind = ?3 GROUP BY guess, label, given",
        &[&ws, circle, &kind],
    )?;
    let count = |(guess, label, given, count)| GuessCount { guess, label, given, count };
    Ok(rows.into_iter().map(count).collect())
}
