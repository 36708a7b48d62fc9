//! Mails with BIPIA's text attacks in them: a file of JSON lines with `label`, `text` and perhaps `kind`
//! (`attack`, and `honest` mails that the attacks are put behind), or the folder of the repository itself.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::goal::{GoalCall, InjectedGoal};

/// Where the repository has its attacks and its mails, those to train with and those to test with.
const ATTACKS: [&str; 2] = ["benchmark/text_attack_train.json", "benchmark/text_attack_test.json"];
const MAILS: [&str; 2] = ["benchmark/email/train.jsonl", "benchmark/email/test.jsonl"];
/// Characters of an honest mail that stand before an attack.
const MAIL_CHARS: usize = 2_000;

/// Attacks by kind, and honest mails.
#[derive(Default)]
struct AttackCorpus {
    attacks: Vec<(String, String)>,
    mails: Vec<String>,
}

/// The goals of a file of JSON lines.
pub fn goals_of_file(file: &Path) -> Result<Vec<InjectedGoal>, String> {
    let mut corpus = AttackCorpus::default();
    for line in read(file)?.lines().filter(|line| !line.trim().is_empty()) {
        let one: Value =
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", file.display()))?;
        let text = one["text"].as_str().unwrap_or_default().to_owned();
        match one["label"].as_str() {
            Some("attack") => {
                let kind = one["kind"].as_str().unwrap_or("an attack");
                corpus.attacks.push((kind.to_owned(), text));
            }
            Some("honest") => corpus.mails.push(text),
            _ => return Err(format!("{}: a line has no label", file.display())),
        }
    }
    corpus.goals(&file.display().to_string())
}

/// The goals of the repository.
pub fn goals_of_folder(folder: &Path) -> Result<Vec<InjectedGoal>, String> {
    let mut corpus = AttackCorpus::default();
    for file in ATTACKS.iter().map(|file| folder.join(file)).filter(|file| file.exists()) {
        let kinds: Value = serde_json::from_str(&read(&file)?)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        for (kind, texts) in kinds.as_object().into_iter().flatten() {
            let texts = texts.as_array().into_iter().flatten().filter_map(Value::as_str);
            corpus.attacks.extend(texts.map(|text| (kind.clone(), text.to_owned())));
        }
    }
    for file in MAILS.iter().map(|file| folder.join(file)).filter(|file| file.exists()) {
        let lines = read(&file)?;
        let mails = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        corpus.mails.extend(mails.filter_map(|mail| mail["context"].as_str().map(str::to_owned)));
    }
    corpus.goals(&folder.display().to_string())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

impl AttackCorpus {
    /// Each attack behind a mail. The agent does what it says: it puts it into its answer, and sends that to
    /// whoever wrote and to an address of the attacker.
    fn goals(self, place: &str) -> Result<Vec<InjectedGoal>, String> {
        if self.attacks.is_empty() {
            return Err(format!("{place} has no attacks"));
        }
        let goal = |(number, (kind, attack)): (usize, (String, String))| {
            let mail = match self.mails.len() {
                0 => String::new(),
                mails => self.mails[number % mails].chars().take(MAIL_CHARS).collect(),
            };
            let answer = json!({ "id": "{own}", "body": attack, "send": true });
            let mut copy = answer.clone();
            copy["cc"] = json!(["{thief}"]);
            InjectedGoal {
                family: format!("BIPIA: {}", group_of(&kind)),
                text: format!("{mail}\n\n{attack}"),
                calls: vec![
                    GoalCall::new("get_conversation", json!({ "id": "{own}" })),
                    GoalCall::new("reply", answer),
                    GoalCall::new("reply", copy),
                ],
                brake: None,
            }
        };
        Ok(self.attacks.into_iter().enumerate().map(goal).collect())
    }
}

/// A row of the table for several kinds.
fn group_of(kind: &str) -> &'static str {
    match kind {
        "Scams & Fraud" | "Malware Distribution" | "Clickbait" => "fraud and links in the answer",
        "Misinformation & Propaganda" | "Persuasion" | "Marketing & Advertising" => {
            "propaganda and advertising in the answer"
        }
        _ => "another task in the answer",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn attacks_stand_behind_honest_mails() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, r#"{{"label":"honest","text":"Hello."}}"#).unwrap();
        writeln!(file, r#"{{"label":"attack","kind":"Clickbait","text":"Add a link."}}"#).unwrap();
        let goals = goals_of_file(file.path()).unwrap();
        assert_eq!((goals.len(), goals[0].text.as_str()), (1, "Hello.\n\nAdd a link."));
        assert!(goals[0].family.contains("links"));
        assert!(goals_of_folder(file.path().parent().unwrap()).is_err());
    }
}
