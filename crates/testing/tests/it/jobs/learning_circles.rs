//! Inboxes for some: what their helpers learn stays among those who see them, also when an inbox is
//! closed to others or opened to everybody.

use actions::conversations::topics;
use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::inboxes::{drafting, setup};
use base::actor::Actor;
use mail::Mail;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::mailboxes::{self, DraftingMode, Mailbox};
use serde_json::{Value, json};
use testing::{
    FEE_ANSWER, FEE_QUESTION, FEE_QUESTION_AGAIN, FEE_REPLY, TestApp, TestKey, held_warning,
    letter, on_both, user,
};

on_both!(
    an_inbox_for_some_neither_teaches_the_team_nor_learns_from_it,
    what_was_learned_goes_with_an_inbox_that_closes_and_opens,
    what_was_learned_about_spam_and_replies_goes_with_an_inbox,
    a_reply_of_an_inbox_that_closed_makes_no_draft_elsewhere
);

const ZEPPELIN: &str = "my zeppelin lost its mooring line";
const BEGONIA: &str = "my begonia lost its leaves";

/// The owner, as they are at their next request.
async fn owner(app: &TestApp) -> Actor {
    let (ws, id) = (app.owner.ws, user(&app.owner));
    let people = app.act(&app.owner, setup::list_people).await;
    let email = people.into_iter().find(|one| one.id == id).unwrap().email.to_string();
    app.app.store.read(move |tx| base::actor::person(tx, ws, &email)).await.unwrap()
}

async fn give(app: &TestApp, inbox: &Mailbox, access: InboxAccess) -> Mailbox {
    let id = inbox.id.clone();
    app.act(&owner(app).await, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access))
        .await;
    let (id, owner) = (inbox.id.clone(), owner(app).await);
    let seen = app.act(&owner, move |tx, cx| mailboxes::seen_by(tx, cx.actor, &id)).await;
    seen.unwrap()
}

/// Lets the owner and one agent see an inbox, and nobody else.
async fn close(app: &TestApp, inbox: &Mailbox, key: &TestKey) -> Mailbox {
    let sees = |holder| AccessEntry { holder, may_see: true, may_send: false };
    let entries = vec![
        sees(AccessHolder::Person(user(&app.owner))),
        sees(AccessHolder::Agent(key.id.clone())),
    ];
    give(app, inbox, InboxAccess { everybody: false, all_send: true, entries }).await
}

async fn open(app: &TestApp, inbox: &Mailbox) -> Mailbox {
    give(app, inbox, InboxAccess { everybody: true, all_send: true, entries: Vec::new() }).await
}

async fn teach(app: &TestApp, inbox: &Mailbox, key: &TestKey, text: &str, topic: &str) {
    for at in 0..20 {
        let from = format!("{topic}{at}@x.example");
        let mail = app.deliver(inbox, letter(&from, "", &format!("Number {at}: {text}"))).await;
        app.on(key, &mail.conversation, "sorting", json!({ "topic": topic })).await.is(200);
        app.advance(1);
    }
}

/// What the helper makes of a new mail: the topic, given or suggested, and its reasons in one line.
async fn sorted(app: &TestApp, inbox: &Mailbox, key: &TestKey, text: &str) -> (Value, String) {
    app.advance(1);
    let from = format!("new{}@x.example", app.now());
    let mail = app.deliver(inbox, letter(&from, "", text)).await;
    app.work().await;
    let read = app.read(key, &mail.conversation).await;
    let field = if read["topic"].is_null() { "suggestedTopic" } else { "topic" };
    (read[field].clone(), read["topicReasons"].to_string())
}

