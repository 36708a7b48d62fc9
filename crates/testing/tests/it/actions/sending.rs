//! What people send: for how long they can stop it, whose turn it is meanwhile, who has the conversation,
//! and messages that somebody lets go at once.

use actions::conversations::sidebar::sidebar;
use actions::inboxes::writing_settings::{self, SendingRules};
use actions::writing::compose::{self, NewReply};
use actions::writing::drafts;
use api::operations::{ListConversationsInput, list_conversations};
use base::actor::Actor;
use base::error::Error;
use base::ids::MessageId;
use base::limits::{UNDO_CHOICES, UNDO_PEOPLE_SECONDS};
use inbound::incoming_mail::FiledMail;
use jobs::RelayOutcome;
use model::messages::recipients::RecipientList;
use model::messages::undo_time;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use serde_json::{Value, json};
use testing::*;

on_both!(
    what_people_write_can_be_stopped_for_the_time_that_they_or_their_workspace_chose,
    what_keys_write_keeps_its_window_whoever_approves_it,
    only_the_times_that_there_are_can_be_chosen,
    while_an_answer_leaves_it_is_not_our_turn_for_people,
    a_stopped_answer_brings_back_turn_assignee_and_status,
    what_changed_since_stays_when_an_answer_is_stopped,
    mail_of_the_customer_makes_it_our_turn_while_an_answer_leaves,
    an_answer_that_fails_is_our_turn_again,
    what_is_sent_now_leaves_once,
    what_was_stopped_is_not_sent_now,
    who_answers_gets_a_conversation_that_nobody_has,
    a_key_gets_no_conversation_by_answering
);

fn reply(close: bool) -> NewReply {
    NewReply {
        body: "By sea.".into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties("ann@x.example").unwrap(),
            ..RecipientList::default()
        },
        close,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    }
}

async fn question(app: &TestApp) -> FiledMail {
    app.mail("ann@x.example Ann", "Lamp", "Where is it?").await
}

async fn answer(app: &TestApp, by: &Actor, mail: &FiledMail, close: bool) -> MessageId {
    let id = mail.conversation.to_string();
    let sent = app.act(by, move |tx, cx| send_reply(tx, cx, &id, &reply(close))).await;
    sent.message_id
}

