//! Follow-ups: a conversation comes back at a time unless the customer answers before.

use actions::people::notifications;
use actions::writing::compose::{self, NewReply};
use base::ids::MessageId;
use base::time::Moment;
use inbound::incoming_mail::FiledMail;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use model::people::notifications::choices::{MailNotice, NoticeChoice, NoticeKind};
use outbound::scheduling::MessageTimes;
use serde_json::{Value, json};
use testing::{DAY, TestApp, TestKey, UNDO, letter, on_both, text_of};

on_both!(
    a_conversation_comes_back_when_nobody_answers,
    an_answer_brings_it_back_at_once_and_only_once,
    a_follow_up_of_a_draft_begins_when_it_has_left,
    a_reminder_comes_after_the_message_and_within_a_year,
    what_is_closed_meanwhile_stays_closed,
    whoever_closes_with_a_message_is_not_reminded,
    the_writer_is_told_that_nobody_answered
);

const ANN: &str = "ann@x.example";

/// A mail, and a reply to it that has left with a follow-up after three days.
async fn followed_up(app: &TestApp, key: &TestKey) -> (FiledMail, String) {
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    let at = Moment(app.now() + 3 * DAY).iso();
    let body = json!({ "body": "Is it there?", "send": true, "followUpAt": at });
    let sent = app.on(key, &mail.conversation, "replies", body).await.is(201).json();
    app.pass(UNDO).await;
    (mail, text_of(&sent, "messageId"))
}

async fn state(app: &TestApp, key: &TestKey, mail: &FiledMail) -> (Value, Value) {
    let read = app.read(key, &mail.conversation).await;
    (read["status"].clone(), read["snoozedUntil"].clone())
}

async fn woken_by(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Vec<Value> {
    let events = app.timeline_events(key, &mail.conversation).await;
    let woken = events.into_iter().filter(|(name, _)| name == "woke");
    woken.map(|(_, data)| data["by"].clone()).collect()
}

async fn a_conversation_comes_back_when_nobody_answers(app: TestApp) {
    let key = app.key("send").await;
    let until = Moment(app.now() + 3 * DAY).iso();
    let (mail, _) = followed_up(&app, &key).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("waiting"), json!(until)));
    for (view, count) in [("open", 0), ("waiting", 0), ("snoozed", 1)] {
        assert_eq!(app.list(&key, &format!("view={view}")).await.len(), count, "{view}");
    }
    let events = app.timeline_events(&key, &mail.conversation).await;
    assert!(events.contains(&("follow-up".into(), json!({ "until": until }))), "{events:?}");
    let told = app.events().await.len();
    app.pass(3 * DAY).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("open"), Value::Null));
    assert_eq!(woken_by(&app, &key, &mail).await, ["no-answer"]);
    assert_eq!(app.list(&key, "view=open").await.len(), 1);
    assert_eq!(app.event_types_since(told).await, ["turn.changed"]);
}

async fn an_answer_brings_it_back_at_once_and_only_once(app: TestApp) {
    let key = app.key("send").await;
    let (mail, message) = followed_up(&app, &key).await;
    app.pass(DAY).await;
    let mut answer = letter(ANN, "Re: Lamp", "It is.");
    answer.answers = vec![app.header_id(&message).await];
    app.deliver(&app.support, answer).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("open"), Value::Null));
    app.pass(5 * DAY).await;
    assert_eq!(woken_by(&app, &key, &mail).await, ["customer"]);
}

async fn a_follow_up_of_a_draft_begins_when_it_has_left(app: TestApp) {
    let key = app.key("draft").await;
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    let until = Moment(app.now() + 3 * DAY).iso();
    let body = json!({ "body": "Is it there?", "followUpAt": until });
    let draft = app.on(&key, &mail.conversation, "replies", body).await.is(201).json();
    app.pass(DAY).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("open"), Value::Null));
    let id = MessageId::parse(&text_of(&draft, "messageId")).unwrap();
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &id, 1, "Is it there?")).await;
    app.pass(UNDO).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("waiting"), json!(until)));
}

async fn a_reminder_comes_after_the_message_and_within_a_year(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    let iso = |ahead: i64| Moment(app.now() + ahead).iso();
    for (send_at, follow_up_at, sentence) in [
        (2 * DAY, DAY, "followUpAt: The reminder must come after"),
        (DAY, DAY, "followUpAt: The reminder must come after"),
        (DAY, 366 * DAY, "followUpAt: A reminder comes after at most 365 days."),
    ] {
        let body = json!({
            "body": "x", "send": true, "sendAt": iso(send_at), "followUpAt": iso(follow_up_at),
        });
        let refused = app.on(&key, &mail.conversation, "replies", body).await.is(400);
        assert!(refused.error().starts_with(sentence), "{}", refused.error());
    }
}

async fn what_is_closed_meanwhile_stays_closed(app: TestApp) {
    let key = app.key("write send").await;
    let (mail, _) = followed_up(&app, &key).await;
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(5 * DAY).await;
    assert_eq!(state(&app, &key, &mail).await, (json!("closed"), Value::Null));
    assert!(woken_by(&app, &key, &mail).await.is_empty());
}

fn reply(close: bool, follow_up_at: i64) -> NewReply {
    NewReply {
        body: "Is it there?".into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties(ANN).unwrap(),
            ..RecipientList::default()
        },
        close,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes { leaves_at: None, follow_up_at: Some(follow_up_at) },
    }
}

async fn whoever_closes_with_a_message_is_not_reminded(app: TestApp) {
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    let (id, message) = (mail.conversation.to_string(), reply(true, app.now() + DAY));
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            testing::send_reply(tx, cx, &id, &message).map(|_| ())
        })
        .await;
    assert!(refused.to_string().contains("followUpAt"), "{refused}");
}

async fn the_writer_is_told_that_nobody_answered(app: TestApp) {
    let chosen =
        [(NoticeKind::Unanswered, NoticeChoice { browser: false, mail: MailNotice::AtOnce })];
    app.act(&app.owner, move |tx, cx| notifications::choose_notices(tx, cx, &chosen)).await;
    let mail = app.mail(ANN, "Lamp", "Where is it?").await;
    let (id, message) = (mail.conversation.to_string(), reply(false, app.now() + DAY));
    app.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &message).map(|_| ())).await;
    app.pass(2 * DAY).await;
    let mails = app.outside.relay.attempts();
    let notice = mails.iter().find(|mail| mail.recipients == ["owner@acme.example"]);
    let text = String::from_utf8_lossy(&notice.expect("a notice").bytes).into_owned();
    assert!(text.contains("Nobody has answered yet"), "{text}");
}
