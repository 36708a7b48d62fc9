//! What a test case is: the customer's mails, what must and must not happen, and how a right agent acts.

use api::fields::check_body;
use api::operations::{Operation, find_by_name};
use base::error::{Error, Result};
use base::limits::{
    EVAL_CASE_BYTES, EVAL_CHECKS, EVAL_MAILS, EVAL_NAME_CHARS, EVAL_QUESTION_CHARS, EVAL_STEPS,
};
use base::states::Status;
use base::string_enum::string_enum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The operation by which a simulated customer writes.
pub(crate) const INBOUND: &str = "sandbox_inbound";

/// Names of pages beside those of cases.
const RESERVED: [&str; 3] = ["new", "run", "of-conversation"];

/// A test case, as its TOML file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalCase {
    /// Lower-case letters, digits and dashes.
    pub name: String,
    /// What it is about, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// An agent that does nothing is right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_to_do: bool,
    /// What the customer writes, one mail after the other.
    #[serde(rename = "mail")]
    pub mails: Vec<EvalMail>,
    #[serde(default)]
    pub must: EvalExpectations,
    #[serde(default)]
    pub must_not: EvalExpectations,
    /// The calls of an agent that does it right, for a run without a key.
    #[serde(default, rename = "step", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<EvalStep>,
}

/// A mail of the simulated customer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalMail {
    /// An address on a `.test` domain.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub text: String,
}

/// What is looked for in the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalExpectations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The name of the conversation's topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Calls beside those that look for work; only what must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_calls: Option<usize>,
    /// Tokens of these calls and their answers, of four bytes each; only what must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<EvalFact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Words in what the agent drafted or sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<String>,
    /// Words in the agent's notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes_say: Vec<String>,
    /// Operations by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Questions that a model answers with yes or no, where a run wants it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judge: Vec<String>,
}

string_enum! {
    /// What is so in the end, or is not.
    EvalFact {
        Draft = "draft",
        Sent = "sent",
        OnlyToCustomer = "only-to-customer",
        HandedOver = "handed-over",
        Assigned = "assigned",
        Note = "note",
        Documents = "documents",
    }
}

/// A call of the scripted player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalStep {
    /// The operation by name; where it is about a conversation, that of the case.
    pub call: String,
    /// The number of the mail that it follows; the last one unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// Its input.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
}

impl EvalCase {
    /// Reads a definition; what cannot be played is refused with its reason.
    pub fn parse(definition: &str) -> Result<EvalCase> {
        if definition.len() > EVAL_CASE_BYTES {
            return Err(problem(format!("must have at most {EVAL_CASE_BYTES} bytes")));
        }
        let case: EvalCase =
            toml::from_str(definition).map_err(|error| problem(error.message().to_owned()))?;
        case.check()?;
        Ok(case)
    }

    /// The definition as TOML.
    pub fn to_definition(&self) -> Result<String> {
        toml::to_string_pretty(self).map_err(|error| problem(error.to_string()))
    }

    fn check(&self) -> Result<()> {
        if !is_case_name(&self.name) {
            return Err(problem(format!(
                "the name must be 1 to {EVAL_NAME_CHARS} lower-case letters, digits and dashes"
            )));
        }
        if self.mails.is_empty() || self.mails.len() > EVAL_MAILS {
            return Err(problem(format!("{}: must have 1 to {EVAL_MAILS} mails", self.name)));
        }
        for mail in &self.mails {
            check_body(find_operation(INBOUND)?.fields, &mail.input(None))
                .map_err(Error::Invalid)?;
        }
        let checks = self.must.count() + self.must_not.count();
        if self.must.count() == 0 || checks > EVAL_CHECKS {
            let sentence = format!(
                "{}: must have 1 to {EVAL_CHECKS} checks, one of must among them",
                self.name
            );
            return Err(problem(sentence));
        }
        if self.must_not.most_calls.is_some() || self.must_not.most_tokens.is_some() {
            let sentence = "most_calls and most_tokens are checks of must";
            return Err(problem(format!("{}: {sentence}", self.name)));
        }
        for question in self.must.judge.iter().chain(&self.must_not.judge) {
            if question.trim().is_empty() || question.chars().count() > EVAL_QUESTION_CHARS {
                let sentence = format!("a question has 1 to {EVAL_QUESTION_CHARS} characters");
                return Err(problem(format!("{}: {sentence}", self.name)));
            }
        }
        for tool in self.must.tools.iter().chain(&self.must_not.tools) {
            find_operation(tool)?;
        }
        self.check_steps()
    }

