//! API sections 2.7 and 4.12.

use base::actor::Role;
use mail::{Attachment, Mail};
use serde_json::{Value, json};
use testing::{SECOND, TestApp, TestKey, file, letter, on_both, query, text_of, texts};

on_both!(
    an_attachment_is_filed_as_a_document,
    every_attachment_is_filed_and_a_mail_without_any_files_nothing,
    large_and_small_files_are_kept,
    documents_are_newest_first_and_25_unless_a_limit_is_given,
    words_of_the_file_name_are_found,
    a_kind_narrows_the_list_and_what_was_read_is_shown,
    a_key_lists_and_finds_only_what_it_sees,
    documents_of_one_moment_are_found_in_the_order_of_the_list
);

async fn an_attachment_is_filed_as_a_document(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.deliver(&app.support, with_files(&["Invoice 12.pdf"])).await;
    let list = app.get(&key, "/documents").await.is(200).json();
    let id = text_of(&list[0], "id");
    assert!(id.starts_with("doc_"));
    assert_eq!(
        list,
        json!([{
            "id": id,
            "title": "Invoice 12.pdf",
            "filename": "Invoice 12.pdf",
            "kind": null,
            "fields": {},
            "conversationId": mail.conversation.as_str(),
            "createdAt": "2026-11-15T09:00:00.000Z",
        }])
    );
}

async fn every_attachment_is_filed_and_a_mail_without_any_files_nothing(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "text").await;
    app.deliver(&app.support, with_files(&["a.pdf", "b.pdf", "a.pdf"])).await;
    assert_eq!(names(&app, &key, "").await, ["a.pdf", "b.pdf", "a.pdf"]);
}

