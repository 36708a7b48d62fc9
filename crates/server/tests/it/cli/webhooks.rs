//! Webhooks at the command line: their ids, and why a delivery failed.

use testing::becomes_true;

use super::Operator;

#[test]
fn adding_one_prints_its_id_and_the_log_says_why_a_try_failed() {
    let operator = Operator::set_up();
    let private = "--webhooks-allow-private=true";
    // Nobody answers there.
    let url = "http://127.0.0.1:1/hook";
    let said = operator.text(&["webhook", "add", url, "--by=olive@acme.example", private]);
    let id = said.split_whitespace().find(|word| word.starts_with("whk_")).expect("its id");
    assert!(said.lines().any(|line| line.starts_with("whsec_")), "{said}");
    operator.text(&["webhook", "test", id]);
    let _served = operator.serve(&[private]);
    let mut log = String::new();
    let is_logged = becomes_true(|| {
        log = operator.text(&["webhook", "log", id]);
        log.lines().count() > 1
    });
    assert!(is_logged, "a try is logged");
    let tried = log.lines().nth(1).unwrap();
    let answers = &operator.json(&["webhook", "log", id])["deliveries"][0]["attempts"][0]["answer"];
    let reason = answers.as_str().unwrap();
    assert!(reason.len() > 10, "{reason}");
    assert!(tried.contains("no answer") && tried.contains(" ms  "), "{tried}");
    assert!(tried.ends_with(reason), "{tried} / {reason}");
}
