//! The queues at the command line.

use serde_json::json;

use super::Operator;

#[test]
fn what_waits_is_listed_held_released_tried_again_and_discarded() {
    let operator = Operator::set_up();
    let private = "--webhooks-allow-private=true";
    let said = operator.text(&["queue", "list"]);
    assert!(said.contains("Nothing waits, and nothing failed."), "{said}");
    let url = "http://127.0.0.1:1/hook";
    let made = operator.json(&["webhook", "add", url, "--by=olive@acme.example", private]);
    let hook = made["id"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        operator.json(&["webhook", "test", &hook]);
    }
    let page = operator.json(&["queue", "list", "--kind=webhooks", "--limit=2"]);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let cursor = format!("--cursor={}", page["next"].as_str().unwrap());
    let rest = operator.json(&["queue", "list", "--kind=webhooks", "--limit=2", &cursor]);
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &json!(null)));
    let item = &page["items"][0];
    assert_eq!((&item["state"], &item["target"]), (&json!("waiting"), &json!(url)));
    assert_eq!((&item["workspace"], &item["why"]), (&json!("acme"), &json!("It is next.")));
    let id = item["id"].as_str().unwrap().to_owned();
    let held = operator.json(&["queue", "hold", &id]);
    assert_eq!((&held["ok"], &held["item"]["state"]), (&json!(true), &json!("held")));
    let why = held["item"]["why"].as_str().unwrap();
    assert_eq!(why, "Held by The operator. It stays until it is released.");
    let shown = operator.text(&["queue", "show", &id]);
    assert!(shown.contains("held") && shown.contains("attempts: []"), "{shown}");
    let again = operator.run(&["queue", "retry", &id]);
    assert_eq!(again.status, Some(1));
    assert!(again.err.contains("is held; release it instead"), "{}", again.err);
    operator.text(&["queue", "release", &id]);
    operator.text(&["queue", "discard", &id, "--workspace=acme"]);
    let failed = operator.json(&["queue", "list", "--state=failed"]);
    assert_eq!(failed["items"][0]["id"], json!(id));
    operator.text(&["queue", "retry", &id]);
    assert!(
        operator.json(&["queue", "list", "--state=failed"])["items"].as_array().unwrap().is_empty()
    );
}

#[test]
fn what_cannot_be_found_or_is_typed_wrong_is_said_in_a_sentence() {
    let operator = Operator::set_up();
    for (args, status, sentence) in [
        (vec!["queue", "show", "msg_1"], 1, "There is no such"),
        (vec!["queue", "hold", "nonsense"], 1, "There is no such"),
        (vec!["queue", "list", "--workspace=globex"], 1, "There is no workspace globex."),
        (vec!["queue", "list", "--cursor=nonsense"], 1, "is not one that a list gave out"),
        (vec!["queue", "list", "--limit=0"], 2, "0 is not in 1..=500"),
        (vec!["queue", "list", "--kind=mails"], 2, "invalid value 'mails'"),
    ] {
        let said = operator.run(&args);
        assert_eq!(said.status, Some(status), "{args:?}: {}", said.err);
        assert!(said.err.contains(sentence), "{args:?}: {}", said.err);
    }
}
