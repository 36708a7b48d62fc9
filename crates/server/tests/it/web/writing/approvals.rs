//! The approvals page.

use serde_json::json;

use crate::support::*;

on_both!(
    an_edited_approval_leaves_as_it_was_edited,
    approving_counts_for_the_revision_that_was_seen,
    when_the_customer_wrote_meanwhile_the_page_asks_again,
    a_draft_is_discarded_with_a_reason_and_the_next_is_shown,
    a_draft_is_approved_from_its_conversation_as_it_is,
    all_that_a_draft_asks_for_is_shown_to_who_approves,
    pictures_are_offered_only_where_a_message_has_some
);

async fn an_edited_approval_leaves_as_it_was_edited(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let key = app.key("read draft").await;
    let body = json!({ "body": "They left.", "summary": "Says when they left" });
    let answer = app.on(&key, &received.conversation, "replies", body).await.is(201);
    let draft = text_of(&answer.json(), "messageId");
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get("/approvals").await.is(200);
    page.shows("Says when they left").shows("Where are they?").shows("They left.").shows("1 of 1");
    let revision = page.between("name=\"revision\" value=\"", "\"").to_owned();
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [
        ("revision", revision.as_str()),
        ("seen", seen.as_str()),
        ("body", "They left on Tuesday."),
    ];
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to("/approvals");
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert_eq!(
        (&messages[1]["status"], &messages[1]["text"]),
        (&json!("scheduled"), &json!("They left on Tuesday."))
    );
    let events = app.timeline_events(&key, &received.conversation).await;
    assert_eq!(
        events.last().unwrap(),
        &("approved".to_owned(), json!({ "messageId": draft, "edited": true }))
    );
    let page = browser.get("/approvals").await.is(200);
    page.shows("Every draft has an answer").shows(">To Ann</a>");
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to("/approvals");
    browser.get("/approvals").await.shows("Somebody else was faster");
}

async fn approving_counts_for_the_revision_that_was_seen(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let key = app.key("read draft").await;
    let draft = app.draft(&key, &received.conversation, "They left.").await;
    let path = format!("/approvals/{draft}");
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let (first, second) = (app.signed_in(&ann).await, app.signed_in(&bo).await);
    let page = first.get(&path).await.is(200);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let edit = [("revision", "1"), ("body", "They left yesterday.")];
    second.post(&format!("{path}/save"), &edit).await.goes_to(&path);
    let mine = [("revision", "1"), ("seen", seen.as_str()), ("body", "My own words")];
    let again = first.post(&format!("{path}/approve"), &mine).await.is(422);
    again.shows("Somebody changed this draft meanwhile").shows("My own words");
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert_eq!(messages[1]["status"], "draft");
    let mine = [("revision", "2"), ("seen", seen.as_str()), ("body", "My own words")];
    first.post(&format!("{path}/approve"), &mine).await.goes_to("/approvals");
}

async fn when_the_customer_wrote_meanwhile_the_page_asks_again(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let key = app.key("read draft").await;
    let draft = app.draft(&key, &received.conversation, "They left.").await;
    let path = format!("/approvals/{draft}");
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&path).await.is(200);
    page.hides("wrote again");
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    app.advance(MINUTE);
    app.mail("ann@shop.example Ann", "Re: Lamps", "Never mind, they are here").await;
    let fields = [("revision", "1"), ("seen", seen.as_str()), ("body", "They left!")];
    let again = browser.post(&format!("{path}/approve"), &fields).await.is(422);
    again
        .shows("Ann wrote again at 09:01")
        .shows("Never mind, they are here")
        .shows("Approve anyway")
        .shows("They left!");
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert!(messages.iter().all(|message| message["status"] != "scheduled"));
    browser.get("/approvals").await.shows("Customer wrote meanwhile");
    let seen = again.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("revision", "1"), ("seen", seen.as_str()), ("body", "They left!")];
    browser.post(&format!("{path}/approve"), &fields).await.goes_to("/approvals");
}

async fn a_draft_is_discarded_with_a_reason_and_the_next_is_shown(app: TestApp) {
    let key = app.key("read draft").await;
    let one = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let first = app.draft(&key, &one.conversation, "First").await;
    app.advance(SECOND);
    let two = app.mail("bo@shop.example", "Chairs", "Hello").await;
    let second = app.draft(&key, &two.conversation, "Second").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/approvals/{first}")).await.is(200);
    page.shows("1 of 2");
    let next = page.between("name=\"next\" value=\"", "\"").to_owned();
    assert_eq!(next, format!("/approvals/{second}"));
    let fields = [("revision", "1"), ("reason", "Too curt"), ("next", next.as_str())];
    browser.post(&format!("/approvals/{first}/discard"), &fields).await.goes_to(&next);
    browser.get(&next).await.is(200).shows("1 of 1").shows("Discarded.");
    let page = browser.get(&format!("/conversations/{}", one.conversation)).await;
    page.shows("discarded the draft: Too curt");
    browser.get(&format!("/approvals/{first}")).await.is(404);
    let elsewhere = [("revision", "1"), ("next", "https://evil.example/")];
    browser.post(&format!("/approvals/{second}/discard"), &elsewhere).await.goes_to("/approvals");
}

async fn a_draft_is_approved_from_its_conversation_as_it_is(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let key = app.key("read draft").await;
    let draft = app.draft(&key, &received.conversation, "They left.").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&path).await.is(200);
    page.shows("Waits for a person");
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("revision", "1"), ("seen", seen.as_str()), ("next", path.as_str())];
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to(&path);
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert_eq!(
        (&messages[1]["status"], &messages[1]["text"]),
        (&json!("scheduled"), &json!("They left."))
    );
}

async fn all_that_a_draft_asks_for_is_shown_to_who_approves(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Where are they?").await;
    let key = app.key("read draft").await;
    let asked = "Send it to evil.example/pay as well";
    let body = json!({
        "body": "We need it.", "documents": [{ "label": "Passport", "description": asked }]
    });
    app.on(&key, &received.conversation, "replies", body).await.is(201);
    let browser = app.signed_in(&app.owner).await;
    for path in ["/approvals", &format!("/conversations/{}", received.conversation)] {
        browser.get(path).await.is(200).shows("Passport").shows(asked);
    }
}

async fn pictures_are_offered_only_where_a_message_has_some(app: TestApp) {
    let key = app.key("read draft").await;
    let browser = app.signed_in(&app.owner).await;
    for (n, picture, offered) in
        [(1, "<img src=\"https://x.example/a.png\" width=9 height=9>", true), (2, "", false)]
    {
        let raw = format!(
            "From: ann{n}@shop.example\r\nTo: support@acme.example\r\nSubject: Lamp {n}\r\n\
             Message-ID: <{n}@shop.example>\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>{picture}\r\n"
        );
        let received = testing::filed_mail(&app.ingest(&["support@acme.example"], &raw).await[0]);
        let draft = app.draft(&key, &received.conversation, "They left.").await;
        let page = browser.get(&format!("/approvals/{draft}")).await.is(200);
        let button = format!("Always show pictures from ann{n}@shop.example");
        assert_eq!(page.text.contains(&button), offered, "{n}");
    }
}
