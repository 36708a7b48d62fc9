//! How many statements PostgreSQL is sent for what is done often: each is a round trip.

use std::future::Future;

use serde_json::json;

use crate::support::*;

/// Messages of the conversation that is read: as many as a page shows.
const MESSAGES: usize = 20;
/// What each may cost, in statements.
const LIST: u64 = 5;
const READ: u64 = 12;
const INBOX_PAGE: u64 = 14;
const CONVERSATION_PAGE: u64 = 24;

#[test]
fn lists_reads_and_pages_are_few_statements() {
    run(Backend::Postgres, async |app: TestApp| {
        let key = app.key("read write draft send").await;
        let id = app.mail("ann@customer.example Ann", "Lamp", "It is broken").await.conversation;
        for number in 1..MESSAGES {
            match number % 2 {
                0 => drop(app.mail("ann@customer.example", "Re: Lamp", "And now?").await),
                _ => drop(app.send_reply(&key, &id, "We look into it").await),
            }
        }
        for number in 0..MESSAGES {
            let from = format!("c{number}@customer.example");
            app.mail(&from, &format!("Chair {number}"), "A chair").await;
        }
        app.on(&key, &id, "notes", json!({ "body": "look" })).await.is(201);
        app.on(&key, &id, "tags", json!({ "add": ["wood"] })).await.is(200);
        app.work().await;
        let browser = app.signed_in(&app.owner).await;
        let (read, page) =
            (format!("/conversations/{id}"), format!("/conversations/{id}?view=open"));
        let list = || async { app.get(&key, "/conversations").await.status };
        let read = || async { app.get(&key, &read).await.status };
        let inbox = || async { browser.get("/inbox?view=open").await.status };
        let page = || async { browser.get(&page).await.status };
        let counts = [
            ("list", statements(&app, list).await, LIST),
            ("read", statements(&app, read).await, READ),
            ("page of the inbox", statements(&app, inbox).await, INBOX_PAGE),
            ("page of a conversation", statements(&app, page).await, CONVERSATION_PAGE),
        ];
        println!("{counts:?}");
        for (what, count, most) in counts {
            assert!(count <= most, "{what}: {count} statements, {most} at the most");
        }
    });
}

/// What the third time costs: the first prepares statements. A page marks what is read behind it.
async fn statements<R: Future<Output = u16>>(app: &TestApp, again: impl Fn() -> R) -> u64 {
    for _ in 0..2 {
        assert_eq!(again().await, 200);
        app.app.background.finish().await;
    }
    let before = db::statements_sent();
    assert_eq!(again().await, 200);
    db::statements_sent() - before
}
