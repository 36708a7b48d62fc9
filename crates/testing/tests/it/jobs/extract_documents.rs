//! Documents are read once, live ones alone, and what people say stays.

use actions::conversations::corrections;
use base::actor::{Actor, Circle};
use base::ids::DocumentId;
use jobs::ExtractionOutcome;
use mail::Mail;
use model::documents::{DocumentFields, DocumentKind};
use model::mailboxes;
use serde_json::{Value, json};
use testing::{MINUTE, TestApp, TestKey, file, letter, on_both, query, text_of};

on_both!(
    a_document_is_read_titled_and_found_by_what_it_says,
    reading_a_file_of_a_mail_replaces_no_row_of_the_index,
    each_document_is_read_once,
    the_sandbox_has_no_reader,
    trouble_is_tried_three_times_and_then_left,
    a_second_try_that_goes_well_counts,
    an_unreadable_document_is_something_else_at_once,
    what_a_person_corrected_before_it_was_read_stays,
    what_a_person_corrected_while_it_was_read_stays,
    a_reader_that_was_killed_is_taken_over_when_its_claim_lapses,
    one_workspace_with_many_documents_does_not_keep_another_waiting
);

async fn a_document_is_read_titled_and_found_by_what_it_says(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&[invoice("Lumen Holz", 120.5)]);
    filed(&app, &["scan.pdf"]).await;
    assert_eq!(documents(&app, &key, "").await[0]["kind"], json!(null));
    app.work().await;
    let document = documents(&app, &key, "").await[0].clone();
    assert_eq!(document["kind"], "invoice");
    assert_eq!(document["title"], "Invoice R-7, Lumen Holz, 120.50 EUR");
    assert_eq!(document["filename"], "scan.pdf");
    let fields = json!({
        "vendor": "Lumen Holz", "amount": 120.5, "currency": "EUR", "reference": "R-7",
    });
    assert_eq!(document["fields"], fields);
    for q in ["lumen", "scan", "r-7", "120.50", "invoice holz"] {
        assert_eq!(documents(&app, &key, &query(&[("q", q)])).await.len(), 1, "{q}");
    }
    assert_eq!(app.outside.reader.bytes_given(), [b"scan.pdf".to_vec()]);
}

/// A row that is replaced leaves a mark behind that every later search walks past.
async fn reading_a_file_of_a_mail_replaces_no_row_of_the_index(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&[invoice("Lumen Holz", 120.5)]);
    filed(&app, &["scan.pdf"]).await;
    assert_eq!(app.search_subjects(&key, "scan.pdf").await.len(), 1, "by its name at once");
    app.work().await;
    for words in ["scan.pdf", "lumen", "has:attachment 120.50"] {
        assert_eq!(app.search_subjects(&key, words).await.len(), 1, "{words}");
    }
    let replaced = "conversation_index WHERE substr(words, 1, 1) = '~'";
    assert_eq!(app.count(replaced).await, 0);
}

async fn each_document_is_read_once(app: TestApp) {
    filed(&app, &["a.pdf", "b.pdf", "c.pdf"]).await;
    app.work().await;
    app.pass(90 * MINUTE).await;
    let mut given = app.outside.reader.file_names();
    given.sort();
    assert_eq!(given, ["a.pdf", "b.pdf", "c.pdf"]);
}

async fn the_sandbox_has_no_reader(app: TestApp) {
    let key = app.test_key("read").await;
    let attachments = vec![file("scan.pdf", b"x")];
    let mail = Mail { attachments, ..letter("a@x.test", "Files", "text") };
    app.deliver(&app.sandbox, mail).await;
    app.pass(90 * MINUTE).await;
    assert!(app.outside.reader.file_names().is_empty());
    assert_eq!(documents(&app, &key, "").await[0]["kind"], json!(null));
}

async fn trouble_is_tried_three_times_and_then_left(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&vec![ExtractionOutcome::Later("busy".into()); 5]);
    filed(&app, &["scan.pdf"]).await;
    for (passes, attempts) in [(0, 1), (MINUTE, 2), (9 * MINUTE, 2), (MINUTE, 3), (90 * MINUTE, 3)]
    {
        app.pass(passes).await;
        assert_eq!(app.outside.reader.file_names().len(), attempts, "after {passes}");
    }
    let document = documents(&app, &key, "").await[0].clone();
    assert_eq!(document["kind"], "other");
    assert_eq!(document["title"], "scan.pdf");
    assert_eq!(document["fields"], json!({}));
}

async fn a_second_try_that_goes_well_counts(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&[ExtractionOutcome::Later("busy".into()), invoice("Lumen", 1.0)]);
    filed(&app, &["scan.pdf"]).await;
    app.pass(MINUTE).await;
    assert_eq!(documents(&app, &key, "").await[0]["kind"], "invoice");
}

