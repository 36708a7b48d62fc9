//! Imports: mail of an mbox, a Maildir, a folder of .eml files and an IMAP account is taken over with
//! its dates and threads, once however often it is repeated, and nobody is told of it.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use testing::{Dovecot, MAILBOX_PASSWORD, MAILBOX_USER};

use super::Operator;

/// A mail of a conversation about lamps, long ago.
fn mail(id: &str, from: &str, to: &str, subject: &str, answers: Option<&str>, day: u32) -> String {
    let answers = answers.map_or(String::new(), |id| format!("In-Reply-To: <{id}@x.example>\r\n"));
    format!(
        "Message-ID: <{id}@x.example>\r\n{answers}From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\n\
         Date: {day:02} Jan 2024 10:00:00 +0000\r\n\r\nWords of {id}\r\nFrom here on\r\n"
    )
}

const OURS: &str = "Acme <support@acme.example>";
const KIM: &str = "Kim <kim@x.example>";

/// An mbox with the lines of its mails quoted, newest first.
fn mbox() -> String {
    let mails = [
        mail("three", KIM, OURS, "Re: Lamp", Some("two"), 4),
        mail("one", KIM, OURS, "Lamp", None, 2),
        mail("other", "Bo <bo@y.example>", OURS, "Chair", None, 3),
    ];
    let stored = mails.iter().map(|mail| {
        let quoted = mail.replace("\r\nFrom here", "\r\n>From here").replace("\r\n", "\n");
        format!("From kim@x.example Mon Jan  1 00:00:00 2024\n{quoted}\n")
    });
    stored.collect()
}

impl Operator {
    /// Rows of a query, as the texts of their columns.
    fn rows(&self, sql: &'static str) -> Vec<(String, String, String)> {
        let url = format!("sqlite:{}", self.data().join("mailroom.db").display());
        let store = testing::open(&url);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = store.read(move |tx| tx.all::<(String, String, String)>(sql, &[]));
        runtime.block_on(read).map_err(|error: db::StoreError| error).unwrap()
    }

