//! Imports of help desks: conversations of Zammad, Chatwoot, FreeScout and Help Scout come with their
//! mails, notes, tags, assignees, files, dates and status, once however often they are repeated, by the API
//! or from saved answers of it.
//!
//! Each fixture has the same five conversations in the form of its help desk, on two pages: one that is
//! open, one that is closed, one that there is nothing to take over of, one that is put off, and one that
//! was not begun by mail. The text beside it says what they are here.

mod saved;
mod told;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testing::{Backend, HelpDeskServer};

use super::SETUP;
use super::backups::Installation;
use saved::SavedLayout;

const TOKEN: &str = "s3cret-t0ken";

/// A help desk, and what its API is like.
struct Desk {
    /// The scheme, and what stands behind the host.
    source: (&'static str, &'static str),
    key: (&'static str, &'static str),
    fixture: &'static str,
    /// What the fixture is here.
    told: &'static str,
    layout: SavedLayout,
    /// The two pages, a conversation, and what the addresses of files have in them.
    pages: [&'static str; 2],
    conversation: &'static str,
    files: &'static str,
    /// The header that says how long a busy server wants to be left alone.
    retry: &'static str,
}

const ZAMMAD: Desk = Desk {
    source: ("zammad", ""),
    key: ("authorization", "Token token=s3cret-t0ken"),
    fixture: include_str!("help_desks/zammad.json"),
    told: include_str!("help_desks/zammad.txt"),
    layout: saved::ZAMMAD,
    pages: [
        "/api/v1/tickets?expand=true&page=1&per_page=100",
        "/api/v1/tickets?expand=true&page=2&per_page=100",
    ],
    conversation: "/api/v1/ticket_articles/by_ticket/1?expand=true",
    files: "/ticket_attachment/",
    retry: "Retry-After",
};

const CHATWOOT: Desk = Desk {
    source: ("chatwoot", "/2"),
    key: ("api_access_token", TOKEN),
    fixture: include_str!("help_desks/chatwoot.json"),
    told: include_str!("help_desks/chatwoot.txt"),
    layout: saved::CHATWOOT,
    pages: [
        "/api/v1/accounts/2/conversations?status=all&assignee_type=all&sort_by=created_at_asc&page=1",
        "/api/v1/accounts/2/conversations?status=all&assignee_type=all&sort_by=created_at_asc&page=2",
    ],
    conversation: "/api/v1/accounts/2/conversations/1/messages",
    files: "/active_storage/",
    retry: "Retry-After",
};

const FREESCOUT: Desk = Desk {
    source: ("freescout", ""),
    key: ("x-freescout-api-key", TOKEN),
    fixture: include_str!("help_desks/freescout.json"),
    told: include_str!("help_desks/freescout.txt"),
    layout: saved::FREESCOUT,
    pages: [
        "/api/conversations?status=active,pending,closed,spam&sortField=createdAt&sortOrder=asc\
         &pageSize=100&page=1",
        "/api/conversations?status=active,pending,closed,spam&sortField=createdAt&sortOrder=asc\
         &pageSize=100&page=2",
    ],
    conversation: "/api/conversations/1?embed=threads,tags",
    files: "/storage/attachment/",
    retry: "Retry-After",
};

const HELPSCOUT: Desk = Desk {
    source: ("helpscout", ""),
    key: ("authorization", "Bearer s3cret-t0ken"),
    fixture: include_str!("help_desks/helpscout.json"),
    told: include_str!("help_desks/helpscout.txt"),
    layout: saved::HELPSCOUT,
    pages: [
        "/v2/conversations?status=all&sortField=createdAt&sortOrder=asc&page=1",
        "/v2/conversations?status=all&sortField=createdAt&sortOrder=asc&page=2",
    ],
    conversation: "/v2/conversations/1/threads?page=1",
    files: "/attachments/",
    retry: "X-RateLimit-Retry-After",
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

impl Move {
    fn begin(backend: Backend, desk: &Desk) -> Move {
        let installation = Installation::new(backend);
        installation.done(&SETUP);
        let server = HelpDeskServer::start(desk.key, desk.fixture);
        server.retry_by(desk.retry);
        let (scheme, path) = desk.source;
        let source = format!("{scheme}+http://{}{path}", server.address);
        let token = installation.folder.path().join("token");
        fs::write(&token, format!("{TOKEN}\n")).unwrap();
        let token = token.to_str().unwrap().to_owned();
        Move { installation, server, source, token }
    }

    fn import(&self, more: &[&str]) -> Value {
        let (status, report) = self.try_import(more);
        assert_eq!(status, 0, "{report}");
        report
    }

    fn try_import(&self, more: &[&str]) -> (i32, Value) {
        let args = ["import", &self.source, "--token-file", &self.token];
        let args: Vec<&str> = args.into_iter().chain(more.iter().copied()).collect();
        self.installation.run(&args)
    }

    /// Saves all that the help desk answers with in a folder.
    fn save(&self, layout: SavedLayout) -> PathBuf {
        let folder = self.installation.folder.path().join("saved");
        saved::save(&self.server.pages(), layout, &self.server.address.to_string(), &folder);
        folder
    }

    fn import_saved(&self, folder: &str, more: &[&str]) -> Value {
        let args = ["import", &self.source, "--saved", folder];
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

    /// What is here now, as lines.
    fn told(&self) -> String {
        let queries = [told::CONVERSATIONS, told::MESSAGES, told::NOTES, told::FILES];
        told::told(queries.map(|sql| self.rows(sql)))
    }
}

const COUNTED: [&str; 8] =
    ["received", "sent", "known", "skipped", "conversations", "attachments", "notes", "found"];

fn figures(report: &Value) -> [u64; 8] {
    COUNTED.map(|name| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}")))
}

/// A report, without saying whether it was a dry run.
fn result(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("dryRun").unwrap();
    report
}

fn take_over(backend: Backend, desk: &Desk) {
    let moved = Move::begin(backend, desk);
    let events = moved.count("events");

    let expected = moved.import(&["--dry-run"]);
    for table in ["messages", "conversations", "notes", "tags", "documents"] {
        assert_eq!(moved.count(table), "0", "a dry run writes no {table}");
    }
    let fetched = |path: &String| path.contains(desk.files);
    assert!(!moved.server.requests().iter().any(fetched), "nor does it fetch files");

    // A busy server is waited for, and one that stumbles is asked again.
    moved.server.fail_once(desk.pages[0], 429);
    moved.server.fail_once(desk.conversation, 503);
    let report = moved.import(&[]);
    assert_eq!(figures(&report), [5, 2, 0, 1, 4, 3, 2, 7], "{report}");
    assert_eq!((&report["tags"], &report["assigned"]), (&json!(3), &json!(1)), "{report}");
    assert_eq!(report["unknownAssignees"], json!(["gone@acme.example"]), "{report}");
    assert_eq!(result(expected), result(report), "a dry run tells what would be");
    assert_eq!(moved.told(), desk.told);
    for table in ["deliveries", "notices", "notice_facts", "mentions", "timeline_events"] {
        assert_eq!(moved.count(table), "0", "nobody is told: {table}");
    }
    assert_eq!(moved.count("events"), events);
    assert_eq!(moved.installation.done(&["check"])["findings"], json!([]));

    moved.server.requests();
    let again = moved.import(&[]);
    assert_eq!(figures(&again), [0, 0, 7, 1, 0, 0, 0, 7], "{again}");
    assert!(!moved.server.requests().iter().any(fetched), "what is here is not fetched");
    let folder = moved.save(desk.layout);
    let saved = moved.import_saved(folder.to_str().unwrap(), &[]);
    assert_eq!(result(saved), result(again), "saved answers are those of the same help desk");
    assert_eq!(moved.told(), desk.told);
}

fn take_over_saved(desk: &Desk) {
    let moved = Move::begin(Backend::Sqlite, desk);
    let folder = moved.save(desk.layout);
    let folder = folder.to_str().unwrap();
    let expected = moved.import_saved(folder, &["--dry-run"]);
    assert_eq!(moved.count("messages"), "0");
    let report = moved.import_saved(folder, &[]);
    assert_eq!(figures(&report), [5, 2, 0, 1, 4, 3, 2, 7], "{report}");
    assert_eq!(result(expected), result(report));
    assert_eq!(moved.told(), desk.told);
    assert_eq!(figures(&moved.import_saved(folder, &[])), [0, 0, 7, 1, 0, 0, 0, 7]);
    assert!(moved.server.requests().is_empty(), "the help desk is not asked");
}

/// An import that the second page stopped is completed by the next.
fn go_on(desk: &Desk) {
    let moved = Move::begin(Backend::Sqlite, desk);
    moved.server.fail_once(desk.pages[1], 401);
    let (status, answer) = moved.try_import(&[]);
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 1, "{answer}");
    assert!(error.contains("What was imported so far stays"), "{error}");
    let page = moved.told();
    assert!(!page.is_empty() && desk.told.starts_with(&page), "{page}");
    let report = moved.import(&[]);
    let known = figures(&report)[2];
    assert!(known > 0 && figures(&report)[7] == 7, "{report}");
    assert_eq!(moved.told(), desk.told);
}

/// The rules for each help desk, the first on both databases.
macro_rules! moves {
    ($($name:ident: $desk:expr),* $(,)?) => { $(
        mod $name {
            use super::*;

            #[test]
            fn is_taken_over_once_on_sqlite() {
                take_over(Backend::Sqlite, &$desk);
            }

            #[test]
            fn is_taken_over_once_on_postgres() {
                take_over(Backend::Postgres, &$desk);
            }

            #[test]
            fn is_taken_over_from_saved_answers() {
                take_over_saved(&$desk);
            }

            #[test]
            fn is_gone_on_with_where_it_broke_off() {
                go_on(&$desk);
            }
        }
    )* };
}

moves! {
    zammad: ZAMMAD,
    chatwoot: CHATWOOT,
    freescout: FREESCOUT,
    help_scout: HELPSCOUT,
}

#[test]
fn what_is_new_there_comes_along_when_an_import_is_repeated() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    moved.import(&[]);
    let ticket = "/api/v1/ticket_articles/by_ticket/2?expand=true";
    let mut articles = moved.server.page(ticket);
    let article = |id: i64, message_id: &str, body: &str, at: &str| {
        let mut article = articles[0].clone();
        article["id"] = json!(id);
        article["message_id"] = json!(message_id);
        article["body"] = json!(body);
        article["created_at"] = json!(at);
        article
    };
    let more = [
        article(23, "<bo2@y.example>", "It fell over", "2024-01-07T10:00:00.000Z"),
        article(24, "<bo3@y.example>", "Undated", "last week"),
    ];
    articles.as_array_mut().unwrap().extend(more);
    moved.server.put(ticket, articles.clone());
    let report = moved.import(&[]);
    assert_eq!(figures(&report)[..4], [0, 0, 6, 2], "{report}");
    let bad = &report["passedOver"][0];
    assert_eq!(bad["mail"], "zammad conversation 2", "{report}");
    assert_eq!(bad["reason"], "its created_at is no date", "{report}");

    articles.as_array_mut().unwrap().pop();
    moved.server.put(ticket, articles);
    let expected = moved.import(&["--dry-run"]);
    let report = moved.import(&[]);
    assert_eq!(figures(&report)[..5], [1, 0, 7, 1, 0], "{report}");
    assert_eq!(result(expected), result(report));
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
fn what_was_put_off_there_and_goes_on_is_open_when_an_import_is_repeated() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    moved.import(&[]);
    let snoozed = "SELECT status, view, CAST(snoozed_until IS NULL AS TEXT) FROM conversations
                   WHERE view = 'snoozed'";
    assert_eq!(moved.rows(snoozed).len(), 1);
    let page = ZAMMAD.pages[1];
    let mut tickets = moved.server.page(page);
    tickets[0]["state"] = json!("open");
    tickets[0]["pending_time"] = Value::Null;
    moved.server.put(page, tickets);
    let ticket = "/api/v1/ticket_articles/by_ticket/4?expand=true";
    let mut articles = moved.server.page(ticket);
    let mut news = articles[0].clone();
    news["id"] = json!(49);
    news["message_id"] = json!("<news@y.example>");
    news["created_at"] = json!("2024-02-01T10:00:00.000Z");
    articles.as_array_mut().unwrap().push(news);
    moved.server.put(ticket, articles);
    let report = moved.import(&[]);
    assert_eq!(figures(&report)[0], 1, "{report}");
    assert_eq!(moved.rows(snoozed), []);
}

#[test]
fn a_long_conversation_and_many_short_ones_come_in_several_batches() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    let (articles, short) = (430_i64, 40_i64);
    let pages = moved.server.pages();
    let ticket = pages[ZAMMAD.pages[0]][0].clone();
    let article = pages[ZAMMAD.conversation][3].clone();
    let at = |minute: i64| {
        let at = jiff::Timestamp::from_millisecond(1_704_103_200_000 + minute * 60_000).unwrap();
        json!(at.to_string())
    };
    let written = |ticket: i64, number: i64| {
        let mut article = article.clone();
        article["id"] = json!(ticket * 1_000 + number);
        article["message_id"] = json!(format!("<{ticket}.{number}@x.example>"));
        article["created_at"] = at(ticket * 1_000 + number);
        if number % 7 == 3 {
            (article["internal"], article["sender"]) = (json!(true), json!("Agent"));
        }
        article
    };
    let tickets: Vec<Value> = (1..=short + 1)
        .map(|id| {
            let mut ticket = ticket.clone();
            (ticket["id"], ticket["title"]) = (json!(id), json!(format!("Ticket {id}")));
            let many = if id == 1 { articles } else { 2 };
            let all: Vec<Value> = (0..many).map(|number| written(id, number)).collect();
            let path = format!("/api/v1/ticket_articles/by_ticket/{id}?expand=true");
            moved.server.put(&path, json!(all));
            moved.server.put(
                &format!("/api/v1/tags?object=Ticket&o_id={id}"),
                json!({ "tags": ["vip", "Lamps"] }),
            );
            ticket
        })
        .collect();
    moved.server.put(ZAMMAD.pages[0], json!(tickets));
    moved.server.put(ZAMMAD.pages[1], json!([]));

