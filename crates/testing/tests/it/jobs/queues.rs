//! What waits is looked at, held, released, tried again and discarded.

use actions::workspace::audit_log;
use base::actor::{Actor, Role};
use base::error::Error;
use inbound::incoming_mail::FiledMail;
use jobs::RelayOutcome;
use jobs::queues::{
    self, QueueAct, QueueFilter, QueueItem, QueueKind, QueuePage, QueueState, WaitReason,
};
use model::installation::{QuietReason, begin_quiet};
use model::people::notices::{Notice, notify};
use serde_json::json;
use testing::*;

on_both!(
    a_held_message_does_not_leave_until_it_is_released,
    a_message_that_is_being_sent_can_neither_be_held_nor_discarded,
    what_a_dead_process_left_half_done_can_be_held_and_says_that_it_may_have_left,
    a_discarded_message_fails_and_is_told_and_can_be_tried_again,
    a_discarded_message_that_somebody_has_counts_as_sent,
    a_message_that_waits_says_why_and_is_tried_again_at_once,
    a_failed_message_leaves_after_all_unless_it_came_back,
    a_held_message_can_be_stopped_and_is_a_draft_then,
    a_held_event_is_delivered_once_it_is_released,
    a_dropped_event_is_delivered_after_all,
    a_given_up_job_begins_anew,
    a_held_job_waits_until_it_is_released,
    a_job_whose_work_is_gone_is_not_revived,
    a_failure_whose_job_was_tried_since_changes_nothing_any_more,
    quiet_mode_and_a_paused_webhook_are_reasons_to_wait,
    an_owner_sees_counts_alone_of_a_private_inbox,
    nobody_reaches_into_another_workspace,
    only_those_who_administer_look_into_the_queues,
    every_item_is_on_exactly_one_page,
    what_is_done_stands_in_the_audit_log,
    every_queue_has_its_figures_from_the_beginning
);

async fn listed(app: &TestApp, filter: QueueFilter) -> QueuePage {
    app.act(&app.owner, move |tx, cx| queues::list_own_queues(tx, cx, &filter)).await
}

async fn all(app: &TestApp) -> Vec<QueueItem> {
    listed(app, QueueFilter::default()).await.items
}

async fn in_state(app: &TestApp, state: QueueState) -> Vec<QueueItem> {
    listed(app, QueueFilter { state: Some(state), ..QueueFilter::default() }).await.items
}

async fn change(app: &TestApp, id: &str, act: QueueAct) -> QueueItem {
    let id = id.to_owned();
    app.act(&app.owner, move |tx, cx| queues::change_queue(tx, cx, &id, act)).await
}

async fn refused(app: &TestApp, by: &Actor, id: &str, act: QueueAct) -> Error {
    let id = id.to_owned();
    app.expect_refusal(by, move |tx, cx| queues::change_queue(tx, cx, &id, act)).await
}

/// A message that leaves after the undo window.
async fn scheduled(app: &TestApp) -> (TestKey, FiledMail, String) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    (key, mail, message)
}

async fn status(app: &TestApp, key: &TestKey, mail: &FiledMail) -> String {
    text_of(&app.timeline(key, &mail.conversation, "message").await[1], "status")
}

async fn a_held_message_does_not_leave_until_it_is_released(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    let held = change(&app, &message, QueueAct::Hold).await;
    assert_eq!((held.state, held.wait_reason), (QueueState::Held, WaitReason::Held));
    assert_eq!(held.held_by.as_deref(), Some(app.owner.name()));
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    let shown = &app.timeline(&key, &mail.conversation, "message").await[1];
    assert_eq!((&shown["status"], &shown["held"]), (&json!("scheduled"), &json!(true)));
    assert!(shown.get("sendsAt").is_none(), "{shown}");
    let listed = app.get(&key, "/messages?status=scheduled").await.is(200).json();
    assert_eq!((&listed[0]["id"], &listed[0]["held"]), (&json!(message), &json!(true)));
    assert!(matches!(refused(&app, &app.owner, &message, QueueAct::Hold).await, Error::Invalid(_)));
    assert!(matches!(
        refused(&app, &app.owner, &message, QueueAct::Retry).await,
        Error::Invalid(_)
    ));
    change(&app, &message, QueueAct::Release).await;
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(status(&app, &key, &mail).await, "sent");
    let events = app.timeline_events(&key, &mail.conversation).await;
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["send-held", "send-released", "status"]);
    assert!(all(&app).await.is_empty());
}

