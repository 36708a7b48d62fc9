//! A conversation whose row cannot be read hides no other from a search.

use serde_json::json;
use testing::{MINUTE, SECOND, TestApp, on_both, query, texts};

on_both!(
    a_search_leaves_out_what_cannot_be_read_and_finds_all_others_page_by_page,
    a_conversation_that_cannot_be_read_keeps_no_other_from_being_indexed_again
);

/// More than a search reads from the index at once, so that some words are tested on one conversation
/// after the other and some are looked up.
const CONVERSATIONS: usize = 60;

async fn a_search_leaves_out_what_cannot_be_read_and_finds_all_others_page_by_page(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..CONVERSATIONS {
        app.advance(SECOND);
        let words = if is_rare(number) { "lamp rare" } else { "lamp" };
        app.mail(&format!("c{number}@x.example"), &format!("Case {number}"), words).await;
    }
    // The first two of the list, and others in the middle of it.
    let damaged = [59, 58, 40, 31];
    for number in damaged {
        let sql = "UPDATE conversations SET tags = 'unreadable' WHERE subject =";
        app.exec(&format!("{sql} 'Case {number}'")).await;
    }
    let left = |wanted: fn(usize) -> bool| -> Vec<String> {
        let numbers = (0..CONVERSATIONS).rev().filter(|number| !damaged.contains(number));
        numbers.filter(|number| wanted(*number)).map(|number| format!("Case {number}")).collect()
    };
    for (q, expected) in [
        ("lamp", left(|_| true)),
        ("rare", left(is_rare)),
        ("lamp rare", left(is_rare)),
        ("-rare", left(|number| !is_rare(number))),
        ("lamp -rare", left(|number| !is_rare(number))),
        ("is:open", left(|_| true)),
    ] {
        for limit in ["1", "7", "100"] {
            let path = format!("/conversations?{}", query(&[("q", q), ("limit", limit)]));
            let pages = app.pages(&key, &path).await;
            assert_eq!(texts(&pages.concat(), "subject"), expected, "{q} by {limit}");
        }
    }
    let nothing = query(&[("q", "\"case 58\"")]);
    assert!(app.list(&key, &nothing).await.is_empty());
}

async fn a_conversation_that_cannot_be_read_keeps_no_other_from_being_indexed_again(app: TestApp) {
    let key = app.key("write").await;
    for number in 0..3 {
        let subject = format!("Case {number}");
        let mail = app.mail("ann@x.example", &subject, "An old lamp").await;
        app.on(&key, &mail.conversation, "tags", json!({ "add": ["Birds"] })).await.is(200);
        app.on(&key, &mail.conversation, "tags", json!({ "remove": ["Birds"] })).await.is(200);
    }
    app.work().await;
    app.exec("UPDATE messages SET cc_list = 'unreadable' WHERE subject = 'Case 1'").await;
    app.exec(
        "INSERT INTO index_rebuilds (name, next_num, due_at)
         SELECT 'all', max(num), 0 FROM conversations",
    )
    .await;
    app.pass(MINUTE).await;
    // What cannot be read is looked at where the list is not trusted, and tried again another day.
    let with_others = "conversation_index WHERE substr(words, 1, 1) = '~'";
    assert_eq!(app.count(with_others).await, 1);
    assert_eq!(app.count("index_rebuilds WHERE words_only = TRUE").await, 1);
    assert_eq!(app.count("index_rebuilds WHERE words_only = FALSE").await, 0);
    assert_eq!(app.search_subjects(&key, "lamp").await.len(), 3);
    assert!(app.search_subjects(&key, "birds").await.is_empty());
}

fn is_rare(number: usize) -> bool {
    number.is_multiple_of(20)
}
