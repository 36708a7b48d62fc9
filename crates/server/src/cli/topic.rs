//! Topics at the command line, and how well the sorting helper finds them.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use actions::conversations::topics::ReplayScore;
use api::operations::list_topics;
use clap::{Args, Subcommand};
use classifier::{SorterExample, TopicModel};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::Json;
use super::command::{CommandResult, WorkspaceArgs, open, person, print, sentence};
use crate::settings::Settings;

/// Bytes of a line of a training or test file.
const LINE_BYTES: usize = 1024 * 1024;
/// Lines of a training or test file.
const LINES: usize = 200_000;

#[derive(Subcommand)]
pub enum TopicCommand {
    /// Add a topic that mail is sorted by
    Add {
        name: String,
        /// Words that describe it, so that it can be suggested before anybody decided
        #[arg(long, value_name = "WORDS", default_value = "")]
        words: String,
        /// The owner or admin who adds it
        #[arg(long, value_name = "EMAIL")]
        by: String,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// List the topics with the number of open conversations
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl TopicCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        match self {
            TopicCommand::Add { name, words, by, workspace } => {
                let maker = person(&app, &workspace.operator(&app).await?, by).await?;
                let said = format!("{name} is a topic.");
                let id = app
                    .act(&maker, move |tx, cx| {
                        actions::conversations::topics::add_topic(tx, cx, &name, &words)
                    })
                    .await
                    .map_err(sentence)?;
                print(workspace.output, &json!({ "id": id }), &said);
            }
            TopicCommand::List { workspace } => {
                let operator = workspace.operator(&app).await?;
                let topics = app.read(&operator, list_topics).await.map_err(sentence)?;
                let lines = topics
                    .iter()
                    .map(|topic| format!("{}  {}  {} open", topic.id, topic.name, topic.open));
                let said = lines.collect::<Vec<_>>().join("\n");
                print(workspace.output, &json!({ "topics": topics }), &said);
            }
        }
        Ok(())
    }
}

#[derive(Subcommand)]
pub enum SorterCommand {
    /// Learn from a file of decided texts and sort those of another, without touching any data
    Try(SorterTrial),
}

impl SorterCommand {
    pub fn run(self) -> Result<(), String> {
        let SorterCommand::Try(trial) = self;
        trial.run()
    }
}

#[derive(Args)]
pub struct SorterTrial {
    /// JSON lines {"text": "...", "topic": "NAME" | null}, in the order of the decisions; null is
    /// "none of these"
    #[arg(long, value_name = "FILE")]
    train: PathBuf,
    /// JSON lines {"text": "..."}
    #[arg(long, value_name = "FILE")]
    test: PathBuf,
}

/// A line of either file.
#[derive(Deserialize)]
struct TrialRow {
    text: String,
    /// The outer `None` where the line does not say.
    #[serde(default, deserialize_with = "present_or_null")]
    topic: Option<Option<String>>,
}

/// Tells `null` from what is missing.
fn present_or_null<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl SorterTrial {
    fn run(self) -> Result<(), String> {
        let example = |(line, row): &(usize, TrialRow)| match &row.topic {
            Some(topic) => Ok(SorterExample::from_decision(&row.text, topic.as_deref())),
            None => Err(format!(
                "{}, line {line}: The topic is missing; null stands for none of these.",
                self.train.display()
            )),
        };
        let examples: Vec<SorterExample> =
            rows(&self.train)?.iter().map(example).collect::<Result<_, _>>()?;
        let tests = rows(&self.test)?;
        let model = TopicModel::learn(&examples);
        let mut out = io::BufWriter::new(io::stdout().lock());
        for (_, row) in tests {
            let line = trial_line(&model, &row.text);
            if let Err(error) = writeln!(out, "{line}") {
                return ignore_closed_pipe(&error);
            }
        }
        out.flush().or_else(|error| ignore_closed_pipe(&error))
    }
}

/// A reader such as `head` may close the pipe early.
fn ignore_closed_pipe(error: &io::Error) -> Result<(), String> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error.to_string()),
    }
}

fn trial_line(model: &TopicModel, text: &str) -> Value {
    let sorted = model.sort(text);
    json!({
        "topic": sorted.topic,
        "suggested": sorted.suggested,
        "confidence": (sorted.confidence * 10_000.0).round() / 10_000.0,
        "reasons": sorted.reasons,
    })
}

/// The lines that are not empty, with their numbers.
fn rows(path: &Path) -> Result<Vec<(usize, TrialRow)>, String> {
    let name = path.display();
    let file = fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut rows = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let wrong = |what: &str| format!("{name}, line {}: {what}", at + 1);
        let line = line.map_err(|error| wrong(&error.to_string()))?;
        if line.trim().is_empty() {
            continue;
        }
        if at >= LINES || line.len() > LINE_BYTES {
            return Err(wrong("The file is too large."));
        }
        let row = serde_json::from_str(&line);
        rows.push((at + 1, row.map_err(|_| wrong("This is not a JSON object with a text."))?));
    }
    Ok(rows)
}

