//! Files and texts of documents over REST and MCP (API additions, section 8).

use serde_json::json;

use super::ALL;
use super::mcp::{call, done};
use crate::support::{TestApp, TestKey, file, held_warning, letter, on_both, text_of};

on_both!(
    a_document_is_downloaded_as_it_came_and_read_as_text,
    a_damaged_document_is_not_handed_out_and_says_so
);

/// The id of the document that came with a mail.
async fn filed(app: &TestApp, key: &TestKey, filename: &str) -> String {
    let found = app.get(key, "/documents?limit=100").await.is(200).json();
    let found = found.as_array().unwrap().iter().find(|one| one["filename"] == filename);
    text_of(found.expect("a document"), "id")
}

async fn a_document_is_downloaded_as_it_came_and_read_as_text(app: TestApp) {
    let long = "word ".repeat(11_000);
    let mut mail = letter("bruno@keller.example", "Papers", "Here they are.");
    mail.attachments = vec![
        file("Order é.txt", "Order 20418\nTotal 129.50 EUR".as_bytes()),
        file("long.txt", long.as_bytes()),
        file("blob.bin", &[0, 159, 146, 150, 0, 1, 2, 3]),
    ];
    mail.warning = held_warning();
    app.deliver(&app.support, mail).await;
    let (key, test) = (app.key(ALL).await, app.test_key(ALL).await);

    let order = filed(&app, &key, "Order é.txt").await;
    let answer = app.get(&key, &format!("/documents/{order}/file")).await.is(200);
    assert_eq!(answer.bytes, "Order 20418\nTotal 129.50 EUR".as_bytes());
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    let name = "attachment; filename*=UTF-8''Order%20%C3%A9.txt";
    assert_eq!(answer.header("content-disposition"), name);

    let read = app.get(&key, &format!("/documents/{order}/text")).await.is(200).json();
    assert_eq!(read["filename"], "Order é.txt");
    assert!(text_of(&read, "text").contains("Total 129.50 EUR"), "{read}");
    assert_eq!((&read["truncated"], &read["risk"]), (&json!(false), &json!("phishing")));
    let tool = done(&app, &key, "read_document", json!({ "id": order })).await;
    assert_eq!(tool["text"], read["text"]);
    assert!(text_of(&tool, "warning").contains("phishing"), "{tool}");

    let long = filed(&app, &key, "long.txt").await;
    let read = app.get(&key, &format!("/documents/{long}/text")).await.is(200).json();
    assert_eq!(text_of(&read, "text").chars().count(), 50_000);
    assert_eq!(read["truncated"], true);

    let blob = filed(&app, &key, "blob.bin").await;
    let read = app.get(&key, &format!("/documents/{blob}/text")).await.is(200).json();
    assert_eq!(read["text"], "");
    assert!(text_of(&read, "note").contains("not read"), "{read}");

    for path in ["file", "text"] {
        let path = format!("/documents/{order}/{path}");
        app.get(&test, &path).await.is(404);
    }
    let hidden = call(&app, &test, "read_document", json!({ "id": order })).await.is(200).json();
    assert_eq!(hidden["result"]["isError"], true);
}

async fn a_damaged_document_is_not_handed_out_and_says_so(app: TestApp) {
    let mut mail = letter("bruno@keller.example", "Papers", "Here they are.");
    mail.attachments = vec![file("one.txt", b"Order 20418"), file("two.txt", b"Order 20419")];
    app.deliver(&app.support, mail).await;
    let key = app.key(ALL).await;
    let (one, two) = (filed(&app, &key, "one.txt").await, filed(&app, &key, "two.txt").await);
    // Other bytes of the same length, as a disk may return them.
    let bytes_of = |filename| {
        format!("hash = (SELECT d.hash FROM documents d WHERE d.filename = '{filename}')")
    };
    app.exec(&format!(
        "UPDATE blobs SET packed = (SELECT b.packed FROM blobs b WHERE b.{}) WHERE {}",
        bytes_of("two.txt"),
        bytes_of("one.txt"),
    ))
    .await;
    for path in ["file", "text"] {
        let answer = app.get(&key, &format!("/documents/{one}/{path}")).await.is(500).json();
        assert!(text_of(&answer, "error").starts_with("This file is lost or damaged"), "{answer}");
        app.get(&key, &format!("/documents/{two}/{path}")).await.is(200);
    }
}
