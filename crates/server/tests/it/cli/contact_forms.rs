//! Contact forms at the command line.

use serde_json::json;

use super::Operator;

#[test]
fn forms_are_added_listed_shown_and_removed() {
    let operator = Operator::set_up();
    let inbox = "support@acme.example";
    let add = ["form", "add", "--slug", "contact", "--mailbox", inbox, "--title", "Write to us"];
    let fields = [
        "--field",
        "|Order number|reference|required",
        "--field",
        "about|About|choice|optional|A return,Something else",
        "--by",
        "olive@acme.example",
    ];
    let added = operator.json(&[&add[..], &fields[..]].concat());
    assert!(added["id"].as_str().unwrap().starts_with("frm_"), "{added}");
    assert!(added["url"].as_str().unwrap().ends_with("/f/contact"), "{added}");
    let again = operator.run(&add);
    assert_eq!(again.status, Some(1));
    assert!(again.err.contains("Another form has this address."), "{}", again.err);
    let wrong = operator.run(&[&add[..], &["--field", "a|A|number"]].concat());
    assert!(wrong.err.contains("long-text"), "{}", wrong.err);
    let listed = operator.json(&["form", "list"]);
    assert_eq!(listed["forms"], json!([added]));
    let shown = operator.json(&["form", "show", "contact"]);
    assert_eq!(shown, added);
    let fields = json!([
        { "key": "order_number", "label": "Order number", "type": "reference", "required": true,
          "choices": [] },
        { "key": "about", "label": "About", "type": "choice", "required": false,
          "choices": ["A return", "Something else"] },
    ]);
    assert_eq!(shown["fields"], fields);
    assert!(operator.text(&["form", "show", "contact"]).contains("<iframe src=\""));
    operator.json(&["form", "remove", "contact"]);
    assert_eq!(operator.json(&["form", "list"])["forms"], json!([]));
}
