//! A conversation whose row cannot be read hides no other from a search.

use testing::{SECOND, TestApp, on_both, query, texts};

on_both!(a_search_leaves_out_what_cannot_be_read_and_finds_all_others_page_by_page);

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

fn is_rare(number: usize) -> bool {
    number.is_multiple_of(20)
}
