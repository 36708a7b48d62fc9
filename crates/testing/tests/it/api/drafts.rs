//! What people do with messages before they leave (API section 3.3).

use actions::writing::drafts;
use base::actor::{Actor, Role};
use base::error::Error;
use base::ids::MessageId;
use serde_json::{Value, json};
use testing::{MINUTE, SECOND, TestApp, TestKey, UNDO, letter, on_both, texts, user};

on_both!(
    an_approved_draft_leaves_after_the_undo_window,
    a_draft_may_be_edited_as_it_is_approved,
    an_edit_that_was_saved_before_the_approval_counts_as_edited,
    a_draft_that_was_stopped_and_let_go_unchanged_was_not_edited,
    an_approval_counts_only_for_the_draft_that_was_looked_at,
    approving_twice_fails,
    a_key_cannot_approve,
    every_person_of_the_team_may_approve_and_no_stranger,
    a_draft_in_a_private_inbox_exists_for_its_person_alone,
    nobody_approves_in_the_sandbox,
    an_edited_draft_keeps_its_new_text_and_waits,
    a_discarded_draft_is_gone_and_cannot_be_approved,
    discarding_is_bound_to_the_revision_too,
    a_stopped_message_is_a_draft_again,
    a_stopped_message_leaves_at_its_new_time_when_it_is_approved,
    what_has_left_and_what_never_was_to_leave_cannot_be_stopped
);

async fn an_approved_draft_leaves_after_the_undo_window(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    app.advance(MINUTE);
    let sends_at = approve(&app, &app.owner, &draft.id, 1, "Hello").await.unwrap();
    assert_eq!(sends_at, app.now() + UNDO);
    assert_eq!(draft.message(&app, &key).await["status"], "scheduled");
    assert_eq!(
        app.timeline_events(&key, &draft.conversation).await,
        [("approved".into(), json!({ "messageId": draft.id.as_str(), "edited": false })),]
    );
    let events = app.events_since(1).await;
    assert_eq!(texts(&events, "type"), ["draft.approved"]);
    assert_eq!(events[0]["data"]["edited"], false);
    app.mark_sent(&app.support, draft.id.as_str()).await;
    assert_eq!(draft.message(&app, &key).await["status"], "sent");
}

async fn a_draft_may_be_edited_as_it_is_approved(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    approve(&app, &app.owner, &draft.id, 1, "Hello there").await.unwrap();
    assert_eq!(draft.message(&app, &key).await["text"], "Hello there");
    assert_eq!(
        app.timeline_events(&key, &draft.conversation).await,
        [("approved".into(), json!({ "messageId": draft.id.as_str(), "edited": true })),]
    );
    assert_eq!(app.events().await.pop().unwrap()["data"]["edited"], true);
}

async fn an_edit_that_was_saved_before_the_approval_counts_as_edited(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    let id = draft.id.clone();
    let edited = app
        .act(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 1, "Hello from a person"));
    let revision = edited.await;
    approve(&app, &app.owner, &draft.id, revision, "Hello from a person").await.unwrap();
    assert_eq!(draft.message(&app, &key).await["text"], "Hello from a person");
    assert_eq!(app.events().await.pop().unwrap()["data"]["edited"], true);
}

async fn a_draft_that_was_stopped_and_let_go_unchanged_was_not_edited(app: TestApp) {
    let (_, draft) = drafted(&app).await;
    approve(&app, &app.owner, &draft.id, 1, "Hello").await.unwrap();
    stop(&app, &app.owner, &draft.id).await.unwrap();
    let revision = draft.revision(&app).await;
    approve(&app, &app.owner, &draft.id, revision, "Hello").await.unwrap();
    assert_eq!(app.events().await.pop().unwrap()["data"]["edited"], false);
}

async fn an_approval_counts_only_for_the_draft_that_was_looked_at(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    let id = draft.id.clone();
    let revision = app.act(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 1, "Other"));
    assert_eq!(revision.await, 2);
    let before = app.read(&key, &draft.conversation).await;
    for stale in [0, 1, 3] {
        let refused = approve(&app, &app.owner, &draft.id, stale, "Hello").await.unwrap_err();
        assert!(refused.to_string().starts_with("revision: "), "{refused}");
    }
    assert_eq!(app.read(&key, &draft.conversation).await, before);
    approve(&app, &app.owner, &draft.id, 2, "Other").await.unwrap();
}

