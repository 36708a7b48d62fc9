//! A time to leave that a person chooses: for a draft that they approve, and for their own message, with
//! which it comes back when the message is stopped.

use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::{self, NewReply};
use actions::writing::drafts::{self, StoppedMessage};
use base::error::Error;
use base::ids::MessageId;
use base::time::Moment;
use model::mailboxes::DraftingMode;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use serde_json::{Value, json};
use testing::*;

on_both!(
    an_agents_draft_leaves_at_the_time_that_its_approver_chose,
    a_helpers_draft_leaves_at_the_time_that_its_approver_chose,
    a_wrong_time_approves_nothing,
    a_draft_does_not_wait_beyond_its_own_reminder,
    a_stopped_draft_says_when_it_was_to_leave,
    what_its_author_stops_comes_back_with_its_times,
    what_is_stopped_in_its_undo_window_had_no_time,
    a_time_within_the_longest_window_is_kept_if_it_is_beyond_ones_own,
    times_are_kept_with_an_unsent_text
);

/// Approves the first revision of a draft for a time; answers when it leaves.
async fn approve_at(app: &TestApp, id: &MessageId, text: &str, at: i64) -> i64 {
    let (id, text) = (id.clone(), text.to_owned());
    app.act(&app.owner, move |tx, cx| {
        let (message, _) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
        testing::approve_draft_at(tx, cx, &id, message.revision, &text, Some(at))
    })
    .await
}

async fn newest(app: &TestApp, key: &TestKey, id: &impl ToString) -> Value {
    app.timeline(key, id, "message").await.pop().unwrap()
}

fn message_id(id: &str) -> MessageId {
    MessageId::parse(id).unwrap()
}

async fn an_agents_draft_leaves_at_the_time_that_its_approver_chose(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let draft = message_id(&app.draft(&key, &mail.conversation, "By sea.").await);
    let at = app.now() + 3 * DAY;
    assert_eq!(approve_at(&app, &draft, "By sea and land.", at).await, at);
    let scheduled = newest(&app, &key, &mail.conversation).await;
    assert_eq!(scheduled["status"], "scheduled");
    assert_eq!(scheduled["sendsAt"], json!(Moment(at).iso()));
    app.pass(3 * DAY - 1).await;
    assert!(app.outside.relay.attempts().is_empty());
    app.pass(1).await;
    assert_eq!(newest(&app, &key, &mail.conversation).await["status"], "sent");
}

async fn a_helpers_draft_leaves_at_the_time_that_its_approver_chose(app: TestApp) {
    let key = app.key("read draft send").await;
    app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    let (id, at) = (message_id(&text_of(&draft, "id")), app.now() + 2 * DAY);
    assert_eq!(approve_at(&app, &id, &text_of(&draft, "text"), at).await, at);
    let scheduled = newest(&app, &key, &mail.conversation).await;
    assert_eq!(
        (scheduled["status"].as_str(), scheduled["sendsAt"].as_str()),
        (Some("scheduled"), Some(Moment(at).iso().as_str()))
    );
}

async fn a_wrong_time_approves_nothing(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let draft = message_id(&app.draft(&key, &mail.conversation, "By sea.").await);
    for (at, sentence) in [
        (app.now(), "The time to leave is over."),
        (app.now() + 365 * DAY + 1, "A message can wait for at most 365 days."),
    ] {
        let id = draft.clone();
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| {
                testing::approve_draft_at(tx, cx, &id, 1, "By sea.", Some(at))
            })
            .await;
        assert!(matches!(refused, Error::Invalid(_)), "{refused}");
        assert!(refused.to_string().contains(sentence), "{refused}");
    }
    assert_eq!(newest(&app, &key, &mail.conversation).await["status"], "draft");
}

