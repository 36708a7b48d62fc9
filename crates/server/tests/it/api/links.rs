//! Where a list goes on: the `Link` header of API section 1.7.

use crate::support::{TestApp, on_both};

on_both!(every_page_but_the_last_links_to_the_next, a_list_says_how_long_it_is_when_it_is_asked);

async fn every_page_but_the_last_links_to_the_next(app: TestApp) {
    let key = app.key("read").await;
    for path in ["/conversations", "/documents"] {
        let answer = app.get(&key, path).await.is(200);
        assert_eq!(answer.next(), None);
        assert_eq!(answer.header("link"), "");
    }
    for number in 0..5 {
        app.mail(&format!("{number}@x.example"), &format!("Mail {number}"), "text").await;
    }
    let answer = app.get(&key, "/conversations?limit=3").await.is(200);
    assert!(answer.header("link").ends_with(">; rel=\"next\""));
    let answer = app.get(&key, &answer.next().unwrap()).await.is(200);
    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    assert_eq!(answer.header("link"), "");
}

async fn a_list_says_how_long_it_is_when_it_is_asked(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..5 {
        let word = if number % 2 == 0 { "lamp" } else { "chair" };
        app.mail(&format!("{number}@x.example"), &format!("Mail {number}"), word).await;
    }
    for (asked, count) in [
        ("", "5"),
        ("&view=closed", "0"),
        ("&q=lamp", "3"),
        ("&q=lamp+-chair", "3"),
        ("&q=-lamp", "2"),
        ("&q=lamp+is:closed", "0"),
        ("&q=is:open", "5"),
        ("&from=3@x.example", "1"),
        ("&mailbox=mbx_0", "0"),
    ] {
        let path = format!("/conversations?limit=2&count=true{asked}");
        let answer = app.get(&key, &path).await.is(200);
        assert_eq!(answer.header("x-total-count"), count, "{asked}");
        assert_eq!(answer.header("x-total-at-least"), "", "{asked}");
    }
    let first = app.get(&key, "/conversations?limit=2&count=true").await.is(200);
    let second = app.get(&key, &first.next().unwrap()).await.is(200);
    assert_eq!(second.header("x-total-count"), "5", "the whole list, whatever page of it");
    for asked in ["", "?count=false"] {
        let answer = app.get(&key, &format!("/conversations{asked}")).await.is(200);
        assert_eq!(answer.header("x-total-count"), "");
    }
    let wrong = app.get(&key, "/conversations?count=yes").await.is(400);
    assert_eq!(wrong.error(), "count: must be true or false");
}
