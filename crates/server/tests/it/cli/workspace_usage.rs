//! `mailroom workspace usage`: what each workspace holds.

use super::Operator;

#[test]
fn the_usage_of_every_workspace_is_printed() {
    let operator = Operator::set_up();
    let folder = operator.folder.path().join("mails");
    std::fs::create_dir(&folder).unwrap();
    let mail = "From: Ann <ann@shop.example>\r\nTo: support@acme.example\r\nSubject: Lamp\r\n\
                Message-ID: <1@shop.example>\r\nDate: Mon, 16 Nov 2026 10:00:00 +0000\r\n\r\nIt is broken\r\n";
    std::fs::write(folder.join("1.eml"), mail).unwrap();
    operator.json(&["import", folder.to_str().unwrap(), "--mailbox=support@acme.example"]);
    let usage = operator.json(&["workspace", "usage"]);
    let [only] = usage["workspaces"].as_array().unwrap().as_slice() else { panic!("{usage}") };
    assert_eq!((&only["slug"], &only["name"]), (&"acme".into(), &"Acme".into()));
    assert_eq!((&only["conversations"], &only["messages"]), (&1.into(), &1.into()), "{usage}");
    assert_eq!((&only["blobs"], &only["blobBytes"]), (&1.into(), &mail.len().into()), "{usage}");
    assert!(only["rows"].as_i64().unwrap() > 5, "{usage}");
    let said = operator.text(&["workspace", "usage", "--workspace=acme"]);
    assert!(said.contains("acme  1 conversation, 1 message, 1 blob of"), "{said}");
    let refused = operator.run(&["workspace", "usage", "--workspace=nobody"]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.err.contains("there are acme"), "{}", refused.err);
}