async fn a_draft_does_not_wait_beyond_its_own_reminder(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let reminder = app.now() + 2 * DAY;
    let body = json!({ "body": "Is it there?", "followUpAt": Moment(reminder).iso() });
    let draft = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    let id = message_id(&text_of(&draft, "messageId"));
    let wanted = id.clone();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            testing::approve_draft_at(tx, cx, &wanted, 1, "Is it there?", Some(reminder))
        })
        .await;
    assert!(refused.to_string().contains("The reminder must come after"), "{refused}");
    assert_eq!(approve_at(&app, &id, "Is it there?", reminder - DAY).await, reminder - DAY);
}

async fn a_stopped_draft_says_when_it_was_to_leave(app: TestApp) {
    let key = app.key("read draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let draft = message_id(&app.draft(&key, &mail.conversation, "By sea.").await);
    let at = app.now() + 3 * DAY;
    approve_at(&app, &draft, "By sea.", at).await;
    app.pass(DAY).await;
    let id = draft.clone();
    let stopped = app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    assert_eq!(stopped, StoppedMessage::Draft { leaves_at: Some(at) });
    assert_eq!(newest(&app, &key, &mail.conversation).await["status"], "draft");
}

fn reply(times: MessageTimes) -> NewReply {
    NewReply {
        body: "By sea.".into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties("ann@x.example").unwrap(),
            ..RecipientList::default()
        },
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times,
    }
}

/// Sends a reply, stops it a while later, and reads what is in the composer then.
async fn stopped_after(app: &TestApp, subject: &str, times: MessageTimes, wait: i64) -> Autosave {
    let mail = app.mail("ann@x.example", subject, "Where is it?").await;
    let (id, message) = (mail.conversation.to_string(), reply(times));
    let sent = app.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &message)).await;
    app.pass(wait).await;
    let id = sent.message_id;
    let stopped = app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
    assert_eq!(stopped, StoppedMessage::InComposer);
    let place = AutosaveKey::Conversation(mail.conversation);
    let saved = app.act(&app.owner, move |tx, cx| autosaves::load_autosave(tx, cx, &place)).await;
    saved.unwrap()
}

async fn what_its_author_stops_comes_back_with_its_times(app: TestApp) {
    let (leaves, reminder) = (app.now() + 3 * DAY, app.now() + 5 * DAY);
    let times = MessageTimes { leaves_at: Some(leaves), follow_up_at: Some(reminder) };
    let saved = stopped_after(&app, "Lamp", times, DAY).await;
    assert_eq!((saved.body.as_str(), saved.times), ("By sea.", times));
}

async fn what_is_stopped_in_its_undo_window_had_no_time(app: TestApp) {
    let saved = stopped_after(&app, "Lamp", MessageTimes::default(), 10 * SECOND).await;
    assert_eq!((saved.body.as_str(), saved.times), ("By sea.", MessageTimes::default()));
    // Of a chosen time that has almost come only the reminder is left.
    let (leaves, reminder) = (app.now() + DAY, app.now() + 2 * DAY);
    let times = MessageTimes { leaves_at: Some(leaves), follow_up_at: Some(reminder) };
    let saved = stopped_after(&app, "Shade", times, DAY - 20 * SECOND).await;
    assert_eq!(saved.times, MessageTimes { leaves_at: None, follow_up_at: Some(reminder) });
}

async fn a_time_within_the_longest_window_is_kept_if_it_is_beyond_ones_own(app: TestApp) {
    let times = MessageTimes { leaves_at: Some(app.now() + 7 * MINUTE), follow_up_at: None };
    let saved = stopped_after(&app, "Lamp", times, MINUTE).await;
    assert_eq!(saved.times, times);
}

async fn times_are_kept_with_an_unsent_text(app: TestApp) {
    let times = MessageTimes { leaves_at: Some(app.now() + DAY), follow_up_at: None };
    let unsent = Autosave { times, ..Autosave::new(AutosaveKind::New, "By sea.".into()) };
    let kept = app
        .act(&app.owner, move |tx, cx| {
            autosaves::autosave(tx, cx, &AutosaveKey::New, &unsent)?;
            autosaves::load_autosave(tx, cx, &AutosaveKey::New)
        })
        .await
        .unwrap();
    assert_eq!((kept.body.as_str(), kept.times), ("By sea.", times));
}
