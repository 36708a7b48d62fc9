//! One workspace at the command line: suspended, limited, backed up, restored into the other database, and copied.

use serde_json::{Value, json};
use testing::Backend;

use super::super::Operator;
use super::super::backups::Installation;

/// The sample workspace, on a database of this kind.
fn sample(backend: Backend) -> Installation {
    let installation = Installation::new(backend);
    installation.done(&[
        "setup",
        "--workspace=Acme",
        "--owner-email=olive@acme.example",
        "--owner-name=Olive",
        "--inbox=support@acme.example",
        "--inbox-name=Support",
    ]);
    let folder = installation.folder.path().join("mails");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..3 {
        let mail = format!(
            "From: Ann <ann{n}@shop.example>\r\nTo: support@acme.example\r\nSubject: Lamp {n}\r\n\
             Message-ID: <{n}@shop.example>\r\nDate: Mon, 16 Nov 2026 10:00:00 +0000\r\n\r\nIt is broken\r\n"
        );
        std::fs::write(folder.join(format!("{n}.eml")), mail).unwrap();
    }
    installation.done(&["import", folder.to_str().unwrap(), "--mailbox=support@acme.example"]);
    installation
}

fn usage_of(installation: &Installation, slug: &str) -> Value {
    let usage = installation.done(&["workspace", "usage"]);
    let all = usage["workspaces"].as_array().unwrap().clone();
    all.into_iter().find(|one| one["slug"] == slug).unwrap_or_else(|| panic!("{usage}"))
}

#[test]
fn a_workspace_is_suspended_and_resumed() {
    let installation = sample(Backend::Sqlite);
    let told = installation.done(&["workspace", "suspend", "acme", "--reason=The bill is open."]);
    assert_eq!(told["reason"], "The bill is open.");
    assert_eq!(usage_of(&installation, "acme")["rests"], "suspended");
    let told = installation.done(&["workspace", "resume", "acme"]);
    assert_eq!(told, json!({ "suspendedAt": null, "reason": "", "quietAt": null }));
    let (status, _) = installation.run(&["workspace", "resume", "acme"]);
    assert_eq!(status, 1);
    let (status, _) = installation.run(&["workspace", "suspend", "nobody"]);
    assert_eq!(status, 1);
}

#[test]
fn limits_are_set_and_said() {
    let installation = sample(Backend::Sqlite);
    let set = installation.done(&["workspace", "limit", "acme", "messages=100", "bytes=1:2GB"]);
    let of = |answer: &Value, what: &str| {
        let all = answer["limits"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["what"] == what).unwrap()
    };
    let messages = json!({ "what": "messages", "used": 3, "soft": 90, "hard": 100 });
    assert_eq!(of(&set, "messages"), messages);
    assert_eq!(of(&set, "bytes")["hard"], 2_000_000_000_i64);
    let said = installation.done(&["workspace", "limit", "acme", "bytes=none"]);
    assert_eq!(of(&said, "messages"), messages);
    assert_eq!(of(&said, "bytes")["hard"], Value::Null);
    let (status, _) = installation.run(&["workspace", "limit", "acme", "messages=many"]);
    assert_eq!(status, 2);
}

#[test]
fn one_workspace_goes_from_one_database_to_the_other() {
    for (from, to) in [(Backend::Sqlite, Backend::Postgres), (Backend::Postgres, Backend::Sqlite)] {
        let (here, there) = (sample(from), Installation::new(to));
        let place = here.folder.path().join("backups");
        let place = place.to_str().unwrap();
        let written = here.done(&["workspace", "backup", "acme", place]);
        assert_eq!((&written["workspace"], &written["hasKey"]), (&json!("acme"), &json!(false)));
        here.done(&["backup", "verify", place]);
        let (status, refused) = there.run(&["restore", place]);
        assert_eq!(status, 1, "{refused}");
        let restored = there.done(&["workspace", "restore", place]);
        assert_eq!(restored["check"], json!({ "ok": true, "findings": [] }));
        assert_eq!(restored["slug"], "acme");
        let usage = usage_of(&there, "acme");
        assert_eq!((&usage["messages"], &usage["rests"]), (&json!(3), &json!("quiet")));
        // Beside and in its place.
        there.done(&["workspace", "restore", place, "--as=trial"]);
        assert_eq!(usage_of(&there, "trial")["messages"], 3);
        there.done(&["workspace", "restore", place, "--replace=acme"]);
        assert_eq!(usage_of(&there, "acme")["messages"], 3);
        let (status, _) = there.run(&["workspace", "restore", place]);
        assert_eq!(status, 1);
    }
}

#[test]
fn a_workspace_is_copied_and_comes_out_of_a_backup_of_everything() {
    let installation = sample(Backend::Sqlite);
    let copied = installation.done(&["workspace", "copy", "acme", "--as=trial"]);
    assert_eq!((&copied["slug"], &copied["unopenedSecrets"]), (&json!("trial"), &json!(0)));
    let place = installation.folder.path().join("all");
    let place = place.to_str().unwrap();
    installation.done(&["backup", place]);
    let (status, _) = installation.run(&["workspace", "restore", place, "--as=second"]);
    assert_eq!(status, 1);
    let restored =
        installation.done(&["workspace", "restore", place, "--workspace=acme", "--as=second"]);
    assert_eq!(restored["tables"]["messages"], 3);
    let (status, _) = installation.run(&["workspace", "resume", "trial"]);
    assert_eq!(status, 1);
    let (status, taken) = installation.run(&["workspace", "resume", "trial", "--live"]);
    assert_eq!(status, 1, "{taken}");
}

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
    assert_eq!(operator.text(&["workspace", "usage", "acme"]), said);
    let refused = operator.run(&["workspace", "usage", "--workspace=nobody"]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.err.contains("there are acme"), "{}", refused.err);
}
