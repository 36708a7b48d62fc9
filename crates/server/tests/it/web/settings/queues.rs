//! The page of the queues, and held and failed messages where they are shown, without a script.

use base::actor::Role;
use jobs::{RelayOutcome, RelayReason};

use crate::support::*;

on_both!(
    an_owner_holds_releases_and_discards_a_message,
    a_failed_message_says_why_in_the_conversation_and_is_tried_again,
    an_event_that_is_held_is_shown_as_held,
    what_is_in_a_private_inbox_is_counted_alone,
    members_do_not_see_the_queues,
    a_form_with_nonsense_changes_nothing
);

const PLACE: &str = "/settings/queues";

async fn scheduled(app: &TestApp) -> (String, String) {
    let key = app.key("send").await;
    let mail = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let message = app.schedule(&key, &mail.conversation, "They come by sea.").await;
    (format!("/conversations/{}", mail.conversation), message)
}

async fn act(browser: &crate::web::browser::Browser<'_>, id: &str, act: &str) {
    let fields = [("id", id), ("act", act), ("back", PLACE)];
    browser.post(PLACE, &fields).await.goes_to(PLACE);
}

async fn an_owner_holds_releases_and_discards_a_message(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.get(PLACE).await.is(200).shows("Nothing waits, and nothing failed");
    let (path, message) = scheduled(&app).await;
    let page = browser.get(PLACE).await.is(200);
    page.shows("Re: Lamps").shows("ann@shop.example").shows("It waits for its time.");
    page.shows("value=\"hold\"").hides("value=\"release\"").hides("value=\"retry\"");
    act(&browser, &message, "hold").await;
    let page = browser.get(PLACE).await.is(200);
    page.shows("Held. It stays until somebody releases it.").shows("Held by Olive Owner");
    page.shows("value=\"release\"").hides("value=\"hold\"");
    let held = "Olive Owner holds it in the queue";
    browser.get("/leaving").await.is(200).shows(held).hides("Time left to stop");
    browser.get(&path).await.is(200).shows(held).shows("held the message in the queue");
    browser.get("/inbox?view=waiting").await.is(200).shows("Message held");
    act(&browser, &message, "release").await;
    browser.get(&path).await.is(200).hides(held).shows("released the message");
    act(&browser, &message, "discard").await;
    let page = browser.get(PLACE).await.is(200);
    page.shows("Discarded. It stands with the failed ones").shows("discarded it before it left");
    browser.get(&path).await.is(200).shows("Not delivered").shows("discarded it before it left");
    browser.get("/settings/audit").await.is(200).shows("discarded from the queue").shows(&message);
}

async fn a_failed_message_says_why_in_the_conversation_and_is_tried_again(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (path, message) = scheduled(&app).await;
    let reason = RelayReason::new("5.1.1", "x").with_reply("5.1.1 <b>No</b> such user");
    app.outside.relay.will_say(&[RelayOutcome::Never(reason)]);
    app.pass(UNDO).await;
    let said = "There is no such address. The server said: “5.1.1 &#60;b&#62;No";
    browser.get(&path).await.is(200).shows(said);
    browser.get(&format!("{PLACE}?state=failed")).await.is(200).shows(said);
    browser
        .get(&format!("{PLACE}?kind=jobs"))
        .await
        .is(200)
        .shows("Nothing in the queues is like that");
    act(&browser, &message, "retry").await;
    app.work().await;
    browser.get(&path).await.is(200).hides("Not delivered");
    browser.get(PLACE).await.is(200).shows("Nothing waits, and nothing failed");
}

async fn an_event_that_is_held_is_shown_as_held(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let hook = app.hook("one").await;
    app.something_happens("ann").await;
    let page = browser.get(PLACE).await.is(200);
    page.shows("turn.changed").shows(&hook.url);
    let id = page.between("name=\"id\" value=\"", "\"").to_owned();
    act(&browser, &id, "hold").await;
    app.pass(DAY).await;
    assert!(app.calls_to(&hook).is_empty());
    browser.get(&format!("/settings/webhooks/{}", hook.id)).await.is(200).shows("Held</span>");
    act(&browser, &id, "release").await;
    app.work().await;
    assert_eq!(app.calls_to(&hook).len(), 1);
}

async fn what_is_in_a_private_inbox_is_counted_alone(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let key = app.key_of(&ann, "Private", "send", true).await;
    let mail = app.deliver(&inbox, letter("mara@customer.example", "Secret", "Hello")).await;
    let message = app.schedule(&key, &mail.conversation, "Yes").await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(PLACE).await.is(200);
    page.shows("1 more are in inboxes that you do not see.");
    for word in ["Secret", "mara@customer.example", message.as_str()] {
        page.hides(word);
    }
    act(&browser, &message, "discard").await;
    browser.get(PLACE).await.is(200).shows("Nothing was changed");
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn members_do_not_see_the_queues(app: TestApp) {
    let ann = app.person("Ann").await;
    let browser = app.signed_in(&ann).await;
    let (_, message) = scheduled(&app).await;
    browser.get(PLACE).await.is(403);
    browser
        .post(PLACE, &[("id", message.as_str()), ("act", "hold"), ("back", PLACE)])
        .await
        .is(403);
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn a_form_with_nonsense_changes_nothing(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (_, message) = scheduled(&app).await;
    browser.post(PLACE, &[("id", message.as_str()), ("act", "fly"), ("back", PLACE)]).await.is(404);
    for id in ["", "msg_1", "whk_1/evt_1", "job_x", "whk_1", "../x"] {
        act(&browser, id, "discard").await;
    }
    let elsewhere = [("id", "msg_1"), ("act", "hold"), ("back", "https://evil.example/")];
    browser.post(PLACE, &elsewhere).await.goes_to(PLACE);
    browser.get(&format!("{PLACE}?after=nonsense")).await.is(400);
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}