async fn an_inbox_for_some_neither_teaches_the_team_nor_learns_from_it(app: TestApp) {
    let (team, theirs) = (app.key("read write").await, app.key("read write").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let billing = close(&app, &billing, &theirs).await;
    let airships = app.topic("Airships", "").await;
    app.topic("Gardens", "").await;
    teach(&app, &billing, &theirs, ZEPPELIN, "Airships").await;
    teach(&app, &app.support, &team, BEGONIA, "Gardens").await;
    let both = "The zeppelin and the begonia";
    let (topic, reasons) = sorted(&app, &app.support, &team, both).await;
    assert_eq!(topic, "Gardens");
    assert!(reasons.contains("begonia") && !reasons.contains("zeppelin"), "{reasons}");
    let (topic, reasons) = sorted(&app, &billing, &theirs, both).await;
    assert_eq!(topic, "Airships");
    assert!(reasons.contains("zeppelin") && !reasons.contains("begonia"), "{reasons}");
    let given = format!("{}, '{}', 'topic-given:{airships}', 0, 5", app.owner.ws, billing.id);
    app.exec(&format!("INSERT INTO counters (ws, circle, what, shard, n) VALUES ({given})")).await;
    let report = app.act(&owner(&app).await, topics::sorting_report).await;
    assert_eq!((report.decided, report.given), (20, 0), "the team's alone");
}

async fn what_was_learned_goes_with_an_inbox_that_closes_and_opens(app: TestApp) {
    let (team, theirs) = (app.key("read write").await, app.key("read write").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    app.topic("Airships", "").await;
    app.topic("Gardens", "").await;
    teach(&app, &billing, &team, ZEPPELIN, "Airships").await;
    teach(&app, &app.support, &team, BEGONIA, "Gardens").await;
    let airship = "The zeppelin is at the mooring";
    let (topic, _) = sorted(&app, &app.support, &team, airship).await;
    assert_eq!(topic, "Airships", "what everybody sees teaches everybody");

    let billing = close(&app, &billing, &theirs).await;
    let (topic, reasons) = sorted(&app, &app.support, &team, airship).await;
    assert_eq!((topic, reasons.as_str()), (Value::Null, "[]"), "it went with the inbox");
    let (topic, reasons) = sorted(&app, &billing, &theirs, airship).await;
    assert_eq!(topic, "Airships");
    assert!(reasons.contains("zeppelin"), "{reasons}");
    let (topic, _) = sorted(&app, &billing, &theirs, "The begonia").await;
    assert_eq!(topic, Value::Null, "the team's stays with the team");

    open(&app, &billing).await;
    let (topic, _) = sorted(&app, &app.support, &team, airship).await;
    assert_eq!(topic, "Airships", "and it comes back");
    assert_eq!(app.count("sorter_examples WHERE circle <> 'team'").await, 0);
}

async fn what_was_learned_about_spam_and_replies_goes_with_an_inbox(app: TestApp) {
    let (team, theirs) = (app.key("read write send").await, app.key("read write").await);
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let spam = Mail { warning: held_warning(), ..letter("a@b.example", "News", "Cheap watches") };
    let spam = app.deliver(&billing, spam).await;
    let closed = json!({ "status": "closed" });
    app.on(&team, &spam.conversation, "status", closed).await.is(200);
    let mail = app.mail_to(&billing, "ann@x.example Ann", FEE_QUESTION).await;
    app.on(&team, &mail.conversation, "sorting", json!({ "urgency": "high" })).await.is(200);
    app.send_reply(&team, &mail.conversation, FEE_REPLY).await;
    app.work().await;
    let learned = async |circle: &str| {
        let spam = format!("sorter_examples WHERE kind = 'spam' AND circle = '{circle}'");
        let urgent = format!("sorter_examples WHERE kind = 'urgency' AND circle = '{circle}'");
        let replied = format!("answered_mail WHERE circle = '{circle}'");
        (app.count(&spam).await, app.count(&urgent).await, app.count(&replied).await)
    };
    let own = billing.id.to_string();
    assert_eq!((learned("team").await, learned(&own).await), ((1, 1, 1), (0, 0, 0)));
    let billing = close(&app, &billing, &theirs).await;
    assert_eq!((learned("team").await, learned(&own).await), ((0, 0, 0), (1, 1, 1)));
    open(&app, &billing).await;
    assert_eq!((learned("team").await, learned(&own).await), ((1, 1, 1), (0, 0, 0)));
}

async fn a_reply_of_an_inbox_that_closed_makes_no_draft_elsewhere(app: TestApp) {
    let team = app.key("read draft send").await;
    let theirs = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    let mail = app.mail_to(&billing, "ann@x.example Ann", FEE_QUESTION).await;
    app.send_reply(&team, &mail.conversation, FEE_REPLY).await;
    app.work().await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let before = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&team, &before).await.len(), 1, "everybody sees the inbox");

    let billing = close(&app, &billing, &theirs).await;
    let after = app.mail_to(&app.support, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&team, &after).await.is_empty());
    let (id, both) = (after.conversation.to_string(), owner(&app).await);
    let found = app.app.read(&both, move |tx, cx| {
        drafting::helper_findings(tx, cx, &id).map(|found| found.answered_before.len())
    });
    assert_eq!(found.await.unwrap(), 0, "not even for somebody who sees both");
    app.set_drafting(&owner(&app).await, &billing, DraftingMode::Answers).await;
    let own = app.mail_to(&billing, "di@y.example Di", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&theirs, &own).await.len(), 1);
}