    let notes = (0..articles).filter(|number| number % 7 == 3).count() as i64;
    let mails = (articles - notes + short * 2) as u64;
    let (notes, conversations) = (notes as u64, (short + 1) as u64);
    let expected = moved.import(&["--dry-run"]);
    let report = moved.import(&[]);
    assert_eq!(figures(&report), [mails, 0, 0, 0, conversations, 0, notes, mails], "{report}");
    assert_eq!(report["tags"], json!(conversations * 2), "{report}");
    assert_eq!(report["assigned"], json!(conversations), "once, however many batches it came in");
    assert_eq!(result(expected), result(report));
    let longest = moved.rows(
        "SELECT m.header_id, CAST(m.serial AS TEXT), CAST(c.message_count AS TEXT) FROM messages m
         JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE c.subject = 'Ticket 1' ORDER BY m.serial",
    );
    let in_order: Vec<String> = (0..articles)
        .filter(|number| number % 7 != 3)
        .map(|number| format!("1.{number}@x.example"))
        .collect();
    assert_eq!(longest.iter().map(|(id, _, _)| id.clone()).collect::<Vec<_>>(), in_order);
    assert!(longest.iter().all(|(_, _, count)| *count == in_order.len().to_string()));
    let again = moved.import(&[]);
    assert_eq!(figures(&again), [0, 0, mails, 0, 0, 0, 0, mails], "{again}");
}