#[derive(Subcommand)]
pub enum HelperCommand {
    /// Replay what the team decided: how many conversations the sorting helper would have given a
    /// topic, by what was decided before, and how many of those rightly. With a folder of labelled
    /// mail, score every helper on it instead, without touching any data
    Score {
        /// A folder with folders such as urgency, topics, injection, phishing and modern-ham
        #[arg(value_name = "FOLDER", conflicts_with = "workspace")]
        folder: Option<PathBuf>,
        /// Also show what came out wrong, of sources that rules were written with
        #[arg(long, requires = "folder")]
        misses: bool,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
}

impl HelperCommand {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let HelperCommand::Score { folder, misses, workspace } = self;
        if let Some(folder) = folder {
            let output = workspace.output;
            let scored = tokio::task::spawn_blocking(move || score_folder(&folder, misses, output));
            return scored.await.map_err(|error| error.to_string())?;
        }
        let app = open(settings).await?;
        let operator = workspace.operator(&app).await?;
        let decided = app
            .read(&operator, actions::conversations::topics::decided_mail)
            .await
            .map_err(sentence)?;
        let replay = tokio::task::spawn_blocking(move || decided.replay());
        let score = replay.await.map_err(|error| error.to_string())?;
        print(workspace.output, &score_json(&score), &score_lines(&score));
        Ok(())
    }
}

/// Scores every helper on a folder of labelled mail.
fn score_folder(folder: &Path, misses: bool, output: Json) -> CommandResult {
    if !folder.is_dir() {
        return Err(format!("{}: This is not a folder.", folder.display()).into());
    }
    let lines = helper_scores::score(folder);
    let misses_of = |line: &helper_scores::ScoreLine| {
        let wrong = line.misses.iter().map(|miss| format!("{} {}: {miss}", line.part, line.name));
        wrong.collect::<Vec<_>>()
    };
    let mut said = vec![helper_scores::table(&lines)];
    if misses {
        said.extend(lines.iter().flat_map(misses_of));
    }
    let rows: Vec<Value> = lines.iter().map(helper_scores::ScoreLine::json).collect();
    print(output, &json!({ "lines": rows }), &said.join("\n"));
    Ok(())
}

fn share(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| (part as f64 / all as f64 * 1_000.0).round() / 1_000.0)
}

fn score_json(score: &ReplayScore) -> Value {
    let topics = score.topics.iter().map(|topic| {
        json!({
            "name": topic.name,
            "examples": topic.examples,
            "given": topic.given,
            "precision": share(topic.right, topic.given),
        })
    });
    json!({
        "decided": score.decided,
        "given": share(score.given, score.decided),
        "precision": share(score.right, score.given),
        "accuracy": share(score.guessed, score.with_topic),
        "topics": topics.collect::<Vec<_>>(),
    })
}

fn score_lines(score: &ReplayScore) -> String {
    let shown = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.3}"));
    let mut lines = vec![format!(
        "{} decided; given {}, of those right {}; best guess right {}",
        score.decided,
        shown(share(score.given, score.decided)),
        shown(share(score.right, score.given)),
        shown(share(score.guessed, score.with_topic)),
    )];
    lines.extend(score.topics.iter().map(|topic| {
        let right = shown(share(topic.right, topic.given));
        format!(
            "  {}: {} decided, {} given, right {right}",
            topic.name, topic.examples, topic.given
        )
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_says_what_the_product_would_set() {
        let mut examples = Vec::new();
        for at in 0..20 {
            let refund = format!("Please refund order {at}, I want my money back");
            examples.push(SorterExample::from_decision(&refund, Some("Refunds")));
            let parcel = format!("Where is my parcel number {at}? The courier did not come");
            examples.push(SorterExample::from_decision(&parcel, Some("Delivery")));
            let other = format!("Happy new year to all {at} of you, from your friends");
            examples.push(SorterExample::from_decision(&other, None));
        }
        let model = TopicModel::learn(&examples);
        let line = trial_line(&model, "Please refund order 77, I want my money back");
        assert_eq!((&line["topic"], &line["suggested"]), (&json!("Refunds"), &json!("Refunds")));
        assert!(line["confidence"].as_f64().is_some_and(|sure| sure > 0.0 && sure <= 1.0));
        assert!(!line["reasons"].as_array().unwrap().is_empty());
        assert_eq!(trial_line(&model, "…")["suggested"], Value::Null);
    }

    #[test]
    fn a_decision_without_a_topic_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (train, test) = (folder.path().join("train"), folder.path().join("test"));
        fs::write(&train, "{\"text\": \"a\", \"topic\": null}\n\n{\"text\": \"b\"}\n").unwrap();
        fs::write(&test, "{\"text\": \"a\"}\n").unwrap();
        let refused = SorterTrial { train, test }.run().unwrap_err();
        assert!(refused.ends_with("line 3: The topic is missing; null stands for none of these."));
    }
}
