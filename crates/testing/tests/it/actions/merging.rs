//! Merging two conversations, undoing it, and splitting a message off.

use actions::conversations::triage::{self, TriageAct};
use actions::conversations::{merging, open_conversation, undo_triage};
use actions::writing::approvals;
use base::email_address::EmailAddress;
use base::ids::UndoId;
use inbound::incoming_mail::FiledMail;
use mail::{Mail, Warning};
use maintenance::forget_person::forget_person;
use maintenance::person_files::export_person;
use serde_json::{Value, json};
use testing::{
    DAY, HOUR, MINUTE, TestApp, TestKey, file, held_warning, letter, on_both, query, texts,
};

on_both!(
    a_merged_conversation_has_both_and_its_old_id_answers,
    a_merge_is_undone_at_once_or_later,
    mail_that_answers_a_merged_message_joins_the_target,
    only_what_is_seen_and_of_one_inbox_is_merged,
    what_was_merged_twice_comes_back_step_by_step,
    a_message_is_split_off_and_its_answers_follow,
    a_merged_conversation_is_erased_with_its_target,
    an_undo_of_somebody_else_does_not_touch_the_target,
    an_undone_merge_closes_its_target_again_unless_new_mail_came,
    a_snoozed_conversation_snoozes_the_closed_one_it_is_merged_into,
    a_person_is_forgotten_and_exported_without_the_mail_of_others,
    a_warning_is_not_lost_in_a_conversation_without_one,
    what_nobody_read_is_unread_in_the_target,
    a_draft_that_was_merged_in_is_older_than_mail_it_never_saw
);

const LAMP: &str = "The first lamp is broken";
const CARRIER: &str = "The carrier lost a zeppelin";
const MORE: &str = "And another thing";

struct Pair {
    source: FiledMail,
    target: FiledMail,
}

/// Two conversations of one customer.
async fn a_pair(app: &TestApp) -> Pair {
    let mut first = letter("ann@x.example Ann", "Lamp", LAMP);
    first.message_id = Some("first@x.example".into());
    let target = app.deliver(&app.support, first).await;
    app.advance(MINUTE);
    let mut second = letter("ann@x.example Ann", "Carrier", CARRIER);
    second.message_id = Some("second@x.example".into());
    second.attachments = vec![file("proof.txt", b"Total 12.00 EUR")];
    let source = app.deliver(&app.support, second).await;
    Pair { source, target }
}

async fn read(app: &TestApp, key: &TestKey, id: &impl ToString) -> Value {
    app.get(key, &format!("/conversations/{}", id.to_string())).await.is(200).json()
}

async fn merge(app: &TestApp, key: &TestKey, pair: &Pair) {
    let into = json!({ "into": pair.target.conversation.to_string() });
    app.on(key, &pair.source.conversation, "merge", into).await.is(200);
}

fn messages(read: &Value) -> Vec<&str> {
    let timeline = read["timeline"].as_array().unwrap();
    let mails = timeline.iter().filter(|entry| entry["type"] == "message");
    mails.map(|mail| mail["text"].as_str().unwrap()).collect()
}

async fn a_merged_conversation_has_both_and_its_old_id_answers(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (old, target) = (&pair.source.conversation, &pair.target.conversation);
    app.on(&key, old, "notes", json!({ "body": "A heron" })).await.is(201);
    app.on(&key, old, "tags", json!({ "add": ["Carriers"] })).await.is(200);
    app.on(&key, target, "status", json!({ "status": "waiting" })).await.is(200);
    merge(&app, &key, &pair).await;
    merge(&app, &key, &pair).await;
    let through = read(&app, &key, old).await;
    assert_eq!(through, read(&app, &key, target).await);
    assert_eq!(through["id"], target.to_string());
    assert_eq!(through["status"], "open");
    assert_eq!(through["tags"], json!(["Carriers"]));
    let events = app.timeline_events(&key, target).await;
    assert!(events.iter().any(|(event, data)| event == "merged"
        && data["conversationId"] == old.to_string()
        && data["subject"] == "Carrier"));
    let listed = app.list(&key, &query(&[("view", "all")])).await;
    assert_eq!(texts(&listed, "id"), [target.to_string()]);
    assert_eq!(listed[0]["messageCount"], 2);
    for words in ["zeppelin", "heron", "lamp"] {
        let found = app.list(&key, &query(&[("view", "all"), ("q", words)])).await;
        assert_eq!(texts(&found, "id"), [target.to_string()], "{words}");
    }
    app.on(&key, old, "notes", json!({ "body": "Through the old id" })).await.is(201);
    assert_eq!(app.timeline(&key, target, "note").await.len(), 2);
    let documents = app.get(&key, "/documents").await.is(200).json();
    assert_eq!(documents[0]["conversationId"], target.to_string());
}