async fn an_unreadable_document_is_something_else_at_once(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&[ExtractionOutcome::Unreadable("damaged".into())]);
    filed(&app, &["scan.pdf"]).await;
    app.pass(90 * MINUTE).await;
    assert_eq!(app.outside.reader.file_names().len(), 1);
    assert_eq!(documents(&app, &key, "kind=other").await.len(), 1);
}

async fn what_a_person_corrected_before_it_was_read_stays(app: TestApp) {
    let key = app.key("read").await;
    filed(&app, &["scan.pdf"]).await;
    correct(&app, &key).await;
    app.pass(90 * MINUTE).await;
    assert!(app.outside.reader.file_names().is_empty());
    assert_eq!(documents(&app, &key, "").await[0]["kind"], "contract");
}

async fn what_a_person_corrected_while_it_was_read_stays(app: TestApp) {
    let key = app.key("read").await;
    app.outside.reader.will_say(&[invoice("Lumen", 1.0)]);
    app.outside.reader.hangs(true);
    filed(&app, &["scan.pdf"]).await;
    let working = app.keep_working();
    app.outside.reader.was_given(1).await;
    correct(&app, &key).await;
    app.outside.reader.hangs(false);
    working.stop().await.unwrap();
    assert_eq!(documents(&app, &key, "").await[0]["kind"], "contract");
    assert_eq!(documents(&app, &key, "q=lumen").await.len(), 0);
}

async fn a_reader_that_was_killed_is_taken_over_when_its_claim_lapses(app: TestApp) {
    let key = app.key("read").await;
    filed(&app, &["scan.pdf"]).await;
    let other = app.another_process();
    other.outside.reader.hangs(true);
    other.work();
    other.outside.reader.was_given(1).await;
    app.work().await;
    assert!(app.outside.reader.file_names().is_empty(), "it is claimed");
    other.kill();
    app.pass(MINUTE).await;
    assert_eq!(app.outside.reader.file_names(), ["scan.pdf"]);
    assert_eq!(documents(&app, &key, "").await[0]["kind"], "other");
}

async fn one_workspace_with_many_documents_does_not_keep_another_waiting(app: TestApp) {
    let names: Vec<String> = (0..20).map(|number| format!("{number}.pdf")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    filed(&app, &names).await;
    app.advance(MINUTE);
    let globex = app.other_workspace("Globex").await;
    filed_elsewhere(&app, &globex, "theirs.pdf").await;
    app.outside.reader.hangs(true);
    let working = app.keep_working();
    app.outside.reader.was_given(2).await;
    let mut given = app.outside.reader.file_names();
    given.sort();
    assert_eq!(given, ["0.pdf", "theirs.pdf"]);
    app.outside.reader.hangs(false);
    working.stop().await.unwrap();
}

async fn filed_elsewhere(app: &TestApp, owner: &Actor, name: &str) {
    let service = Actor::system(owner.ws, owner.workspace.clone(), Circle::team());
    let seen = app.act(&service, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
    let mailbox = seen.into_iter().next().unwrap();
    let attachments = vec![file(name, name.as_bytes())];
    let mail = Mail { attachments, ..letter("a@x.example", "Files", "text") };
    let incoming = app.incoming(&mailbox, mail);
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &mailbox, &incoming)).await;
}

async fn filed(app: &TestApp, names: &[&str]) {
    let attachments = names.iter().map(|name| file(name, name.as_bytes())).collect();
    app.deliver(&app.support, Mail { attachments, ..letter("a@x.example", "Files", "text") }).await;
}

async fn correct(app: &TestApp, key: &TestKey) {
    let document = documents(app, key, "").await[0].clone();
    let id = DocumentId::parse(&text_of(&document, "id")).unwrap();
    let fields = DocumentFields { vendor: Some("Bruno".into()), ..DocumentFields::default() };
    app.act(&app.owner, move |tx, cx| {
        corrections::correct_document(tx, cx, &id, DocumentKind::Contract, &fields)
    })
    .await;
}

fn invoice(vendor: &str, amount: f64) -> ExtractionOutcome {
    let fields = DocumentFields {
        vendor: Some(vendor.into()),
        amount: Some(amount),
        currency: Some("EUR".into()),
        reference: Some("R-7".into()),
        ..DocumentFields::default()
    };
    let text = format!("{vendor} thanks you for your order of peonies");
    ExtractionOutcome::Read { kind: DocumentKind::Invoice, fields, text }
}

async fn documents(app: &TestApp, key: &TestKey, query: &str) -> Vec<Value> {
    let list = app.get(key, &format!("/documents?{query}")).await.is(200).json();
    list.as_array().unwrap().clone()
}
