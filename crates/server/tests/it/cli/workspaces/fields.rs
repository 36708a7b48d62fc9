//! Fields of contacts and conversations at the command line.

use serde_json::json;

use super::super::Operator;

#[test]
fn fields_are_added_listed_and_removed() {
    let operator = Operator::set_up();
    let order = json!({ "key": "order", "on": "conversation", "type": "reference", "choices": [] });
    let plan =
        json!({ "key": "plan", "on": "contact", "type": "choice", "choices": ["Free", "Pro"] });
    let add = ["field", "add", "order", "--on", "conversation", "--type", "reference"];
    assert_eq!(operator.json(&add), order);
    let add = ["field", "add", "plan", "--on", "contact", "--type", "choice"];
    let by = ["--by", "olive@acme.example"];
    let choices = ["--choice", "Free", "--choice", "Pro"];
    assert_eq!(operator.json(&[&add[..], &choices, &by].concat()), plan);
    assert_eq!(operator.json(&["field", "list"]), json!({ "fields": [order, plan] }));
    assert_eq!(operator.json(&["field", "remove", "plan"]), json!({ "ok": true }));
    assert_eq!(operator.json(&["field", "list"]), json!({ "fields": [order] }));
    let gone = operator.run(&["field", "remove", "plan"]);
    assert_eq!(gone.status, Some(1), "{}", gone.err);
}

#[test]
fn what_cannot_be_a_field_is_said_in_a_sentence() {
    let operator = Operator::set_up();
    let refused = |rest: &[&str], status: i32, sentence: &str| {
        let run = operator.run(&[&["field", "add"], rest].concat());
        assert_eq!(run.status, Some(status), "{}", run.err);
        assert!(run.err.contains(sentence), "{}", run.err);
    };
    refused(&["a", "--on", "team", "--type", "text"], 2, "company");
    refused(&["a", "--on", "contact", "--type", "sound"], 2, "reference");
    refused(&["a b", "--on", "contact", "--type", "text"], 1, "small letters");
    refused(&["a", "--on", "contact", "--type", "choice"], 1, "choices");
    refused(&["a", "--on", "contact", "--type", "text", "--choice", "b"], 1, "Only a field");
}
