//! The page on which a customer says how a closed conversation was.

use actions::inboxes::satisfaction;
use model::guests::satisfaction::SatisfactionMode;
use serde_json::json;

use crate::support::*;

on_both!(
    opening_a_link_records_nothing_and_the_form_does,
    an_answer_is_told_counted_and_can_be_changed_for_some_days,
    only_the_choices_of_the_mail_and_short_comments_are_taken,
    who_asks_not_to_be_asked_is_never_asked_again,
    a_link_that_is_unknown_leads_nowhere,
    an_admin_switches_the_questions_of_an_inbox,
    who_was_not_content_need_not_write_again,
    reports_have_topics_and_who_answered_but_no_person
);

/// A question that was asked: its conversation and the path of its page.
async fn a_question(app: &TestApp, key: &TestKey, from: &str, subject: &str) -> (String, String) {
    let id = app.support.id.clone();
    let mode = SatisfactionMode::Five;
    app.act(&app.owner, move |tx, cx| satisfaction::set_satisfaction(tx, cx, &id, mode)).await;
    let mail = app.mail(from, subject, "Where are they?").await;
    app.send_reply(key, &mail.conversation, "On their way").await;
    app.on(key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(5 * HOUR).await;
    let id = mail.conversation.to_string();
    let path = question(app, key, &id).await;
    (id, path)
}

/// The path of the page of the newest question about a conversation; empty where nobody was asked.
async fn question(app: &TestApp, key: &TestKey, id: &str) -> String {
    let messages = app.timeline(key, &id, "message").await;
    let mut texts = messages.iter().map(|message| text_of(message, "text"));
    let link = format!("{PUBLIC_URL}/r/");
    let newest = texts.rfind(|text| text.contains(&link)).unwrap_or_default();
    let token = newest.split_once(&link).map_or("", |(_, rest)| rest.split('?').next().unwrap());
    if token.is_empty() { String::new() } else { format!("/r/{token}") }
}

/// True when the page has chosen a score.
fn chooses(page: &str, score: i64) -> bool {
    let (_, rest) = page.split_once(&format!("value=\"{score}\"")).unwrap();
    rest.split('>').next().unwrap().contains("checked")
}

async fn opening_a_link_records_nothing_and_the_form_does(app: TestApp) {
    let key = app.key("read write send").await;
    let (id, path) = a_question(&app, &key, "ann@x.example", "Lamps").await;
    let browser = app.browser();
    for score in [1, 4] {
        let page = browser.get(&format!("{path}?score={score}")).await.is(200);
        assert!(chooses(&page.text, score) && !chooses(&page.text, 3));
    }
    browser.get(&format!("{path}?score=99")).await.is(200);
    assert_eq!(app.count("ratings WHERE score IS NOT NULL").await, 0);
    let fields = [("score", "4"), ("comment", " Quick and kind \n")];
    browser.post(&path, &fields).await.goes_to(&path);
    let page = browser.get(&path).await.is(200);
    page.shows("Thank you").shows("Quick and kind");
    assert!(chooses(&page.text, 4));
    let kept = "ratings WHERE score = 4 AND comment = 'Quick and kind'";
    assert_eq!(app.count(kept).await, 1);
    let events = app.timeline_events(&key, &id).await;
    let rated = ("rated".to_owned(), json!({ "score": 4, "comment": "Quick and kind" }));
    assert!(events.contains(&rated), "{events:?}");
    assert_eq!(app.read(&key, &id).await["status"], "closed");
    let owner = app.signed_in(&app.owner).await;
    owner.get(&format!("/conversations/{id}")).await.is(200).shows("4 of 5");
}

async fn an_answer_is_told_counted_and_can_be_changed_for_some_days(app: TestApp) {
    let (key, admin) = (app.key("read write send").await, app.key("admin").await);
    let hook = json!({ "url": "https://shop.example/hook", "events": ["satisfaction.rated"] });
    app.post(&admin, "/webhooks", hook).await.is(201);
    let (id, path) = a_question(&app, &key, "ann@x.example", "Lamps").await;
    let browser = app.browser();
    browser.post(&path, &[("score", "2")]).await.goes_to(&path);
    browser.post(&path, &[("score", "2")]).await.goes_to(&path);
    app.pass(DAY).await;
    browser.post(&path, &[("score", "5"), ("comment", "Solved")]).await.goes_to(&path);
    app.pass(7 * DAY).await;
    browser.post(&path, &[("score", "1")]).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("Thank you").hides("type=\"radio\"");
    let events = app.events().await;
    let told = events.iter().filter(|event| event["type"] == "satisfaction.rated");
    let told: Vec<_> = told.map(|event| event["data"].clone()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((&told[0]["conversation_id"], &told[0]["score"]), (&json!(id), &json!(2)));
    assert_eq!(told[0].get("comment"), None);
    assert_eq!((&told[1]["score"], &told[1]["comment"]), (&json!(5), &json!("Solved")));
    let reports = app.get(&key, "/reports").await.is(200).json();
    let found = &reports["satisfaction"];
    assert_eq!((&found["count"], &found["average"]), (&json!(1), &json!(5.0)), "{found}");
    assert_eq!(found["byScore"][0], json!({ "score": 5, "count": 1 }));
    assert_eq!(found["byScore"][3], json!({ "score": 2, "count": 0 }));
    assert_eq!(found["inboxes"][0]["name"], app.support.name.as_str());
    let owner = app.signed_in(&app.owner).await;
    owner.get("/reports").await.is(200).shows("How customers found it").shows("5.00");
}

async fn only_the_choices_of_the_mail_and_short_comments_are_taken(app: TestApp) {
    let key = app.key("read write send").await;
    let (_, path) = a_question(&app, &key, "ann@x.example", "Lamps").await;
    let browser = app.browser();
    let long = "x".repeat(1_001);
    for fields in [
        vec![],
        vec![("score", "0")],
        vec![("score", "6")],
        vec![("score", "good")],
        vec![("score", "5"), ("comment", long.as_str())],
    ] {
        browser.post(&path, &fields).await.is(422).shows("How was it?");
    }
    assert_eq!(app.count("ratings WHERE score IS NOT NULL").await, 0);
    app.pass(31 * DAY).await;
    browser.post(&path, &[("score", "5")]).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("The time to answer is over");
    assert_eq!(app.count("ratings WHERE score IS NOT NULL").await, 0);
}

async fn who_asks_not_to_be_asked_is_never_asked_again(app: TestApp) {
    let key = app.key("read write send").await;
    let (_, path) = a_question(&app, &key, "ann@x.example", "Lamps").await;
    let browser = app.browser();
    let stop = format!("{path}/stop");
    browser.get(&path).await.is(200).shows("Do not ask me again");
    browser.get(&stop).await.is(200).shows("No more questions?");
    assert_eq!(app.count("rating_optouts").await, 0, "opening the link stops nothing");
    for _ in 0..2 {
        let fields = [("List-Unsubscribe", "One-Click")];
        browser.post_bare(&stop, &fields).await.goes_to(&stop);
    }
    browser.get(&stop).await.is(200).shows("You are not asked again");
    let (_, again) = a_question(&app, &key, "Ann@X.example", "Chairs").await;
    assert_eq!(again, "");
    // Somebody who was asked lately is not asked about something else.
    let (_, other) = a_question(&app, &key, "bo@x.example", "Tables").await;
    assert_ne!(other, "");
}

async fn a_link_that_is_unknown_leads_nowhere(app: TestApp) {
    let browser = app.browser();
    let unknown = format!("/r/{}", "a1".repeat(20));
    for path in [unknown.as_str(), "/r/x", &format!("{unknown}/stop")] {
        browser.get(path).await.is(404).shows("This link leads nowhere");
        browser.post(path, &[("score", "5")]).await.is(404);
    }
}

async fn an_admin_switches_the_questions_of_an_inbox(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/settings/satisfaction/{}", app.support.id);
    browser.get("/settings/satisfaction").await.is(200).shows(&app.support.name);
    browser.post(&path, &[("mode", "five")]).await.goes_to("/settings/satisfaction");
    assert_eq!(app.count("mailboxes WHERE satisfaction = 'five'").await, 1);
    browser.post(&path, &[("mode", "ten")]).await.is(400);
    let member = app.person("Bo").await;
    app.signed_in(&member).await.post(&path, &[("mode", "off")]).await.is(403);
}

async fn who_was_not_content_need_not_write_again(app: TestApp) {
    let key = app.key("read write send").await;
    let (id, path) = a_question(&app, &key, "ann@x.example", "Lamps").await;
    let browser = app.browser();
    browser.post(&path, &[("score", "4")]).await.goes_to(&path);
    assert_eq!(app.read(&key, &id).await["status"], "closed");
    let not_good = [("score", "2"), ("comment", "It buzzes")];
    browser.post(&path, &not_good).await.goes_to(&path);
    assert_eq!(app.read(&key, &id).await["status"], "open");
    app.on(&key, &id, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(2 * DAY).await;
    assert_eq!(app.count("ratings").await, 1, "it is asked about once");
    let (_, soon) = a_question(&app, &key, "ann@x.example", "Chairs").await;
    assert_eq!(soon, "", "once in thirty days");
    app.pass(29 * DAY).await;
    let (_, later) = a_question(&app, &key, "ann@x.example", "Beds").await;
    assert_ne!(later, "");
}

async fn reports_have_topics_and_who_answered_but_no_person(app: TestApp) {
    let key = app.key("read write send").await;
    let browser = app.browser();
    for number in 0..5 {
        let from = format!("c{number}@x.example");
        let (_, path) = a_question(&app, &key, &from, &format!("Lamp {number}")).await;
        browser.post(&path, &[("score", "5")]).await.goes_to(&path);
    }
    app.pass(DAY).await;
    let reports = app.get(&key, "/reports").await.is(200).json();
    let found = &reports["satisfaction"];
    assert_eq!((&found["asked"], &found["count"]), (&json!(5), &json!(5)), "{found}");
    let topics = &found["topics"];
    let none = json!({ "id": null, "kind": "topic", "name": "No topic", "count": 5, "good": 5, "average": 5.0 });
    assert_eq!(topics, &json!([none]));
    let answered = &found["answeredBy"][0];
    assert_eq!((&answered["kind"], &answered["count"]), (&json!("alone"), &json!(5)), "{found}");
}
