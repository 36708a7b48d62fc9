//! What is being written is sealed, whatever it becomes.

use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::{self, NewReply};
use actions::writing::drafts::{self, StoppedMessage};
use actions::writing::{saved_replies, unsent_files};
use base::ids::ConversationId;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;

use super::*;

on_both!(
    a_text_and_a_picture_from_before_the_lock_are_nowhere_once_the_message_is_protected,
    an_ordinary_message_gets_its_files_opened_and_no_sealed_copy_stays,
    files_that_were_taken_off_or_discarded_leave_no_bytes,
    a_file_of_a_saved_reply_goes_along_sealed,
    a_message_that_was_stopped_and_then_protected_leaves_no_words,
    files_that_do_not_fit_stop_the_message,
    what_is_being_written_goes_along_into_a_merged_conversation
);

const PICTURE: (&str, &str, &[u8]) = ("canaryname.png", "image/png", b"\x89PNG canarybytes");

fn place(conversation: &ConversationId) -> AutosaveKey {
    AutosaveKey::Conversation(conversation.clone())
}

fn written(body: &str, secure: bool) -> NewReply {
    NewReply {
        body: body.into(),
        format: TextFormat::Markdown,
        recipients: RecipientList {
            to: compose::parties(ANN).unwrap(),
            ..RecipientList::default()
        },
        close: false,
        send: true,
        forwards: None,
        secure: Some(secure),
        times: MessageTimes::default(),
    }
}

async fn keep(app: &TestApp, place: &AutosaveKey, body: &str) {
    let (place, saved) = (place.clone(), Autosave::new(AutosaveKind::Reply, body.into()));
    app.act(&app.owner, move |tx, cx| autosaves::autosave(tx, cx, &place, &saved)).await;
}

async fn send(app: &TestApp, conversation: &ConversationId, message: NewReply) -> MessageId {
    app.fit_files(&app.owner, &place(conversation), &message).await;
    let id = conversation.to_string();
    app.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &message)).await.message_id
}

async fn a_text_and_a_picture_from_before_the_lock_are_nowhere_once_the_message_is_protected(
    app: TestApp,
) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let place = place(&mail.conversation);
    let picture = app.attach(&app.owner, &place, &[PICTURE]).await.remove(0);
    let body = format!("So: canaryword\n\n![canaryname.png](cid:{picture})");
    keep(&app, &place, &body).await;
    assert!(!app.stored_bytes().await.hold("canary"), "before it is protected");
    send(&app, &mail.conversation, written(&body, true)).await;
    app.pass(UNDO).await;
    assert!(!app.stored_bytes().await.hold("canary"), "once it is protected");
    assert!(!mails(&app).concat().contains("canary"));
    let (token, inner) = (token(&app), app.app.clone());
    let read = app.app.store.read(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        let cx = inner.cx(&link.actor);
        let page = secure::read(tx, &cx, &link)?;
        let file = secure::file_of_page(tx, &cx, &link, picture.as_str())?;
        Ok::<_, base::error::Error>((page.messages[0].content.markdown.clone(), file.1))
    });
    let (markdown, bytes) = read.await.unwrap();
    assert_eq!((markdown.as_deref(), bytes.as_slice()), (Some(body.as_str()), PICTURE.2));
}

async fn an_ordinary_message_gets_its_files_opened_and_no_sealed_copy_stays(app: TestApp) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let place = place(&mail.conversation);
    let before = app.count("blobs").await;
    app.attach(&app.owner, &place, &[PICTURE]).await;
    send(&app, &mail.conversation, written("Look", false)).await;
    app.pass(UNDO).await;
    let left = mails(&app).pop().unwrap();
    assert!(left.contains("canaryname.png"), "{left}");
    assert_eq!(app.count("blobs").await, before + 1);
    assert_eq!(app.count("attachments WHERE key IS NOT NULL").await, 0);
}

async fn files_that_were_taken_off_or_discarded_leave_no_bytes(app: TestApp) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let place = place(&mail.conversation);
    let before = app.count("blobs").await;
    let ids = app.attach(&app.owner, &place, &[PICTURE, PICTURE]).await;
    let (taken, there) = (ids[0].clone(), place.clone());
    app.act(&app.owner, move |tx, cx| unsent_files::take_out(tx, cx, &there, &taken)).await;
    assert_eq!(app.count("blobs").await, before + 1);
    app.act(&app.owner, move |tx, cx| unsent_files::discard_autosave(tx, cx, &place)).await;
    assert_eq!((app.count("blobs").await, app.count("attachments").await), (before, 0));
}

