//! Asking for documents from the conversation.

use serde_json::json;

use crate::support::*;

on_both!(
    a_person_asks_for_documents_and_the_letter_can_be_stopped,
    what_is_wrong_is_said_and_what_was_typed_stays,
    it_can_be_kept_as_a_draft_and_waits_when_the_customer_wrote_meanwhile
);

async fn a_person_asks_for_documents_and_the_letter_can_be_stopped(app: TestApp) {
    let key = app.key("read").await;
    let received = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let (id, browser) = (received.conversation.to_string(), app.signed_in(&app.owner).await);
    let path = format!("/conversations/{id}");
    browser.get(&path).await.is(200).shows("Ask for documents");
    let page = browser.get(&format!("{path}?write=ask")).await.is(200);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [
        ("seen", seen.as_str()),
        ("message", "Two papers."),
        ("label-1", "Passport"),
        ("about-1", "The page with your photo"),
        ("label-3", "Bill"),
        ("nice-3", "on"),
        ("due", "2026-12-01"),
    ];
    browser.post(&format!("{path}/ask"), &fields).await.goes_to(&path);
    let page = browser.get(&path).await.is(200);
    page.shows("2 documents asked for").shows(">To Ann</a>").shows("by 1 December 2026");
    let letters = app.timeline(&key, &id, "message").await;
    let letter = letters.last().unwrap();
    assert_eq!(letter["status"], "scheduled");
    let text = text_of(letter, "text");
    for part in [
        "Two papers.",
        "- Passport\n  The page with your photo",
        "- Bill (nice to have)",
        "by 1 December 2026",
        "/u/",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

async fn what_is_wrong_is_said_and_what_was_typed_stays(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}/ask", received.conversation);
    browser
        .post(&path, &[("message", "Please."), ("seen", "99")])
        .await
        .is(422)
        .shows("Say at least one document")
        .shows("Please.");
    let long = "x".repeat(121);
    browser
        .post(&path, &[("label-1", "Bill"), ("label-2", &long), ("due", "soon"), ("seen", "99")])
        .await
        .is(422)
        .shows("Line 2, the name: ")
        .shows("The day: ")
        .shows("Bill");
    browser
        .post(&path, &[("about-1", "Only words about it"), ("seen", "99")])
        .await
        .is(422)
        .shows("Line 1, the name: ");
    let more =
        browser.post(&path, &[("label-1", "Bill"), ("more", ""), ("seen", "99")]).await.is(422);
    more.shows("value=\"Bill\"").shows("label-4");
    assert_eq!(app.events().await.len(), 1, "nothing was sent");
}

async fn it_can_be_kept_as_a_draft_and_waits_when_the_customer_wrote_meanwhile(app: TestApp) {
    let key = app.key("read").await;
    let received = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let id = received.conversation.to_string();
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{id}/ask");
    browser
        .post(&path, &[("label-1", "Bill"), ("seen", "1")])
        .await
        .is(422)
        .shows("wrote meanwhile");
    browser.post(&path, &[("label-1", "Bill"), ("seen", "1"), ("keep", "")]).await.is(303);
    let letters = app.timeline(&key, &id, "message").await;
    assert_eq!(letters.last().unwrap()["status"], json!("draft"));
    assert!(!text_of(letters.last().unwrap(), "text").contains("/u/"));
    browser.get("/approvals").await.shows("Asks for 1 document");
}
