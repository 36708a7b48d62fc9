//! The sorting helper on pages: its settings, and topic and urgency of a conversation.

use base::actor::Role;
use serde_json::json;

use crate::support::{TestApp, letter, on_both};

on_both!(
    topics_are_added_changed_and_removed_in_the_settings,
    what_is_wrong_with_a_topic_is_said_beside_it,
    topics_are_made_of_tags,
    what_was_learned_is_shown_and_forgotten,
    members_see_the_helpers_and_change_nothing,
    a_suggestion_is_confirmed_corrected_or_refused,
    a_topic_that_was_given_shows_its_reasons_until_somebody_decides,
    urgency_is_shown_with_its_reasons_and_corrected,
    a_list_is_narrowed_by_topic_and_urgency
);

const PAGE: &str = "/settings/helpers";

/// What was said of mails.
const DECIDED: [(&str, Option<&str>); 15] = [
    ("I want my money back for the lamp", Some("Refunds")),
    ("Please refund the broken chair", Some("Refunds")),
    ("When is the refund paid?", Some("Refunds")),
    ("The money for my return has not come", Some("Refunds")),
    ("Could you refund order number seven?", Some("Refunds")),
    ("Where is my parcel?", Some("Delivery")),
    ("The parcel has not arrived yet", Some("Delivery")),
    ("When will the chair be delivered?", Some("Delivery")),
    ("The courier did not come today", Some("Delivery")),
    ("Delivery to another address, please", Some("Delivery")),
    ("Happy new year to all of you", None),
    ("We would like to present our software", None),
    ("I am away until Monday", None),
    ("Do you know a good dentist in town?", None),
    ("My application as a gardener", None),
];

