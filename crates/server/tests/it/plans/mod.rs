//! PostgreSQL reads the same few pages for what is done often, whatever its statistics say: on data
//! that grew in one process, analysed when it was nearly empty, never, in part, and as it is.

mod growth;
mod statements;
mod work;

use std::collections::BTreeMap;
use std::future::Future;

use growth::{Seeds, grow, let_fall_due, seed};
use serde_json::json;
use work::{Meter, past_the_store};

use crate::support::*;

/// The worst may read this many times the pages of the best, and this many more. Where names are
/// looked up for every row of a list, small tables that are known to be small are read once instead.
const TIMES: i64 = 3;
const MORE_PAGES: i64 = 100;
const MORE_PAGES_OF_NAMES: i64 = 600;
/// What nothing here may need, in pages: to read a table from end to end takes more.
const MOST_PAGES: i64 = 2_500;

#[test]
fn what_is_done_often_reads_the_same_few_pages_whatever_the_statistics_say() {
    run(Backend::Postgres, async |app: TestApp| {
        statistics(&app, NEVER_BY_ITSELF);
        let app = app.restarted();
        let seeds = seed(&app).await;
        statistics(&app, "ANALYZE");
        grow(&app, &seeds);
        let mut found: BTreeMap<String, Vec<(&str, Work)>> = BTreeMap::new();
        for (state, sql) in STATES {
            statistics(&app, sql);
            for (what, pages) in measure(&app, &seeds).await {
                found.entry(what).or_default().push((state, pages));
            }
        }
        let mut wrong = Vec::new();
        for (what, pages) in &found {
            let all = || pages.iter().map(|(_, (pages, _))| *pages);
            let (best, worst) = (all().min().unwrap(), all().max().unwrap());
            println!("{what}: {pages:?}");
            let more = match what.starts_with('/') || what.starts_with("page ") {
                true => MORE_PAGES_OF_NAMES,
                false => MORE_PAGES,
            };
            if worst > TIMES * best + more || worst > MOST_PAGES {
                wrong.push(format!("{what}: {pages:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn upkeep_analyses_what_grew_since_it_was_analysed() {
    run(Backend::Postgres, async |app: TestApp| {
        statistics(&app, NEVER_BY_ITSELF);
        let seeds = seed(&app).await;
        Meter::start(&app).await;
        let first = app.analyse_grown_tables().await;
        assert!(first.contains(&"conversations".into()) && first.contains(&"users".into()));
        Meter::start(&app).await;
        assert!(app.analyse_grown_tables().await.is_empty());
        grow(&app, &seeds);
        let grown = app.analyse_grown_tables().await;
        assert!(grown.contains(&"message_index".into()) && !grown.contains(&"users".into()));
        Meter::start(&app).await;
        assert!(app.analyse_grown_tables().await.is_empty());
    });
}

const STATES: [(&str, &str); 4] = [
    ("stale", ""),
    ("none", FORGET),
    ("some", "ANALYZE conversations; ANALYZE messages; ANALYZE message_index"),
    ("fresh", "ANALYZE"),
];
/// PostgreSQL analyses nothing in the middle of this.
const NEVER_BY_ITSELF: &str = "
    DO $$ DECLARE t TEXT; BEGIN
        FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
            EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t);
        END LOOP;
    END $$";
/// As if nothing had ever been analysed.
const FORGET: &str = "
    DELETE FROM pg_statistic WHERE starelid IN (
        SELECT oid FROM pg_class WHERE relnamespace = CAST('public' AS REGNAMESPACE));
    UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0
    WHERE relnamespace = CAST('public' AS REGNAMESPACE) AND relkind IN ('r', 'i')";

/// Pages, and the table that most of them are of.
type Work = (i64, String);
/// What is refused reads little, and counts as too much.
const REFUSED: i64 = i64::MAX / TIMES / 2;

fn statistics(app: &TestApp, sql: &str) {
    past_the_store(app, |client| client.batch_execute(sql).unwrap());
}

/// Does everything once to plan it and a second time to count its pages.
async fn measure(app: &TestApp, seeds: &Seeds) -> Vec<(String, Work)> {
    let mut found = Vec::new();
    let browser = app.signed_in(&app.owner).await;
    for path in LISTS {
        let read = || async { app.get(&seeds.key, path).await.status };
        found.push((path.to_owned(), second(app, read).await));
    }
    let conversation = format!("/conversations/{}", seeds.conversation);
    let read = || async { app.get(&seeds.key, &conversation).await.status };
    found.push(("a conversation".into(), second(app, read).await));
    for path in PAGES.iter().copied().chain([conversation.as_str()]) {
        let read = || async { browser.get(path).await.status };
        let name = path.replace(&seeds.conversation, "ID");
        found.push((format!("page {name}"), second(app, read).await));
    }
    found.extend(writes(app, seeds).await);
    found.extend(mails(app, seeds).await);
    found.extend(claims(app).await);
    found
}

async fn second<R: Future<Output = u16>>(app: &TestApp, again: impl Fn() -> R) -> Work {
    again().await;
    let meter = Meter::start(app).await;
    let status = again().await;
    let (pages, most) = meter.read(app).await;
    if (200..300).contains(&status) { (pages, most) } else { (REFUSED, format!("{status}")) }
}

const LISTS: [&str; 33] = [
    "/conversations?view=open",
    "/conversations?view=waiting",
    "/conversations?view=closed",
    "/conversations?view=snoozed",
    "/conversations?view=all",
    "/conversations?view=open&assigned=unassigned",
    "/conversations?view=all&topic=Furniture",
    "/conversations?view=open&urgency=high",
    "/conversations?view=open&urgency=normal&sort=waiting",
    "/topics",
    "/conversations?view=all&reference=order-3",
    "/conversations?view=all&q=zeppelin",
    "/conversations?view=all&q=invoice",
    "/conversations?view=open&q=invoice",
    "/conversations?view=all&q=invoice%20balloon3",
    "/conversations?view=all&q=zeppelin%20invoice",
    "/conversations?view=all&q=%22invoice%20lamp%22",
    "/conversations?view=all&q=w000",
    "/conversations?view=all&q=nothing",
    "/conversations?view=all&q=field.order:a-55",
    "/conversations?view=open&q=field.items%3E1",
    "/conversations?view=open&q=field.items%3E1%20field.shop:north",
    "/conversations?view=open&q=field.plan:pro",
    "/conversations?view=open&q=field.tier:gold",
    "/documents",
    "/documents?q=lamp55",
    "/events",
    "/rules",
    "/reports",
    "/reports?from=2020-01-01",
    "/reports?zone=Europe/Berlin",
    "/reports?from=2020-01-01&zone=Asia/Kolkata",
    "/tags",
];

const PAGES: [&str; 25] = [
    "/help",
    "/help/en/lamp-7",
    "/help/en/sections/section-7",
    "/help/search?q=lamp",
    "/help/feed.xml",
    "/inbox?view=open",
    "/inbox?view=mine",
    "/inbox?view=unassigned",
    "/inbox?view=closed",
    "/inbox?view=snoozed",
    "/inbox?view=held",
    "/search?q=invoice",
    "/search?q=zeppelin",
    "/palette",
    "/palette?q=inv",
    "/palette?q=invoice%20zepp",
    "/palette?q=order-3",
    "/documents",
    "/leaving",
    "/mentions",
    "/reports",
    "/reports?zone=Europe/Berlin",
    "/reports?from=2020-01-01&zone=Asia/Kolkata",
    "/settings/inboxes",
    "/settings/queues",
];

/// What agents write.
async fn writes(app: &TestApp, seeds: &Seeds) -> Vec<(String, Work)> {
    let mut found = Vec::new();
    for (what, body) in [
        ("notes", json!({ "body": "again" })),
        ("replies", json!({ "body": "again" })),
        ("tags", json!({ "add": ["steel"] })),
        ("status", json!({ "status": "open" })),
        ("assign", json!({ "to": "me" })),
        ("sorting", json!({ "topic": "Furniture" })),
    ] {
        let again =
            || async { app.on(&seeds.key, &seeds.conversation, what, body.clone()).await.status };
        found.push((format!("writes {what}"), second(app, again).await));
    }
    found
}

/// Mail that comes in and is threaded: by what it names, by its subject, and by nothing.
async fn mails(app: &TestApp, seeds: &Seeds) -> Vec<(String, Work)> {
    let mut found = Vec::new();
    let answers = vec![seeds.header_id.clone()];
    let named = mail::Mail { answers, ..letter("ann@customer.example", "Re: Lamp", "and now?") };
    let mails = [
        ("named", named),
        ("same subject", letter("bo@customer.example", "Re: Chair", "and now?")),
        ("busy contact", letter("busy@customer.example", "Re: Lamp 8", "and now?")),
        ("stranger", letter("zed@elsewhere.example", "Hello", "who are you?")),
    ];
    for (what, mail) in mails {
        let again = || async {
            app.deliver(&app.support, mail.clone()).await;
            200
        };
        found.push((format!("mail {what}"), second(app, again).await));
    }
    found
}

/// One row of each queue, planned and due.
async fn claims(app: &TestApp) -> Vec<(String, Work)> {
    let mut found = Vec::new();
    // What the rest of this left behind is done first.
    app.work().await;
    for (table, column) in [
        ("messages", "sends_at"),
        ("deliveries", "next_attempt_at"),
        ("conversations", "snoozed_until"),
        ("conversations", "sorts_at"),
        ("documents", "extract_at"),
        ("document_requests", "remind_at"),
        ("bookings", "act_at"),
        ("conversations", "satisfaction_due_at"),
        ("document_requests", "hands_over_at"),
        ("app_mail", "body_due_at"),
        ("notices", "due_at"),
        ("report_facts", "due_at"),
        ("rule_jobs", "due_at"),
        ("conversations", "target_due_at"),
        ("sandbox_replies", "due_at"),
        ("uploads", "due_at"),
    ] {
        if !is_planned(app, table, column) {
            continue;
        }
        let_fall_due(app, table, column);
        let meter = Meter::start(app).await;
        app.work().await;
        found.push((format!("claim of {table} by {column}"), meter.read(app).await));
    }
    found
}

fn is_planned(app: &TestApp, table: &str, column: &str) -> bool {
    let sql = format!("SELECT 1 FROM {table} WHERE {column} > {} LIMIT 1", app.now());
    past_the_store(app, |client| !client.query(&sql, &[]).unwrap().is_empty())
}
