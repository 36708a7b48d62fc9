//! Imports of help desks: conversations of Zammad, Chatwoot, FreeScout and Help Scout come with their
//! mails, notes, tags, assignees, files, dates and status, once however often they are repeated.
//!
//! Each fixture has the same three conversations in the form of its help desk: one that is open, one
//! that is closed, and one that there is nothing to take over of.

use std::fs;

use serde_json::{Value, json};
use testing::{Backend, HelpDeskServer};

use super::SETUP;
use super::backups::Installation;

const TOKEN: &str = "s3cret-t0ken";
const JANUARY: i64 = 1_704_103_200_000;
const DAY: i64 = 86_400_000;

/// A help desk, and what its API is like.
struct Desk {
    /// The scheme, and what stands behind the host.
    source: (&'static str, &'static str),
    key: (&'static str, &'static str),
    fixture: &'static str,
    /// The first page, a conversation, and the file.
    page: &'static str,
    conversation: &'static str,
    file: &'static str,
    /// The Message-IDs of the open conversation.
    ids: [&'static str; 3],
}

const ZAMMAD: Desk = Desk {
    source: ("zammad", ""),
    key: ("authorization", "Token token=s3cret-t0ken"),
    fixture: include_str!("help_desks/zammad.json"),
    page: "/api/v1/tickets?expand=true&page=1&per_page=100",
    conversation: "/api/v1/ticket_articles/by_ticket/1?expand=true",
    file: "/api/v1/ticket_attachment/1/11/31",
    ids: ["one@x.example", "two@acme.example", "three@other.example"],
};

const CHATWOOT: Desk = Desk {
    source: ("chatwoot", "/2"),
    key: ("api_access_token", TOKEN),
    fixture: include_str!("help_desks/chatwoot.json"),
    page: "/api/v1/accounts/2/conversations?status=all&assignee_type=all&sort_by=created_at_asc&page=1",
    conversation: "/api/v1/accounts/2/conversations/1/messages",
    file: "/rails/active_storage/disk/eyJf/lamp.txt",
    ids: ["one@x.example", "two@acme.example", "three@other.example"],
};

const FREESCOUT: Desk = Desk {
    source: ("freescout", ""),
    key: ("x-freescout-api-key", TOKEN),
    fixture: include_str!("help_desks/freescout.json"),
    page: "/api/conversations?sortField=createdAt&sortOrder=asc&pageSize=100&page=1",
    conversation: "/api/conversations/1?embed=threads,tags",
    file: "/storage/attachment/1/1/lamp.txt?id=31&token=abc",
    ids: ["freescout-1-11@127.0.0.1", "freescout-1-12@127.0.0.1", "freescout-1-14@127.0.0.1"],
};

const HELPSCOUT: Desk = Desk {
    source: ("helpscout", ""),
    key: ("authorization", "Bearer s3cret-t0ken"),
    fixture: include_str!("help_desks/helpscout.json"),
    page: "/v2/conversations?status=all&sortField=createdAt&sortOrder=asc&page=1",
    conversation: "/v2/conversations/1/threads?page=1",
    file: "/v2/conversations/1/attachments/301/data",
    ids: ["helpscout-1-11@127.0.0.1", "helpscout-1-12@127.0.0.1", "helpscout-1-14@127.0.0.1"],
};

/// An installation beside a help desk.
struct Move {
    installation: Installation,
    server: HelpDeskServer,
    source: String,
    token: String,
}

type Row = (String, String, String);

fn row(first: &str, second: &str, third: &str) -> Row {
    (first.to_owned(), second.to_owned(), third.to_owned())
}

/// 10 o'clock of a day in January 2024.
fn day(day: i64) -> String {
    (JANUARY + (day - 1) * DAY).to_string()
}

impl Move {
    fn begin(backend: Backend, desk: &Desk) -> Move {
        let installation = Installation::new(backend);
        installation.done(&SETUP);
        let server = HelpDeskServer::start(desk.key, desk.fixture);
        let (scheme, path) = desk.source;
        let source = format!("{scheme}+http://{}{path}", server.address);
        let token = installation.folder.path().join("token");
        fs::write(&token, format!("{TOKEN}\n")).unwrap();
        let token = token.to_str().unwrap().to_owned();
        Move { installation, server, source, token }
    }

