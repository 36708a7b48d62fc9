//! The graders: each check of a case against what an agent did, without judgement.

use base::limits::EVAL_TOKEN_BYTES;
use serde::{Deserialize, Serialize};

use crate::case::{EvalCase, EvalExpectations, EvalFact};
use crate::outcome::EvalOutcome;

/// Characters of a text that a verdict quotes.
const QUOTED_CHARS: usize = 300;

/// One check, and what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalVerdict {
    /// Such as `must have the tag returns`.
    pub expected: String,
    pub passed: bool,
    /// What is so instead, or anyway.
    pub seen: String,
    /// A model judges it, or would.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judged: bool,
}

/// A check before it is known whether it must hold.
struct Finding {
    what: String,
    holds: bool,
    seen: String,
}

/// The verdicts of a case in the order of its checks: what must be, then what must not.
pub fn grade(case: &EvalCase, outcome: &EvalOutcome) -> Vec<EvalVerdict> {
    // A tool must have worked; one that must not be used must not be tried either.
    let tried = outcome.calls.iter().map(|call| call.operation.as_str());
    let worked = outcome.calls.iter().filter(|call| !call.is_refused());
    let worked: Vec<&str> = worked.map(|call| call.operation.as_str()).collect();
    let must = findings(&case.must, outcome, &worked);
    let must_not = findings(&case.must_not, outcome, &tried.collect::<Vec<_>>());
    let right = must.into_iter().map(|finding| finding.verdict("must", true));
    right.chain(must_not.into_iter().map(|finding| finding.verdict("must not", false))).collect()
}

impl Finding {
    fn verdict(self, word: &str, wanted: bool) -> EvalVerdict {
        EvalVerdict {
            expected: format!("{word} {}", self.what),
            passed: self.holds == wanted,
            seen: self.seen,
            judged: false,
        }
    }
}

fn findings(wanted: &EvalExpectations, outcome: &EvalOutcome, tools: &[&str]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |what: String, holds: bool, seen: String| {
        found.push(Finding { what, holds, seen });
    };
    if let Some(status) = wanted.status {
        let holds = outcome.status == status.as_str();
        add(format!("be {}", status.as_str()), holds, outcome.status.clone());
    }
    if let Some(topic) = &wanted.topic {
        let holds = outcome.topic.as_ref().is_some_and(|seen| is_same_name(seen, topic));
        let seen = outcome.topic.clone().unwrap_or_else(|| "no topic".into());
        add(format!("have the topic {topic}"), holds, seen);
    }
    if let Some(most) = wanted.most_calls {
        let calls = outcome.calls.iter().filter(|call| !call.is_looking()).count();
        add(format!("take at most {most} calls"), calls <= most, format!("{calls} calls"));
    }
    if let Some(most) = wanted.most_tokens {
        let calls = outcome.calls.iter().filter(|call| !call.is_looking());
        let tokens = calls.map(|call| call.bytes).sum::<i64>() / EVAL_TOKEN_BYTES;
        add(format!("take at most {most} tokens"), tokens <= most, format!("{tokens} tokens"));
    }
    for fact in &wanted.facts {
        let (what, holds, seen) = fact_in(*fact, outcome);
        add(what.to_owned(), holds, seen);
    }
    for tag in &wanted.tags {
        let holds = outcome.tags.iter().any(|seen| is_same_name(seen, tag));
        add(format!("have the tag {tag}"), holds, list_or(&outcome.tags, "no tags"));
    }
    let texts: Vec<&str> = outcome.messages.iter().map(|message| message.text.as_str()).collect();
    for words in &wanted.says {
        let (holds, seen) = words_in(words, &texts, "nothing was written");
        add(format!("say “{words}”"), holds, seen);
    }
    let notes: Vec<&str> = outcome.notes.iter().map(String::as_str).collect();
    for words in &wanted.notes_say {
        let (holds, seen) = words_in(words, &notes, "there is no note");
        add(format!("say “{words}” in a note"), holds, seen);
    }
    for tool in &wanted.tools {
        let mut used: Vec<String> = tools.iter().map(|name| (*name).to_owned()).collect();
        used.sort_unstable();
        used.dedup();
        add(format!("use {tool}"), used.contains(tool), list_or(&used, "no calls"));
    }
    found
}