async fn a_message_that_is_being_sent_can_neither_be_held_nor_discarded(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    app.advance(UNDO);
    app.outside.relay.hangs();
    app.keep_working();
    app.outside.relay.was_given(1).await;
    let item = &all(&app).await[0];
    assert_eq!((item.state, item.wait_reason), (QueueState::Sending, WaitReason::BeingSent));
    for act in [QueueAct::Hold, QueueAct::Discard, QueueAct::Retry] {
        let refusal = refused(&app, &app.owner, &message, act).await;
        assert!(matches!(refusal, Error::Conflict(_)), "{act:?}: {refusal}");
    }
    assert_eq!(status(&app, &key, &mail).await, "sending");
}

async fn what_a_dead_process_left_half_done_can_be_held_and_says_that_it_may_have_left(
    app: TestApp,
) {
    let (key, mail, message) = scheduled(&app).await;
    app.advance(UNDO);
    let doomed = app.another_process();
    doomed.outside.relay.hangs();
    doomed.work();
    doomed.outside.relay.was_given(1).await;
    doomed.kill();
    app.advance(2 * MINUTE);
    change(&app, &message, QueueAct::Hold).await;
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty(), "another node leaves it alone");
    change(&app, &message, QueueAct::Discard).await;
    let shown = &app.timeline(&key, &mail.conversation, "message").await[1];
    assert_eq!(shown["reason"]["code"], "discarded");
    assert!(text_of(&shown["reason"], "text").contains("may have left"), "{shown}");
}

async fn a_discarded_message_fails_and_is_told_and_can_be_tried_again(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    let gone = change(&app, &message, QueueAct::Discard).await;
    assert_eq!((gone.state, gone.wait_reason), (QueueState::Failed, WaitReason::Failed));
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    let shown = &app.timeline(&key, &mail.conversation, "message").await[1];
    assert_eq!(
        (&shown["status"], &shown["reason"]["code"]),
        (&json!("failed"), &json!("discarded"))
    );
    let text = text_of(&shown["reason"], "text");
    assert_eq!(text, format!("{} discarded it before it left.", app.owner.name()));
    let events = app.timeline_events(&key, &mail.conversation).await;
    assert_eq!(events[0], ("send-discarded".to_owned(), json!({ "messageId": message })));
    assert!(matches!(
        refused(&app, &app.owner, &message, QueueAct::Discard).await,
        Error::Invalid(_)
    ));
    change(&app, &message, QueueAct::Retry).await;
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(status(&app, &key, &mail).await, "sent");
    let shown = &app.timeline(&key, &mail.conversation, "message").await[1];
    assert!(shown.get("reason").is_none(), "{shown}");
}

async fn a_discarded_message_that_somebody_has_counts_as_sent(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let body = json!({ "body": "Both", "send": true, "cc": ["nils@customer.example"] });
    let made = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let message = text_of(&made, "messageId");
    let busy = RelayOutcome::Later("busy".into());
    app.outside.relay.will_say_of_each(&[RelayOutcome::Delivered, busy]);
    app.advance(UNDO);
    app.work().await;
    assert_eq!(status(&app, &key, &mail).await, "sending");
    change(&app, &message, QueueAct::Discard).await;
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1, "it is not tried any more");
    let shown = &app.timeline(&key, &mail.conversation, "message").await[1];
    assert_eq!((&shown["status"], &shown["reason"]["code"]), (&json!("sent"), &json!("discarded")));
    let events = app.timeline_events(&key, &mail.conversation).await;
    let bounced = events.iter().find(|(name, _)| name == "bounced").unwrap();
    assert_eq!(bounced.1["recipients"], json!(["nils@customer.example"]));
}

async fn a_message_that_waits_says_why_and_is_tried_again_at_once(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    let item = &all(&app).await[0];
    assert_eq!((item.state, item.wait_reason), (QueueState::Waiting, WaitReason::Scheduled));
    assert!(matches!(
        refused(&app, &app.owner, &message, QueueAct::Retry).await,
        Error::Invalid(_)
    ));
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.advance(UNDO);
    app.work().await;
    let item = &all(&app).await[0];
    assert_eq!((item.state, item.wait_reason), (QueueState::Retrying, WaitReason::Deferred));
    assert_eq!((item.attempts, item.target.as_str()), (1, "mara@customer.example"));
    assert_eq!(item.next_attempt_at.unwrap().0, app.now() + MINUTE);
    assert_eq!(item.last_outcome.as_ref().unwrap().text, "Busy.");
    change(&app, &message, QueueAct::Retry).await;
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 2);
    assert_eq!(status(&app, &key, &mail).await, "sent");
}

