//! The document library in the app.

use base::actor::Role;
use mail::Mail;

use crate::support::*;

on_both!(
    documents_are_listed_found_and_shown_with_where_they_came_from,
    pages_go_on_behind_the_last,
    a_person_corrects_what_was_read_and_it_stays,
    files_are_shown_only_as_what_they_are,
    a_private_inboxs_documents_are_its_persons_alone
);

async fn filed(app: &TestApp, names: &[&str]) -> Vec<String> {
    for name in names {
        let kind = if name.ends_with("png") { "image/png" } else { "application/pdf" };
        let bytes = model::documents::pdf::sheet("PAPER", &[name]);
        let attachment =
            mail::Attachment { filename: (*name).into(), content_type: kind.into(), bytes };
        let mail = letter("ann@shop.example Ann Shopper", "Papers", "See attached");
        app.deliver(&app.support, Mail { attachments: vec![attachment], ..mail }).await;
        app.advance(SECOND);
    }
    let key = app.key("read").await;
    let list = app.get(&key, "/documents").await.is(200).json();
    texts(list.as_array().unwrap(), "id")
}

async fn documents_are_listed_found_and_shown_with_where_they_came_from(app: TestApp) {
    let ids = filed(&app, &["Lease Straße.pdf", "photo.png"]).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/documents").await.is(200);
    page.shows("Lease Straße.pdf").shows("photo.png").shows("Ann Shopper");
    assert!(page.text.find("photo.png") < page.text.find("Lease"), "newest first");
    browser.get("/documents?q=STRASSE").await.is(200).shows("Lease").hides("photo.png");
    browser.get("/documents?q=absent").await.is(200).shows("No document says that");
    browser.get("/documents?kind=invoice").await.is(200).hides("photo.png");
    browser.get("/documents?kind=nonsense").await.is(200).shows("kind: ");
    let detail = browser.get(&format!("/documents?doc={}", ids[1])).await.is(200);
    detail.shows("attached to a message").shows("Ann Shopper, Papers").shows("Look at it");
    browser.get("/documents?doc=doc_0").await.is(404);
    browser.get("/documents?doc=nonsense").await.is(404);
}

async fn pages_go_on_behind_the_last(app: TestApp) {
    let names: Vec<String> = (0..30).map(|n| format!("paper {n:02}.pdf")).collect();
    filed(&app, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let browser = app.signed_in(&app.owner).await;
    let first = browser.get("/documents").await.is(200);
    first.shows("paper 29.pdf").hides("paper 05.pdf");
    let next = first.between("href=\"/documents?cursor=", "\"").to_owned();
    let second = browser.get(&format!("/documents?cursor={next}")).await.is(200);
    second.shows("paper 05.pdf").hides("paper 29.pdf");
}

async fn a_person_corrects_what_was_read_and_it_stays(app: TestApp) {
    let ids = filed(&app, &["scan.pdf"]).await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/documents/{}/correct", ids[0]);
    browser.get(&format!("/documents?doc={}&correct", ids[0])).await.is(200).shows("Correct it");
    let wrong = [("kind", "invoice"), ("vendor", "Lumen"), ("amount", "much"), ("date", "soon")];
    browser.post(&path, &wrong).await.is(422).shows("amount: must be a number").shows("Lumen");
    let dates = [("kind", "invoice"), ("vendor", "Lumen"), ("date", "soon")];
    browser.post(&path, &dates).await.is(422).shows("date: must be a day");
    browser.post(&path, &[("kind", "nonsense")]).await.is(422).shows("kind: choose");
    let right = [
        ("kind", "invoice"),
        ("vendor", "Lumen Holz"),
        ("amount", "120,50"),
        ("currency", "eur"),
        ("date", "2026-11-02"),
        ("dueDate", ""),
        ("reference", "4711"),
    ];
    browser.post(&path, &right).await.goes_to(&format!("/documents?doc={}#detail", ids[0]));
    let page = browser.get(&format!("/documents?doc={}", ids[0])).await;
    page.shows("120.50 EUR").shows("Lumen Holz").shows("A person has checked this");
    browser.get("/documents?q=lumen&kind=invoice").await.shows("4711");
}

async fn files_are_shown_only_as_what_they_are(app: TestApp) {
    let ids = filed(&app, &["a.pdf", "b.png"]).await;
    let browser = app.signed_in(&app.owner).await;
    for (id, query, kind, place, policy) in [
        (&ids[0], "?shown", "image/png", "inline", "sandbox"),
        (&ids[0], "", "application/octet-stream", "attachment", "sandbox"),
        (&ids[1], "?shown", "application/pdf", "inline", "default-src 'none'; object-src 'self'"),
        (&ids[1], "", "application/octet-stream", "attachment", "sandbox"),
    ] {
        let page = browser.get(&format!("/documents/{id}{query}")).await.is(200);
        assert_eq!(page.answer.header("content-type"), kind);
        assert!(page.answer.header("content-disposition").starts_with(place));
        assert!(page.answer.header("content-security-policy").contains(policy));
        assert_eq!(page.answer.header("x-content-type-options"), "nosniff");
    }
    app.exec("UPDATE documents SET content_type = 'text/html'").await;
    let page = browser.get(&format!("/documents/{}?shown", ids[0])).await.is(200);
    assert_eq!(page.answer.header("content-type"), "application/octet-stream");
    browser.get(&format!("/documents/{}/page", ids[0])).await.is(404);
}

async fn a_private_inboxs_documents_are_its_persons_alone(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let attachments = vec![file("secret.pdf", b"%PDF")];
    app.deliver(&inbox, Mail { attachments, ..letter("z@shop.example", "S", "x") }).await;
    app.signed_in(&ann).await.get("/documents").await.shows("secret.pdf");
    app.signed_in(&app.owner).await.get("/documents").await.hides("secret.pdf");
    let attachments = vec![file("pretend.pdf", b"%PDF")];
    app.deliver(&app.sandbox, Mail { attachments, ..letter("z@shop.test", "S", "x") }).await;
    app.signed_in(&app.owner).await.get("/documents").await.hides("pretend.pdf");
}
