//! The answer from `docs@…`: a PDF invoice, filed as a document.

use serde_json::json;
use testing::{TestApp, on_both, text_of};

use super::{ANSWERS_AFTER, UNDO};

on_both!(
    docs_answers_with_an_invoice_that_is_filed_as_a_document,
    the_invoice_is_a_valid_pdf_with_its_text
);

async fn docs_answers_with_an_invoice_that_is_filed_as_a_document(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "docs@x.test").await;
    app.schedule(&key, &id, "Please send the invoice.").await;
    app.pass(UNDO + ANSWERS_AFTER - 1).await;
    assert_eq!(app.get(&key, "/documents").await.json(), json!([]));
    let before = app.events().await.len();
    app.pass(1).await;
    let message = app.timeline(&key, &id, "message").await.pop().unwrap();
    let bytes = filed(&app).await;
    let documents = app.get(&key, "/documents").await.json();
    let file = &message["attachments"][0];
    assert_eq!((&file["filename"], &file["size"]), (&json!("invoice.pdf"), &json!(bytes.len())));
    assert_eq!(file["documentId"], documents[0]["id"]);
    assert_eq!(documents.as_array().unwrap().len(), 1);
    assert_eq!(documents[0]["filename"], "invoice.pdf");
    assert_eq!(documents[0]["conversationId"], id);
    assert_eq!(text_of(&documents[0], "createdAt"), app.iso());
    let types = app.event_types_since(before).await;
    assert_eq!(types, ["turn.changed", "client.replied"]);
    let live = app.key("read").await;
    assert_eq!(app.get(&live, "/documents").await.json(), json!([]));
}

async fn the_invoice_is_a_valid_pdf_with_its_text(app: TestApp) {
    let key = app.test_key("write send").await;
    let id = app.simulate(&key, "docs+1@x.test").await;
    app.schedule(&key, &id, "Please send the invoice.").await;
    app.pass(UNDO + ANSWERS_AFTER).await;
    let bytes = filed(&app).await;
    let text = String::from_utf8(bytes).expect("plain characters");
    assert_eq!(objects(&text), 6);
    for word in ["(INVOICE)", "INV-2026-0042", "EUR 126.60"] {
        assert!(text.contains(word), "{word}");
    }
}

/// The bytes of the one document there is.
async fn filed(app: &TestApp) -> Vec<u8> {
    let blobs = app.app.blobs.clone();
    let bytes = app.act(&app.owner, move |tx, cx| {
        let ws = cx.actor.ws;
        let (hash,): (String,) = tx.one("SELECT hash FROM documents WHERE ws = ?1", &[&ws])?;
        blobs.get(tx, ws, &hash)
    });
    bytes.await.expect("its bytes")
}

/// Walks a PDF as a reader does, from its end: the table's place, each object where the table says
/// it is, the page's stream as long as it claims. Answers how many objects there are.
fn objects(text: &str) -> usize {
    assert!(text.starts_with("%PDF-1."));
    let (head, end) = text.rsplit_once("startxref\n").expect("where the table is");
    let place: usize = end.strip_suffix("\n%%EOF\n").expect("the end").parse().unwrap();
    let table = text[place..].strip_prefix("xref\n0 ").expect("the table");
    let (count, rows) = table.split_once('\n').unwrap();
    let count: usize = count.parse().unwrap();
    assert!(head.contains(&format!("/Size {count} ")) && head.contains("/Root 1 0 R"));
    // Each row of the table has exactly 20 bytes.
    for number in 1..count {
        let row = &rows[number * 20..number * 20 + 20];
        assert!(row.ends_with(" 00000 n \n"), "{row:?}");
        let at: usize = row[..10].parse().unwrap();
        assert!(text[at..].starts_with(&format!("{number} 0 obj\n")), "{number} at {at}");
        let object = &text[at..at + text[at..].find("endobj").expect("its end")];
        if let Some((before, stream)) = object.split_once("stream\n") {
            let told = before.split_once("/Length ").unwrap().1.split_once(' ').unwrap().0;
            let length = stream.split_once("\nendstream").expect("the stream's end").0.len();
            assert_eq!(told.parse::<usize>().unwrap(), length);
        }
    }
    count - 1
}