#[test]
fn what_is_missing_among_saved_answers_is_told() {
    let moved = Move::begin(Backend::Sqlite, &ZAMMAD);
    let folder = moved.save(ZAMMAD.layout);
    for lost in ["files/31", "articles/2.json", "users/5.json"] {
        fs::remove_file(folder.join(lost)).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let expected = moved.import_saved(folder, &["--dry-run"]);
    let report = moved.import_saved(folder, &[]);
    assert_eq!(figures(&report), [4, 2, 0, 3, 3, 2, 1, 6], "{report}");
    assert_eq!(result(expected), result(report.clone()));
    let passed_over = |mail: &str, reason: &str| json!({ "mail": mail, "reason": reason });
    let expected = json!([
        passed_over("zammad conversation 1, file lamp.txt", "files/31 is not in the folder."),
        passed_over("zammad conversation 2", "articles/2.json is not in the folder."),
        passed_over("zammad conversation 3", "it was merged there"),
    ]);
    assert_eq!(report["passedOver"], expected, "{report}");
    // The login stands in for an address that cannot be read.
    assert!(moved.told().starts_with("Lamp | open | Kim <kim@x.example>"), "{}", moved.told());

    // What is added later is completed by the next run.
    let whole = moved.save(ZAMMAD.layout);
    assert_eq!(whole.to_str(), Some(folder));
    let completed = moved.import_saved(folder, &[]);
    assert!(completed["attachments"].as_u64().unwrap() > 0, "{completed}");
    let again = moved.import_saved(folder, &[]);
    assert_eq!(again["attachments"], 0, "{again}");
    assert_eq!(again["imported"], 0, "{again}");

    fs::remove_file(format!("{folder}/tickets/3.json")).unwrap();
    for (args, said) in [
        (vec!["import", &moved.source, "--saved", folder], "tickets/3.json is not in the folder."),
        (vec!["import", &moved.source, "--saved", "/nowhere"], "/nowhere is no folder"),
        (vec!["import", folder, "--saved", folder], "the one help desk"),
    ] {
        let (status, answer) = moved.installation.run(&args);
        let error = answer["error"].as_str().unwrap();
        assert_eq!(status, 1, "{error}");
        assert!(error.contains(said), "{error}");
    }
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
