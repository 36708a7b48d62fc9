//! Forms that come twice, buttons that are pressed twice, and what sending changes until a message has left.

use actions::documents::document_requests::request_documents;
use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::writing::compose::{self, FirstMail, NewReply};
use actions::writing::pressed_buttons::{self, SendNowOutcome, StopOutcome};
use actions::writing::seen::{DecisionOutcome, SeenConversation};
use actions::writing::{approvals, drafts};
use base::actor::Actor;
use base::ids::MessageId;
use base::limits::UNDO_PEOPLE_SECONDS;
use base::states::Removal;
use inbound::incoming_mail::FiledMail;
use maintenance::waiting;
use model::documents::document_requests::RequestedDocument;
use model::guests::secure::{self, SecureSendOptions};
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::document_request::NewDocumentRequest;
use outbound::removals;
use outbound::scheduling::MessageTimes;
use serde_json::{Value, json};
use testing::*;

on_both!(
    a_reply_whose_form_comes_twice_is_sent_once,
    a_draft_whose_form_comes_twice_is_kept_once,
    other_words_recipients_and_what_was_stopped_are_sent_again,
    a_first_mail_whose_form_comes_twice_begins_one_conversation,
    a_request_whose_form_comes_twice_asks_once_and_gives_the_conversation,
    whoever_approves_their_own_draft_gets_the_conversation,
    the_turn_names_whoever_got_the_conversation,
    a_conversation_that_was_opened_and_closed_again_stays_closed,
    what_is_stopped_in_the_trash_is_as_it_was,
    buttons_that_are_pressed_twice_say_how_it_stands,
    whoever_reads_an_inbox_only_lets_nothing_leave_now,
    the_days_of_a_protected_message_begin_when_it_leaves,
    what_a_copy_stops_is_taken_back_whole
);

fn reply(body: &str) -> NewReply {
    NewReply {
        body: body.into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties("ann@x.example").unwrap(),
            ..RecipientList::default()
        },
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    }
}

async fn question(app: &TestApp) -> FiledMail {
    app.mail("ann@x.example Ann", "Lamp", "Where is it?").await
}

async fn look(app: &TestApp, mail: &FiledMail) -> SeenConversation {
    let id = mail.conversation.clone();
    app.act(&app.owner, move |tx, cx| SeenConversation::now(tx, cx, &id)).await
}

/// Posts a message from a page that showed so much; answers the message that it became.
async fn post(
    app: &TestApp,
    mail: &FiledMail,
    message: NewReply,
    seen: SeenConversation,
) -> MessageId {
    let id = mail.conversation.to_string();
    let outcome =
        app.act(&app.owner, move |tx, cx| compose::send_reply(tx, cx, &id, &message, seen)).await;
    match outcome {
        DecisionOutcome::Done(result) => result.message_id,
        DecisionOutcome::Meanwhile(newer) => panic!("{newer:?}"),
    }
}

async fn stop(app: &TestApp, message: &MessageId) {
    let id = message.clone();
    app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &id)).await;
}

async fn ours(app: &TestApp) -> i64 {
    app.count("messages WHERE direction = 'outbound' AND discarded_at IS NULL").await
}

async fn field(app: &TestApp, key: &TestKey, mail: &FiledMail, name: &str) -> Value {
    app.read(key, &mail.conversation).await[name].clone()
}

async fn a_reply_whose_form_comes_twice_is_sent_once(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, reply("By sea."), seen).await;
    assert_eq!(post(&app, &mail, reply("By sea."), seen).await, sent);
    app.pass(UNDO_PEOPLE_SECONDS * SECOND).await;
    assert_eq!(post(&app, &mail, reply("By sea."), seen).await, sent);
    // The customer's answer stops a form that was not sent; this one was.
    app.mail("ann@x.example Ann", "Lamp", "Thanks").await;
    assert_eq!(post(&app, &mail, reply("By sea."), seen).await, sent);
    assert_eq!((ours(&app).await, app.outside.relay.attempts().len()), (1, 1));
    let now = look(&app, &mail).await;
    assert_ne!(post(&app, &mail, reply("By sea."), now).await, sent, "it is said once more");
}

async fn a_draft_whose_form_comes_twice_is_kept_once(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let draft = NewReply { send: false, ..reply("By sea.") };
    let kept = post(&app, &mail, draft.clone(), seen).await;
    assert_eq!(post(&app, &mail, draft, seen).await, kept);
    assert_ne!(post(&app, &mail, reply("By sea."), seen).await, kept, "it was not sent");
    assert_eq!(ours(&app).await, 2);
}

