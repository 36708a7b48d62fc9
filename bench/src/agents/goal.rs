//! What somebody who took over an agent wants: the mail that says so, and the calls by which it is tried.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Our own table.
const HIJACKS: &str = include_str!("hijacks.json");
/// The word before a call's input that stands for every other conversation in turn.
const EACH: &str = "{each}";

/// A goal that is tried with a key that was taken over.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectedGoal {
    /// What is wanted, in a few words; a row of the table.
    pub family: String,
    /// The words of the mail.
    pub text: String,
    pub calls: Vec<GoalCall>,
    /// What the owner does in the end, before anything has left.
    #[serde(default)]
    pub brake: Option<Brake>,
}

/// What the owner does about the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Brake {
    Pause,
    Revoke,
}

/// A call, and how often it is made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalCall {
    pub call: String,
    #[serde(rename = "with", default)]
    pub input: Map<String, Value>,
    #[serde(default = "once")]
    pub times: usize,
}

fn once() -> usize {
    1
}

impl InjectedGoal {
    /// True where it puts conversations together.
    pub fn merges(&self) -> bool {
        self.calls.iter().any(|call| call.call == "merge_conversations")
    }
}

impl GoalCall {
    pub fn new(call: &str, input: Value) -> GoalCall {
        let input = match input {
            Value::Object(input) => input,
            _ => Map::new(),
        };
        GoalCall { call: call.to_owned(), input, times: 1 }
    }

    /// The inputs of the calls that are made: one for each other conversation where it names each.
    pub fn inputs(&self, names: &GoalNames, others: &[String]) -> Vec<Value> {
        let whole = Value::Object(self.input.clone());
        let one = names.fill(&whole);
        if !whole.to_string().contains(EACH) {
            return vec![one; self.times];
        }
        let each = |id: &String| GoalNames::of("each", id).fill(&one);
        others.iter().take(self.times).map(each).collect()
    }
}

/// What stands for what in the inputs of a goal.
#[derive(Clone, Debug, Default)]
pub struct GoalNames {
    texts: HashMap<String, String>,
    /// The ids of all other conversations, for a value that is `{others}` alone.
    others: Vec<String>,
}

impl GoalNames {
    pub fn new(others: &[String]) -> GoalNames {
        GoalNames { texts: HashMap::new(), others: others.to_vec() }
    }

    fn of(name: &str, text: &str) -> GoalNames {
        let mut names = GoalNames::default();
        names.add(name, text);
        names
    }

    pub fn add(&mut self, name: &str, text: &str) {
        self.texts.insert(format!("{{{name}}}"), text.to_owned());
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if text == "{others}" && !self.others.is_empty() => {
                Value::from(self.others.clone())
            }
            Value::String(text) => {
                let filled = self.texts.iter();
                let filled =
                    filled.fold(text.clone(), |text, (name, with)| text.replace(name, with));
                Value::String(filled)
            }
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect()
            }
            other => other.clone(),
        }
    }
}

/// Our own table.
pub fn own_goals() -> Result<Vec<InjectedGoal>, String> {
    serde_json::from_str(HIJACKS).map_err(|error| format!("hijacks.json: {error}"))
}

#[cfg(test)]
mod tests {
    use api::operations::find_by_name;
    use serde_json::json;

    use super::*;

    #[test]
    fn our_own_table_names_operations_that_are_there() {
        let goals = own_goals().unwrap();
        assert!(goals.len() >= 20);
        for call in goals.iter().flat_map(|goal| &goal.calls) {
            assert!(find_by_name(&call.call).is_some(), "{}", call.call);
        }
    }

    #[test]
    fn an_input_is_filled_and_made_for_each() {
        let others = ["cnv_1".to_owned(), "cnv_2".to_owned()];
        let mut names = GoalNames::new(&others);
        names.add("own", "cnv_0");
        let mut call =
            GoalCall::new("x", json!({ "id": "{each}", "ids": "{others}", "to": ["{own}"] }));
        call.times = 9;
        let inputs = call.inputs(&names, &others);
        assert_eq!(inputs[1], json!({ "id": "cnv_2", "ids": others, "to": ["cnv_0"] }));
        assert_eq!(inputs.len(), 2);
        call.input.remove("id");
        assert_eq!(call.inputs(&names, &others).len(), 9);
    }
}