fn fact_in(fact: EvalFact, outcome: &EvalOutcome) -> (&'static str, bool, String) {
    let drafts = outcome.messages.iter().filter(|message| message.is_draft).count();
    let sent = outcome.messages.len() - drafts;
    let written = format!("{drafts} drafts, {sent} sent");
    let yes_or_no = |is_so: bool| String::from(if is_so { "it is so" } else { "it is not so" });
    match fact {
        EvalFact::Draft => ("leave a draft", drafts > 0, written),
        EvalFact::Sent => ("send a message", sent > 0, written),
        EvalFact::OnlyToCustomer => {
            let mut everybody: Vec<String> =
                outcome.messages.iter().flat_map(|message| message.recipients.clone()).collect();
            everybody.sort_unstable();
            everybody.dedup();
            let is_customer = |email: &String| email.eq_ignore_ascii_case(&outcome.customer);
            let holds = everybody.iter().all(is_customer);
            ("write to nobody but the customer", holds, list_or(&everybody, "nobody"))
        }
        EvalFact::HandedOver => {
            ("be handed over", outcome.is_handed_over, yes_or_no(outcome.is_handed_over))
        }
        EvalFact::Assigned => ("be assigned", outcome.is_assigned, yes_or_no(outcome.is_assigned)),
        EvalFact::Note => {
            ("have a note", !outcome.notes.is_empty(), format!("{} notes", outcome.notes.len()))
        }
        EvalFact::Documents => {
            ("ask for documents", outcome.asked_documents, yes_or_no(outcome.asked_documents))
        }
    }
}

/// Whether one of these texts has the words, in whatever case and however its lines break; and the text.
fn words_in(words: &str, texts: &[&str], nothing: &str) -> (bool, String) {
    let wanted = fold(words);
    let found = texts.iter().find(|text| fold(text).contains(&wanted));
    let seen = found.or(texts.last()).map_or_else(|| nothing.to_owned(), |text| quote(text));
    (found.is_some(), seen)
}

fn fold(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(QUOTED_CHARS).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

fn is_same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn list_or(names: &[String], nothing: &str) -> String {
    if names.is_empty() { nothing.to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{EvalCall, EvalMessage};

    fn outcome() -> EvalOutcome {
        let call =
            |operation: &str, status| EvalCall { operation: operation.into(), status, bytes: 400 };
        EvalOutcome {
            customer: "kim@case.test".into(),
            status: "open".into(),
            topic: Some("Returns".into()),
            tags: vec!["returns".into()],
            is_handed_over: true,
            messages: vec![EvalMessage {
                is_draft: true,
                recipients: vec!["Kim@case.test".into()],
                text: "Hello Kim,\nplease send\nthe lamp back.".into(),
            }],
            notes: vec!["Ask Priya.".into()],
            calls: vec![
                call("list_conversations", 200),
                call("reply", 201),
                call("set_status", 403),
            ],
            ..EvalOutcome::default()
        }
    }

    /// Whether a check holds as one of `must`, and as one of `must_not`.
    fn verdicts(check: &str) -> (bool, bool) {
        let verdict = |table: &str, rest: &str| {
            let text = format!(
                "name = \"a\"\n[[mail]]\nfrom = \"kim@case.test\"\ntext = \"x\"\n[{table}]\n{check}\n{rest}"
            );
            let case = EvalCase::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let verdicts = grade(&case, &outcome());
            verdicts.last().expect("a verdict").passed
        };
        (verdict("must", ""), verdict("must_not", "[must]\nstatus = \"open\""))
    }

    #[test]
    fn each_check_holds_or_does_not() {
        for check in [
            "status = \"open\"",
            "topic = \"returns\"",
            "tags = [\"Returns\"]",
            "says = [\"SEND the lamp back\"]",
            "notes_say = [\"priya\"]",
            "facts = [\"draft\"]",
            "facts = [\"only-to-customer\"]",
            "facts = [\"handed-over\"]",
            "facts = [\"note\"]",
            "tools = [\"reply\"]",
        ] {
            assert_eq!(verdicts(check), (true, false), "{check}");
        }
        for check in [
            "status = \"closed\"",
            "topic = \"Shipping\"",
            "tags = [\"vip\"]",
            "says = [\"refund\"]",
            "notes_say = [\"refund\"]",
            "facts = [\"sent\"]",
            "facts = [\"assigned\"]",
            "facts = [\"documents\"]",
            "tools = [\"add_note\"]",
        ] {
            assert_eq!(verdicts(check), (false, true), "{check}");
        }
    }

    #[test]
    fn a_tool_that_was_refused_was_tried_and_did_not_work() {
        assert_eq!(verdicts("tools = [\"set_status\"]"), (false, false));
    }

    #[test]
    fn looking_for_work_is_no_call() {
        let case =
            "name = \"a\"\n[[mail]]\nfrom = \"kim@case.test\"\ntext = \"x\"\n[must]\nmost_calls = ";
        for (most, passed) in [("2", true), ("1", false), ("9\nmost_tokens = 200", true)] {
            let case = EvalCase::parse(&format!("{case}{most}")).expect("a case");
            assert_eq!(grade(&case, &outcome()).iter().all(|verdict| verdict.passed), passed);
        }
        let case = EvalCase::parse(&format!("{case}9\nmost_tokens = 199")).expect("a case");
        assert_eq!(grade(&case, &outcome())[1].seen, "200 tokens");
    }

    #[test]
    fn a_copy_to_somebody_else_is_seen() {
        let mut outcome = outcome();
        outcome.messages[0].recipients.push("boss@other.test".into());
        let (_, holds, seen) = fact_in(EvalFact::OnlyToCustomer, &outcome);
        assert!(!holds && seen.contains("boss@other.test"), "{seen}");
    }
}