async fn other_words_recipients_and_what_was_stopped_are_sent_again(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, reply("By sea."), seen).await;
    post(&app, &mail, reply("By land."), seen).await;
    let cc = compose::parties("bea@x.example").unwrap();
    let recipients = RecipientList { cc, ..reply("").recipients };
    post(&app, &mail, NewReply { recipients, ..reply("By sea.") }, seen).await;
    assert_eq!(ours(&app).await, 3);
    stop(&app, &sent).await;
    assert_ne!(post(&app, &mail, reply("By sea."), seen).await, sent);
    assert_eq!(ours(&app).await, 3);
}

async fn a_first_mail_whose_form_comes_twice_begins_one_conversation(app: TestApp) {
    let first = FirstMail {
        mailbox: app.support.id.to_string(),
        subject: "Your lamp".into(),
        message: reply("It is here."),
        opened_at: Some(app.now()),
    };
    let begin = async |first: FirstMail| {
        let begun = app
            .act(&app.owner, move |tx, cx| {
                Ok(compose::send_first_mail(tx, cx, &first)?.0.to_string())
            })
            .await;
        app.advance(SECOND);
        begun
    };
    let begun = begin(first.clone()).await;
    assert_eq!(begin(first.clone()).await, begun);
    assert_ne!(begin(FirstMail { subject: "Your shade".into(), ..first.clone() }).await, begun);
    let later = FirstMail { opened_at: Some(app.now()), ..first };
    assert_ne!(begin(later).await, begun, "another form");
    assert_eq!(ours(&app).await, 3);
}

fn passport() -> NewDocumentRequest {
    let document =
        RequestedDocument { label: "Passport".into(), description: None, required: true };
    NewDocumentRequest {
        documents: vec![document],
        message: None,
        due_date: None,
        send: true,
        secure: SecureSendOptions::default(),
    }
}

async fn ask(app: &TestApp, mail: &FiledMail, request: NewDocumentRequest, seen: SeenConversation) {
    let id = mail.conversation.to_string();
    let asked =
        app.act(&app.owner, move |tx, cx| request_documents(tx, cx, &id, &request, seen)).await;
    assert!(matches!(asked, DecisionOutcome::Done(_)));
}

async fn a_request_whose_form_comes_twice_asks_once_and_gives_the_conversation(app: TestApp) {
    let key = app.key("read").await;
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    ask(&app, &mail, passport(), seen).await;
    ask(&app, &mail, passport(), seen).await;
    assert_eq!(app.count("document_requests").await, 1);
    assert_eq!(field(&app, &key, &mail, "assignee").await["name"], "Olive Owner");
    let mut other = passport();
    other.documents[0].label = "Invoice".into();
    ask(&app, &mail, other, seen).await;
    assert_eq!(app.count("document_requests").await, 2);
}

async fn whoever_approves_their_own_draft_gets_the_conversation(app: TestApp) {
    let key = app.key("read").await;
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let draft = NewReply { send: false, ..reply("By sea.") };
    let id = post(&app, &mail, draft, seen).await;
    assert_eq!(field(&app, &key, &mail, "assignee").await, Value::Null);
    let approved = id.clone();
    app.act(&app.owner, move |tx, cx| approve_draft(tx, cx, &approved, 1, "By sea.")).await;
    assert_eq!(field(&app, &key, &mail, "assignee").await["name"], "Olive Owner");
    stop(&app, &id).await;
    assert_eq!(field(&app, &key, &mail, "assignee").await, Value::Null);
}

async fn the_turn_names_whoever_got_the_conversation(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, NewReply { close: true, ..reply("By sea.") }, seen).await;
    let turn = async || {
        let events = app.events().await;
        let turn = events.iter().rev().find(|event| event["type"] == "turn.changed");
        turn.unwrap()["data"].clone()
    };
    let done = turn().await;
    assert_eq!((&done["turn"], &done["assignee"]["name"]), (&json!("done"), &json!("Olive Owner")));
    stop(&app, &sent).await;
    let back = turn().await;
    assert_eq!((&back["turn"], &back["assignee"]), (&json!("ours"), &Value::Null));
}

async fn a_conversation_that_was_opened_and_closed_again_stays_closed(app: TestApp) {
    let key = app.key("read write").await;
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, NewReply { close: true, ..reply("By sea.") }, seen).await;
    for status in ["open", "closed"] {
        app.on(&key, &mail.conversation, "status", json!({ "status": status })).await.is(200);
    }
    stop(&app, &sent).await;
    assert_eq!(field(&app, &key, &mail, "status").await, "closed");
}

async fn what_is_stopped_in_the_trash_is_as_it_was(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    post(&app, &mail, NewReply { close: true, ..reply("By sea.") }, seen).await;
    for to in [Some(Removal::Trash), None] {
        let id = mail.conversation.to_string();
        app.act(&app.owner, move |tx, cx| {
            let mut conversation = model::conversations::load(tx, cx.actor, &id)?;
            removals::set_removed(tx, cx, &mut conversation, to)
        })
        .await;
    }
    let open = "conversations WHERE status = 'open' AND view = 'open' AND assignee = ''";
    assert_eq!(app.count(open).await, 1);
    assert_eq!(app.count("messages WHERE status = 'draft' AND text = 'By sea.'").await, 1);
}