async fn large_and_small_files_are_kept(app: TestApp) {
    let key = app.key("read").await;
    let noise: Vec<u8> =
        (0..300_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let attachments = vec![file("large.bin", &noise), file("empty.txt", b"")];
    let mail = Mail { attachments, ..letter("a@x.example", "Lamp", "text") };
    app.deliver(&app.support, mail).await;
    assert_eq!(names(&app, &key, "").await, ["empty.txt", "large.bin"]);
}

async fn documents_are_newest_first_and_25_unless_a_limit_is_given(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..30 {
        app.deliver(&app.support, with_files(&[&format!("{number}.pdf")])).await;
        app.advance(SECOND);
    }
    assert_eq!(names(&app, &key, "limit=3").await, ["29.pdf", "28.pdf", "27.pdf"]);
    for (filter, count) in [("", 25), ("limit=100", 30), ("limit=1", 1), ("q=pdf", 25)] {
        assert_eq!(names(&app, &key, filter).await.len(), count, "{filter}");
    }
    assert_eq!(names(&app, &key, "q=pdf&limit=2").await, ["29.pdf", "28.pdf"]);
}

async fn words_of_the_file_name_are_found(app: TestApp) {
    let key = app.key("read").await;
    for name in ["Rechnung Straße 2026-11.pdf", "contract_final.PDF", "請求書.pdf", "scan.png"]
    {
        app.deliver(&app.support, with_files(&[name])).await;
        app.advance(SECOND);
    }
    for (q, expected) in [
        ("rechnung", vec!["Rechnung Straße 2026-11.pdf"]),
        ("STRASSE rech", vec!["Rechnung Straße 2026-11.pdf"]),
        ("2026-11", vec!["Rechnung Straße 2026-11.pdf"]),
        ("\"strasse 2026\"", vec!["Rechnung Straße 2026-11.pdf"]),
        ("contract", vec!["contract_final.PDF"]),
        ("final pdf", vec!["contract_final.PDF"]),
        ("請求", vec!["請求書.pdf"]),
        ("pdf", vec!["請求書.pdf", "contract_final.PDF", "Rechnung Straße 2026-11.pdf"]),
        ("sca", vec!["scan.png"]),
        ("rechnung contract", vec![]),
        ("rech strasse", vec![]),
        ("!!!", vec![]),
        ("lamp", vec![]),
    ] {
        assert_eq!(names(&app, &key, &query(&[("q", q)])).await, expected, "{q}");
    }
}

async fn a_kind_narrows_the_list_and_what_was_read_is_shown(app: TestApp) {
    let key = app.key("read").await;
    app.deliver(&app.support, with_files(&["bill one.pdf", "bill two.pdf", "photo.jpg"])).await;
    app.exec("UPDATE documents SET kind = 'photo' WHERE filename = 'photo.jpg'").await;
    app.exec(
        "UPDATE documents SET kind = 'invoice', title = 'Lumen AG, November',
            fields = '{\"vendor\":\"Lumen AG\",\"amount\":129.5,\"dueDate\":\"2026-12-01\"}'
         WHERE filename = 'bill one.pdf'",
    )
    .await;
    for (filter, expected) in [
        ("kind=invoice", vec!["bill one.pdf"]),
        ("kind=photo", vec!["photo.jpg"]),
        ("kind=tax", vec![]),
        ("kind=invoice&q=bill", vec!["bill one.pdf"]),
        ("kind=photo&q=bill", vec![]),
        ("q=bill", vec!["bill two.pdf", "bill one.pdf"]),
    ] {
        assert_eq!(names(&app, &key, filter).await, expected, "{filter}");
    }
    let invoice = app.get(&key, "/documents?kind=invoice").await.json()[0].clone();
    assert_eq!(invoice["title"], "Lumen AG, November");
    let fields = json!({ "vendor": "Lumen AG", "amount": 129.5, "dueDate": "2026-12-01" });
    assert_eq!(invoice["fields"], fields);
    assert_eq!(invoice["kind"], "invoice");
}

async fn a_key_lists_and_finds_only_what_it_sees(app: TestApp) {
    let key = app.key("read").await;
    let test_key = app.test_key("read").await;
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "read", true).await;
    let other = app.other_workspace("Globex").await;
    let their_key = app.key_of(&other, "Their", "read", true).await;
    for (name, inbox) in [
        ("scan team", app.support.clone()),
        ("scan mine", app.private_inbox(&app.owner).await),
        ("scan hers", app.private_inbox(&ann).await),
        ("scan sandbox", app.sandbox.clone()),
    ] {
        app.deliver(&inbox, with_files(&[name])).await;
        app.advance(SECOND);
    }
    for filter in ["", "q=scan"] {
        assert_eq!(names(&app, &key, filter).await, ["scan mine", "scan team"]);
        assert_eq!(names(&app, &anns_key, filter).await, ["scan hers", "scan team"]);
        assert_eq!(names(&app, &test_key, filter).await, ["scan sandbox"]);
        assert!(names(&app, &their_key, filter).await.is_empty());
    }
}

async fn documents_of_one_moment_are_found_in_the_order_of_the_list(app: TestApp) {
    let key = app.key("read").await;
    let private = app.private_inbox(&app.owner).await;
    for number in 0..6 {
        let inbox = if number % 2 == 0 { &app.support } else { &private };
        let (one, two) = (format!("scan {number} a"), format!("scan {number} b"));
        app.deliver(inbox, with_files(&[&one, &two])).await;
    }
    let list = names(&app, &key, "").await;
    assert_eq!(list[0], "scan 5 b");
    assert_eq!(names(&app, &key, "q=scan").await, list);
    assert_eq!(names(&app, &key, "q=scan&limit=5").await, list[..5]);
}

fn with_files(names: &[&str]) -> Mail {
    let attachments: Vec<Attachment> =
        names.iter().map(|name| file(name, name.as_bytes())).collect();
    Mail { attachments, ..letter("a@x.example", "Files", "See attached") }
}

async fn names(app: &TestApp, key: &TestKey, query: &str) -> Vec<String> {
    let list: Value = app.get(key, &format!("/documents?{query}")).await.is(200).json();
    texts(list.as_array().unwrap(), "filename")
}
