//! Where a list goes on: the `Link` header of API section 1.7.

use crate::support::{TestApp, on_both};

on_both!(every_page_but_the_last_links_to_the_next);

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