async fn approving_twice_fails(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    approve(&app, &app.owner, &draft.id, 1, "Hello").await.unwrap();
    let before = app.read(&key, &draft.conversation).await;
    for revision in [1, 2] {
        let refused = approve(&app, &app.owner, &draft.id, revision, "Hello").await.unwrap_err();
        assert!(matches!(refused, Error::Invalid(_)), "{refused}");
    }
    assert_eq!(app.read(&key, &draft.conversation).await, before);
    assert_eq!(app.event_types().await, ["turn.changed", "draft.approved"]);
}

async fn a_key_cannot_approve(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    let agent = app.agent(&key).await;
    let refused = approve(&app, &agent, &draft.id, 1, "Hello").await.unwrap_err();
    assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
    assert_eq!(draft.message(&app, &key).await["status"], "draft");
}

async fn every_person_of_the_team_may_approve_and_no_stranger(app: TestApp) {
    for role in [Role::Owner, Role::Admin, Role::Member] {
        let (_, draft) = drafted(&app).await;
        let person = app.person_with(&format!("Another{role:?}"), role).await;
        approve(&app, &person, &draft.id, 1, "Hello").await.unwrap();
    }
    let (_, draft) = drafted(&app).await;
    let other = app.other_workspace("Globex").await;
    let refused = approve(&app, &other, &draft.id, 1, "Hello").await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
}

async fn a_draft_in_a_private_inbox_exists_for_its_person_alone(app: TestApp) {
    let key = app.key("draft").await;
    let ann = app.person("Ann").await;
    let mine = app.private_inbox(&app.owner).await;
    let mail = app.deliver(&mine, letter("a@x.example", "Lamp", "text")).await;
    let id = MessageId::parse(&app.draft(&key, &mail.conversation, "Hello").await).unwrap();
    let refused = approve(&app, &ann, &id, 1, "Hello").await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    approve(&app, &app.owner, &id, 1, "Hello").await.unwrap();
}

async fn nobody_approves_in_the_sandbox(app: TestApp) {
    let key = app.test_key("draft").await;
    let mail = app.deliver(&app.sandbox, letter("a@x.test", "Lamp", "text")).await;
    let id = MessageId::parse(&app.draft(&key, &mail.conversation, "Hello").await).unwrap();
    let refused = approve(&app, &app.owner, &id, 1, "Hello").await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    let refused = stop(&app, &app.owner, &id).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
}

async fn an_edited_draft_keeps_its_new_text_and_waits(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    let id = draft.id.clone();
    app.act(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 1, "Better")).await;
    let message = draft.message(&app, &key).await;
    assert_eq!((&message["status"], &message["text"]), (&json!("draft"), &json!("Better")));
    for text in ["", " \n", "a\0b", &"x".repeat(50_001)] {
        let (id, text) = (draft.id.clone(), text.to_owned());
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| drafts::edit_draft(tx, cx, &id, 2, &text))
            .await;
        assert!(refused.to_string().starts_with("text: "), "{refused}");
    }
    assert_eq!(draft.message(&app, &key).await, message);
}

async fn a_discarded_draft_is_gone_and_cannot_be_approved(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    let id = draft.id.clone();
    app.act(&app.owner, move |tx, cx| drafts::discard_draft(tx, cx, &id, 1, "Too late")).await;
    let messages = app.timeline(&key, &draft.conversation, "message").await;
    assert_eq!(messages.len(), 1);
    let last = app.timeline_events(&key, &draft.conversation).await.pop().unwrap();
    assert_eq!(last.0, "discarded");
    assert_eq!(last.1["messageId"], draft.id.as_str());
    for revision in [1, 2] {
        let refused = approve(&app, &app.owner, &draft.id, revision, "Hello").await.unwrap_err();
        assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    }
    assert_eq!(app.events().await.len(), 1);
}

async fn discarding_is_bound_to_the_revision_too(app: TestApp) {
    let (key, draft) = drafted(&app).await;
    for revision in [0, 2] {
        let id = draft.id.clone();
        let refused = app.expect_refusal(&app.owner, move |tx, cx| {
            drafts::discard_draft(tx, cx, &id, revision, "")
        });
        assert!(refused.await.to_string().starts_with("revision: "));
    }
    assert_eq!(draft.message(&app, &key).await["status"], "draft");
}

