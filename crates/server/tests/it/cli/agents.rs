//! Limits of keys and the brake of agents at the command line.

use serde_json::json;

use super::Operator;

const BY: &str = "--by=olive@acme.example";

fn with_key(profile: &str) -> Operator {
    let operator = Operator::set_up();
    operator.text(&["key", "create", "--name=Robo", "--scopes=read,write", profile, BY]);
    operator
}

#[test]
fn a_key_has_the_limits_of_its_profile_and_those_that_are_named() {
    let operator = with_key("--profile=agent");
    let policy = operator.json(&["key", "policy", "Robo"])["policy"].take();
    assert_eq!(
        (&policy["recipients"], &policy["undoMinutes"]),
        (&json!("conversation"), &json!(10))
    );
    let changes =
        ["messagesPerHour=none", "bulkPerMinutes=10/2", "amountAbove=50 EUR", "files=false"];
    let changed = operator.json(&[&["key", "policy", "Robo"][..], &changes].concat());
    let changed = &changed["policy"];
    assert_eq!(changed["messagesPerHour"], json!(null));
    assert_eq!(changed["bulkPerMinutes"], json!({ "conversations": 10, "minutes": 2 }));
    assert_eq!(changed["amountAbove"], json!({ "currency": "EUR", "value": 50.0 }));
    for (wrong, names) in [
        ("colour=red", "colour"),
        ("files=perhaps", "files"),
        ("draftsPerHour=-1", "draftsPerHour"),
        ("amountAbove=50", "amountAbove"),
        ("hours", "FIELD=VALUE"),
    ] {
        let said = operator.run(&["key", "policy", "Robo", "links=own", wrong]);
        assert_eq!(said.status, Some(1), "{wrong}");
        assert!(said.err.contains(names), "{wrong}: {}", said.err);
    }
    assert_eq!(&operator.json(&["key", "policy", "Robo"])["policy"], changed);
    assert_eq!(operator.run(&["key", "policy", "Nobody"]).status, Some(1));
    let other = ["key", "create", "--name=R", "--scopes=read", "--profile=model", BY];
    assert_eq!(operator.run(&other).status, Some(2));
}

#[test]
fn a_key_that_names_no_profile_is_a_programs() {
    let operator = with_key("--json");
    let policy = operator.json(&["key", "policy", "Robo"])["policy"].take();
    assert_eq!(
        (&policy["recipients"], &policy["bulkPerMinutes"]),
        (&json!("anyone"), &json!(null))
    );
}

#[test]
fn an_agent_is_paused_undone_and_let_work_again() {
    let operator = with_key("--profile=agent");
    operator.text(&["agent", "pause", "Robo"]);
    assert!(operator.text(&["key", "list"]).contains("paused"));
    let calls = operator.json(&["agent", "activity", "Robo", "--since=2026-11-18"]);
    assert_eq!(calls["calls"], json!([]));
    let undone = operator.json(&["agent", "undo", "Robo"]);
    assert_eq!((&undone["undone"], &undone["left"]), (&json!([]), &json!([])));
    operator.text(&["agent", "resume", "Robo"]);
    assert!(!operator.text(&["key", "list"]).contains("paused"));
    for wrong in [["agent", "pause", "Nobody"], ["agent", "activity", "Nobody"]] {
        assert_eq!(operator.run(&wrong).status, Some(1), "{wrong:?}");
    }
    let since = operator.run(&["agent", "undo", "Robo", "--since=yesterday"]);
    assert!(since.status == Some(1) && since.err.contains("since"), "{}", since.err);
}
