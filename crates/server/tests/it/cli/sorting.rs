//! Topics and what the sorting helper makes of mail, at the command line.

use serde_json::{Value, json};

use super::Operator;

#[test]
fn topics_are_added_and_listed() {
    let operator = Operator::set_up();
    let by = ["--by", "olive@acme.example"];
    let add = ["topic", "add", "Refunds", "--words", "money back"];
    let added = operator.json(&[&add[..], &by[..]].concat());
    let id = added["id"].as_str().unwrap();
    assert!(id.starts_with("tpc_"), "{added}");
    operator.json(&[&["topic", "add", "Delivery"][..], &by[..]].concat());
    let again = operator.run(&[&["topic", "add", "refunds"][..], &by[..]].concat());
    assert_eq!(again.status, Some(1));
    assert!(again.err.contains("There is a topic “Refunds” already."), "{}", again.err);
    let listed = operator.json(&["topic", "list"]);
    let expected = json!({ "id": id, "name": "Refunds", "words": "money back", "open": 0 });
    assert_eq!(listed["topics"][1], expected);
    assert_eq!(listed["topics"].as_array().unwrap().len(), 2);
}

#[test]
fn a_trial_learns_from_one_file_and_sorts_another() {
    let operator = Operator::new();
    std::fs::create_dir_all(operator.data()).unwrap();
    let (train, test) = (operator.data().join("train"), operator.data().join("test"));
    let decided = (0..20).flat_map(|at| {
        [
            json!({ "text": format!("Please refund order {at}, I want my money back"), "topic": "Refunds" }),
            json!({ "text": format!("Where is parcel {at}? The courier did not come"), "topic": "Delivery" }),
            json!({ "text": format!("Happy new year to all {at} of you, from your friends"), "topic": null }),
        ]
    });
    let lines: Vec<String> = decided.map(|line| line.to_string()).collect();
    std::fs::write(&train, lines.join("\n")).unwrap();
    std::fs::write(&test, "{\"text\": \"Please refund order 77\"}\n{\"text\": \"…\"}\n").unwrap();
    let files = [train.display().to_string(), test.display().to_string()];
    let trial = ["sorter", "try", "--train", files[0].as_str(), "--test", files[1].as_str()];
    let said = operator.text(&trial);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "one line for each row: {said}");
    assert_eq!(
        (&lines[0]["topic"], &lines[0]["suggested"]),
        (&json!("Refunds"), &json!("Refunds"))
    );
    assert!(lines[0]["confidence"].as_f64().is_some_and(|sure| sure > 0.5 && sure <= 1.0));
    assert!(lines[0]["reasons"][0].as_str().unwrap().contains("refund"), "{said}");
    let nothing = json!({ "topic": null, "suggested": null, "confidence": 0.0, "reasons": [] });
    assert_eq!(lines[1], nothing);
    assert_eq!(operator.text(&trial), said, "the same again");
    let left: Vec<_> = std::fs::read_dir(operator.data()).unwrap().collect();
    assert_eq!(left.len(), 2, "no data is touched");
}

#[test]
fn decisions_are_replayed_and_a_mail_is_read_by_the_rules() {
    let operator = Operator::set_up();
    let score = operator.json(&["helpers", "score"]);
    assert_eq!((&score["decided"], &score["given"]), (&json!(0), &Value::Null), "{score}");
    let mail = operator.data().join("mail.eml");
    let text = "From: ann@x.example\r\nSubject: Kitchen\r\n\r\nThere is a smell of gas in the kitchen.\r\n";
    std::fs::write(&mail, text).unwrap();
    let seen = operator.json(&["inspect", &mail.display().to_string()]);
    assert_eq!((&seen["language"], &seen["urgency"]), (&json!("en"), &json!("high")));
    assert_eq!(seen["urgencyReasons"], json!(["Somebody may be in danger: “smell of gas”."]));
}

#[test]
fn helpers_are_scored_on_a_folder_of_labelled_mail_without_any_data() {
    let operator = Operator::new();
    let folder = operator.data().join("corpora");
    std::fs::create_dir_all(folder.join("urgency")).unwrap();
    let row = json!({
        "lang": "en", "subject": "Kitchen", "text": "There is a smell of gas.", "urgency": "high",
    });
    std::fs::write(folder.join("urgency/dev.jsonl"), row.to_string()).unwrap();
    let path = folder.display().to_string();
    let score = operator.json(&["helpers", "score", &path]);
    let lines = score["lines"].as_array().unwrap();
    let line = |part: &str| lines.iter().find(|line| line["part"] == part).unwrap();
    assert_eq!(line("urgency")["figures"]["urgent found"], json!(1.0), "{score}");
    assert_eq!(line("urgency")["source"], json!("development"));
    assert_eq!((&line("scams")["cases"], &line("scams")["source"]), (&json!(0), &Value::Null));
    let said = operator.text(&["helpers", "score", &path]);
    assert!(said.contains("not in the folder") && said.contains("urgent found 1.000"), "{said}");
}