async fn a_file_of_a_saved_reply_goes_along_sealed(app: TestApp) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let saved = saved_replies::SavedReplyInput {
        name: "Terms".into(),
        folder: String::new(),
        body: "Our terms".into(),
    };
    let file = model::messages::attachments::NewAttachment {
        id: base::ids::AttachmentId::new(&app.app.ids, app.now()),
        filename: "terms.txt".into(),
        content_type: "text/plain".into(),
        blob: app.app.blobs.put(b"be kind").unwrap(),
    };
    let there = place(&mail.conversation);
    app.act(&app.owner, move |tx, cx| {
        let reply = saved_replies::save_reply(tx, cx, &saved, std::slice::from_ref(&file))?;
        saved_replies::attach_saved_files(tx, cx, &there, &reply)
    })
    .await;
    let id = send(&app, &mail.conversation, written("Here", true)).await;
    app.pass(UNDO).await;
    let sent = Sent { conversation: mail.conversation.to_string(), message: id.to_string() };
    let read = message(&app, &app.key("read").await, &sent, id.as_str()).await;
    assert_eq!(read["attachments"][0]["filename"], "terms.txt");
    assert_eq!(app.count("attachments").await, 0);
    assert_eq!(app.count("saved_reply_files").await, 1, "that of the saved reply stays");
}

async fn a_message_that_was_stopped_and_then_protected_leaves_no_words(app: TestApp) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    let there = place(&mail.conversation);
    app.attach(&app.owner, &there, &[PICTURE]).await;
    let first = send(&app, &mail.conversation, written("A canaryword", false)).await;
    let stopped = app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &first)).await;
    assert_eq!(stopped, StoppedMessage::InComposer);
    send(&app, &mail.conversation, written("A canaryword", true)).await;
    app.pass(UNDO).await;
    for place in [
        "messages WHERE text LIKE '%canary%' OR markdown LIKE '%canary%'",
        "messages WHERE attachments LIKE '%canary%'",
        "attachments",
        "autosaves",
    ] {
        assert_eq!(app.count(place).await, 0, "{place}");
    }
    let blobs = app.app.blobs.clone();
    let found = app.app.store.read(move |tx| {
        let names: Vec<(i64, String)> = tx.all("SELECT ws, hash FROM blobs", &[])?;
        let mut found = Vec::new();
        for (ws, hash) in names {
            found.extend(blobs.get(tx, ws, &hash)?);
        }
        Ok::<_, base::error::Error>(found)
    });
    let found = found.await.unwrap();
    assert!(!found.iter().any(|bytes| bytes.as_slice() == PICTURE.2), "the open copy is there");
}

async fn files_that_do_not_fit_stop_the_message(app: TestApp) {
    let mail = app.mail(ANN, "Lamps", "Hello").await;
    app.attach(&app.owner, &place(&mail.conversation), &[PICTURE]).await;
    let (id, message) = (mail.conversation.to_string(), written("Look", false));
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &message))
        .await;
    let sentence = "files: The files changed meanwhile. Nothing was sent; send it again.";
    assert_eq!(refused.to_string(), sentence);
}

async fn what_is_being_written_goes_along_into_a_merged_conversation(app: TestApp) {
    let key = app.key("read write").await;
    let (one, two) = (app.mail(ANN, "One", "Hello").await, app.mail(ANN, "Two", "Hello").await);
    app.attach(&app.owner, &place(&two.conversation), &[PICTURE]).await;
    keep(&app, &place(&two.conversation), "Half a canaryword").await;
    let into = json!({ "into": one.conversation.to_string() });
    app.on(&key, &two.conversation, "merge", into).await.is(200);
    let there = place(&one.conversation);
    let (saved, files) = app
        .act(&app.owner, move |tx, cx| {
            Ok((autosaves::load_autosave(tx, cx, &there)?, unsent_files::list(tx, cx, &there)?))
        })
        .await;
    assert_eq!(saved.unwrap().body, "Half a canaryword");
    assert_eq!(files[0].filename, PICTURE.0);
    assert!(!app.stored_bytes().await.hold("canary"));
}