    fn import(&self, more: &[&str]) -> Value {
        let args = ["import", &self.source, "--token-file", &self.token];
        let args: Vec<&str> = args.into_iter().chain(more.iter().copied()).collect();
        self.installation.done(&args)
    }

    fn rows(&self, sql: &'static str) -> Vec<Row> {
        let store = testing::open(&self.installation.database.url);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = store.read(move |tx| tx.all::<Row>(sql, &[]));
        runtime.block_on(read).map_err(|error: db::StoreError| error).unwrap()
    }

    fn count(&self, table: &'static str) -> String {
        let store = testing::open(&self.installation.database.url);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let sql = format!("SELECT count(*) FROM {table}");
        let read = store.read(move |tx| tx.one::<(i64,)>(&sql, &[]));
        runtime.block_on(read).map_err(|error: db::StoreError| error).unwrap().0.to_string()
    }
}

const COUNTED: [&str; 8] =
    ["received", "sent", "known", "skipped", "conversations", "attachments", "notes", "found"];

fn figures(report: &Value) -> [u64; 8] {
    COUNTED.map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}")))
}

fn take_over(backend: Backend, desk: &Desk) {
    let moved = Move::begin(backend, desk);
    let events = moved.count("events");

    assert_eq!(figures(&moved.import(&["--dry-run"])), [3, 1, 0, 1, 2, 1, 1, 4]);
    for table in ["messages", "conversations", "notes", "tags", "documents"] {
        assert_eq!(moved.count(table), "0", "a dry run writes no {table}");
    }
    assert!(!moved.server.requests().contains(&desk.file.to_owned()), "nor does it fetch files");

    // A busy server is waited for, and one that stumbles is asked again.
    moved.server.fail_once(desk.page, 429);
    moved.server.fail_once(desk.conversation, 503);
    let report = moved.import(&[]);
    assert_eq!(figures(&report), [3, 1, 0, 1, 2, 1, 1, 4], "{report}");
    assert_eq!((&report["tags"], &report["assigned"]), (&json!(2), &json!(1)), "{report}");
    assert_eq!(report["unknownAssignees"], json!(["gone@acme.example"]), "{report}");
    check_rows(&moved, desk);
    for table in ["deliveries", "notices", "notice_facts", "mentions", "timeline_events"] {
        assert_eq!(moved.count(table), "0", "nobody is told: {table}");
    }
    assert_eq!(moved.count("events"), events);
    assert_eq!(moved.installation.done(&["check"])["findings"], json!([]));

    moved.server.requests();
    let again = moved.import(&[]);
    assert_eq!(figures(&again), [0, 0, 4, 1, 0, 0, 0, 4], "{again}");
    assert!(
        !moved.server.requests().contains(&desk.file.to_owned()),
        "what is here is not fetched"
    );
    check_rows(&moved, desk);
}

