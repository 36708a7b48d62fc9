//! Every command answers with one JSON object when it is asked to, whatever becomes of it.

use serde_json::Value;

use super::{Operator, SETUP};

/// The sentence of the one JSON object of a command that must fail.
fn error(operator: &Operator, args: &[&str], status: i32) -> String {
    let said = operator.run(args);
    assert_eq!(said.status, Some(status), "{args:?}: {} {}", said.out, said.err);
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.out));
    assert_eq!(answer.as_object().map(|object| object.len()), Some(1), "{answer}");
    answer["error"].as_str().unwrap().to_owned()
}

#[test]
fn a_command_that_fails_with_json_says_why_in_one_object() {
    let operator = Operator::new();
    let none = error(&operator, &["user", "list", "--json"], 1);
    assert_eq!(none, "There is no workspace yet. Make one with `mailroom setup`.");
    operator.json(&SETUP);
    let by = "--by=nobody@acme.example";
    let nobody = error(&operator, &["webhook", "add", "https://x.example/", by, "--json"], 1);
    assert_eq!(nobody, "There is nobody with this address on the team.");
    let missing = error(&operator, &["inspect", "missing.eml", "--json"], 1);
    assert!(missing.starts_with("missing.eml: "), "{missing}");
    let usage = error(&operator, &["key", "create", "--json"], 2);
    assert!(usage.contains("--name") && !usage.contains('\n'), "{usage}");
    let unknown = error(&operator, &["frobnicate", "--json"], 2);
    assert!(unknown.contains("frobnicate"), "{unknown}");
    let settings = error(&operator, &["user", "list", "--json", "--listen=x", "--dns=y"], 2);
    assert!(settings.contains("listen: must be") && settings.contains("dns: must be"));
}

#[test]
fn without_json_an_error_is_a_sentence_on_standard_error() {
    let said = Operator::new().run(&["user", "list"]);
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""));
    assert_eq!(said.err, "mailroom: There is no workspace yet. Make one with `mailroom setup`.\n");
}

#[test]
fn a_domain_whose_records_are_not_published_is_told_by_the_exit_status() {
    let operator = Operator::set_up();
    // Nobody answers there.
    let dns = "--dns=127.0.0.1:1";
    let said = operator.run(&["domain", "check", "acme.example", dns]);
    assert_eq!(said.status, Some(1), "{}", said.out);
    assert!(said.out.contains("mailroom domain dns acme.example"), "no key: {}", said.out);
    operator.text(&["domain", "dns", "acme.example"]);
    let said = operator.run(&["domain", "check", "acme.example", dns, "--json"]);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.status, &answer["good"]), (Some(1), &Value::from(false)), "{answer}");
}

#[test]
fn a_relay_on_this_machine_is_no_name_for_others() {
    let operator = Operator::set_up();
    let relay = "--relay=smtp://127.0.0.1:2500";
    let said = operator.text(&["domain", "dns", "acme.example", relay]);
    assert!(!said.contains("127.0.0.1"), "{said}");
    assert!(said.contains("MAILROOM_PUBLIC_URL"), "{said}");
}

#[test]
fn an_inbox_is_a_mailbox_by_another_name() {
    let operator = Operator::set_up();
    operator.text(&["inbox", "add", "sales@acme.example", "--name=Sales"]);
    let listed = operator.json(&["inbox", "list"]);
    assert_eq!(listed, operator.json(&["mailbox", "list"]));
    assert_eq!(listed["mailboxes"].as_array().unwrap().len(), 2);
}