async fn a_failed_message_leaves_after_all_unless_it_came_back(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    app.outside.relay.will_say(&[RelayOutcome::Never("no".into())]);
    app.pass(UNDO).await;
    assert_eq!(in_state(&app, QueueState::Failed).await[0].id, message);
    change(&app, &message, QueueAct::Retry).await;
    app.work().await;
    assert_eq!(status(&app, &key, &mail).await, "sent");
    app.exec(&format!("UPDATE messages SET status = 'failed' WHERE id = '{message}'")).await;
    let refusal = refused(&app, &app.owner, &message, QueueAct::Retry).await;
    assert!(refusal.to_string().contains("came back"), "{refusal}");
    app.pass(40 * DAY).await;
    assert!(in_state(&app, QueueState::Failed).await.is_empty(), "long ago is not listed");
}

async fn a_held_message_can_be_stopped_and_is_a_draft_then(app: TestApp) {
    let (key, mail, message) = scheduled(&app).await;
    change(&app, &message, QueueAct::Hold).await;
    app.post(&key, &format!("/messages/{message}/stop"), json!({})).await.is(200);
    assert_eq!(status(&app, &key, &mail).await, "draft");
    assert!(all(&app).await.is_empty());
    let refusal = refused(&app, &app.owner, &message, QueueAct::Release).await;
    assert!(matches!(refusal, Error::NotFound(_)), "{refusal}");
}

async fn a_held_event_is_delivered_once_it_is_released(app: TestApp) {
    let hook = app.hook("one").await;
    app.something_happens("ann").await;
    let item = all(&app).await.remove(0);
    assert_eq!((item.kind, item.state), (QueueKind::Webhooks, QueueState::Waiting));
    assert_eq!(item.target, hook.url);
    change(&app, &item.id, QueueAct::Hold).await;
    app.pass(DAY).await;
    assert!(app.calls_to(&hook).is_empty());
    let log = app.log(&hook).await;
    assert!(log[0].held && log[0].state.as_str() == "waiting");
    app.something_happens("nils").await;
    app.work().await;
    assert_eq!(app.calls_to(&hook).len(), 1, "others are delivered meanwhile");
    change(&app, &item.id, QueueAct::Release).await;
    app.work().await;
    let calls = app.calls_to(&hook);
    assert_eq!(calls.len(), 2);
    assert!(item.id.ends_with(header(&calls[1], "webhook-id")), "with the same id");
    assert_eq!(app.states(&hook).await, ["delivered", "delivered"]);
}

async fn a_dropped_event_is_delivered_after_all(app: TestApp) {
    let hook = app.hook("one").await;
    app.outside.webhook_sender.answers_status(&hook.url, 500);
    app.something_happens("ann").await;
    app.work().await;
    let item = all(&app).await.remove(0);
    assert_eq!((item.state, item.wait_reason), (QueueState::Retrying, WaitReason::Deferred));
    assert_eq!(item.last_outcome.as_ref().unwrap().code, "500");
    change(&app, &item.id, QueueAct::Discard).await;
    app.pass(DAY).await;
    assert_eq!(app.calls_to(&hook).len(), 1);
    assert_eq!(app.states(&hook).await, ["failed"]);
    assert_eq!(in_state(&app, QueueState::Failed).await[0].id, item.id);
    app.outside.webhook_sender.answers_status(&hook.url, 200);
    change(&app, &item.id, QueueAct::Retry).await;
    app.work().await;
    assert_eq!(app.states(&hook).await, ["delivered"]);
}

/// A notice that cannot be put together, and its job.
async fn poisoned_notice(app: &TestApp) {
    let owner = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        notify(tx, cx, &owner, &Notice { subject: "Hello", text: "World" })
    })
    .await;
    app.exec("UPDATE notices SET mailbox = 'mbx_nowhere'").await;
    app.work().await;
}

async fn jobs(app: &TestApp) -> Vec<QueueItem> {
    listed(app, QueueFilter { kind: Some(QueueKind::Jobs), ..QueueFilter::default() }).await.items
}

async fn a_given_up_job_begins_anew(app: TestApp) {
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.snooze(&app.owner, &mail.conversation, app.now() + MINUTE).await;
    app.exec(&format!(
        "INSERT INTO job_failures (ws, queue, job, attempts, reason, failed_at)
         VALUES ({}, 'targets', '{}', 6, 'it cannot be done', {})",
        app.owner.ws,
        mail.conversation,
        app.now()
    ))
    .await;
    let item = jobs(&app).await.remove(0);
    assert_eq!((item.state, item.wait_reason), (QueueState::GivenUp, WaitReason::GivenUp));
    assert_eq!((item.attempts, item.target.as_str()), (6, "targets"));
    assert!(!item.id.contains("cnv"), "the key is not told: {}", item.id);
    change(&app, &item.id, QueueAct::Retry).await;
    let due =
        format!("conversations WHERE id = '{}' AND target_due_at IS NOT NULL", mail.conversation);
    assert_eq!((app.count(&due).await, app.count("job_failures").await), (1, 0));
}