async fn a_stopped_message_is_a_draft_again(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let message = app.schedule(&key, &mail.conversation, "Hello").await;
    let id = MessageId::parse(&message).unwrap();
    let member = app.person("Ann").await;
    app.advance(UNDO - 1);
    stop(&app, &member, &id).await.unwrap();
    let item = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
    assert_eq!((&item["status"], &item["text"]), (&json!("draft"), &json!("Hello")));
    let event = app.timeline(&key, &mail.conversation, "event").await.pop().unwrap();
    assert_eq!(event["by"]["type"], "person");
    assert_eq!(
        event,
        json!({
            "type": "event", "at": app.iso(), "by": event["by"], "actor": "Ann Teammate", "event": "undone",
            "data": { "messageId": message },
        })
    );
    let service = app.service(&app.support);
    let unsent = app.expect_refusal(&service, move |tx, cx| {
        let (message, mut conversation) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
        outbound::messages::mark_sent(tx, cx, &mut conversation, &message)
    });
    assert!(matches!(unsent.await, Error::NotFound(_)));
    assert_eq!(app.event_types().await, ["turn.changed"]);
}

async fn a_stopped_message_leaves_at_its_new_time_when_it_is_approved(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let id = MessageId::parse(&app.schedule(&key, &mail.conversation, "Hello").await).unwrap();
    let header_id = app.header_id(id.as_str()).await;
    stop(&app, &app.owner, &id).await.unwrap();
    app.advance(SECOND);
    let draft = Draft { id: id.clone(), conversation: mail.conversation.to_string() };
    let revision = draft.revision(&app).await;
    let sends_at = approve(&app, &app.owner, &id, revision, "Hello").await.unwrap();
    assert_eq!(sends_at, app.now() + UNDO);
    assert_eq!(app.header_id(id.as_str()).await, header_id);
    let event = app.events().await.pop().unwrap();
    assert_eq!(event["data"]["drafted_by"], json!({ "type": "agent", "id": key.id.as_str() }));
    assert_eq!(
        event["data"]["approved_by"],
        json!({
            "type": "user", "id": user(&app.owner).as_str(), "name": "Olive Owner",
        })
    );
}

async fn what_has_left_and_what_never_was_to_leave_cannot_be_stopped(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let sent = app.send_reply(&key, &mail.conversation, "Hello").await;
    let draft = app.draft(&key, &mail.conversation, "Hello").await;
    let before = app.read(&key, &mail.conversation).await;
    for message in [sent, draft] {
        let id = MessageId::parse(&message).unwrap();
        let refused = stop(&app, &app.owner, &id).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid(_)), "{refused}");
    }
    let inbound = mail.message.clone();
    let refused = stop(&app, &app.owner, &inbound).await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    assert_eq!(app.read(&key, &mail.conversation).await, before);
}

/// A draft "Hello" of Robo's in the support inbox.
struct Draft {
    id: MessageId,
    conversation: String,
}

async fn drafted(app: &TestApp) -> (TestKey, Draft) {
    let key = app.key("draft").await;
    let mail = app.mail("a@x.example", &format!("Lamp {}", key.id), "text").await;
    let id = MessageId::parse(&app.draft(&key, &mail.conversation, "Hello").await).unwrap();
    (key, Draft { id, conversation: mail.conversation.to_string() })
}

impl Draft {
    async fn message(&self, app: &TestApp, key: &TestKey) -> Value {
        let messages = app.timeline(key, &self.conversation, "message").await;
        messages.into_iter().find(|message| message["id"] == self.id.as_str()).expect("the draft")
    }

    async fn revision(&self, app: &TestApp) -> i64 {
        let id = self.id.clone();
        app.act(&app.owner, move |tx, cx| outbound::messages::load_outgoing(tx, cx.actor, &id))
            .await
            .0
            .revision
    }
}

async fn approve(
    app: &TestApp,
    by: &Actor,
    id: &MessageId,
    revision: i64,
    text: &'static str,
) -> base::error::Result<i64> {
    let id = id.clone();
    app.app.act(by, move |tx, cx| testing::approve_draft(tx, cx, &id, revision, text)).await
}

async fn stop(app: &TestApp, by: &Actor, id: &MessageId) -> base::error::Result<()> {
    let id = id.clone();
    app.app.act(by, move |tx, cx| drafts::stop_message(tx, cx, &id).map(|_| ())).await
}