    fn check_steps(&self) -> Result<()> {
        if self.steps.len() > EVAL_STEPS {
            return Err(problem(format!("{}: must have at most {EVAL_STEPS} steps", self.name)));
        }
        for step in &self.steps {
            step.input()?;
            if step.after.is_some_and(|after| after == 0 || after > self.mails.len()) {
                return Err(problem(format!("{}: a step follows no mail of it", self.name)));
            }
        }
        Ok(())
    }

    /// The steps that follow a mail, which is counted from 0.
    pub(crate) fn steps_after(&self, mail: usize) -> impl Iterator<Item = &EvalStep> {
        let last = self.mails.len();
        self.steps.iter().filter(move |step| step.after.unwrap_or(last) == mail + 1)
    }
}

impl EvalMail {
    /// The input of the operation by which it is simulated.
    pub(crate) fn input(&self, conversation: Option<&str>) -> Value {
        let mut input = Map::new();
        let fields = [
            ("from", Some(self.from.as_str())),
            ("name", self.name.as_deref()),
            ("subject", self.subject.as_deref()),
            ("text", Some(self.text.as_str())),
            ("conversationId", conversation),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                input.insert(name.to_owned(), json!(value));
            }
        }
        Value::Object(input)
    }
}

impl EvalStep {
    /// The operation and its checked input.
    pub(crate) fn input(&self) -> Result<(&'static Operation, Map<String, Value>)> {
        let operation = find_operation(&self.call)?;
        let with = Value::Object(self.with.clone());
        Ok((operation, check_body(operation.fields, &with).map_err(Error::Invalid)?))
    }
}

impl EvalExpectations {
    /// The number of checks.
    pub fn count(&self) -> usize {
        let single = [
            self.status.is_some(),
            self.topic.is_some(),
            self.most_calls.is_some(),
            self.most_tokens.is_some(),
        ];
        let lists = [&self.tags, &self.says, &self.notes_say, &self.tools, &self.judge];
        single.into_iter().filter(|is_wanted| *is_wanted).count()
            + self.facts.len()
            + lists.into_iter().map(Vec::len).sum::<usize>()
    }
}

pub(crate) fn find_operation(name: &str) -> Result<&'static Operation> {
    find_by_name(name).ok_or_else(|| problem(format!("there is no operation {name}")))
}

fn is_case_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty()
        && name.len() <= EVAL_NAME_CHARS
        && name.bytes().all(is_fit)
        && !RESERVED.contains(&name)
}

fn problem(sentence: impl Into<String>) -> Error {
    Error::invalid("case", sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = r#"
        name = "lamp"
        [[mail]]
        from = "kim@case.test"
        text = "It is broken."
        [must]
        facts = ["draft"]
        [[step]]
        call = "reply"
        [step.with]
        body = "We are sorry."
    "#;

    fn refusal(definition: &str) -> String {
        EvalCase::parse(definition).unwrap_err().to_string()
    }

    #[test]
    fn a_definition_survives_being_written_and_read() {
        let case = EvalCase::parse(CASE).expect("a case");
        assert_eq!(case.steps_after(0).count(), 1);
        let written = case.to_definition().expect("TOML");
        assert_eq!(EvalCase::parse(&written).expect("the same"), case, "{written}");
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_its_reason() {
        for (old, new, reason) in [
            ("\"lamp\"", "\"A lamp\"", "the name must be"),
            ("\"lamp\"", "\"new\"", "the name must be"),
            ("kim@case.test", "kim@example.com", "from"),
            ("facts = [\"draft\"]", "", "one of must"),
            ("facts = [\"draft\"]", "facts = [\"flown\"]", "flown"),
            ("facts = [\"draft\"]", "tools = [\"fly\"]", "there is no operation fly"),
            ("call = \"reply\"", "call = \"fly\"", "there is no operation fly"),
            ("call = \"reply\"", "call = \"reply\"\nafter = 2", "follows no mail"),
            ("body = ", "words = ", "body"),
            ("[must]", "colour = 1\n[must]", "colour"),
        ] {
            let said = refusal(&CASE.replace(old, new));
            assert!(said.contains(reason), "{new}: {said}");
        }
        for check in ["most_calls", "most_tokens"] {
            let many = CASE.replace("[must]", &format!("[must_not]\n{check} = 3\n[must]"));
            assert!(refusal(&many).contains(check));
        }
        let empty = CASE.replace("[must]", "[must_not]\njudge = [\" \"]\n[must]");
        assert!(refusal(&empty).contains("a question has"));
    }
}
