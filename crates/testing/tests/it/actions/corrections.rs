//! What a person says about a document stays (API section 2.7).

use actions::conversations::corrections;
use base::actor::{Actor, Role};
use base::ids::DocumentId;
use mail::Mail;
use model::documents::{DocumentFields, DocumentKind};
use serde_json::json;
use testing::{TestApp, file, letter, on_both, text_of};

on_both!(
    a_correction_is_shown_found_and_titled,
    everything_wrong_with_a_correction_is_told_and_nothing_changes,
    nobody_corrects_what_they_cannot_see
);

async fn a_correction_is_shown_found_and_titled(app: TestApp) {
    let key = app.key("read").await;
    let id = filed(&app, "scan.pdf").await;
    correct(&app, &app.owner, &id, DocumentKind::Invoice, lumen()).await;
    let list = app.get(&key, "/documents?kind=invoice").await.is(200).json();
    assert_eq!(list[0]["title"], "Invoice 4711, Lumen Holz, 120.50 EUR");
    assert_eq!(list[0]["filename"], "scan.pdf");
    let fields = json!({
        "vendor": "Lumen Holz", "amount": 120.5, "currency": "EUR", "date": "2026-11-02",
        "reference": "4711",
    });
    assert_eq!(list[0]["fields"], fields);
    for word in ["lumen", "4711", "scan", "120.50", "2026-11-02", "eur"] {
        let found = app.get(&key, &format!("/documents?q={word}")).await.is(200).json();
        assert_eq!(found.as_array().unwrap().len(), 1, "{word}");
    }
    let other = DocumentFields { vendor: Some("Bruno".into()), ..DocumentFields::default() };
    correct(&app, &app.owner, &id, DocumentKind::Receipt, other).await;
    let list = app.get(&key, "/documents?q=lumen").await.is(200).json();
    assert_eq!(list, json!([]), "words of before are forgotten");
    let list = app.get(&key, "/documents?q=bruno").await.is(200).json();
    assert_eq!(list[0]["title"], "Receipt, Bruno");
}

async fn everything_wrong_with_a_correction_is_told_and_nothing_changes(app: TestApp) {
    let key = app.key("read").await;
    let id = filed(&app, "scan.pdf").await;
    let fields = DocumentFields {
        vendor: Some(" ".into()),
        amount: Some(f64::NAN),
        currency: Some("Euro".into()),
        date: Some("2026-02-30".into()),
        due_date: Some("tomorrow".into()),
        reference: Some("a\nb".into()),
    };
    let refused = app.expect_refusal(&app.owner, move |tx, cx| {
        corrections::correct_document(tx, cx, &id, DocumentKind::Invoice, &fields)
    });
    let sentence = refused.await.to_string();
    for field in ["vendor", "amount", "currency", "date", "dueDate", "reference"] {
        assert!(sentence.contains(&format!("{field}: ")), "{field}: {sentence}");
    }
    let list = app.get(&key, "/documents").await.is(200).json();
    assert_eq!(list[0]["kind"], json!(null));
}

async fn nobody_corrects_what_they_cannot_see(app: TestApp) {
    let ann = app.person_with("Ann", Role::Member).await;
    let private = app.private_inbox(&app.owner).await;
    let attachments = vec![file("secret.pdf", b"x")];
    app.deliver(&private, Mail { attachments, ..letter("a@x.example", "Files", "text") }).await;
    let key = app.key("read").await;
    let list = app.get(&key, "/documents").await.is(200).json();
    let id = DocumentId::parse(&text_of(&list[0], "id")).unwrap();
    let never = DocumentId::parse("doc_0000000000000000000000000").unwrap();
    let mut sentences = Vec::new();
    for id in [id, never] {
        let refused = app.expect_refusal(&ann, move |tx, cx| {
            corrections::correct_document(tx, cx, &id, DocumentKind::Other, &lumen())
        });
        sentences.push(refused.await.to_string());
    }
    assert_eq!(sentences[0], sentences[1]);
}

async fn filed(app: &TestApp, name: &str) -> DocumentId {
    let attachments = vec![file(name, b"x")];
    app.deliver(&app.support, Mail { attachments, ..letter("a@x.example", "Files", "text") }).await;
    let key = app.key("read").await;
    let list = app.get(&key, "/documents").await.is(200).json();
    DocumentId::parse(&text_of(&list[0], "id")).unwrap()
}

async fn correct(
    app: &TestApp,
    person: &Actor,
    id: &DocumentId,
    kind: DocumentKind,
    fields: DocumentFields,
) {
    let id = id.clone();
    app.act(person, move |tx, cx| corrections::correct_document(tx, cx, &id, kind, &fields)).await;
}

fn lumen() -> DocumentFields {
    DocumentFields {
        vendor: Some("Lumen Holz".into()),
        amount: Some(120.5),
        currency: Some("EUR".into()),
        date: Some("2026-11-02".into()),
        due_date: None,
        reference: Some("4711".into()),
    }
}