    fn count(&self, table: &str) -> i64 {
        let url = format!("sqlite:{}", self.data().join("mailroom.db").display());
        let (store, sql) = (testing::open(&url), format!("SELECT count(*) FROM {table}"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let counted = store.read(move |tx| tx.one::<(i64,)>(&sql, &[]));
        runtime.block_on(counted).map_err(|error: db::StoreError| error).unwrap().0
    }
}

fn figures(report: &Value) -> [u64; 4] {
    ["received", "sent", "known", "skipped"].map(|name| report[name].as_u64().unwrap())
}

#[test]
fn mail_is_imported_once_with_its_dates_and_threads_and_nobody_is_told() {
    let operator = Operator::set_up();
    let folder = operator.folder.path();
    let (inbox, maildir, eml) =
        (folder.join("inbox.mbox"), folder.join("Maildir"), folder.join("loose"));
    fs::write(&inbox, mbox()).unwrap();
    fs::create_dir_all(maildir.join(".Sent/cur")).unwrap();
    fs::create_dir_all(maildir.join(".Sent/tmp")).unwrap();
    fs::create_dir_all(&eml).unwrap();
    let answer = mail("two", OURS, KIM, "Re: Lamp", Some("one"), 3);
    fs::write(maildir.join(".Sent/cur/1704276000.M1.host:2,S"), answer).unwrap();
    fs::write(maildir.join(".Sent/tmp/half"), "From: half").unwrap();
    fs::write(eml.join("a.eml"), mail("new", "Zoe <zoe@z.example>", OURS, "Desk", None, 5))
        .unwrap();
    fs::write(eml.join("notes.txt"), "not a mail").unwrap();
    let sources = [&inbox, &maildir, &eml].map(|path| path.to_str().unwrap());
    let import: Vec<&str> = ["import"].into_iter().chain(sources).collect();

    let events = operator.count("events");
    let tried: Vec<&str> = import.iter().copied().chain(["--dry-run"]).collect();
    assert_eq!(figures(&operator.json(&tried)), [4, 1, 0, 1]);
    assert_eq!(operator.count("messages"), 0, "a dry run changes nothing");
    let report = operator.json(&import);
    assert_eq!(figures(&report), [4, 1, 0, 1], "{report}");
    assert_eq!(report["conversations"], 3, "{report}");
    assert_eq!(report["passedOver"][0]["reason"], "it is neither an .eml file nor an mbox");
    let again = operator.json(&import);
    assert_eq!(figures(&again), [0, 0, 5, 1], "{again}");

    let lamp = operator.rows(
        "SELECT m.header_id, m.direction, m.text FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE c.subject = 'Lamp' ORDER BY m.at",
    );
    let expected =
        [("one", "inbound"), ("two", "outbound"), ("three", "inbound")].map(|(id, way)| {
            (format!("{id}@x.example"), way.to_owned(), format!("Words of {id}\nFrom here on"))
        });
    assert_eq!(lamp, expected);
    let listed = operator.rows(
        "SELECT subject, status || ' ' || message_count, CAST(last_message_at AS TEXT)
         FROM conversations ORDER BY last_message_at",
    );
    let row = |subject: &str, state: &str, day: i64| {
        let at = 1_704_103_200_000 + (day - 1) * 86_400_000;
        (subject.to_owned(), state.to_owned(), at.to_string())
    };
    assert_eq!(
        listed,
        [row("Chair", "closed 1", 3), row("Lamp", "closed 3", 4), row("Desk", "closed 1", 5)]
    );
    for (table, count) in
        [("events", events), ("deliveries", 0), ("notices", 0), ("drafting_jobs", 0)]
    {
        assert_eq!(operator.count(table), count, "{table}");
    }
    assert_eq!(operator.count("conversations WHERE sorts_at IS NOT NULL"), 0);
    assert_eq!(operator.json(&["check"])["ok"], true);
}

#[test]
fn files_with_one_message_id_are_imported_or_named_and_the_dry_run_counts_as_the_import() {
    let operator = Operator::set_up();
    let folder = operator.folder.path().join("loose");
    fs::create_dir_all(&folder).unwrap();
    let first = mail("one", KIM, OURS, "Lamp", None, 2);
    fs::write(folder.join("a.eml"), &first).unwrap();
    fs::write(folder.join("b.eml"), first.replace("Words", "Other words")).unwrap();
    fs::write(folder.join("c.eml"), format!("Received: from a by b\r\n{first}")).unwrap();
    fs::write(folder.join("d.eml"), &first).unwrap();
    let source = folder.to_str().unwrap();
    let said = operator.json(&["import", source, "--dry-run"]);
    let done = operator.json(&["import", source]);
    for report in [&said, &done] {
        assert_eq!(figures(report), [2, 0, 2, 0], "{report}");
        let named = report["sameContent"].as_array().unwrap();
        assert_eq!(named.len(), 1, "{report}");
        assert!(named[0].as_str().unwrap().ends_with("c.eml"), "{report}");
    }
    assert_eq!(operator.count("messages"), 2);
    let again = operator.json(&["import", source]);
    assert_eq!(figures(&again), [0, 0, 4, 0], "{again}");
}

#[test]
fn what_is_no_mail_is_refused_or_passed_over_by_name() {
    let operator = Operator::set_up();
    let folder = operator.folder.path().join("loose");
    fs::create_dir_all(&folder).unwrap();
    let picture = folder.join("picture.eml");
    fs::write(&picture, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0: 1\n\n").unwrap();
    fs::write(folder.join("mail.eml"), mail("one", KIM, OURS, "Lamp", None, 2)).unwrap();
    let refused = operator.run(&["import", picture.to_str().unwrap()]);
    assert_eq!(refused.status, Some(1), "{}", refused.out);
    assert!(refused.err.contains("neither a mail nor an mbox"), "{}", refused.err);
    assert_eq!(operator.count("messages"), 0);
    let report = operator.json(&["import", folder.to_str().unwrap()]);
    assert_eq!(figures(&report), [1, 0, 0, 1], "{report}");
    assert_eq!(report["passedOver"][0]["mail"], picture.to_str().unwrap());
}

#[test]
fn a_reader_that_closes_its_pipe_ends_no_command_with_a_panic() {
    let operator = Operator::set_up();
    let file = operator.folder.path().join("a.eml");
    fs::write(&file, mail("one", KIM, OURS, "Lamp", None, 2)).unwrap();
    let file = file.to_str().unwrap();
    for args in [&["inspect", file, file][..], &["inspect", "--json", file], &["man"]] {
        let mut command = operator.command(args);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {said}");
        assert_eq!(said, "", "{args:?}");
    }
}

#[test]
fn an_imap_account_is_imported_with_its_sent_mail() {
    let operator = Operator::set_up();
    let dovecot = Dovecot::start();
    let hours_ago = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3_600);
    dovecot.make_folder("Sent");
    dovecot.put_at("Sent", &mail("two", OURS, KIM, "Re: Lamp", Some("one"), 3), hours_ago(1));
    dovecot.deliver_at(&mail("one", KIM, OURS, "Lamp", None, 2), hours_ago(2));
    let password = operator.folder.path().join("password");
    fs::write(&password, format!("{MAILBOX_PASSWORD}\n")).unwrap();
    let source = format!("imaps://{MAILBOX_USER}@localhost:{}", dovecot.tls_port);
    let import = ["import", &source, "--password-file", password.to_str().unwrap(), "--json"];
    let run = || {
        let output =
            operator.command(&import).env("SSL_CERT_FILE", &dovecot.certificate().0).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str::<Value>(&said).unwrap_or_else(|_| panic!("{said}"))
    };
    let report = run();
    assert_eq!(figures(&report), [1, 1, 0, 0], "{report}");
    assert_eq!(report["conversations"], json!(1), "{report}");
    assert_eq!(figures(&run()), [0, 0, 2, 0]);
}