async fn stop(app: &TestApp, by: &Actor, message: &MessageId) {
    let id = message.clone();
    app.act(by, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
}

async fn send_now(app: &TestApp, by: &Actor, message: &MessageId) {
    let id = message.clone();
    app.act(by, move |tx, cx| drafts::send_now(tx, cx, &id)).await;
}

/// How many seconds an answer of somebody waits before it leaves.
async fn waits(app: &TestApp, by: &Actor) -> i64 {
    let mail = question(app).await;
    let id = answer(app, by, &mail, false).await;
    let waits = app
        .act(by, move |tx, cx| {
            let (at,): (i64,) = tx.one(
                "SELECT sends_at FROM messages WHERE ws = ?1 AND id = ?2",
                &[&cx.actor.ws, &id],
            )?;
            Ok(at - cx.now)
        })
        .await;
    waits / SECOND
}

async fn set_rules(app: &TestApp, rules: SendingRules) {
    app.act(&app.owner, move |tx, cx| writing_settings::set_sending_rules(tx, cx, rules)).await;
}

/// How many conversations somebody finds in a list.
async fn listed(app: &TestApp, person: &Actor, view: &str) -> usize {
    let view = Some(view.to_owned());
    let input = ListConversationsInput { view, ..ListConversationsInput::default() };
    app.act(person, move |tx, cx| Ok(list_conversations(tx, cx, input.clone())?.items.len())).await
}

/// The open and waiting conversations that the sidebar counts.
async fn counts(app: &TestApp) -> (i64, i64) {
    let sidebar = app.act(&app.owner, sidebar).await;
    (sidebar.open, sidebar.waiting)
}

async fn status(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Value {
    app.read(key, &mail.conversation).await["status"].clone()
}

async fn assignee(app: &TestApp, key: &TestKey, mail: &FiledMail) -> Value {
    app.read(key, &mail.conversation).await["assignee"]["name"].clone()
}

async fn what_people_write_can_be_stopped_for_the_time_that_they_or_their_workspace_chose(
    app: TestApp,
) {
    let bo = app.person("Bo").await;
    assert_eq!(waits(&app, &bo).await, UNDO_PEOPLE_SECONDS);
    set_rules(&app, SendingRules { undo_seconds: 300, answer_assigns: true }).await;
    assert_eq!(waits(&app, &bo).await, 300);
    app.act(&bo, |tx, cx| writing_settings::choose_undo(tx, cx, Some(10))).await;
    assert_eq!((waits(&app, &bo).await, waits(&app, &app.owner).await), (10, 300));
    app.act(&bo, |tx, cx| writing_settings::choose_undo(tx, cx, None)).await;
    assert_eq!(waits(&app, &bo).await, 300);
    app.pass(300 * SECOND - 1).await;
    let before = app.outside.relay.attempts().len();
    app.pass(1).await;
    assert_eq!(app.outside.relay.attempts().len(), before + 3);
}

async fn what_keys_write_keeps_its_window_whoever_approves_it(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = question(&app).await;
    app.act(&app.owner, |tx, cx| writing_settings::choose_undo(tx, cx, Some(10))).await;
    let draft = MessageId::parse(&app.draft(&key, &mail.conversation, "By sea.").await).unwrap();
    let leaves =
        app.act(&app.owner, move |tx, cx| approve_draft(tx, cx, &draft, 1, "By sea.")).await;
    assert_eq!(leaves, app.now() + UNDO);
    app.schedule(&key, &mail.conversation, "And by land.").await;
    app.pass(UNDO - 1).await;
    assert!(app.outside.relay.attempts().is_empty());
    app.pass(1).await;
    assert_eq!(app.outside.relay.attempts().len(), 2);
}

async fn only_the_times_that_there_are_can_be_chosen(app: TestApp) {
    for wrong in [0, -10, 31, 3_600] {
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| {
                writing_settings::choose_undo(tx, cx, Some(wrong))
            })
            .await;
        assert!(matches!(refused, Error::Invalid(_)), "{wrong}: {refused}");
        assert!(undo_time::check(wrong).is_err());
    }
    for seconds in UNDO_CHOICES {
        set_rules(&app, SendingRules { undo_seconds: seconds, answer_assigns: false }).await;
    }
    let rules = SendingRules { undo_seconds: 10, answer_assigns: false };
    let bo = app.person("Bo").await;
    let refused = app
        .expect_refusal(&bo, move |tx, cx| writing_settings::set_sending_rules(tx, cx, rules))
        .await;
    assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
}

async fn while_an_answer_leaves_it_is_not_our_turn_for_people(app: TestApp) {
    let key = app.key("read").await;
    let mail = question(&app).await;
    assert_eq!(counts(&app).await, (1, 0));
    answer(&app, &app.owner, &mail, false).await;
    assert_eq!((listed(&app, &app.owner, "open").await, counts(&app).await), (0, (0, 1)));
    assert_eq!(listed(&app, &app.owner, "waiting").await, 1);
    assert_eq!(listed(&app, &app.owner, "all").await, 1);
    // Keys see the status of the contract: it is open until the answer has left.
    assert_eq!(status(&app, &key, &mail).await, "open");
    assert_eq!(app.list(&key, "view=open").await.len(), 1);
    assert!(app.list(&key, "view=waiting").await.is_empty());
    assert_eq!(app.event_types().await, ["turn.changed", "conversation.assigned"]);
    app.pass(UNDO_PEOPLE_SECONDS * SECOND).await;
    assert_eq!(status(&app, &key, &mail).await, "waiting");
    assert_eq!((listed(&app, &app.owner, "waiting").await, counts(&app).await), (1, (0, 1)));
    assert_eq!(app.list(&key, "view=waiting").await.len(), 1);
}

async fn a_stopped_answer_brings_back_turn_assignee_and_status(app: TestApp) {
    let key = app.key("read").await;
    let mail = question(&app).await;
    let until = app.now() + DAY;
    app.snooze(&app.owner, &mail.conversation, until).await;
    let before = app.read(&key, &mail.conversation).await;
    let message = answer(&app, &app.owner, &mail, true).await;
    assert_eq!(status(&app, &key, &mail).await, "closed");
    assert_eq!(assignee(&app, &key, &mail).await, "Olive Owner");
    stop(&app, &app.owner, &message).await;
    let after = app.read(&key, &mail.conversation).await;
    for field in ["status", "snoozedUntil", "assignee"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(listed(&app, &app.owner, "snoozed").await, 1);
    app.pass(DAY).await;
    assert_eq!((listed(&app, &app.owner, "open").await, counts(&app).await), (1, (1, 0)));
    let message = answer(&app, &app.owner, &mail, false).await;
    assert_eq!(counts(&app).await, (0, 1));
    stop(&app, &app.owner, &message).await;
    assert_eq!((listed(&app, &app.owner, "open").await, counts(&app).await), (1, (1, 0)));
    assert!(app.outside.relay.attempts().is_empty());
}

async fn what_changed_since_stays_when_an_answer_is_stopped(app: TestApp) {
    let key = app.key("read write").await;
    let mail = question(&app).await;
    let bo = app.person("Bo").await;
    let message = answer(&app, &bo, &mail, true).await;
    let to = format!("user:{}", user(&app.owner));
    app.on(&key, &mail.conversation, "assign", json!({ "to": to })).await.is(200);
    app.on(&key, &mail.conversation, "status", json!({ "status": "waiting" })).await.is(200);
    stop(&app, &bo, &message).await;
    assert_eq!(assignee(&app, &key, &mail).await, "Olive Owner");
    assert_eq!(status(&app, &key, &mail).await, "waiting");
}

async fn mail_of_the_customer_makes_it_our_turn_while_an_answer_leaves(app: TestApp) {
    let mail = question(&app).await;
    let message = answer(&app, &app.owner, &mail, false).await;
    assert_eq!(counts(&app).await, (0, 1));
    app.advance(SECOND);
    let again = app.mail("ann@x.example Ann", "Lamp", "And the shade?").await;
    assert_eq!(again.conversation, mail.conversation);
    assert_eq!(counts(&app).await, (1, 0));
    stop(&app, &app.owner, &message).await;
    assert_eq!((listed(&app, &app.owner, "open").await, counts(&app).await), (1, (1, 0)));
}

async fn an_answer_that_fails_is_our_turn_again(app: TestApp) {
    let mail = question(&app).await;
    app.outside.relay.will_say(&[RelayOutcome::Never("no such user".into())]);
    answer(&app, &app.owner, &mail, false).await;
    assert_eq!(counts(&app).await, (0, 1));
    app.pass(UNDO_PEOPLE_SECONDS * SECOND).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!((listed(&app, &app.owner, "open").await, counts(&app).await), (1, (1, 0)));
}

async fn what_is_sent_now_leaves_once(app: TestApp) {
    let mail = question(&app).await;
    let bo = app.person("Bo").await;
    let message = answer(&app, &app.owner, &mail, false).await;
    send_now(&app, &app.owner, &message).await;
    send_now(&app, &app.owner, &message).await;
    send_now(&app, &bo, &message).await;
    app.pass(0).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    send_now(&app, &bo, &message).await;
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    let key = app.key("read").await;
    let events = app.timeline_events(&key, &mail.conversation).await;
    let now = events.iter().filter(|(event, _)| event == "sent-now").count();
    assert_eq!(now, 1, "{events:?}");
    assert_eq!(status(&app, &key, &mail).await, "waiting");
    // In the moment in which the clock runs out it leaves as well, and once.
    let mail = app.mail("ann@x.example Ann", "Shade", "And this?").await;
    let message = answer(&app, &app.owner, &mail, false).await;
    app.advance(UNDO_PEOPLE_SECONDS * SECOND);
    send_now(&app, &bo, &message).await;
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 2);
}

async fn what_was_stopped_is_not_sent_now(app: TestApp) {
    let mail = question(&app).await;
    let bo = app.person("Bo").await;
    let message = answer(&app, &app.owner, &mail, false).await;
    stop(&app, &bo, &message).await;
    let id = message.clone();
    let refused = app.expect_refusal(&app.owner, move |tx, cx| drafts::send_now(tx, cx, &id)).await;
    assert!(refused.to_string().contains("was stopped"), "{refused}");
    app.pass(UNDO).await;
    assert!(app.outside.relay.attempts().is_empty());
    // Somebody who does not see it learns nothing of it.
    let inbox = app.private_inbox(&bo).await;
    let private = app.deliver(&inbox, letter("ann@x.example", "Own", "Where?")).await;
    let own = answer(&app, &bo, &private, false).await;
    for id in [own, MessageId::parse("msg_00000000000000000000000000").unwrap()] {
        let refused =
            app.expect_refusal(&app.owner, move |tx, cx| drafts::send_now(tx, cx, &id)).await;
        assert!(matches!(refused, Error::NotFound("message")), "{refused}");
    }
}

async fn who_answers_gets_a_conversation_that_nobody_has(app: TestApp) {
    let key = app.key("read").await;
    let bo = app.person("Bo").await;
    let mail = question(&app).await;
    answer(&app, &bo, &mail, false).await;
    assert_eq!(assignee(&app, &key, &mail).await, "Bo Teammate");
    answer(&app, &app.owner, &mail, false).await;
    assert_eq!(assignee(&app, &key, &mail).await, "Bo Teammate");
    set_rules(&app, SendingRules { undo_seconds: 30, answer_assigns: false }).await;
    let mail = app.mail("bea@x.example Bea", "Shade", "And this?").await;
    answer(&app, &bo, &mail, false).await;
    assert_eq!(assignee(&app, &key, &mail).await, Value::Null);
}

async fn a_key_gets_no_conversation_by_answering(app: TestApp) {
    let key = app.key("read send").await;
    let mail = question(&app).await;
    app.schedule(&key, &mail.conversation, "By sea.").await;
    assert_eq!(assignee(&app, &key, &mail).await, Value::Null);
}