fn check_rows(moved: &Move, desk: &Desk) {
    let mails = moved.rows(
        "SELECT c.subject || ' ' || m.direction, m.text, CAST(m.at AS TEXT) FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation ORDER BY m.at",
    );
    let expected = [
        row("Lamp inbound", "The lamp is broken", &day(2)),
        row("Lamp outbound", "We send a new one", &day(3)),
        row("Lamp inbound", "It has arrived", &day(4)),
        row("Chair inbound", "The chair is fine", &day(5)),
    ];
    assert_eq!(mails, expected);
    let people = moved.rows(
        "SELECT coalesce(m.from_name, ''), m.from_email, m.header_id FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE c.subject = 'Lamp' ORDER BY m.at",
    );
    let expected = [
        row("Kim", "kim@x.example", desk.ids[0]),
        row("Olive Oak", "support@acme.example", desk.ids[1]),
        row("Lee", "lee@other.example", desk.ids[2]),
    ];
    assert_eq!(people, expected);
    let conversations = moved.rows(
        "SELECT c.subject || ' ' || c.contact_email, c.status, coalesce(u.email, '')
         FROM conversations c LEFT JOIN users u ON u.ws = c.ws AND u.id = c.assignee
         ORDER BY c.created_at",
    );
    let expected = [
        row("Lamp kim@x.example", "open", "olive@acme.example"),
        row("Chair bo@y.example", "closed", ""),
    ];
    assert_eq!(conversations, expected);
    let listed = moved.rows(
        "SELECT tags, CAST(last_message_at AS TEXT), coalesce(CAST(waiting_since AS TEXT), '')
         FROM conversations ORDER BY created_at",
    );
    let expected = [row(r#"["vip","Lamps"]"#, &day(4), &day(4)), row("[]", &day(5), "")];
    assert_eq!(listed, expected);
    let notes = moved.rows(
        "SELECT n.author_name || ' ' || u.email, n.body, CAST(n.at AS TEXT) FROM notes n
         JOIN users u ON u.ws = n.ws AND u.id = n.author",
    );
    let at = JANUARY + 2 * DAY + 3_600_000;
    let by = "Olive Oak olive@acme.example";
    assert_eq!(notes, [row(by, "The stock is @Bo's business", &at.to_string())]);
    let files = moved.rows("SELECT filename, content_type, CAST(size AS TEXT) FROM documents");
    assert_eq!(files, [row("lamp.txt", "text/plain", "6")]);
}

/// The rule on both databases.
macro_rules! moves {
    ($($name:ident: $desk:expr),* $(,)?) => { $(
        mod $name {
            use super::*;

            #[test]
            fn on_sqlite() {
                take_over(Backend::Sqlite, &$desk);
            }

            #[test]
            fn on_postgres() {
                take_over(Backend::Postgres, &$desk);
            }
        }
    )* };
}

moves! {
    zammad_is_taken_over_once: ZAMMAD,
    chatwoot_is_taken_over_once: CHATWOOT,
    freescout_is_taken_over_once: FREESCOUT,
    help_scout_is_taken_over_once: HELPSCOUT,
}

#[test]
fn what_is_new_there_comes_along_when_an_import_is_repeated() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    moved.import(&[]);
    let ticket = "/api/v1/ticket_articles/by_ticket/2?expand=true";
    moved.server.put(
        ticket,
        json!([
            { "id": 21, "from": "Bo <bo@y.example>", "message_id": "<bo@y.example>",
              "content_type": "text/plain", "body": "The chair is fine", "internal": false,
              "created_by_id": 6, "created_at": "2024-01-05T10:00:00.000Z", "type": "email",
              "sender": "Customer" },
            { "id": 22, "from": "Bo <bo@y.example>", "message_id": "<bo2@y.example>",
              "content_type": "text/plain", "body": "It fell over", "internal": false,
              "created_by_id": 6, "created_at": "2024-01-07T10:00:00.000Z", "type": "email",
              "sender": "Customer" },
            { "id": 23, "from": "Bo <bo@y.example>", "message_id": "<bo3@y.example>",
              "content_type": "text/plain", "body": "Undated", "internal": false,
              "created_by_id": 6, "created_at": "last week", "type": "email", "sender": "Customer" },
        ]),
    );
    let report = moved.import(&[]);
    assert_eq!(figures(&report)[..4], [0, 0, 3, 2], "{report}");
    let bad = &report["passedOver"][0];
    assert_eq!(bad["mail"], "zammad conversation 2", "{report}");
    assert_eq!(bad["reason"], "its created_at is no date", "{report}");

    let mut articles = moved.server.page(ticket);
    articles.as_array_mut().unwrap().pop();
    moved.server.put(ticket, articles);
    let report = moved.import(&[]);
    assert_eq!(figures(&report)[..5], [1, 0, 4, 1, 0], "{report}");
    let chair = moved.rows(
        "SELECT c.status, m.text, m.header_id FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE c.subject = 'Chair' ORDER BY m.at",
    );
    let expected = [
        row("closed", "The chair is fine", "bo@y.example"),
        row("closed", "It fell over", "bo2@y.example"),
    ];
    assert_eq!(chair, expected);
}

#[test]
fn only_what_is_asked_for_is_taken_over_and_no_token_is_told() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    assert_eq!(figures(&moved.import(&["--only", "9"])), [0; 8]);

    let wrong = moved.installation.folder.path().join("wrong");
    fs::write(&wrong, "another-t0ken\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    for (args, said) in [
        (vec!["import", &moved.source, "--token-file", wrong], "refuses the token"),
        (vec!["import", &moved.source], "--token-file"),
        (vec!["import", "zammad+http://help.x.example", "--token-file", wrong], "this machine"),
        (vec!["import", "chatwoot://c.x.example", "--token-file", wrong], "the account"),
    ] {
        let (status, answer) = moved.installation.run(&args);
        let error = answer["error"].as_str().unwrap();
        assert_eq!(status, 1, "{error}");
        assert!(error.contains(said) && !error.contains("t0ken"), "{error}");
    }
}
