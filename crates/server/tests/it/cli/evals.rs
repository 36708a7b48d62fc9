//! Test cases for agents at the command line.

use std::fs;

use serde_json::{Value, json};

use super::{Operator, Said};

const WRONG: &str = r#"
name = "wrong"
[[mail]]
from = "kim@case.test"
text = "Is <it> here & whole?"
[must]
says = ["<yes> & no"]
[[step]]
call = "reply"
[step.with]
body = "Perhaps."
"#;

fn results(said: &Said) -> Value {
    let mut run: Value = serde_json::from_str(&said.out).unwrap();
    for case in run["cases"].as_array_mut().unwrap() {
        // The id of its conversation is another each time.
        case["outcome"]["conversation"] = Value::Null;
    }
    run["cases"].take()
}

#[test]
fn the_samples_run_without_a_key_with_the_same_result_each_time() {
    let operator = Operator::set_up();
    let none = operator.run(&["evals", "run"]);
    assert_eq!(none.status, Some(1));
    assert!(none.err.contains("mailroom evals add --samples"), "{}", none.err);
    operator.text(&["evals", "add", "--samples"]);
    let listed = operator.json(&["evals", "list"]);
    assert_eq!(listed["cases"].as_array().unwrap().len(), 20);
    assert_eq!((&listed["cases"][0]["passed"], &listed["runs"]), (&Value::Null, &json!([])));
    let file = operator.data().join("evals.xml");
    let junit = format!("--junit={}", file.display());
    let first = operator.run(&["evals", "run", "--json", &junit]);
    assert_eq!(first.status, Some(0), "{} {}", first.out, first.err);
    let xml = fs::read_to_string(&file).unwrap();
    assert!(xml.contains("tests=\"20\" failures=\"0\""), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 20);
    let again = operator.run(&["evals", "run", "--json", &junit]);
    assert_eq!(results(&first), results(&again));
    assert_eq!(fs::read_to_string(&file).unwrap(), xml);
    let compared = operator.text(&["evals", "compare", "1", "2"]);
    assert_eq!(compared, "0 worse, 0 changed, 20 the same.\n");
    let listed = operator.json(&["evals", "list"]);
    assert_eq!(listed["cases"][0]["passed"], true);
    assert_eq!(listed["runs"][0]["number"], 2);
}

#[test]
fn a_case_that_fails_is_told_and_so_is_a_key_that_is_none() {
    let operator = Operator::set_up();
    let file = operator.data().join("wrong.toml");
    fs::write(&file, WRONG).unwrap();
    operator.text(&["evals", "add", &file.display().to_string()]);
    assert_eq!(operator.text(&["evals", "show", "wrong"]), WRONG);
    let xml = operator.data().join("evals.xml");
    let junit = format!("--junit={}", xml.display());
    let said = operator.run(&["evals", "run", "--case", "wrong", &junit]);
    assert_eq!(said.status, Some(1));
    assert!(said.out.contains("FAIL  wrong  1 calls"), "{}", said.out);
    assert!(said.out.contains("must say “<yes> & no”; seen: Perhaps."), "{}", said.out);
    let xml = fs::read_to_string(&xml).unwrap();
    assert!(xml.contains("must say “&lt;yes&gt; &amp; no”"), "{xml}");
    for (args, sentence) in [
        (&["evals", "run", "--key", "Robo"][..], "No test key is called Robo."),
        (&["evals", "run", "--case", "other"], "There is no test case other."),
        (&["evals", "run", "--judge"], "There is no model to judge"),
        (
            &["evals", "run", "--webhook", "http://127.0.0.1:9/", "--webhook-secret-file", "none"],
            "none",
        ),
        (&["evals", "show", "other"], "There is no such test case"),
        (&["evals", "compare", "1", "9"], "There is no such run"),
    ] {
        let said = operator.run(args);
        assert_eq!(said.status, Some(1), "{args:?}");
        assert!(said.err.contains(sentence), "{args:?}: {}", said.err);
    }
    fs::write(&file, WRONG.replace("kim@case.test", "kim@example.com")).unwrap();
    let refused = operator.run(&["evals", "add", &file.display().to_string()]);
    assert!(refused.status == Some(1) && refused.err.contains("wrong.toml"), "{}", refused.err);
    operator.text(&["evals", "remove", "wrong"]);
    assert_eq!(operator.json(&["evals", "list"])["cases"], json!([]));
}

#[test]
fn an_agent_that_nobody_runs_fails_in_time() {
    let operator = Operator::set_up();
    let key = ["key", "create", "--name=Robo", "--scopes=read,draft", "--test"];
    operator.text(&[&key[..], &["--by=olive@acme.example"]].concat());
    operator.text(&["evals", "add", "--samples"]);
    let args = ["evals", "run", "--case=bulb-for-the-alma", "--key=Robo", "--wait=1"];
    let said = operator.run(&args);
    assert_eq!(said.status, Some(1));
    assert!(said.out.contains("The agent did nothing in time."), "{}", said.out);
}