async fn a_held_job_waits_until_it_is_released(app: TestApp) {
    poisoned_notice(&app).await;
    let item = jobs(&app).await.remove(0);
    assert_eq!((item.state, item.target.as_str()), (QueueState::Retrying, "notices"));
    change(&app, &item.id, QueueAct::Hold).await;
    assert_eq!(in_state(&app, QueueState::Held).await[0].id, item.id);
    app.exec(
        "UPDATE notices SET mailbox = (
             SELECT b.id FROM mailboxes b WHERE b.ws = notices.ws AND b.circle = 'team'
         )",
    )
    .await;
    app.pass(3 * DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(in_state(&app, QueueState::Held).await.len(), 1);
    change(&app, &item.id, QueueAct::Release).await;
    app.work().await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn a_failure_whose_job_was_tried_since_changes_nothing_any_more(app: TestApp) {
    let mail = app.mail("ann@x.example", "Lamps", "Hi").await;
    app.exec(&format!(
        "INSERT INTO job_failures (ws, queue, job, attempts, reason, failed_at, next_attempt_at)
         VALUES ({ws}, 'snoozes', '{id}', 1, 'it cannot be done', {at}, {at})",
        ws = app.owner.ws,
        id = mail.conversation,
        at = app.now(),
    ))
    .await;
    let item = jobs(&app).await.remove(0);
    for act in [QueueAct::Hold, QueueAct::Retry, QueueAct::Discard] {
        let refusal = refused(&app, &app.owner, &item.id, act).await;
        assert!(refusal.to_string().contains("or done since"), "{refusal}");
    }
    let changed = app.count("conversations WHERE snoozed_until IS NOT NULL").await;
    assert_eq!(changed, 0, "nothing is snoozed");
    app.exec(&format!("UPDATE job_failures SET next_attempt_at = {}", app.now() + MINUTE)).await;
    let refusal = refused(&app, &app.owner, &item.id, QueueAct::Discard).await;
    assert!(refusal.to_string().contains("cannot be discarded"), "{refusal}");
}

async fn a_job_whose_work_is_gone_is_not_revived(app: TestApp) {
    poisoned_notice(&app).await;
    let item = jobs(&app).await.remove(0);
    let given_up = change(&app, &item.id, QueueAct::Discard).await;
    assert_eq!(given_up.state, QueueState::GivenUp);
    assert_eq!(app.count("notices").await, 0);
    let refusal = refused(&app, &app.owner, &item.id, QueueAct::Retry).await;
    assert!(refusal.to_string().contains("gone"), "{refusal}");
    change(&app, &item.id, QueueAct::Discard).await;
    assert!(jobs(&app).await.is_empty());
}

async fn quiet_mode_and_a_paused_webhook_are_reasons_to_wait(app: TestApp) {
    let (_, _, message) = scheduled(&app).await;
    let now = app.now();
    app.app.store.write(move |tx| begin_quiet(tx, QuietReason::Asked, now)).await.unwrap();
    let item = &all(&app).await[0];
    assert_eq!((item.id.as_str(), item.wait_reason), (message.as_str(), WaitReason::Quiet));
}

async fn an_owner_sees_counts_alone_of_a_private_inbox(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let key = app.key_of(&ann, "Private", "send", true).await;
    let mail = app.deliver(&inbox, letter("mara@customer.example", "Secret", "Hello")).await;
    let message = app.schedule(&key, &mail.conversation, "Yes").await;
    assert!(all(&app).await.is_empty());
    let unseen = app.act(&app.owner, queues::count_unseen).await;
    assert_eq!(unseen, 1);
    for act in [QueueAct::Hold, QueueAct::Discard, QueueAct::Release, QueueAct::Retry] {
        let refusal = refused(&app, &app.owner, &message, act).await;
        assert!(matches!(refusal, Error::NotFound(_)), "{act:?}: {refusal}");
    }
    let own = app.app.clone();
    let page = app.app.store.read(move |tx| queues::list_queues(tx, &own, &QueueFilter::default()));
    assert_eq!(page.await.unwrap().items[0].id, message, "the operator sees it");
}

async fn nobody_reaches_into_another_workspace(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let (_, _, message) = scheduled(&app).await;
    let page = app.act(&other, |tx, cx| queues::list_own_queues(tx, cx, &QueueFilter::default()));
    assert!(page.await.items.is_empty());
    for act in [QueueAct::Hold, QueueAct::Discard] {
        let refusal = refused(&app, &other, &message, act).await;
        assert!(matches!(refusal, Error::NotFound(_)), "{act:?}: {refusal}");
    }
    let (own, id) = (app.app.clone(), message.clone());
    let work =
        move |tx: &mut db::Tx<'_>| queues::operate_queue(tx, &own, None, &id, QueueAct::Hold);
    let held = app.app.store.write(work).await.unwrap();
    assert_eq!(held.held_by.as_deref(), Some("The operator"));
}

async fn only_those_who_administer_look_into_the_queues(app: TestApp) {
    let ann = app.person("Ann").await;
    let (_, _, message) = scheduled(&app).await;
    let refusal = app
        .expect_refusal(&ann, |tx, cx| queues::list_own_queues(tx, cx, &QueueFilter::default()))
        .await;
    assert!(matches!(refusal, Error::Forbidden(_)), "{refusal}");
    let refusal = refused(&app, &ann, &message, QueueAct::Hold).await;
    assert!(matches!(refusal, Error::Forbidden(_)), "{refusal}");
}

async fn every_item_is_on_exactly_one_page(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let (one, two) = (app.hook("one").await, app.hook("two").await);
    for hook in [&one, &two] {
        app.outside.webhook_sender.answers_status(&hook.url, 500);
    }
    for name in ["ann", "bea", "cleo"] {
        app.something_happens(name).await;
    }
    app.work().await;
    for number in 0..5 {
        let message = app.schedule(&key, &mail.conversation, &format!("Number {number}")).await;
        match number {
            0 => drop(change(&app, &message, QueueAct::Hold).await),
            1 => drop(change(&app, &message, QueueAct::Discard).await),
            _ => {}
        }
    }
    poisoned_notice(&app).await;
    let whole: Vec<String> = all(&app).await.into_iter().map(|item| item.id).collect();
    assert_eq!(whole.len(), 12, "{whole:?}");
    for ws in [Some(app.owner.ws), None] {
        let (mut walked, mut cursor) = (Vec::new(), None);
        loop {
            let filter = QueueFilter { ws, limit: Some(2), cursor, ..QueueFilter::default() };
            let own = app.app.clone();
            let list = move |tx: &mut db::Tx<'_>| queues::list_queues(tx, &own, &filter);
            let page = app.app.store.read(list).await.unwrap();
            assert!(page.items.len() <= 2);
            walked.extend(page.items.into_iter().map(|item| item.id));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(walked, whole, "{ws:?}");
    }
    for bad in ["x", "1~2", "9~1~2~3", "0~x~y"] {
        let filter = QueueFilter { cursor: Some(bad.into()), ..QueueFilter::default() };
        let refusal = app
            .expect_refusal(&app.owner, move |tx, cx| queues::list_own_queues(tx, cx, &filter))
            .await;
        assert!(matches!(refusal, Error::Invalid(_)), "{bad}: {refusal}");
    }
}

async fn what_is_done_stands_in_the_audit_log(app: TestApp) {
    let (_, _, message) = scheduled(&app).await;
    for act in [QueueAct::Hold, QueueAct::Release, QueueAct::Discard, QueueAct::Retry] {
        change(&app, &message, act).await;
    }
    let log = app.act(&app.owner, |tx, cx| audit_log::list_audit(tx, cx, None)).await;
    let done: Vec<&str> = log.iter().map(|entry| entry.action.as_str()).take(4).collect();
    assert_eq!(done, ["queue-retried", "queue-discarded", "queue-released", "queue-held"]);
    assert_eq!(log[0].thing, message);
}

async fn every_queue_has_its_figures_from_the_beginning(app: TestApp) {
    let now = app.now();
    let figures = |now: i64| app.app.store.read(move |tx| queues::queue_figures(tx, now));
    let before = figures(now).await.unwrap();
    assert!(before.iter().any(|figure| figure.queue == "webhooks"));
    assert!(before.iter().all(|figure| (figure.depth, figure.oldest_ms) == (0, 0)), "{before:?}");
    let (_, _, message) = scheduled(&app).await;
    let late = figures(now + UNDO + MINUTE).await.unwrap();
    let messages = late.iter().find(|figure| figure.queue == "messages").unwrap();
    assert_eq!((messages.depth, messages.oldest_ms), (1, MINUTE));
    change(&app, &message, QueueAct::Hold).await;
    let held = figures(now + MINUTE).await.unwrap();
    let held = held.iter().find(|figure| figure.queue == "messages held").unwrap();
    assert_eq!((held.depth, held.oldest_ms), (1, MINUTE));
}
