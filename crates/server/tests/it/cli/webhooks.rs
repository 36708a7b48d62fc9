//! Webhooks at the command line: their ids, and why a delivery failed.

use testing::becomes_true;

use super::Operator;

#[test]
fn an_address_of_this_computer_is_refused_with_what_to_use_instead() {
    let operator = Operator::set_up();
    for url in ["http://127.0.0.1:3000/hook", "http://localhost:3000/", "https://192.168.1.7/hook"]
    {
        let said = operator.run(&["webhook", "add", url, "--by=olive@acme.example"]);
        assert_ne!(said.status, Some(0), "{}", said.out);
        let said = said.err;
        let listen = format!("mailroom listen --forward-to {url}");
        assert!(said.contains("https://") || said.contains("public"), "{said}");
        for named in [listen.as_str(), "MAILROOM_WEBHOOKS_ALLOW_PRIVATE=true"] {
            assert!(said.contains(named), "{url}: {said}");
        }
    }
    // A public address without https has another remedy.
    let said =
        operator.run(&["webhook", "add", "http://example.com/", "--by=olive@acme.example"]).err;
    assert!(said.contains("https://") && !said.contains("ALLOW_PRIVATE"), "{said}");
}

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