async fn a_merge_is_undone_at_once_or_later(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (old, target) =
        (pair.source.conversation.to_string(), pair.target.conversation.to_string());
    app.on(&key, &old, "tags", json!({ "add": ["Carriers"] })).await.is(200);
    app.snooze(&app.owner, &old, app.now() + 2 * DAY).await;
    let (before, before_target) = (read(&app, &key, &old).await, read(&app, &key, &target).await);
    let undo = act(&app, TriageAct::Merge(target.clone()), &old).await;
    assert_eq!(messages(&read(&app, &key, &target).await).len(), 2);
    assert!(app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &undo)).await);
    for (id, before) in [(&old, &before), (&target, &before_target)] {
        let after = read(&app, &key, id).await;
        for field in ["id", "status", "tags", "assignee", "messageCount"] {
            assert_eq!(after[field], before[field], "{field} of {id}");
        }
        assert_eq!(messages(&after), messages(before));
        let events = app.timeline_events(&key, id).await;
        assert!(events.iter().any(|(event, _)| event == "merge-undone"), "{events:?}");
    }
    let found = app.list(&key, &query(&[("view", "all"), ("q", "zeppelin")])).await;
    assert_eq!(texts(&found, "id"), [old.as_str()]);
    // Later: what was written since stays.
    act(&app, TriageAct::Merge(target.clone()), &old).await;
    app.advance(DAY);
    app.on(&key, &target, "notes", json!({ "body": "Since" })).await.is(201);
    let wanted = old.clone();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &wanted)).await;
    assert_eq!(messages(&read(&app, &key, &old).await), [CARRIER]);
    assert_eq!(app.timeline(&key, &target, "note").await.len(), 1);
    let again = old.clone();
    app.expect_refusal(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &again)).await;
}

async fn act(app: &TestApp, act: TriageAct, id: &str) -> UndoId {
    let id = id.to_owned();
    app.act(&app.owner, move |tx, cx| {
        let undo = triage::begin_triage(tx, cx, &act)?;
        assert!(triage::triage_one(tx, cx, &undo, &act, &id)?);
        Ok(undo)
    })
    .await
}

fn naming(from: &str, subject: &str, message: &str) -> Mail {
    let mut mail = letter(from, subject, MORE);
    mail.answers = vec![message.into()];
    mail
}

async fn mail_that_answers_a_merged_message_joins_the_target(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    merge(&app, &key, &pair).await;
    app.advance(HOUR);
    let named = app.deliver(&app.support, naming("ann@x.example", "Odd", "second@x.example")).await;
    assert_eq!(named.conversation, pair.target.conversation);
    // The same sender and subject as the merged one.
    let again = app.deliver(&app.support, letter("ann@x.example", "Re: Carrier", "Well?")).await;
    assert_eq!(again.conversation, pair.target.conversation);
    let listed = app.list(&key, &query(&[("view", "all")])).await;
    assert_eq!(listed[0]["messageCount"], 4);
}

async fn only_what_is_seen_and_of_one_inbox_is_merged(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (source, target) = (&pair.source.conversation, pair.target.conversation.to_string());
    let into = |id: &str| json!({ "into": id });
    app.on(&key, source, "merge", into(&source.to_string())).await.is(400);
    app.on(&key, source, "merge", into("cnv_00000000000000000000000000")).await.is(400);
    app.on(&key, &"cnv_00000000000000000000000000", "merge", into(&target)).await.is(404);
    let mut held = letter("eve@evil.example", "Pay", "Pay now");
    held.warning = held_warning();
    let held = app.deliver(&app.support, held).await.conversation.to_string();
    app.on(&key, source, "merge", into(&held)).await.is(400);
    app.on(&key, &held, "merge", into(&target)).await.is(400);
    let ines = app.person("Ines").await;
    let private = app.private_inbox(&ines).await;
    let secret = app.deliver(&private, letter("ann@x.example", "Mine", "Private")).await;
    let answer = app.on(&key, source, "merge", into(&secret.conversation.to_string())).await;
    assert_eq!(answer.is(400).error(), "into: is not a conversation that you can see");
    app.on(&key, &secret.conversation, "merge", into(&target)).await.is(404);
    let other = app.team_inbox("sales@acme.example", "Sales").await;
    let elsewhere = app.deliver(&other, letter("ann@x.example", "Offer", "How much?")).await;
    app.on(&key, source, "merge", into(&elsewhere.conversation.to_string())).await.is(400);
    act(&app, TriageAct::Delete, &target).await;
    app.on(&key, source, "merge", into(&target)).await.is(400);
}