async fn press_stop(app: &TestApp, by: &Actor, message: &MessageId) -> StopOutcome {
    let id = message.clone();
    app.act(by, move |tx, cx| pressed_buttons::press_stop(tx, cx, &id)).await.1
}

async fn press_send_now(app: &TestApp, by: &Actor, message: &MessageId) -> SendNowOutcome {
    let id = message.clone();
    app.act(by, move |tx, cx| pressed_buttons::press_send_now(tx, cx, &id)).await.1
}

async fn buttons_that_are_pressed_twice_say_how_it_stands(app: TestApp) {
    let mail = question(&app).await;
    let me = app.owner.clone();
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, reply("By sea."), seen).await;
    assert!(matches!(press_stop(&app, &me, &sent).await, StopOutcome::Stopped(_)));
    assert_eq!(press_stop(&app, &me, &sent).await, StopOutcome::StoppedBefore);
    assert_eq!(press_send_now(&app, &me, &sent).await, SendNowOutcome::StoppedBefore);
    let sent = post(&app, &mail, reply("By land."), seen).await;
    assert_eq!(press_send_now(&app, &me, &sent).await, SendNowOutcome::Leaves);
    app.pass(0).await;
    assert_eq!(press_send_now(&app, &me, &sent).await, SendNowOutcome::HasLeft);
    assert_eq!(press_stop(&app, &me, &sent).await, StopOutcome::TooLate);
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn whoever_reads_an_inbox_only_lets_nothing_leave_now(app: TestApp) {
    let bo = app.person("Bo").await;
    let (inbox, holder) = (app.support.id.clone(), AccessHolder::Person(user(&app.owner)));
    let entry = AccessEntry { holder, may_see: false, may_send: true };
    let access = InboxAccess { everybody: true, all_send: false, entries: vec![entry] };
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &inbox, &access))
        .await;
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let sent = post(&app, &mail, reply("By sea."), seen).await;
    let may_send_now = async |person: &Actor| {
        let leaving = app.act(person, approvals::leaving).await;
        leaving.iter().map(|message| message.may_send_now).collect::<Vec<bool>>()
    };
    assert_eq!(may_send_now(&app.owner).await, [true]);
    assert_eq!(may_send_now(&bo).await, [false]);
    assert_eq!(press_send_now(&app, &bo, &sent).await, SendNowOutcome::MayNotSend);
    assert!(matches!(press_stop(&app, &bo, &sent).await, StopOutcome::Stopped(_)));
}

/// When the page of a protected message closes.
async fn expires_at(app: &TestApp, message: &MessageId) -> i64 {
    let id = message.clone();
    let states =
        app.act(&app.owner, move |tx, cx| secure::states(tx, cx, std::slice::from_ref(&id))).await;
    states[message].expires_at.unwrap()
}

async fn the_days_of_a_protected_message_begin_when_it_leaves(app: TestApp) {
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    let protected = |body| NewReply { secure: Some(true), ..reply(body) };
    let sent = post(&app, &mail, protected("By sea."), seen).await;
    let planned = expires_at(&app, &sent).await;
    press_send_now(&app, &app.owner, &sent).await;
    let window = UNDO_PEOPLE_SECONDS * SECOND;
    assert_eq!(expires_at(&app, &sent).await, planned - window);
    // Nothing was done at its time: the server was down.
    let late = post(&app, &mail, protected("By land."), seen).await;
    app.advance(window + DAY);
    app.work().await;
    assert_eq!(expires_at(&app, &late).await, planned + DAY);
}

async fn what_a_copy_stops_is_taken_back_whole(app: TestApp) {
    let key = app.key("read").await;
    let mail = question(&app).await;
    let seen = look(&app, &mail).await;
    post(&app, &mail, NewReply { close: true, ..reply("By sea.") }, seen).await;
    app.advance(UNDO_PEOPLE_SECONDS * SECOND);
    let inner = app.app.clone();
    let stopped = app.app.store.write(move |tx| waiting::stop_overdue(tx, &inner)).await;
    assert_eq!(stopped.unwrap(), 1);
    let read = app.read(&key, &mail.conversation).await;
    assert_eq!((&read["status"], &read["assignee"]), (&json!("open"), &Value::Null));
    assert_eq!(app.count("conversations WHERE view = 'open' AND has_draft").await, 1);
    app.pass(DAY).await;
    assert!(app.outside.relay.attempts().is_empty());
}
