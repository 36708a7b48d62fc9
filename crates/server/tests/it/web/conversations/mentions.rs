//! Somebody is named in a note.

use jobs::OutgoingMail;
use serde_json::json;

use crate::support::*;

on_both!(
    who_is_named_in_a_note_is_told_in_the_app_and_by_mail,
    an_agents_note_names_people_and_one_can_do_without_the_mail,
    a_private_note_names_nobody_who_cannot_see_it,
    many_mentions_go_on_behind_older
);

fn mails_to(app: &TestApp, address: &str) -> Vec<OutgoingMail> {
    let attempts = app.outside.relay.attempts();
    attempts.into_iter().filter(|parcel| parcel.recipients == [address]).collect()
}

async fn who_is_named_in_a_note_is_told_in_the_app_and_by_mail(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let bo = app.person("Bo").await;
    let (one, two) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    two.get("/mentions").await.is(200).shows("Nobody has called you");
    one.post(
        &format!("{path}/note"),
        &[("body", "Can you look, @bo? Also @Olive and bo@shop.example")],
    )
    .await
    .goes_to(&path);
    app.work().await;
    let page = two.get("/mentions").await.is(200);
    page.shows("Can you look, @bo?").shows("Lamps").shows("Olive Owner").shows("New</span>");
    page.shows("<span class=\"label\">Mentions</span><span class=\"count hot\">1</span>");
    one.get("/mentions").await.shows("Nobody has called you");
    let mail = mails_to(&app, "bo@acme.example");
    assert_eq!(mail.len(), 1);
    let text = String::from_utf8_lossy(&mail[0].bytes).replace("=\r\n", "");
    assert!(
        text.contains("Olive Owner mentioned you")
            && text.contains(&received.conversation.to_string()),
        "{text}"
    );
    assert!(!text.contains("Can you look"), "{text}");

    two.get(&path).await.is(200);
    eventually(async || !two.get("/mentions").await.text.contains("New</span>")).await;
    two.get("/mentions").await.shows("Can you look").hides("count hot");
}

async fn an_agents_note_names_people_and_one_can_do_without_the_mail(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let (bo, key) = (app.person("Bo").await, app.key("read write").await);
    let browser = app.signed_in(&bo).await;
    let here = "/settings/notifications";
    browser.post(here, &[("mail-mentioned", "no")]).await.goes_to(here);
    app.on(&key, &received.conversation, "notes", json!({ "body": "@Bo please" })).await.is(201);
    app.on(&key, &received.conversation, "notes", json!({ "body": "@Bo again" })).await.is(201);
    app.work().await;
    assert!(mails_to(&app, "bo@acme.example").is_empty());
    browser.get("/mentions").await.shows("@Bo please").shows("count hot\">2<");
    browser.post("/mentions/read", &[]).await.goes_to("/mentions");
    browser.get("/mentions").await.shows("@Bo please").hides("count hot").hides("Mark all");
    browser.post(here, &[("mail-mentioned", "at-once")]).await.goes_to(here);
    for n in 0..25 {
        app.on(&key, &received.conversation, "notes", json!({ "body": format!("@Bo {n}") }))
            .await
            .is(201);
    }
    app.work().await;
    assert_eq!(mails_to(&app, "bo@acme.example").len(), 1, "one mail for one conversation");
}

async fn a_private_note_names_nobody_who_cannot_see_it(app: TestApp) {
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let inbox = app.private_inbox(&ann).await;
    let received = app.deliver(&inbox, letter("zed@shop.example", "Secrets", "Hello")).await;
    let path = format!("/conversations/{}", received.conversation);
    app.signed_in(&ann)
        .await
        .post(&format!("{path}/note"), &[("body", "@Bo @Ann")])
        .await
        .goes_to(&path);
    app.work().await;
    app.signed_in(&bo).await.get("/mentions").await.is(200).shows("Nobody has called you");
    assert!(mails_to(&app, "bo@acme.example").is_empty());
}

async fn many_mentions_go_on_behind_older(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let (bo, key) = (app.person("Bo").await, app.key("read write").await);
    for n in 0..51 {
        app.on(
            &key,
            &received.conversation,
            "notes",
            json!({ "body": format!("@Bo note {n:02}") }),
        )
        .await
        .is(201);
    }
    let browser = app.signed_in(&bo).await;
    let page = browser.get("/mentions").await.is(200);
    page.shows("note 50").hides("note 00");
    let older = page.between("<p class=\"more\"><a class=\"btn\" href=\"", "\"").to_owned();
    browser.get(&older).await.is(200).shows("note 00").hides("note 01");
}