async fn what_was_merged_twice_comes_back_step_by_step(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    merge(&app, &key, &pair).await;
    let last = app.mail("ann@x.example", "Third", "Three").await.conversation.to_string();
    let (old, middle) =
        (pair.source.conversation.to_string(), pair.target.conversation.to_string());
    app.on(&key, &middle, "merge", json!({ "into": last })).await.is(200);
    for id in [&old, &middle] {
        assert_eq!(read(&app, &key, id).await["id"], last);
    }
    let wanted = middle.clone();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &wanted)).await;
    assert_eq!(read(&app, &key, &old).await["id"], middle);
    assert_eq!(messages(&read(&app, &key, &middle).await).len(), 2);
    let wanted = old.clone();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &wanted)).await;
    assert_eq!(messages(&read(&app, &key, &old).await), [CARRIER]);
    assert_eq!(messages(&read(&app, &key, &middle).await), [LAMP]);
}

async fn a_message_is_split_off_and_its_answers_follow(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (old, target) = (&pair.source.conversation, pair.target.conversation.to_string());
    let only = json!({ "messageId": pair.source.message.to_string() });
    app.on(&key, old, "split", only.clone()).await.is(400);
    app.on(&key, old, "split", json!({ "messageId": "msg_0" })).await.is(400);
    merge(&app, &key, &pair).await;
    let made = app.on(&key, &target, "split", only.clone()).await.is(200).json();
    let new = made["conversationId"].as_str().unwrap().to_owned();
    assert_eq!(messages(&read(&app, &key, &new).await), [CARRIER]);
    assert_eq!(messages(&read(&app, &key, &target).await), [LAMP]);
    let again = app.on(&key, &target, "split", only).await.is(200).json();
    assert_eq!(again, made);
    let found = app.list(&key, &query(&[("view", "all"), ("q", "zeppelin")])).await;
    assert_eq!(texts(&found, "id"), [new.as_str()]);
    let named = app.deliver(&app.support, naming("ann@x.example", "Odd", "second@x.example")).await;
    assert_eq!(named.conversation.to_string(), new);
    assert_eq!(app.get(&key, "/documents").await.json()[0]["conversationId"], new);
    // Undone, it is one conversation again, and the new id leads there.
    let message = named.message.to_string();
    let undo = act(&app, TriageAct::Split(message), &new).await;
    assert_eq!(messages(&read(&app, &key, &new).await), [CARRIER]);
    assert!(app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &undo)).await);
    assert_eq!(messages(&read(&app, &key, &new).await), [CARRIER, MORE]);
}

async fn a_merged_conversation_is_erased_with_its_target(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    merge(&app, &key, &pair).await;
    act(&app, TriageAct::Delete, &pair.target.conversation.to_string()).await;
    app.pass(31 * DAY).await;
    for id in [&pair.source.conversation, &pair.target.conversation] {
        app.get(&key, &format!("/conversations/{id}")).await.is(404);
    }
}

async fn an_undo_of_somebody_else_does_not_touch_the_target(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (old, target) =
        (pair.source.conversation.to_string(), pair.target.conversation.to_string());
    app.on(&key, &target, "status", json!({ "status": "closed" })).await.is(200);
    let undo = act(&app, TriageAct::Close, &old).await;
    merge(&app, &key, &pair).await;
    app.act(&app.owner, move |tx, cx| undo_triage::undo_triage(tx, cx, &undo)).await;
    assert_eq!(read(&app, &key, &target).await["status"], "closed");
}

async fn undo(app: &TestApp, source: &FiledMail) {
    let id = source.conversation.to_string();
    app.act(&app.owner, move |tx, cx| merging::undo_merge(tx, cx, &id)).await;
}

async fn an_undone_merge_closes_its_target_again_unless_new_mail_came(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let target = &pair.target.conversation;
    app.on(&key, target, "status", json!({ "status": "closed" })).await.is(200);
    app.advance(MINUTE);
    merge(&app, &key, &pair).await;
    let merged = read(&app, &key, target).await;
    assert_eq!(merged["status"], "open");
    assert!(merged["waitingSince"].is_string(), "{merged}");
    undo(&app, &pair.source).await;
    assert_eq!(read(&app, &key, target).await["status"], "closed");
    merge(&app, &key, &pair).await;
    app.advance(HOUR);
    let new = app.deliver(&app.support, naming("ann@x.example", "Odd", "first@x.example")).await;
    assert_eq!(new.conversation, *target);
    undo(&app, &pair.source).await;
    assert_eq!(read(&app, &key, target).await["status"], "open");
}