async fn topics_are_added_changed_and_removed_in_the_settings(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("No topics yet");
    let new = [("name", "Refunds"), ("words", "money back")];
    owner.post("/settings/helpers/topics", &new).await.goes_to(PAGE);
    let page = owner.get(PAGE).await.is(200);
    page.shows("Saved. New conversations are sorted by it.").shows("Refunds").shows("1 topic");
    let key = app.key("read").await;
    let id = app.get(&key, "/topics").await.json()[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/settings/helpers/topics/{id}");
    owner.get(&path).await.is(200).shows("Change the topic").shows("value=\"money back\"");
    owner.post(&path, &[("name", "Returns"), ("words", "")]).await.goes_to(PAGE);
    assert_eq!(app.get(&key, "/topics").await.json()[0]["name"], "Returns");
    owner.post(&format!("{path}/remove"), &[]).await.goes_to(PAGE);
    assert_eq!(app.get(&key, "/topics").await.json(), json!([]));
    owner.get(&path).await.is(404);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("added the topic").shows("changed the topic").shows("removed the topic");
}

async fn what_is_wrong_with_a_topic_is_said_beside_it(app: TestApp) {
    app.topic("Refunds", "").await;
    let owner = app.signed_in(&app.owner).await;
    let twin = [("name", "refunds"), ("words", "typed words")];
    let page = owner.post("/settings/helpers/topics", &twin).await.is(422);
    page.shows("There is a topic “Refunds” already.").shows("typed words");
    let nothing = owner.post("/settings/helpers/tags", &[]).await.is(422);
    nothing.shows("Choose 1 to 20 tags.");
}

async fn topics_are_made_of_tags(app: TestApp) {
    let key = app.key("read write").await;
    let mail = app.mail("a@x.example", "Lamp", "The parcel is late").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Shipping"] })).await.is(200);
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("Make topics of tags");
    let tag = app.get(&key, "/tags").await.json()[0]["id"].as_str().unwrap().to_owned();
    owner.post("/settings/helpers/tags", &[("tags", &tag)]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("Shipping").hides("Make topics of tags");
    assert_eq!(app.read(&key, &mail.conversation).await["topic"], "Shipping");
}

async fn what_was_learned_is_shown_and_forgotten(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    let mail = app.mail("a@x.example", "Lamp", "My money back").await;
    app.on(&key, &mail.conversation, "sorting", json!({ "topic": "Refunds" })).await.is(200);
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("1 decisions about topics").shows("until 30 conversations");
    owner.post("/settings/helpers/forget", &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("Forgotten.").shows("0 decisions about topics");
}

async fn members_see_the_helpers_and_change_nothing(app: TestApp) {
    let topic = app.topic("Refunds", "").await;
    let member = app.person_with("Ann", Role::Member).await;
    let member = app.signed_in(&member).await;
    let page = member.get(PAGE).await.is(200);
    page.shows("Refunds").hides("New topic").hides("Forget it all");
    let path = format!("/settings/helpers/topics/{topic}");
    member.get(&path).await.is(404);
    for (path, fields) in [
        ("/settings/helpers/topics", vec![("name", "More"), ("words", "")]),
        (path.as_str(), vec![("name", "Other"), ("words", "")]),
        ("/settings/helpers/forget", vec![]),
    ] {
        member.post(path, &fields).await.is(403);
    }
    member.post(&format!("{path}/remove"), &[]).await.is(403);
}

async fn a_suggestion_is_confirmed_corrected_or_refused(app: TestApp) {
    let key = app.key("read").await;
    app.topic("Refunds", "money back, refund").await;
    app.topic("Delivery", "parcel").await;
    let owner = app.signed_in(&app.owner).await;
    for (at, text, answer, topic) in [
        (0, "I want my money back", ("topic", "Refunds"), json!("Refunds")),
        (1, "Please refund the chair", ("topic", "Delivery"), json!("Delivery")),
        (2, "My money back, now", ("none", "on"), json!(null)),
    ] {
        let from = format!("c{at}@x.example");
        let mail = app.mail(&from, "Lamp", text).await;
        app.work().await;
        let path = format!("/conversations/{}?view=open", mail.conversation);
        let page = owner.get(&path).await.is(200);
        page.shows("Looks like Refunds.").shows("Because of “").shows("Yes, Refunds");
        page.shows("Other topic").shows("None of these");
        let sorting = format!("/conversations/{}/sorting", mail.conversation);
        owner.post(&sorting, &[answer, ("from", "view=open")]).await.goes_to(&path);
        let page = owner.get(&path).await.is(200);
        page.hides("Looks like");
        assert_eq!(app.read(&key, &mail.conversation).await["topic"], topic);
    }
}

async fn a_topic_that_was_given_shows_its_reasons_until_somebody_decides(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("Refunds", "").await;
    app.topic("Delivery", "").await;
    for (at, (sentence, topic)) in DECIDED.iter().cycle().take(4 * DECIDED.len()).enumerate() {
        let text = format!("Hello {at}, {sentence} Thanks, Ann{at}");
        let mail = app.mail(&format!("c{at}@x.example"), "Hello", &text).await;
        let body = json!({ "topic": topic });
        app.on(&key, &mail.conversation, "sorting", body).await.is(200);
        app.advance(1);
    }
    let text = "Hello, please refund the money for the broken lamp";
    let mail = app.mail("z@x.example", "Hello", text).await;
    app.work().await;
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", mail.conversation);
    let page = owner.get(&path).await.is(200);
    page.shows("Sorted as Refunds.").shows("sorted this: Refunds, normal urgency");
    owner.post(&format!("{path}/sorting"), &[("topic", "Refunds")]).await.is(303);
    owner.get(&path).await.is(200).hides("Sorted as Refunds.");
    owner.get("/settings/helpers").await.is(200).shows("1 given, 0 corrected").shows("nine times");
}

async fn urgency_is_shown_with_its_reasons_and_corrected(app: TestApp) {
    let mail = app.mail("a@x.example", "Kitchen", "There is a smell of gas here.").await;
    app.work().await;
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", mail.conversation);
    let page = owner.get(&path).await.is(200);
    page.shows("High urgency").shows("Somebody may be in danger: “smell of gas”.");
    owner.post(&format!("{path}/sorting"), &[("urgency", "normal")]).await.is(303);
    owner.get(&path).await.is(200).shows("Normal urgency").hides("Somebody may be in danger");
    owner.post(&format!("{path}/sorting"), &[("urgency", "now")]).await.is(400);
}

async fn a_list_is_narrowed_by_topic_and_urgency(app: TestApp) {
    let key = app.key("read write").await;
    app.topic("R&D", "").await;
    for (subject, sorting) in [
        ("First lamp", json!({ "topic": "R&D", "urgency": "high" })),
        ("Second lamp", json!({ "topic": null, "urgency": "high" })),
        ("Third lamp", json!({ "topic": "R&D", "urgency": "low" })),
    ] {
        let from = format!("{}@x.example", &subject[..3]);
        let mail = app.deliver(&app.support, letter(&from, subject, "text")).await;
        app.on(&key, &mail.conversation, "sorting", sorting).await.is(200);
    }
    let owner = app.signed_in(&app.owner).await;
    owner.get("/inbox?view=open").await.is(200).shows("/inbox?view=open&#38;topic=R%26D");
    let page = owner.get("/inbox?view=open&topic=R%26D").await.is(200);
    page.shows("First lamp").hides("Second lamp").shows("Third lamp").shows("Show all");
    let page = owner.get("/inbox?view=open&topic=R%26D&urgency=high").await.is(200);
    page.shows("First lamp").hides("Second lamp").hides("Third lamp");
    let page = owner.get("/inbox?view=open&topic=Nothing").await.is(200);
    page.shows("Nothing of this kind");
    owner.get("/inbox?view=open&urgency=very").await.is(404);
}