async fn a_snoozed_conversation_snoozes_the_closed_one_it_is_merged_into(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let target = &pair.target.conversation;
    app.on(&key, target, "status", json!({ "status": "closed" })).await.is(200);
    app.snooze(&app.owner, &pair.source.conversation, app.now() + 2 * DAY).await;
    app.advance(MINUTE);
    let view = async |view: &str| texts(&app.list(&key, &query(&[("view", view)])).await, "id");
    merge(&app, &key, &pair).await;
    assert_eq!(view("snoozed").await, [target.to_string()]);
    undo(&app, &pair.source).await;
    assert_eq!(view("snoozed").await, [pair.source.conversation.to_string()]);
    assert_eq!(view("closed").await, [target.to_string()]);
    merge(&app, &key, &pair).await;
    app.pass(3 * DAY).await;
    assert_eq!(view("open").await, [target.to_string()]);
}

async fn a_person_is_forgotten_and_exported_without_the_mail_of_others(app: TestApp) {
    let key = app.key("write").await;
    let target = app.mail("ann@x.example Ann", "Lamp", LAMP).await;
    app.advance(MINUTE);
    let source = app.mail("bob@y.example Bob", "Carrier", CARRIER).await;
    let pair = Pair { source, target };
    merge(&app, &key, &pair).await;
    let service = app.service(&app.support);
    let exported = app.act(&service, |tx, cx| {
        export_person(tx, cx, &EmailAddress::new("ann@x.example"), &mut |_, _| Ok(()))
    });
    assert_eq!(exported.await.messages, 1);
    let forgotten =
        app.act(&service, |tx, cx| forget_person(tx, cx, &EmailAddress::new("ann@x.example")));
    assert_eq!(forgotten.await.messages, 1);
    app.get(&key, &format!("/conversations/{}", pair.target.conversation)).await.is(404);
    let left = read(&app, &key, &pair.source.conversation).await;
    assert_eq!(left["id"], pair.source.conversation.to_string());
    assert_eq!(messages(&left), [CARRIER]);
    // The other way round, what is left is the target.
    let target = app.mail("cleo@z.example Cleo", "Chair", LAMP).await;
    let pair = Pair { target, source: app.mail("dan@z.example", "Desk", MORE).await };
    merge(&app, &key, &pair).await;
    let forgotten =
        app.act(&service, |tx, cx| forget_person(tx, cx, &EmailAddress::new("dan@z.example")));
    assert_eq!(forgotten.await.redacted, 1);
    assert_eq!(messages(&read(&app, &key, &pair.target.conversation).await), [LAMP]);
}

async fn a_warning_is_not_lost_in_a_conversation_without_one(app: TestApp) {
    let key = app.key("write").await;
    let target = app.mail("ann@x.example Ann", "Lamp", LAMP).await;
    let mut odd = letter("eve@evil.example", "Pay", "Pay now");
    odd.warning = held_warning().map(|warning| Warning { hold: false, ..warning });
    let odd = app.deliver(&app.support, odd).await;
    let into = |mail: &FiledMail| json!({ "into": mail.conversation.to_string() });
    app.on(&key, &odd.conversation, "merge", into(&target)).await.is(400);
    app.on(&key, &target.conversation, "merge", into(&odd)).await.is(200);
    assert_eq!(read(&app, &key, &target.conversation).await["risk"], "phishing");
}

async fn what_nobody_read_is_unread_in_the_target(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let (old, target) =
        (pair.source.conversation.to_string(), pair.target.conversation.to_string());
    let marks = format!("read_marks WHERE conversation = '{target}'");
    let see = async |id: &str| {
        let id = id.to_owned();
        app.act(&app.owner, move |tx, cx| open_conversation::mark_read(tx, cx, &id)).await;
    };
    app.advance(MINUTE);
    see(&target).await;
    merge(&app, &key, &pair).await;
    assert_eq!(app.count(&marks).await, 0);
    undo(&app, &pair.source).await;
    see(&target).await;
    see(&old).await;
    merge(&app, &key, &pair).await;
    assert_eq!(app.count(&marks).await, 1);
}

async fn a_draft_that_was_merged_in_is_older_than_mail_it_never_saw(app: TestApp) {
    let key = app.key("write").await;
    let pair = a_pair(&app).await;
    let drafter = app.key("draft").await;
    app.draft(&drafter, &pair.source.conversation, "It left.").await;
    app.advance(MINUTE);
    let new = app.deliver(&app.support, naming("ann@x.example", "Odd", "first@x.example")).await;
    assert_eq!(new.conversation, pair.target.conversation);
    merge(&app, &key, &pair).await;
    let queued = app.act(&app.owner, approvals::queue).await;
    assert!(queued[0].wrote_meanwhile, "the customer wrote since");
}
